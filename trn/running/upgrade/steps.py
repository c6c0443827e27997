"""The steps of an upgrade, from what runs and what is wanted: pure data, in the order that version skew allows.

Control plane, then EKS add-ons, then charts, minor by minor; nodes last, once: a kubelet may be three minors older than its API
server, so their jobs stop once and not at each minor. Groups that would fall further behind are rolled before that happens.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from facts.kubernetes_versions import KUBELET_SKEW, minor_number, minors_behind, minors_between
from trn.engine.stack_edit import Edit

Kind = Literal["control plane", "add-ons", "charts", "nodes"]
CONTROL_PLANE_KEY = ("controlPlane", "kubernetesVersion")


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


@dataclass(frozen=True)
class Step:
    """One run of `pulumi up`, and the keys of the stack file that are set before it."""

    kind: Kind
    minor: str
    edits: tuple[Edit, ...]
    group: Group | None = None
    """Of a step of nodes."""

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
    for minor in minors_between(plane, target):
        found += [roll(group) for group in standing.groups if minors_behind(minor, at[group.name]) > KUBELET_SKEW]
        plane = minor
        found += parts((Edit(CONTROL_PLANE_KEY, plane), *hold()), "control plane", "add-ons", "charts")
    return [*found, *(roll(group) for group in standing.groups if minor_number(at[group.name]) < minor_number(plane))]
