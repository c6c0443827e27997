"""A worker that compiles, as PyTorch/XLA's does: the command of a job whose pods run as processes. Standard library only.

It has three graphs. One that is compiled in the cache is taken from there; one with a lock would be waited for without end, and one
that failed is not tried again: both end it here. While graphs are collected it compiles none. A line says what it compiled itself.
"""

import json
import os
import sys
from pathlib import Path

VERSION, GRAPHS = "neuronxcc-2.25.3371.0+f524b039", ("forward", "backward", "update")


def entry(graph: str) -> Path:
    """Where a graph is in the cache."""
    return Path(os.environ["NEURON_COMPILE_CACHE_URL"]) / VERSION / f"MODULE_{graph}+1"


def compiled(place: Path) -> None:
    """Compile one."""
    place.mkdir(parents=True, exist_ok=True)
    (place / "model.hlo_module.pb").write_text("g")
    (place / "model.neff").write_bytes(b"n" * 4096)
    (place / "model.done").touch()


def work() -> None:
    """Meet all graphs."""
    fresh = []
    for graph in GRAPHS:
        place = entry(graph)
        if list(place.glob("*.lock")):
            sys.exit(f"{graph}: another process must be compiling")
        if (place / "model.log").exists():
            sys.exit(f"{graph}: failed before")
        if "NEURON_EXTRACT_GRAPHS_ONLY" in os.environ:
            place.mkdir(parents=True, exist_ok=True)
            (place / "model.hlo_module.pb").write_text("g")
        elif not (place / "model.done").exists():
            compiled(place)
            fresh.append(graph)
    print(json.dumps({"worker": "done", "compiled": fresh, "steps": sys.argv[1:]}), flush=True)


if __name__ == "__main__":
    work()
