"""Images of the pods that `trn` itself starts: for tests, and for a shell."""

from addons.images import mirrored
from addons.versions import PYTHON_IMAGE
from facts.toolchains import TOOLCHAINS
from stacks.settings import Settings


def started_images(settings: Settings) -> list[str]:
    """All of them, as they are called without a mirror."""
    name = settings.training.toolchain
    training = TOOLCHAINS[name].image if name is not None else None
    return [PYTHON_IMAGE, training] if training else [PYTHON_IMAGE]


def small_image(settings: Settings) -> str:
    """A shell and Python, from the mirror where there is one."""
    return mirrored(PYTHON_IMAGE, settings.addons.mirror)


def training_image(settings: Settings) -> str | None:
    """AWS's training image of `training.toolchain`, from the mirror where there is one; None where none is known, or the key is not set."""
    return next((mirrored(image, settings.addons.mirror) for image in started_images(settings)[1:]), None)
