"""How fast the job's workers exchange: all-reduce, all-gather and reduce-scatter of growing sizes, in the framework that trains.

What it measures is what training gets on these nodes, EFA and all. `--nccom` also runs AWS's nccom-test within each node, where the image
has it; across nodes that needs SSH between the pods, which `trn verify` sets up.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import leaving
import nccom
import progress_lines

KINDS = ("all_reduce", "all_gather", "reduce_scatter")


def bus_share(kind: str, workers: int) -> float:
    """Bytes that each worker sends, as a share of the whole size: what the wires carry (NVIDIA/nccl-tests doc/PERFORMANCE.md)."""
    ring = (workers - 1) / workers
    return 2 * ring if kind == "all_reduce" else ring


def jax_exchange() -> tuple[int, Callable[[str, int], Callable[[], None]]]:
    """Devices in all, and a function that readies one exchange of so many bytes in each device."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P

    if int(os.environ.get("JAX_NUM_PROCESSES", "1")) > 1:
        jax.distributed.initialize(
            os.environ["JAX_COORDINATOR_ADDRESS"],
            int(os.environ["JAX_NUM_PROCESSES"]),
            int(os.environ["JAX_PROCESS_ID"]),
            cluster_detection_method="deactivate",
            heartbeat_timeout_seconds=20,
        )
    mesh = Mesh(np.array(jax.devices()), ("devices",))
    one = P("devices")

    def ready(kind: str, size: int) -> Callable[[], None]:
        exchange = {
            "all_reduce": lambda part: jax.lax.psum(part, "devices"),
            "all_gather": lambda part: jax.lax.all_gather(part[: len(part) // mesh.size], "devices", tiled=True),
            "reduce_scatter": lambda part: jax.lax.psum_scatter(part, "devices", tiled=True),
        }[kind]
        run = jax.jit(jax.shard_map(exchange, mesh=mesh, in_specs=one, out_specs=one, check_vma=False))
        local = np.ones(size // 4 * jax.local_device_count(), np.float32)
        parts = jax.make_array_from_process_local_data(NamedSharding(mesh, one), local)
        expected = jnp.float32(mesh.size if kind != "all_gather" else 1)

        def go() -> None:
            result = run(parts).block_until_ready()
            if result.addressable_shards[0].data[0] != expected:
                sys.exit(f"{kind} of {size} bytes gives wrong sums")

        return go

    return mesh.size, ready


def torch_exchange() -> tuple[int, Callable[[str, int], Callable[[], None]]]:
    """The same in PyTorch: XLA on Trainium's frozen line, else the device's own backend."""
    import torch
    import torch.distributed as dist

    from workers_torch import Workers

    workers = Workers()

    def ready(kind: str, size: int) -> Callable[[], None]:
        whole = torch.ones(size // 4, device=workers.device)
        part = torch.ones(size // 4 // workers.count, device=workers.device)

        def go() -> None:
            if kind == "all_reduce":
                (result,) = workers.add([whole.clone()])
            elif kind == "all_gather":
                result = torch.empty_like(whole)
                dist.all_gather_into_tensor(result, part)
            else:
                result = torch.empty_like(part)
                dist.reduce_scatter_tensor(result, whole)
            workers.run()
            if result[0].item() != (workers.count if kind != "all_gather" else 1):
                sys.exit(f"{kind} of {size} bytes gives wrong sums")

        return go

    return workers.count, ready


def before_all_others(measure: Callable[[], dict[str, float] | None]) -> None:
    """The first worker of the node measures by nccom-test while the others wait: it wants all cores, and a worker that begins takes its own."""
    done = Path(tempfile.gettempdir(), f"nccom-{os.getppid()}")
    if progress_lines.speaks():
        try:
            found = measure()
        finally:
            done.touch()
        progress_lines.event("measured", kind="nccom-test", nccom_gb_per_s=found if found is not None else "no nccom-test in this image")
    while not done.exists():
        time.sleep(0.1)


def main(arguments: list[str]) -> int:
    """Measures; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--smallest", type=int, default=2**10, help="bytes in each worker")
    parser.add_argument("--largest", type=int, default=2**30)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--nccom", action="store_true")
    asked = parser.parse_args(arguments)
    if asked.nccom:
        before_all_others(lambda: nccom.measured(int(os.environ.get("TRN_CORES_PER_NODE", "0")), asked.largest))
    count, ready = jax_exchange() if os.environ.get("TRN_START") == "jax" else torch_exchange()
    progress_lines.event("started", pid=os.getpid(), devices=count)
    for kind in KINDS:
        size = asked.smallest
        while size <= asked.largest:
            go, times = ready(kind, size), []
            for _ in range(asked.repeats + 2):
                began = time.perf_counter()
                go()
                times.append(time.perf_counter() - began)
            # The first two compile and warm up.
            middle = sorted(times[2:])[asked.repeats // 2]
            speed = size / middle / 1e9
            row = {"kind": kind, "bytes": size, "microseconds": round(middle * 1e6, 1)}
            rates = {"algorithm_gb_per_s": round(speed, 4), "bus_gb_per_s": round(speed * bus_share(kind, count), 4)}
            progress_lines.event("measured", **row, **rates)
            size *= 4
    progress_lines.event("finished")
    return 0


if __name__ == "__main__":
    leaving.run(main)
