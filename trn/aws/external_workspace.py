"""A workspace of Amazon Managed Prometheus that others keep, as the service lists it: reads only."""

from facts.external.workspace import Workspace
from trn.aws.api import Api, Call

LIST_WORKSPACES = Call("amp", "ListWorkspaces")


def described_workspace(api: Api, arn: str) -> Workspace | None:
    """The workspace; None where the caller's account has none of this ARN in the region."""
    for entry in api.pages(LIST_WORKSPACES, "workspaces"):
        if entry["arn"] == arn:
            return Workspace(arn=arn, state=entry["status"]["statusCode"])
    return None
