"""What Volcano's webhook refuses: queues whose hierarchy does not add up."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from facts.volcano_queues import MAX_QUEUE_DEPTH, OWN_QUEUES, ROOT_QUEUE, amount
from simulator.account import kinds
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration

_SOURCE = "volcano-sh/volcano v1.15 pkg/webhooks/admission/queues/validate/validate_queue.go; met on a real API server, 2026-11-22"


@rule("create", kinds.QUEUE, source=_SOURCE)
def queue_fits_its_hierarchy(state: AccountState, request: Registration) -> Refusal | None:
    """A queue's parent is there, and the shares of all children fit into what the parent deserves."""
    return _judged(state, request)


@rule("update", kinds.QUEUE, source=_SOURCE)
def queue_still_fits_its_hierarchy(state: AccountState, request: Registration) -> Refusal | None:
    """A queue that is changed still fits below its parent, and its children still fit below it."""
    return _judged(state, request)


@rule("delete", kinds.QUEUE, source=_SOURCE)
def queue_has_no_children(state: AccountState, gone: Registration) -> Refusal | None:
    """A queue is deleted only after its children."""
    name = _name(gone)
    children = [child for child, spec in _queues(state).items() if spec.get("parent") == name]
    if not children and name not in OWN_QUEUES:
        return None
    why = f"it has {len(children)} child queues: {', '.join(children)}" if children else "Volcano makes it itself"
    return _denied(f"queue {name} can not be deleted because {why}", f"delete what is below {name} first")


def _judged(state: AccountState, request: Registration) -> Refusal | None:
    name = _name(request)
    queues = {**_queues(state), name: request.inputs.get("spec") or {}}
    parent = queues[name].get("parent")
    beyond = _share_beyond_capability(queues[name])
    if beyond is not None:
        return beyond
    if parent in (None, "", ROOT_QUEUE):
        return _children_fit(name, queues)
    if parent not in queues:
        return _denied(
            f'failed to get parent queue of queue {name}: queue.scheduling.volcano.sh "{parent}" not found', f"make {parent} first"
        )
    if len(_above(name, queues)) >= MAX_QUEUE_DEPTH:
        return _denied(f"queue {name} exceeds the maximum allowed depth of {MAX_QUEUE_DEPTH}", "use fewer levels")
    return _capability_fits(name, queues) or _children_fit(str(parent), queues) or _children_fit(name, queues)


def _share_beyond_capability(spec: Mapping[str, Any]) -> Refusal | None:
    most = _amounts(spec, "capability")
    for resource, share in _amounts(spec, "deserved").items():
        if resource in most and share > most[resource]:
            text = f"deserved[{resource}]={share} must be <= capability[{resource}]={most[resource]}"
            return _denied(text, "lower `deserved`, or raise `capability`")
    return None


def _capability_fits(name: str, queues: Mapping[str, Mapping[str, Any]]) -> Refusal | None:
    """Of each resource, no more than the nearest queue above it that names the resource."""
    for resource, most in _amounts(queues[name], "capability").items():
        limits = (_amounts(queues[above], "capability") for above in _above(name, queues))
        limit = next((amounts[resource] for amounts in limits if resource in amounts), None)
        if limit is not None and most > limit:
            text = f"queue {name} capability[{resource}]={most} exceeds its ancestor's capability={limit}"
            return _denied(text, "lower it, or raise the capability of the queue above")
    return None


def _children_fit(parent: str, queues: Mapping[str, Mapping[str, Any]]) -> Refusal | None:
    """Of each resource, all children together deserve no more than their parent; what it does not name counts as nothing."""
    children = [spec for spec in queues.values() if spec.get("parent") == parent]
    own = _amounts(queues[parent], "deserved")
    for resource, total in _together(_amounts(child, "deserved") for child in children).items():
        if total > own.get(resource, Decimal(0)):
            text = (
                f"parent queue {parent} validation failed: sum of children's deserved ({resource} {total}) exceeds parent's deserved limit"
            )
            return _denied(text, f"set `addons.volcano.queues.{parent}.deserved` to at least {resource} {total}")
    return None


def _together(shares: Iterable[Mapping[str, Decimal]]) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for share in shares:
        for resource, quantity in share.items():
            total[resource] = total.get(resource, Decimal(0)) + quantity
    return total


def _above(name: str, queues: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Queues above one, nearest first, without `root`."""
    above: list[str] = []
    parent = queues[name].get("parent")
    while parent in queues and parent not in above and parent != ROOT_QUEUE:
        above.append(str(parent))
        parent = queues[str(parent)].get("parent")
    return above


def _queues(state: AccountState) -> dict[str, Mapping[str, Any]]:
    return {_name(item.registration): item.registration.inputs.get("spec") or {} for item in state.existing(kinds.QUEUE)}


def _name(queue: Registration) -> str:
    return str(queue.inputs["metadata"]["name"])


def _amounts(spec: Mapping[str, Any], section: str) -> dict[str, Decimal]:
    return {resource: amount(quantity) for resource, quantity in (spec.get(section) or {}).items()}


def _denied(why: str, fix: str) -> Refusal:
    return Refusal("Forbidden", f'admission webhook "validatequeue.volcano.sh" denied the request: {why}', why, fix)
