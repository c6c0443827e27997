"""Amazon Managed Service for Prometheus: workspaces."""

from facts.resources.api_calls import ApiCall, creation, same
from facts.resources.latency import LOGS, Latencies, both
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Leftover, Lookup, Query, Stage, States, Tagging
from facts.resources.resource_type import Changes, ResourceType, Without
from facts.resources.rights import BEING_TAGGED, TAGGED, Grant, Rights


def _make_workspace(draw: Draw, inputs: Inputs) -> Answer:
    workspace = f"ws-{draw.uuid()}"
    endpoint = f"https://aps-workspaces.{draw.region}.{draw.dns_suffix}/workspaces/{workspace}/"
    return workspace, {"arn": draw.arn("aps", f"workspace/{workspace}"), "prometheusEndpoint": endpoint}


_WORKSPACES = Query(
    "amp",
    "ListWorkspaces",
    "workspaces",
    "workspaceId",
    tags="tags",
    states=States("status.statusCode", "ACTIVE", ("CREATING", "UPDATING"), ("CREATION_FAILED",), ("DELETING",)),
    absent="ResourceNotFoundException",
)
WORKSPACE = ResourceType(
    "aws:amp/workspace:Workspace",
    make=_make_workspace,
    latencies=Latencies(both(3, 5, 15, LOGS)),
    changes=Changes(replacing=(), calls=("UpdateWorkspaceAlias",)),
    identity=lambda inputs: inputs.get("alias"),
    creation=creation(ApiCall("amp", "CreateWorkspace", same("alias"))),
    # The parameter takes the beginning of an alias.
    lookup=Lookup(_WORKSPACES, "owned", parameters={"alias": "alias"}, matches={"alias": "alias"}),
    tagging=Tagging("amp", "TagResource", "UntagResource", "resourceArn", "tags", shape="mapping", read="ListTagsForResource"),
    deletion=Deletion("amp", "DeleteWorkspace", {"workspaceId": "workspaceId"}),
    rights=Rights(
        (
            Grant("aps", "DescribeWorkspace DescribeLoggingConfiguration DescribeWorkspaceConfiguration ListTagsForResource"),
            Grant("aps", "CreateWorkspace TagResource", BEING_TAGGED),
            Grant("aps", "UpdateWorkspaceAlias DeleteWorkspace UntagResource", TAGGED),
        )
    ),
    costs=Without("a workspace bills by samples and queries, not by the hour"),
    leftover=Leftover("metrics workspace", Stage.OUTSIDE, _WORKSPACES, label="{alias}"),
    second="another",
)
TYPES = (WORKSPACE,)
