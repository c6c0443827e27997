"""The steps of an upgrade, from what runs and what is wanted: minors, AMI releases, and keys of the stack file. Pure data.

The order is the one that version skew allows. Control plane, then EKS add-ons, then charts, minor by minor; nodes last, once: a kubelet may be three minors older than its API
server, so their jobs stop once and not at each minor. Groups that would fall further behind are rolled before that happens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from addons.versions import SUPPORTED_KUBERNETES
from facts.ami_releases import PUBLISHED, near
from facts.catalogue import NEURON_TYPES
from facts.kubernetes_versions import (
    KUBELET_SKEW,
    KUBERNETES_VERSIONS,
    leaves_standard_support_soon,
    minor_number,
    minors_behind,
    minors_between,
)  # fmt: skip
from facts.neuron_releases import ami_date, ami_driver
from facts.toolchains import TOOLCHAINS, driver_conflict, hardware_conflict
from stacks.node_groups import CORE_GROUP
from stacks.settings import Settings
from trn.cli.errors import MISUSE, CommandError
from trn.engine.program import settings_of
from trn.engine.stack_edit import Edit
from trn.engine.stack_file import StackFile, with_edits

Kind = Literal["control plane", "add-ons", "charts", "nodes"]
CONTROL_PLANE_KEY = ("controlPlane", "kubernetesVersion")
SUPPORT_KEY = ("controlPlane", "supportType")


@dataclass(frozen=True)
class Group:
    """A node group as it runs, and as the stack file pins it."""

    name: str
    """In EKS."""
    section: tuple[str, ...]
    """Of the stack file: `("nodeGroups", "trn1-32xl")`."""
    minor: str
    """Of its nodes, by EKS."""
    pinned: str | None
    """AMI release of a pinned group, of `minor`."""
    is_neuron: bool
    is_pin_ahead: bool = False
    """The stack file pins a release of another minor already: a run was stopped before the nodes were rolled."""


@dataclass(frozen=True)
class Standing:
    """A cluster before, or in the middle of, an upgrade."""

    control_plane: str
    """Minor, by EKS."""
    groups: Sequence[Group]
    """In the order in which they are rolled: the core group first, as the add-ons' pods are there."""
    unfinished: tuple[Kind, ...] = ()
    """What an earlier run did not bring to the control plane's minor: add-ons, charts."""
    rolled: tuple[str, ...] = ()
    """URNs of groups whose nodes are rolled, as EKS says, and Pulumi's state does not know it."""


@dataclass(frozen=True)
class Step:
    """One run of `pulumi up`, and the keys of the stack file that are set before it."""

    kind: Kind
    minor: str
    edits: tuple[Edit, ...]
    group: Group | None = None
    """That it rolls."""
    targets: tuple[str, ...] = ()
    """URNs, where they are not all of a type."""

    @property
    def title(self) -> str:
        """Such as `control plane 1.36` or `nodes of trn1-32xl 1.36`."""
        return f"{self.kind} {self.minor}" if self.group is None else f"nodes of {self.group.name} {self.minor}"


Release = Callable[[Group, str], str]
"""The AMI release that a pinned group takes for a minor."""


def steps(standing: Standing, target: str, release: Release) -> list[Step]:
    """All steps to a minor, none where everything is of it. `target` is not older than the control plane."""
    at = {group.name: group.minor for group in standing.groups}
    plane, found = standing.control_plane, list[Step]()

    def hold() -> tuple[Edit, ...]:
        """Groups that stay behind say so: a `pulumi up` by anybody in between leaves their nodes alone."""
        behind = [group for group in standing.groups if minors_behind(plane, at[group.name])]
        held = [Edit((*group.section, "kubernetesVersion"), at[group.name]) for group in behind]
        return (*held, *(Edit((*group.section, "releaseVersion"), group.pinned) for group in behind if group.is_pin_ahead))

    def roll(group: Group) -> Step:
        at[group.name] = plane
        pin = [Edit((*group.section, "releaseVersion"), release(group, plane))] if group.pinned else []
        return Step("nodes", plane, (Edit((*group.section, "kubernetesVersion"), None), *pin), group)

    def parts(edits: tuple[Edit, ...], *kinds: Kind) -> list[Step]:
        return [Step(kind, plane, edits) for kind in kinds]

    found += parts((Edit(CONTROL_PLANE_KEY, plane), *hold()), *standing.unfinished)
    found += [Step("nodes", plane, (), targets=standing.rolled)] if standing.rolled else []
    for minor in minors_between(plane, target):
        found += [roll(group) for group in standing.groups if minors_behind(minor, at[group.name]) > KUBELET_SKEW]
        plane = minor
        found += parts((Edit(CONTROL_PLANE_KEY, plane), *hold()), "control plane", "add-ons", "charts")
    return [*found, *(roll(group) for group in standing.groups if minor_number(at[group.name]) < minor_number(plane))]


# The minors on the way


def refuse_unknown(target: str) -> None:
    """Raises CommandError for a minor that this version of the program has no pins for."""
    if target not in SUPPORTED_KUBERNETES:
        allowed = ", ".join(SUPPORTED_KUBERNETES)
        hint = "in quotes where a shell would read it as a number; a newer minor needs a newer version of this program, with its pins"
        raise CommandError(f"`--to {target}` is no minor that this program has pinned versions for; allowed: {allowed}", hint, code=MISUSE)


def minors_to(current: str, target: str) -> tuple[str, ...]:
    """Each minor after `current`, up to the target; the target alone where the control plane is there already.

    Raises CommandError for a downgrade, and where the way leads through a minor without pins.
    """
    if minors_behind(target, current) < 0:
        wrong = f"the control plane is of {current}: EKS never takes it back to {target}"
        raise CommandError(wrong, "what can be taken back is a new cluster of the older minor, with the jobs moved there", code=MISUSE)
    between = minors_between(current, target)
    for minor in between:
        refuse_unknown(minor)
    return between or (target,)


# The stack file: as the cluster stands, and as each step leaves it


def readable(stack_file: StackFile) -> StackFile:
    """The stack file with the one key that lets an outgoing minor pass: that EKS will upgrade it is what an upgrade is about."""
    plane = stack_file.configuration.get("controlPlane") or {}
    minor, support = (plane.get("kubernetesVersion"), plane.get("supportType")) if isinstance(plane, dict) else (None, None)
    if minor in KUBERNETES_VERSIONS and leaves_standard_support_soon(minor) and support != "EXTENDED":
        return with_edits(stack_file, [Edit(SUPPORT_KEY, "EXTENDED")])
    return stack_file


def settings_before(stack_file: StackFile) -> Settings:
    """Settings of a stack whose minor may be at its end. Raises ConfigurationError."""
    return settings_of(readable(stack_file))


def standing_file(stack_file: StackFile, standing: Standing) -> StackFile:
    """The stack file as the cluster stands, whatever a run that was stopped has written into it."""
    edits = [Edit(CONTROL_PLANE_KEY, standing.control_plane)]
    for group in standing.groups:
        held = group.minor if group.minor != standing.control_plane else None
        edits.append(Edit((*group.section, "kubernetesVersion"), held))
        edits.append(Edit((*group.section, "releaseVersion"), group.pinned))
    return readable(with_edits(stack_file, edits))


def sections(settings: Settings) -> list[tuple[str, tuple[str, ...], str | None, bool]]:
    """Name in EKS, section, pinned release and whether it has Neuron, of each group in the order in which groups are rolled."""
    core = (CORE_GROUP, ("coreNodes",), settings.core_nodes.release_version, False)
    return [core, *((name, ("nodeGroups", name), group.release_version, True) for name, group in sorted(settings.node_groups.items()))]


# The AMI release that a pinned group takes


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
