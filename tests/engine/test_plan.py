"""`trn plan` reads what the real engine plans, and comes to the same as with the rehearsal's engine."""

import pytest

from tests.engine.cli import Engine, needs_cli
from trn.engine.effects import effects
from trn.engine.planned import planned

pytestmark = [pytest.mark.engine, needs_cli]


def json_of(text: str) -> str:
    """The object among what was printed."""
    return text[text.index("{") : text.rindex("}") + 1]


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("nodeGroups.trn1-32xl.size", "1", {"trn1-32xl": {"restarts"}}),
        ("nodeGroups.trn1-32xl.rootVolumeGib", "300", {"trn1-32xl": {"restarts"}}),
        ("storage.lustre.zoneId", "usw2-az1", {"lustre": {"data"}, "fsx-claim": {"data"}}),
        ("storage.lustre.capacityGib", "2400", {}),
    ],
)
def test_classes_are_those_of_a_rehearsal(engine: Engine, path: str, value: str, expected: dict[str, set[str]]):
    state = json_of(engine.run("stack", "export", quiet=True))
    engine.configure(path, value)
    found = planned(state, json_of(engine.run("preview", "--json", quiet=True)), engine.recording)
    assert {item.name: set(item.classes) for item in effects(found) if item.classes != {"safe"}} == expected
    assert all(change.old is not None and change.old.id for change in found.changes.values() if change.kind != "create")
