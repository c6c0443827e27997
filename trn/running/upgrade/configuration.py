"""The stack file of an upgrade: as the cluster stands, and as each step leaves it."""

from facts.kubernetes_versions import KUBERNETES_VERSIONS, leaves_standard_support_soon
from stacks.node_groups import CORE_GROUP
from stacks.settings import Settings
from trn.engine.program import settings_of
from trn.engine.stack_edit import Edit
from trn.engine.stack_file import StackFile, with_edits
from trn.running.upgrade.steps import CONTROL_PLANE_KEY, Standing

_SUPPORT_KEY = ("controlPlane", "supportType")


def readable(stack_file: StackFile) -> StackFile:
    """The stack file with the one key that lets an outgoing minor pass: that EKS will upgrade it is what an upgrade is about."""
    plane = stack_file.configuration.get("controlPlane") or {}
    minor, support = (plane.get("kubernetesVersion"), plane.get("supportType")) if isinstance(plane, dict) else (None, None)
    if minor in KUBERNETES_VERSIONS and leaves_standard_support_soon(minor) and support != "EXTENDED":
        return with_edits(stack_file, [Edit(_SUPPORT_KEY, "EXTENDED")])
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
