"""Images of the pods that `trn` itself starts: for tests, and for a shell."""

from addons.images import mirrored
from addons.versions import NEURON_TRAINING_IMAGES, PYTHON_IMAGE
from stacks.settings import Settings


def started_images(settings: Settings) -> list[str]:
    """All of them, as they are called without a mirror."""
    training = NEURON_TRAINING_IMAGES.get(settings.training.neuron_sdk or "")
    return [PYTHON_IMAGE, training] if training else [PYTHON_IMAGE]


def small_image(settings: Settings) -> str:
    """A shell and Python, from the mirror where there is one."""
    return mirrored(PYTHON_IMAGE, settings.addons.mirror)


def training_image(settings: Settings) -> str | None:
    """AWS's training image of `training.neuronSdk`, from the mirror where there is one; None where AWS publishes none, or the key is not set."""
    return next((mirrored(image, settings.addons.mirror) for image in started_images(settings)[1:]), None)
