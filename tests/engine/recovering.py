"""`trn recover` with the real engine: its plan and what it tells Pulumi, with the simulated cloud looked into instead of an account."""

from types import SimpleNamespace
from typing import Any

from tests.engine.cli import Engine
from trn.aws.sighting import Sighting
from trn.change.identity import state_id
from trn.ending.recover.change import actions_of, exported, with_orphans
from trn.ending.recover.plan import Plan, plan_recovery


def recover(engine: Engine, *, orphans: bool = False) -> Plan:
    """One recovery; gives what it did."""

    def asked(command: tuple[str, ...]) -> tuple[int, str]:
        return 0, engine.run(*_arguments(command), quiet=True)

    def run(command: tuple[str, ...], environment: dict[str, str]) -> tuple[int, str]:
        assert environment == {}
        return 0, engine.run(*_arguments(command))

    pulumi: Any = SimpleNamespace(ask=asked, run=run)
    state = exported(pulumi, "dev")
    if orphans:
        state = with_orphans(state, pulumi, "dev")
    there = [(item.urn, Sighting(item.id)) for item in engine.world.values()]
    made = {pending.urn: tuple(sighting for urn, sighting in there if urn == pending.urn) for pending in state.pending}
    plan = plan_recovery(state, made)
    site: Any = SimpleNamespace(pulumi=pulumi)
    for action in actions_of(plan, "dev", state_id(pulumi, "dev")):
        assert action.do(site, action.object).kind == "done"
    return plan


def _arguments(command: tuple[str, ...]) -> tuple[str, ...]:
    """Behind `trn engine --`, which names the stack itself and refuses `--stack`."""
    assert (command[0], command[-2:]) == ("pulumi", ("--stack", "dev"))
    return command[1:-2]
