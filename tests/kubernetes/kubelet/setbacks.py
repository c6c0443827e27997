"""Why a container could not be started, in the words that the API has for it, and when to try again. Pure."""

from dataclasses import dataclass

from tests.kubernetes.kubelet.environment import MissingReference
from tests.kubernetes.kubelet.fields import UnknownField
from tests.kubernetes.kubelet.images import NotPulled
from tests.kubernetes.kubelet.mounts import BadSubPath
from tests.kubernetes.kubelet.records import Running, Terminated, Waiting

RETRY_S = 1.0
"""Between tries to get what the pod needs: its objects, its network, an API server that answers."""
PULL_RETRY_S = 10.0
ConfigError = MissingReference | UnknownField | BadSubPath


@dataclass(frozen=True)
class Setback:
    """What the container waits for, what the event says, and seconds until the next try."""

    waiting: Waiting
    event: str
    retry_s: float


def setback(error: NotPulled | ConfigError | OSError, before: Waiting | Running | Terminated) -> Setback:
    """An image that is not there is first ErrImagePull and then ImagePullBackOff; what else is missing is CreateContainerConfigError.

    Where the machine refuses something (OSError), it is CreateContainerError.
    """
    if isinstance(error, OSError):
        return Setback(Waiting("CreateContainerError", str(error)), f"Error: {error}", RETRY_S)
    if not isinstance(error, NotPulled):
        return Setback(Waiting("CreateContainerConfigError", str(error)), f"Error: {error}", RETRY_S)
    if isinstance(before, Waiting) and before.reason in ("ErrImagePull", "ImagePullBackOff"):
        text = f'Back-off pulling image "{error.image}"'
        return Setback(Waiting("ImagePullBackOff", text), text, PULL_RETRY_S)
    return Setback(Waiting("ErrImagePull", str(error)), f'Failed to pull image "{error.image}": {error}', RETRY_S)
