"""The commands' own client of a control plane on this machine."""

from collections.abc import Sequence

from kubernetes.client import ApiClient

from local_kubernetes.clients import configuration_of
from local_kubernetes.control_plane import ADMINISTRATORS, ControlPlane
from trn.kubernetes.client import KubernetesClient


def client_of(control_plane: ControlPlane, user: str = "administrator", groups: Sequence[str] = (ADMINISTRATORS,)) -> KubernetesClient:
    """With a token of the user's."""
    configuration = configuration_of(control_plane.server, control_plane.authority_file)
    return KubernetesClient(ApiClient(configuration), lambda: control_plane.token(user, groups))
