"""Where a node stands in its job, read from the variables of whichever launcher started it.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. The variables are those that each launcher's
own source sets; tests/training/launcher_environments.py has them, with the source of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple


class EntryError(Exception):
    """The variables do not say where this node stands in the job."""


class Place(NamedTuple):
    """Where this node stands in the job."""

    launcher: str
    rank: int
    """Of the node: 0 is where the others meet."""
    node_count: int
    address: str
    """Host of node 0."""
    port: int
    hosts: tuple[str, ...] = ()
    """All nodes by rank, where the launcher names them."""
    worker: int | None = None
    """The one worker of the node that this process is, where the launcher starts each worker; None: start them all."""


def whole(environment: Mapping[str, str], name: str, default: int | None = None) -> int:
    """A whole number that is not negative from a variable; raises EntryError."""
    text = environment.get(name, "")
    if not text and default is not None:
        return default
    if not re.fullmatch("[0-9]+", text):
        raise EntryError(f"{name} is {text!r}; a whole number is needed" if text else f"{name} is not set")
    return int(text)


def read(environment: Mapping[str, str]) -> Place:
    """Where this node stands, from the variables of the launcher; raises EntryError.

    The most particular launcher wins: mpirun inside a pod of an Indexed Job is MPI, a Slurm step inside a pod is Slurm.
    """
    for launcher, marker, reader in _READERS:
        if environment.get(marker):
            place = reader(environment)._replace(launcher=launcher)
            break
    else:
        place = Place("local", whole(environment, "TRN_NODE_RANK", 0), whole(environment, "TRN_NODES", 1), "", 0)
    place = place._replace(
        address=environment.get("TRN_ADDRESS") or place.address or (place.hosts[0] if place.hosts else ""),
        port=whole(environment, "TRN_PORT", 0) or place.port or 29500,
    )
    if not place.address and place.node_count == 1:
        place = place._replace(address="127.0.0.1")
    asked = whole(environment, "TRN_NODES", place.node_count)
    if asked != place.node_count:
        raise EntryError(f"the job has {asked} nodes (TRN_NODES), {place.launcher} started {place.node_count}")
    if place.rank >= place.node_count:
        raise EntryError(f"node {place.rank} of {place.node_count}: the first is 0")
    if not place.address:
        raise EntryError(f"{place.launcher} does not say where node 0 is; set TRN_ADDRESS")
    return place


def _by_hosts(hosts: tuple[str, ...], own: str) -> int:
    """Rank of a host among the hosts; names compare up to the first dot."""
    names = [host.partition(".")[0] for host in hosts]
    own = own.partition(".")[0]
    if own not in names:
        raise EntryError(f"this host is {own!r}, which is none of {', '.join(names)}")
    return names.index(own)


def _natural(name: str) -> list[Any]:
    """Sorts worker_10 behind worker_2."""
    return [int(part) if part.isdigit() else part for part in re.split("([0-9]+)", name)]


def _mpi(environment: Mapping[str, str]) -> Place:
    """Open MPI. Ranks fill one node after the other, as mpirun places them by slot."""
    here = whole(environment, "OMPI_COMM_WORLD_LOCAL_SIZE")
    rank, size = whole(environment, "OMPI_COMM_WORLD_RANK"), whole(environment, "OMPI_COMM_WORLD_SIZE")
    worker = whole(environment, "OMPI_COMM_WORLD_LOCAL_RANK") if here > 1 or whole(environment, "TRN_WORKERS_PER_NODE", 1) == 1 else None
    return Place("", rank // here, max(size // here, 1), _first_of_series(environment), 0, worker=worker)


def _slurm(environment: Mapping[str, str]) -> Place:
    """A task of srun: one for each node, or one for each worker."""
    hosts = tuple(expand(environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST", "")))
    count = whole(
        environment, "SLURM_STEP_NUM_NODES", whole(environment, "SLURM_JOB_NUM_NODES", whole(environment, "SLURM_NNODES", len(hosts)))
    )
    tasks = whole(environment, "SLURM_STEP_NUM_TASKS", whole(environment, "SLURM_NTASKS", count))
    return Place(
        "", whole(environment, "SLURM_NODEID"), count, "", 0, hosts, whole(environment, "SLURM_LOCALID", 0) if tasks > count else None
    )


def _batch(environment: Mapping[str, str]) -> Place:
    """AWS Batch, multi-node parallel job. Node 0 here is Batch's main node, which is the only one without its own address."""
    index, main = whole(environment, "AWS_BATCH_JOB_NODE_INDEX"), whole(environment, "AWS_BATCH_JOB_MAIN_NODE_INDEX", 0)
    rank = 0 if index == main else index + (1 if index < main else 0)
    own = "127.0.0.1" if environment.get("AWS_BATCH_JOB_NUM_NODES") == "1" else environment.get("HOSTNAME", "")
    address = environment.get("AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS") or (own if rank == 0 else "")
    return Place("", rank, whole(environment, "AWS_BATCH_JOB_NUM_NODES"), address, 0)


def _sagemaker(environment: Mapping[str, str]) -> Place:
    """SageMaker: hosts algo-1, algo-2, ..."""
    hosts = tuple(json.loads(environment["SM_HOSTS"]))
    return Place("", _by_hosts(hosts, environment.get("SM_CURRENT_HOST", "")), len(hosts), "", 0, hosts)


def _ray(environment: Mapping[str, str]) -> Place:
    """The driver of a Ray job: Ray itself starts the workers on the other nodes."""
    return Place("", 0, whole(environment, "TRN_NODES", 1), environment.get("FQ_RAY_IP", "") or "127.0.0.1", 0)


def _tensorflow(environment: Mapping[str, str]) -> Place:
    """TF_CONFIG of the training operator: roles in the order in which TensorFlow names them."""
    config = json.loads(environment["TF_CONFIG"])
    order = [role for role in ("chief", "master", "worker", "ps", "evaluator") if role in config["cluster"]]
    addresses = [(role, index, address) for role in order for index, address in enumerate(config["cluster"][role])]
    task = (config["task"]["type"], int(config["task"]["index"]))
    rank = next((rank for rank, (role, index, _) in enumerate(addresses) if (role, index) == task), None)
    if rank is None:
        raise EntryError(f"TF_CONFIG has no task {task[0]} {task[1]} in its cluster")
    hosts = tuple(address.rpartition(":")[0] for _, _, address in addresses)
    return Place("", rank, len(addresses), "", 0, hosts)


def _torch(environment: Mapping[str, str]) -> Place:
    """PET_ variables: Kubeflow Trainer's torch policy, and the training operator's PyTorchJob."""
    count = environment.get("PET_NNODES", "").partition(":")[0] or environment.get("WORLD_SIZE", "")
    address = environment.get("PET_MASTER_ADDR") or environment.get("MASTER_ADDR", "")
    port = environment.get("PET_MASTER_PORT") or environment.get("MASTER_PORT", "0")
    both = {"count": count, "port": port}
    return Place("", whole(environment, "PET_NODE_RANK"), whole(both, "count", 1), address, whole(both, "port"))


def _jax(environment: Mapping[str, str]) -> Place:
    """Kubeflow Trainer's JAX policy: one process for each node."""
    address, _, port = environment["JAX_COORDINATOR_ADDRESS"].rpartition(":")
    return Place("", whole(environment, "JAX_PROCESS_ID"), whole(environment, "JAX_NUM_PROCESSES"), address, whole({"port": port}, "port"))


def _volcano(environment: Mapping[str, str]) -> Place:
    """Volcano's env and svc plug-ins. One task with replicas, or as TorchX makes it a task for each node."""
    tasks = sorted((key for key in environment if re.fullmatch("VC_.+_HOSTS", key)), key=_natural)
    hosts = tuple(host for key in tasks for host in environment[key].split(",") if host)
    rank = whole(environment, "VC_TASK_INDEX") if len(tasks) < 2 else _by_hosts(hosts, environment.get("HOSTNAME", ""))
    return Place("", rank, len(hosts) or whole(environment, "TRN_NODES", 1), "", 0, hosts)


def _indexed(environment: Mapping[str, str]) -> Place:
    """An Indexed Job, alone or in a JobSet."""
    return Place("", whole(environment, "JOB_COMPLETION_INDEX"), whole(environment, "TRN_NODES", 1), _first_of_series(environment), 0)


def _first_of_series(environment: Mapping[str, str]) -> str:
    """Host of the first pod of a series: bert-worker-3 has bert-worker-0, in the headless service that is called as the job."""
    series = re.fullmatch("(.+)-[0-9]+", environment.get("HOSTNAME", "").partition(".")[0])
    return f"{series[1]}-0.{environment['TRN_JOB']}" if series and environment.get("TRN_JOB") else ""


_READERS = (
    ("mpi", "OMPI_COMM_WORLD_RANK", _mpi),
    ("slurm", "SLURM_NODEID", _slurm),
    ("batch", "AWS_BATCH_JOB_NODE_INDEX", _batch),
    ("sagemaker", "SM_HOSTS", _sagemaker),
    ("ray", "RAY_CLUSTER_NAME", _ray),
    ("tfjob", "TF_CONFIG", _tensorflow),
    ("torch", "PET_NODE_RANK", _torch),
    ("jax", "JAX_COORDINATOR_ADDRESS", _jax),
    ("volcano", "VC_TASK_INDEX", _volcano),
    ("indexed", "JOB_COMPLETION_INDEX", _indexed),
)
"""Launcher, the variable by which it is known, how it is read; in the order of precedence."""


def expand(hostlist: str) -> list[str]:
    """Hosts of Slurm's short form: `trn[1-3,7],head` has trn1, trn2, trn3, trn7 and head."""
    hosts = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\][^,\[]*)*", hostlist):
        ranges = re.fullmatch(r"([^\[]*)\[([^\]]*)\](.*)", part)
        if ranges is None:
            hosts.append(part)
            continue
        before, inside, after = ranges.groups()
        for item in inside.split(","):
            first, _, last = item.partition("-")
            numbers = [str(n).zfill(len(first)) for n in range(int(first), int(last or first) + 1)]
            hosts += [host for number in numbers for host in expand(f"{before}{number}{after}")]
    return hosts
