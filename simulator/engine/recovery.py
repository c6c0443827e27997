"""The way back from a run that was killed, or refused: what a person does before the next one, as the tools do it.

After a kill the state holds operations without an end. What was being made is looked for in the account by its name, its
place or its tags, and imported into the state while the operations still tell what to import; what is not found was never
made. What was being deleted is refreshed. (Seen with CLI 3.260: `pulumi import --file`, then `pulumi refresh
--clear-pending-creates`; `--import-pending-creates` imports nothing, and a plain `up` makes what has no name a second time.)
"""

from collections.abc import Callable

from facts.typed import made_again, typed
from simulator.account import kinds
from simulator.account.conflicts import identity
from simulator.account.objects import CloudObject
from simulator.account.rule import Refusal
from simulator.account.world import World
from simulator.engine.state import State, object_key
from simulator.recording import Registration, exists_in_cloud

CANCEL = "pulumi cancel"
RECOVER = "trn recover"
FORGET = "PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh"
SWEEP = "trn sweep --delete"
DRAIN = "trn drain"


def recover(state: State, world: World) -> list[str]:
    """Fix the state after a kill; gives the commands that do it."""
    done = [typed(CANCEL)]
    for pending in state.pending:
        if pending.doing == "creating":
            _resume(pending.registration, state, world, done)
    waits = max((pending.remaining_s for pending in state.pending if pending.doing == "creating"), default=0.0)
    state.pending.clear()
    refresh(state, world)
    again = typed(RECOVER)
    return [*done, f"{again} (waits {waits:.0f} s for what AWS is still making)" if waits >= 1 else again]


def _resume(registration: Registration, state: State, world: World, done: list[str]) -> None:
    """Import what one creation without an end has made."""
    found = find(registration, state, world)
    if found is None:
        return
    if registration.type == kinds.RELEASE:
        # Half installed: Helm refuses to upgrade it, and the import would treat it as finished.
        done.append(f"helm uninstall {registration.inputs['name']} --namespace {registration.inputs['namespace']}")
        world.finish_delete(found.registration)
        return
    state.adopt(found.registration, "it did not become ready" if found.status != "ready" else None)


def find(registration: Registration, state: State, world: World) -> CloudObject | None:
    """The object that a request has made, found by its identity among those that the state does not know; None where there is none."""
    asked, known = identity(registration), state.known()
    if asked is None:
        return None
    made = (item for item in world.state.existing(registration.type) if object_key(item.registration) not in known)
    return next((item for item in made if identity(item.registration) == asked), None)


def refresh(state: State, world: World) -> None:
    """Drop from the state what is no longer there, and what names it."""
    for registration in state.objects():
        if exists_in_cloud(registration) and world.state.of(registration) is None:
            state.forget(registration)
    state.prune()


def follow(refusal: Refusal, urn: str, state: State, world: World) -> tuple[list[str], frozenset[str]]:
    """Do what a fix says, as far as a machine can: the commands, and URNs that the next `up` is to replace."""
    if refusal.remedy == "replace":
        return [made_again(urn)], frozenset({urn})
    act = _ACTS.get(refusal.remedy)
    return (act(state, world) if act is not None else []), frozenset()


def _sweep(state: State, world: World) -> list[str]:
    for name in [name for name, stray in world.state.strays.items() if stray.subnet_ids]:
        del world.state.strays[name]
    return [typed(SWEEP)]


def _drain(state: State, world: World) -> list[str]:
    for name in [name for name in world.state.strays if name.startswith("pod on")]:
        del world.state.strays[name]
    return [typed(DRAIN)]


def drop_unreachable(state: State, world: World) -> None:
    """Drop from the state what lived in a cluster that is gone."""
    if not world.state.ready(kinds.CLUSTER):
        for registration in [held.registration for held in (*state.pending_deletions, *state.held.values())]:
            if kinds.is_kubernetes(registration.type):
                state.forget(registration)


def _forget(state: State, world: World) -> list[str]:
    drop_unreachable(state, world)
    return [typed(FORGET)]


_ACTS: dict[str, Callable[[State, World], list[str]]] = {"sweep": _sweep, "drain": _drain, "forget": _forget}
