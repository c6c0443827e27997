"""How long the same cluster takes in the order that others make it, with the same latencies."""

from dataclasses import dataclass
from pathlib import Path

import yaml

from simulator import latencies
from simulator.recording import Recording, Registration

DIRECTORY = Path(__file__).parent


@dataclass(frozen=True)
class Stage:
    """What is made together: the next stage waits for all of it."""

    name: str
    chains: tuple[tuple[str, ...], ...]
    """Side by side; within a chain one after the other, each as `Type name`."""


@dataclass(frozen=True)
class Comparison:
    """One way of making a cluster."""

    name: str
    says: str
    source: str
    stages: tuple[Stage, ...]

    def seconds(self, recording: Recording, seed: int) -> float:
        """Time to ready for the resources of a recording, which must have all that the stages name.

        Raises KeyError for a resource that the recording does not have.
        """
        known = {_label(item): item for item in recording.resources()}
        return round(
            sum(
                max(sum(latencies.seconds(known[label], "create", seed) for label in chain) for chain in stage.chains)
                for stage in self.stages
            ),
            1,
        )


def comparisons() -> list[Comparison]:
    """All of them, by name."""
    return [_read(path) for path in sorted(DIRECTORY.glob("*.yaml"))]


def _read(path: Path) -> Comparison:
    entry = yaml.safe_load(path.read_text())
    stages = tuple(Stage(stage["name"], tuple(map(tuple, stage["chains"]))) for stage in entry["stages"])
    return Comparison(path.stem, entry["says"], entry["source"], stages)


def _label(item: Registration) -> str:
    return f"{item.type.rsplit(':', 1)[-1]} {item.name}"
