"""What runs now: versions of control plane, add-ons and nodes by EKS, and what Pulumi would still change. Reads only."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from addons.versions import SUPPORTED_KUBERNETES
from facts.kubernetes_versions import minors_behind
from facts.typed import typed
from simulator.account import kinds
from simulator.recording import Recording
from simulator.replacements import changed_paths
from stacks.problems import ConfigurationError
from stacks.settings import Settings
from trn.aws.api import Api
from trn.aws.eks import addon_version, described, node_group, node_group_names
from trn.cli.errors import MISUSE, CommandError
from trn.cli.watching import Watching
from trn.engine.effects import Effect, effects
from trn.engine.planned import ask_engine
from trn.engine.program import record_stack
from trn.engine.pulumi import Pulumi
from trn.engine.stack_edit import Edit
from trn.engine.stack_file import StackFile, with_edits
from trn.running.upgrade.steps import SUPPORT_KEY, Group, Kind, Standing, groups_at, readable, sections, settings_before, standing_file

ACTIVE = "ACTIVE"
BUSY = ("UPDATING", "CREATING", "PENDING")
VERSIONS = frozenset({"version", "releaseVersion"})
"""Inputs of a node group that its step writes."""
PAUSE_S, ROUNDS = 15, 240
"""Together an hour: an upgrade of a control plane that a killed run began ends in about 15 minutes."""


def _take_back() -> str:
    return f"run `{typed('pulumi up')}` first, or take the edits back; then run this again"


@dataclass(frozen=True)
class Found:
    """A cluster as EKS describes it."""

    control_plane: str
    """Minor."""
    groups: tuple[Group, ...]
    subnets: tuple[str, ...]
    """Of the control plane."""
    described: Mapping[str, Mapping[str, Any]]
    """Node groups by name, in EKS's words."""


def look(api: Api, settings: Settings, watching: Watching) -> Found:
    """What there is, once nothing of it is being changed any more. Raises CommandError where there is no cluster, or it does not settle."""
    busy = list[str]()
    for number in range(ROUNDS):
        entry = described(api, settings.name)
        if entry is None:
            raise CommandError(f"there is no cluster `{settings.name}` in {api.region}", f"`{typed('pulumi up')}` makes it", code=MISUSE)
        there = {name: node_group(api, settings.name, name) for name in node_group_names(api, settings.name)}
        busy = [f"{name} is {each['status']}" for name, each in {"the control plane": entry, **there}.items() if each["status"] in BUSY]
        if not busy:
            return _found(entry, there, settings)
        if number == 0:
            watching.tell(f"waiting for EKS: {', '.join(busy)}")
        watching.show(number, ROUNDS)
        watching.pause(PAUSE_S)
    raise CommandError(f"EKS is still at it: {', '.join(busy)}", "wait until it has ended, then run this again")


def moved(shown: Standing, now: Standing) -> list[str]:
    """Where the cluster is of other minors than when the plan was shown: another run was faster.

    The old plan's steps would write the older minors into the stack file, and ask EKS for them.
    """
    before, after = (
        {"the control plane": each.control_plane} | {group.name: group.minor for group in each.groups} for each in (shown, now)
    )
    found = [f"{name} is of {minor}" for name, minor in after.items() if before.get(name) != minor]
    return [*found, *(f"{name} is gone" for name in before if name not in after)]


def _found(entry: dict[str, Any], there: dict[str, dict[str, Any]], settings: Settings) -> Found:
    wrong = [f"{name} is {each['status']}" for name, each in {"the control plane": entry, **there}.items() if each["status"] != ACTIVE]
    if wrong:
        raise CommandError(
            f"not to be upgraded: {', '.join(wrong)}",
            f"`{typed('trn status')}` and `{typed('trn why')}` say what is wrong; put it right first",
        )
    groups, plane = list[Group](), str(entry["version"])
    for name, section, pinned, is_neuron in sections(settings):
        if name in there:
            # EKS says no version of a group with an AMI of its own.
            minor = str(there[name].get("version") or plane)
            is_ahead = pinned is not None and not pinned.startswith(f"{minor}.")
            release = there[name].get("releaseVersion", pinned) if is_ahead else pinned
            groups.append(Group(name, section, minor, release, is_neuron, is_ahead))
    return Found(plane, tuple(groups), tuple(entry.get("resourcesVpcConfig", {}).get("subnetIds", ())), there)


def late_addons(api: Api, cluster: str, recording: Recording) -> list[str]:
    """EKS add-ons of the program that are not of the version that it asks for, each with both."""
    found = []
    for item in recording.of_type(kinds.ADDON):
        name, wanted = str(item.inputs["addonName"]), item.inputs.get("addonVersion")
        there = addon_version(api, cluster, name)
        if wanted and there != wanted:
            found.append(f"{name} {there or 'not there'}, wanted {wanted}")
    return found


def pending(pulumi: Pulumi, stack_file: StackFile) -> list[Effect]:
    """What `pulumi up` would change now: nothing, unless a run was stopped or a key was edited. Raises CommandError."""
    return effects(ask_engine(pulumi, stack_file.stack, record_stack(readable(stack_file))))


def shown(effect: Effect) -> str:
    """One change for a person."""
    return f"{effect.operation} {effect.type} {effect.name}"


def refuse_foreign(waiting: Sequence[Effect], stack_file: StackFile) -> None:
    """Raises CommandError for changes that no minor makes: edits between two runs, which the steps would carry out unseen.

    What a minor makes is what differs between the program's resources of any two minors, and the versions of node groups; of these
    `refuse_rolled` says which. Where the program can be recorded with one minor alone, nothing is known of it, and nothing is refused.
    """
    recorded = _recordings(stack_file) if waiting else []
    foreign = [shown(effect) for effect in waiting if not _is_of_a_minor(effect, recorded)]
    if foreign and len(recorded) > 1:
        raise CommandError(f"`{typed('pulumi up')}` would change more than an upgrade does: {_listed(foreign)}", _take_back())


def _is_of_a_minor(effect: Effect, recorded: Sequence[Recording]) -> bool:
    """Whether a change touches only inputs in which the program differs from minor to minor.

    One that touches none is what was begun before and did not come up, such as a chart: the next run tries it again.
    """
    first, *rest = [each.registrations[effect.urn].inputs if effect.urn in each.registrations else None for each in recorded] or [None]
    if effect.operation != "update":
        # A node group differs in its version, and is not made anew for it.
        return any((other is None) != (first is None) for other in rest)
    differing = {path for other in rest for path in changed_paths(first or {}, other or {})}
    differing |= VERSIONS if effect.type == kinds.NODE_GROUP else set()
    return all(any(_meet(path, other) for other in differing) for path in effect.because)


def _meet(path: str, other: str) -> bool:
    """Whether one path is the other, or within it: not every provider tells the parts of an object."""
    return path == other or path.startswith((f"{other}.", f"{other}[")) or other.startswith((f"{path}.", f"{path}["))


def refuse_rolled(waiting: Sequence[Effect], found: Found, stack_file: StackFile, group: Group | None) -> None:
    """Raises CommandError for node groups that a run of the whole program would roll, and whose step it is not.

    `stack_file`: as that run has it; `group`: that it rolls. A group that EKS has as the file asks is none of them.
    """
    with suppress(ConfigurationError):
        wanted = record_stack(readable(stack_file)).registrations
        groups = [effect for effect in waiting if effect.type == kinds.NODE_GROUP and effect.operation == "update" and effect.urn in wanted]
        others = [effect for effect in groups if group is None or effect.object_name != group.name]
        if rolling := [shown(effect) for effect in others if not _has(found, effect, wanted[effect.urn].inputs, VERSIONS & _keys(effect))]:
            raise CommandError(f"`{typed('pulumi up')}` would change more than an upgrade does: {_listed(rolling)}", _take_back())


def refuse_resized(found: Found, stack_file: StackFile) -> None:
    """Raises CommandError for groups whose size was set beside the stack file: a run that reads everything again would set it back."""
    resized = list[str]()
    for item in record_stack(readable(stack_file)).of_type(kinds.NODE_GROUP):
        name, wanted = str(item.inputs["nodeGroupName"]), item.inputs["scalingConfig"]["desiredSize"]
        is_theirs = bool({"scalingConfig", "scalingConfig.desiredSize"} & set(item.options.get("ignoreChanges") or ()))
        there = found.described[name]["scalingConfig"]["desiredSize"] if name in found.described and not is_theirs else wanted
        resized += [f"{name} has {there} nodes, the stack file says {wanted}"] if there != wanted else []
    if resized:
        wrong = f"going on after a run that was stopped would set sizes back: {', '.join(resized)}"
        raise CommandError(
            wrong,
            f"make both the same, with `{typed('trn scale')}`, or with the stack file and `{typed('pulumi up')}`; then run this again",
        )


def _has(found: Found, effect: Effect, wanted: Mapping[str, Any], keys: AbstractSet[str]) -> bool:
    """Whether EKS has a group as the program asks, by these keys."""
    there = found.described.get(effect.object_name, {})
    return all(there.get(key) == wanted.get(key) for key in keys)


def _keys(effect: Effect) -> set[str]:
    return {path.split(".")[0].split("[")[0] for path in effect.because}


def rolled(found: Found, waiting: Sequence[Effect], stack_file: StackFile) -> list[str]:
    """URNs of groups that are in EKS as the program asks, and only Pulumi's state does not know it: a run was killed meanwhile.

    A group whose stack file asks for another AMI than it has is none of them: `pulumi up` would replace its nodes.
    """
    wanted, ended = record_stack(readable(stack_file)).registrations if waiting else {}, list[str]()
    for effect in waiting:
        is_update = effect.type == kinds.NODE_GROUP and effect.operation == "update" and effect.object_name in found.described
        if is_update and (keys := _keys(effect)) and _has(found, effect, wanted[effect.urn].inputs, keys):
            ended.append(effect.urn)
    return ended


def _recordings(stack_file: StackFile) -> list[Recording]:
    """The program with each minor that it has pins for; minors that the rest of the stack file does not fit are left out."""
    # What makes an outgoing minor readable is no part of a minor: an edit of that key is an edit.
    recorded, settings, alike = list[Recording](), settings_before(stack_file), with_edits(stack_file, [Edit(SUPPORT_KEY, "EXTENDED")])
    for minor in SUPPORTED_KUBERNETES:
        with suppress(ConfigurationError, CommandError):
            recorded.append(record_stack(standing_file(alike, Standing(minor, groups_at(settings, minor)))))
    return recorded


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def standing_of(
    found: Found, in_file: str, late: Sequence[str], waiting: Sequence[str], *, cluster: str, is_default: bool = False,
    ended: Sequence[str] = (),
) -> Standing:  # fmt: skip
    """How far the cluster is.

    `in_file`: the control plane's minor in the stack file; `late`: add-ons of an older minor; `waiting`: what `pulumi up` would change,
    but the groups `ended`, of which only Pulumi's state does not know the end; `is_default`: the file has no such key.
    Raises CommandError where the file does not fit the cluster, or holds changes that are no part of an upgrade.
    """
    plane, key = found.control_plane, "controlPlane.kubernetesVersion"
    ahead = minors_behind(in_file, plane)
    says = f"the stack file has no `{key}`, which means {in_file}" if is_default else f"the stack file says {in_file}"
    if ahead < 0:
        raise CommandError(
            f"the control plane of {cluster} is of {plane}, {says}: it was upgraded elsewhere, and is never downgraded",
            f'set `{key}: "{plane}"` and the nodes\' `kubernetesVersion` to what they run, then run this again',
            code=MISUSE,
        )
    if ahead > 1:
        wrong = f"{says}, the control plane of {cluster} is of {plane}: EKS takes one minor at a time"
        raise CommandError(wrong, f'set `{key}: "{plane}"` again; this command writes each minor in its turn', code=MISUSE)
    if ahead == 1:
        # A run was stopped at this control plane; what came before it had ended.
        return Standing(plane, found.groups)
    is_under_way = bool(late) or any(group.minor != plane for group in found.groups)
    if waiting and not is_under_way:
        raise CommandError(f"`{typed('pulumi up')}` would change more than an upgrade does: {_listed(waiting)}", _take_back())
    # A group whose keys were written before its nodes were rolled has its own step.
    beside = [change for change in waiting if f" {kinds.NODE_GROUP} " not in change]
    unfinished: tuple[Kind, ...] = ("add-ons", "charts") if late else ("charts",) if beside else ()
    # While something is under way, a later step runs the whole program, and looks at all groups again.
    return Standing(plane, found.groups, unfinished, () if is_under_way else tuple(ended))
