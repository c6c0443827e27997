"""Ways into the cluster of a stack: a client, and a kubeconfig, both from what EKS says of it."""

from typing import Any, Literal

from facts.document import Document
from facts.typed import typed
from trn.aws.api import Api
from trn.aws.eks import described
from trn.change.clients import access
from trn.cli.errors import MISUSE, CommandError
from trn.kubernetes.client import Kubernetes, Object


class KubeconfigReport(Document, frozen=True):
    """What `trn kubeconfig` makes."""

    schema_: Literal["trn-kubeconfig"] = "trn-kubeconfig"
    kubeconfig: dict[str, Any]
    """As kubectl takes it."""


def cluster_of(api: Api, cluster: str) -> Kubernetes:
    """A client of the cluster. Raises CommandError where there is none, or none yet that answers."""
    return access().kubernetes(api, _reachable(api, cluster))


def kubeconfig_of(api: Api, cluster: str) -> dict[str, Any]:
    """A kubeconfig. On AWS it asks the AWS CLI for tokens and holds no secret. Raises CommandError as `cluster_of` does."""
    return access().kubeconfig(api, _reachable(api, cluster))


def _reachable(api: Api, cluster: str) -> Object:
    entry = described(api, cluster)
    # One that is being made has no endpoint yet.
    if entry is None or "endpoint" not in entry:
        wrong = f"there is no cluster `{cluster}` in {api.region} that could be reached"
        raise CommandError(
            wrong, f"check `trn:name` and `trn:region` in the stack file; `{typed('pulumi up')}` makes the cluster", code=MISUSE
        )
    return entry
