"""What a node starts: the command of torchrun, or the variables of each process for `jax.distributed` or TensorFlow.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from launcher_variables import EntryError, Place, whole


class Settings(NamedTuple):
    """What the job file asked for."""

    job: str
    workers: int
    """Per node."""
    start: str
    rendezvous: str = "c10d"
    etcd: str = ""
    cores: int = 0
    """Logical NeuronCores of the node; 0 without Neuron devices."""
    parameter_servers: int = 0
    heartbeat: str = ""
    hang_after_s: float = 0.0
    run_id: str = ""
    """By which torchrun's agents of this start know each other; the job's name where the first node's port is theirs alone."""


class Process(NamedTuple):
    """One process to start."""

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    serves: bool = False
    """Runs until the others are done, as a parameter server and the workers that its chief commands do."""


def settings(environment: Mapping[str, str]) -> Settings:
    """What the TRN_ variables ask for; raises EntryError."""
    start = environment.get("TRN_START", "none")
    if start not in ("torchrun", "jax", "tensorflow", "none"):
        raise EntryError(f"TRN_START is {start!r}; torchrun, jax, tensorflow or none")
    rendezvous = environment.get("TRN_RENDEZVOUS", "") or "c10d"
    if rendezvous not in ("c10d", "etcd"):
        raise EntryError(f"TRN_RENDEZVOUS is {rendezvous!r}; c10d or etcd")
    if rendezvous == "etcd" and not environment.get("TRN_ETCD_ENDPOINT"):
        raise EntryError("TRN_RENDEZVOUS is etcd, TRN_ETCD_ENDPOINT is not set")
    workers = whole(environment, "TRN_WORKERS_PER_NODE", 1)
    cores = whole(environment, "TRN_CORES_PER_NODE", 0)
    if workers < 1 or cores % workers:
        raise EntryError(f"{cores} cores cannot be shared by {workers} workers of equal size")
    return Settings(
        job=environment.get("TRN_JOB", "job"),
        workers=workers,
        start=start,
        rendezvous=rendezvous,
        etcd=environment.get("TRN_ETCD_ENDPOINT", ""),
        cores=cores,
        parameter_servers=whole(environment, "TRN_PARAMETER_SERVERS", 0),
        heartbeat=environment.get("TRN_HEARTBEAT", ""),
        hang_after_s=float(whole(environment, "TRN_HANG_AFTER_S", 0)),
    )


def plan(place: Place, asked: Settings, command: list[str], environment: Mapping[str, str], python: str) -> list[Process]:
    """Processes that this node starts. `python` runs torchrun; raises EntryError."""
    base = {**environment, "PYTHONUNBUFFERED": "1", "PYTHONFAULTHANDLER": "1"}
    if asked.start == "none" or place.launcher == "ray":
        # One process for the node, unless mpirun or srun has given each process its own variables; Ray has its own as well.
        own = ranks(place, asked._replace(workers=1), 0) if place.worker is None and place.launcher != "ray" else {}
        return [Process(tuple(command), {**base, **own})]
    if asked.start == "torchrun" and place.worker is None:
        # The agents' shared store keeps addresses of dead workers (pytorch/pytorch#135712); each start gets a store of its own.
        return [Process(tuple(torchrun(place, asked, command, python)), {**base, "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1"})]
    processes = []
    for worker in range(asked.workers) if place.worker is None else (place.worker,):
        own = {**base, **ranks(place, asked, worker)}
        if asked.start == "jax":
            own.update(jax_environment(place, asked, worker))
        if asked.start == "tensorflow" and place.launcher != "tfjob":
            own["TF_CONFIG"] = json.dumps(tf_config(place, asked, worker))
        serves = asked.start == "tensorflow" and _serves(json.loads(own["TF_CONFIG"]))
        processes.append(Process(tuple(command), own, serves))
    return processes


def _serves(config: dict[str, Any]) -> bool:
    """Whether a task of TensorFlow waits for the chief's commands and never ends by itself."""
    return bool(config["cluster"].get("ps")) and config["task"]["type"] != "chief"


def torchrun(place: Place, asked: Settings, command: list[str], python: str) -> list[str]:
    """The command of one torchrun agent.

    It restarts nothing by itself: a job resumes when its launcher starts all nodes again, which also moves it off a lost node.
    """
    if asked.rendezvous == "etcd":
        meeting = ["--rdzv-backend", "etcd", "--rdzv-endpoint", asked.etcd]
    else:
        # Said outright: torchrun otherwise compares names of this host with the endpoint, and may find no host at all.
        host = "true" if place.rank == 0 else "false"
        meeting = ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"{place.address}:{place.port}", "--rdzv-conf", f"is_host={host}"]
    if place.hosts:
        meeting += ["--local-addr", place.hosts[place.rank]]
    return [
        python, "-m", "torch.distributed.run", "--nnodes", str(place.node_count), "--nproc-per-node", str(asked.workers),
        "--node-rank", str(place.rank), "--max-restarts", "0", "--rdzv-id", asked.run_id or asked.job, *meeting, "--no-python", *command,
    ]  # fmt: skip


def ranks(place: Place, asked: Settings, worker: int) -> dict[str, str]:
    """Variables by which most frameworks know a worker; also those of torch's `env://`."""
    return {
        "RANK": str(place.rank * asked.workers + worker),
        "WORLD_SIZE": str(place.node_count * asked.workers),
        "LOCAL_RANK": str(worker),
        "LOCAL_WORLD_SIZE": str(asked.workers),
        "MASTER_ADDR": place.address,
        "MASTER_PORT": str(place.port),
    }


def jax_environment(place: Place, asked: Settings, worker: int) -> dict[str, str]:
    """Variables of one process for `jax.distributed`, and for the Neuron PJRT plug-in where there are cores.

    Source of the Neuron part: aws-neuron-sdk, multi-process JAX, and neuron-runtime/api/nrt-env-var-reference (2026-09-27).
    """
    process, total = place.rank * asked.workers + worker, place.node_count * asked.workers
    variables = {
        "JAX_COORDINATOR_ADDRESS": f"{place.address}:{place.port}",
        "JAX_NUM_PROCESSES": str(total),
        "JAX_PROCESS_ID": str(process),
    }
    if asked.cores:
        share = asked.cores // asked.workers
        variables["NEURON_RT_ROOT_COMM_ID"] = f"{place.address}:{place.port + 1}"
        variables["NEURON_PJRT_PROCESS_INDEX"] = str(process)
        variables["NEURON_PJRT_PROCESSES_NUM_DEVICES"] = ",".join([str(share)] * total)
        variables["NEURON_RT_VISIBLE_CORES"] = f"{worker * share}-{worker * share + share - 1}" if share > 1 else str(worker)
    return variables


def tf_config(place: Place, asked: Settings, worker: int) -> dict[str, Any]:
    """TF_CONFIG of one process: workers alone, or a chief, workers and at the end the parameter servers."""
    hosts = place.hosts or ((place.address,) if place.node_count == 1 else ())
    if not hosts:
        raise EntryError(f"{place.launcher} does not name all nodes; TensorFlow needs them in TF_CONFIG")
    addresses = [f"{host}:{place.port + index}" for host in hosts for index in range(asked.workers)]
    servers = asked.parameter_servers
    if servers and len(addresses) < servers + 2:
        raise EntryError(f"{len(addresses)} processes are too few for a chief, a worker and {servers} parameter servers")
    split = len(addresses) - servers
    cluster = {"chief": addresses[:1], "worker": addresses[1:split], "ps": addresses[split:]} if servers else {"worker": addresses}
    own = addresses[place.rank * asked.workers + worker]
    role = next(role for role, members in cluster.items() if own in members)
    return {"cluster": cluster, "task": {"type": role, "index": cluster[role].index(own)}}
