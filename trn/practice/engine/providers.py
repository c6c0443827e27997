"""The simulated providers with a real control plane for their Kubernetes half, as a process of their own.

`python -m trn.practice.engine.providers CONTROL-PLANE ...`: the folder of a control plane that runs, then what
`simulator.providers` takes.
"""

import sys
from pathlib import Path

from local_kubernetes.half import Half
from local_kubernetes.running import find
from simulator.providers.__main__ import main


def serve() -> int:
    """Serve until standard input ends; 1 where the control plane has ended."""
    folder = Path(sys.argv.pop(1))
    cluster = find(folder)
    if cluster is None:
        print(f"the control plane in {folder} has ended", file=sys.stderr)
        return 1
    return main(Half(cluster))


if __name__ == "__main__":
    sys.exit(serve())
