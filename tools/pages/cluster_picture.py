"""The picture of the cluster in the README: that of a rehearsal's page, from a recording of the dev stack."""

from pathlib import Path

from addons.registry import REGISTRY
from report.boxes import Box, svg
from report.inventory import Inventory
from simulator.recording import Recording
from stacks.cluster import cluster_of
from stacks.settings import Settings
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import read_stack_file

ROOT = Path(__file__).parent.parent.parent


def rows(recording: Recording, settings: Settings) -> list[list[Box]]:
    """Network and nodes, and the add-ons by the names that they have in the stack file's reference."""
    on = [item.title for item in REGISTRY if item.is_on(cluster_of(settings))]
    return [*Inventory(recording).network(), [Box("plain", f"{len(on)} add-ons in the cluster", [", ".join(on)])]]


def picture(root: Path = ROOT) -> str:
    """The SVG, for light and dark."""
    stack_file = read_stack_file("dev", root)
    settings = settings_of(stack_file)
    heading = f"{settings.name} in {settings.region}"
    words = f"The cluster {heading}: control plane, network, node groups, file system and add-ons"
    return svg(heading, words, rows(record_stack(stack_file), settings))
