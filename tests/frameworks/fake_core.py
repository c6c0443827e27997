"""A NeuronCore that this machine does not have: runs a script as a worker, and refuses what Neuron refuses.

`python fake_core.py SCRIPT ARGUMENTS...`: variables of the runtime that AWS does not document (it ignores them without a word), and more
memory than a core has (FAKE_CORE_MIB, beside what Python and the framework take). CPU tensors in collectives are refused by PyTorch/XLA
itself, whose device on a processor is not the processor's: PJRT_DEVICE=CPU, in one process.
"""

import os
import resource
import runpy
import sys
from pathlib import Path

DOCUMENTED = frozenset(
    {
        "NEURON_RT_VISIBLE_CORES", "NEURON_RT_NUM_CORES", "NEURON_RT_ROOT_COMM_ID", "NEURON_RT_LOG_LEVEL", "NEURON_RT_LOG_LOCATION",
        "NEURON_RT_EXEC_TIMEOUT", "NEURON_RT_VALIDATE_HASH", "NEURON_RT_RESET_CORES", "NEURON_RT_STOCHASTIC_ROUNDING_EN",
        "NEURON_RT_ONE_THREAD_PER_CORE", "NEURON_RT_RANKS_PER_NETWORK_PROXY", "NEURON_LOGICAL_NC_CONFIG", "NEURON_PJRT_PROCESS_INDEX",
        "NEURON_PJRT_PROCESSES_NUM_DEVICES", "NEURON_COMPILE_CACHE_URL", "NEURON_CC_FLAGS",
    }
)  # fmt: skip
"""aws-neuron-sdk, Neuron Runtime configuration (2026-09-10) and environment variables (2026-09-27), multi-process JAX, persistent cache; those
that a job of ours may have, not all of them."""


def refuse_variables() -> None:
    """Leaves where the runtime is given a variable that it does not know."""
    unknown = sorted(name for name in os.environ if name.startswith("NEURON_") and name not in DOCUMENTED)
    if unknown:
        sys.exit(f"fake core: not documented: {', '.join(unknown)}")


def limit_memory(mib: int) -> None:
    """What this process may have beyond what it holds; beyond that an allocation fails, as on a core."""
    held = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (held + (mib << 20), resource.RLIM_INFINITY))


if __name__ == "__main__":
    refuse_variables()
    if os.environ.get("FAKE_CORE_MIB"):
        import torch  # noqa: F401 # pyright: ignore[reportMissingImports] # what it takes is no matter of the core's

        limit_memory(int(os.environ["FAKE_CORE_MIB"]))
    sys.argv = sys.argv[1:]
    sys.path.insert(0, str(Path(sys.argv[0]).parent))
    runpy.run_path(sys.argv[0], run_name="__main__")
