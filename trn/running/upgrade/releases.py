"""Which AMI release a pinned group takes for a new Kubernetes minor."""

from facts.ami_releases import PUBLISHED, near
from facts.catalogue import NEURON_TYPES
from facts.neuron_releases import ami_date, ami_driver
from facts.toolchains import TOOLCHAINS, driver_conflict, hardware_conflict
from stacks.settings import Settings
from trn.cli.errors import CommandError
from trn.running.upgrade.configuration import sections
from trn.running.upgrade.steps import Group


def release_for(group: Group, minor: str, settings: Settings) -> str:
    """The release nearest to the pinned one's date whose Neuron driver starts the stack's training image.

    Of the same day where there is one: driver and kernel of the minor then change as little as they can. Raises CommandError where no
    published release fits.
    """
    assert group.pinned is not None
    path = f"{'.'.join(group.section)}.releaseVersion"
    fitting = tuple(release for release in PUBLISHED.get(minor, ()) if _fits(group, release, settings))
    if not fitting:
        wrong = f"no AMI release of Kubernetes {minor} is known whose Neuron driver starts images of {settings.training.toolchain}"
        raise CommandError(wrong, f"take another `training.toolchain` first; `{path}` is {group.pinned}, docs/hardware.md has the drivers")
    return near(ami_date(group.pinned), fitting, count=1)[0]


def _fits(group: Group, release: str, settings: Settings) -> bool:
    name = settings.training.toolchain
    if not group.is_neuron or name is None:
        return True
    toolchain = TOOLCHAINS[name]
    if hardware_conflict(toolchain, NEURON_TYPES[settings.node_groups[group.section[-1]].instance_type]) is not None:
        return True
    return driver_conflict(toolchain, ami_driver(release)) is None


def groups_at(settings: Settings, minor: str) -> tuple[Group, ...]:
    """The stack's groups as they are with a control plane of this minor: pinned ones with a release of it.

    Raises CommandError where no release of it fits the training image.
    """
    found = []
    for name, section, pinned, is_neuron in sections(settings):
        group = Group(name, section, minor, pinned, is_neuron)
        is_of = pinned is None or pinned.startswith(f"{minor}.")
        found.append(group if is_of else Group(name, section, minor, release_for(group, minor, settings), is_neuron))
    return tuple(found)
