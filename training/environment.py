"""The variables of every pod of a job: what Neuron, EFA and torchrun need in any image, and what the entry script reads."""

import json

from facts.toolchains import Start
from training.duration import seconds
from training.payload import SOURCE
from training.plan import Plan

EFA = {
    "FI_PROVIDER": "efa",
    "FI_EFA_USE_DEVICE_RDMA": "1",
    # Of old kernels only; harmless on others.
    "FI_EFA_FORK_SAFE": "1",
}
"""Without them libfabric falls back to TCP without a word where EFA does not work (aws-neuron/aws-neuron-sdk, EFA set-up, 2026-10)."""
INTERFACE = {"CCOM_SOCKET_IFNAME": "eth0"}
"""Collectives find each other by TCP first, over the interface of the pod (aws-neuron/aws-neuron-sdk, EFA set-up, 2026-10)."""
TORCHRUN = {"TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"}
"""Workers that share the agent's store read the addresses of dead ones when the agent restarts them (pytorch/pytorch#135712)."""
LOGICAL_CORES = "NEURON_LOGICAL_NC_CONFIG"
"""Physical cores per logical core; the setting of the node does not reach the container."""
CACHE = "NEURON_COMPILE_CACHE_URL"
PORT = 29400
"""Where the first pod of a job listens for the others; the entry script takes the ports above it for what else it opens."""
HEARTBEAT_VARIABLE, HEARTBEAT = "TRN_HEARTBEAT", "/tmp/trn-heartbeat"
"""File that the entry script touches while training makes progress, and the variable with its path: a container's /tmp is its own."""


def neuron_environment(start: Start, *, efa: bool, logical_core_size: int | None = None, cache: str | None = None) -> dict[str, str]:
    """What any image needs, job or test.

    `logical_core_size`: only where the chip leaves a choice. `cache`: place of the compile cache.
    """
    return {
        **INTERFACE,
        **(EFA if efa else {}),
        **(TORCHRUN if start == "torchrun" else {}),
        **({LOGICAL_CORES: str(logical_core_size)} if logical_core_size is not None else {}),
        **({CACHE: cache} if cache is not None else {}),
    }


def environment(plan: Plan) -> dict[str, str]:
    """All variables of the job's pods, in the order in which they are written; the job's own come last and win."""
    job, nodes = plan.job, plan.nodes
    chip = nodes.instance.chip
    size = nodes.instance.logical_size(nodes.logical_core_size) if chip is not None and chip.has_logical_cores else None
    neuron = neuron_environment(plan.start, efa=plan.interface_count > 0, logical_core_size=size, cache=plan.cache)
    return {**neuron, **_of_entry(plan), **job.environment}


def _of_entry(plan: Plan) -> dict[str, str]:
    """What the entry script reads beside the variables of each launcher."""
    job = plan.job
    found = {
        "TRN_JOB": job.name,
        "TRN_NODES": str(job.nodes),
        "TRN_WORKERS_PER_NODE": str(plan.workers_per_node),
        "TRN_CORES_PER_NODE": str(plan.core_count),
        "TRN_START": plan.start,
        "TRN_TOOLCHAIN": plan.toolchain.name if plan.toolchain is not None else "",
        HEARTBEAT_VARIABLE: HEARTBEAT,
        "TRN_RENDEZVOUS": job.rendezvous,
        "TRN_PORT": str(PORT),
    }
    if plan.site.source is not None and plan.site.source.image is not None:
        found["TRN_SOURCE"] = SOURCE
    if job.rendezvous == "etcd" and plan.site.etcd is not None:
        found["TRN_ETCD_ENDPOINT"] = plan.site.etcd
    if job.parameter_servers:
        found["TRN_PARAMETER_SERVERS"] = str(job.parameter_servers)
    if job.parallel is not None:
        found["TRN_PARALLEL"] = json.dumps(job.parallel.model_dump(exclude_none=True))
    if job.checkpoints is not None:
        found["TRN_CHECKPOINTS"] = job.checkpoints.path
        found["TRN_CHECKPOINT_INTERVAL_S"] = str(seconds(job.checkpoints.interval))
        found["TRN_CHECKPOINTS_KEPT"] = str(job.checkpoints.keep)
    if job.restarts.hang_after is not None:
        found["TRN_HANG_AFTER_S"] = str(seconds(job.restarts.hang_after))
    if job.data is not None:
        found["TRN_DATA"] = job.data.path
    return found
