"""Manifests of others as objects of Kubernetes, made from what tests/outside/jobs.yaml says of each; and faults planted into them."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from facts.names import EFA_RESOURCE, NEURON_RESOURCE

_PLACES: Mapping[str, tuple[str, ...]] = {
    "Pod": (), "Job": ("spec",), "Deployment": ("spec",), "PyTorchJob": ("spec", "pytorchReplicaSpecs", "Worker"),
    "MPIJob": ("spec", "mpiReplicaSpecs", "Worker"), "RayCluster": ("spec", "workerGroupSpecs"),
}  # fmt: skip
"""Where a kind has its pods' template, with their number beside it."""


@dataclass(frozen=True)
class JobCase:
    """One manifest of others."""

    case: str
    source: str
    date: str
    object: str
    """`apiVersion Kind`."""
    image: str
    asks: Mapping[str, Any]
    count: int | None = None
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    selector: Mapping[str, str] = field(default_factory=dict)
    spec: Mapping[str, Any] = field(default_factory=dict)
    """Of the object itself."""
    tolerates: bool = False
    shared_memory: bool = False
    alone: frozenset[str] = frozenset()
    dev: frozenset[str] = frozenset()
    remark: str = ""

    @property
    def on_dev(self) -> frozenset[str]:
        """Rules that find something on the shipped stack."""
        taken = {name[1:] for name in self.dev if name.startswith("-")}
        return (self.alone | {name for name in self.dev if not name.startswith("-")}) - taken

    def manifest(self) -> dict[str, Any]:
        """The object as its author would have written it."""
        version, kind = self.object.split()
        pod = {
            "containers": [self._container()],
            **({"nodeSelector": dict(self.selector)} if self.selector else {}),
            **({"tolerations": [{"key": NEURON_RESOURCE, "operator": "Exists"}]} if self.tolerates else {}),
        }
        found: dict[str, Any] = {"apiVersion": version, "kind": kind, "metadata": {"name": "case"}}
        if kind == "Pod":
            return {**found, "spec": pod}
        number = "parallelism" if kind == "Job" else "replicas"
        holder: Any = {**({number: self.count} if self.count is not None else {}), "template": {"spec": pod}, **self.spec}
        for key in reversed(_PLACES[kind]):
            holder = {key: [holder] if key == "workerGroupSpecs" else holder}
        return {**found, **holder}

    def _container(self) -> dict[str, Any]:
        mounts = [{"name": "memory", "mountPath": "/dev/shm"}] if self.shared_memory else []
        environment = [{"name": name, "value": value} for name, value in self.environment.items()]
        container = {"name": "work", "image": self.image, "command": list(self.command), "env": environment, "volumeMounts": mounts}
        return {**container, "resources": {"limits": dict(self.asks)}}


def cases() -> list[JobCase]:
    """All of them."""
    given = yaml.safe_load(Path(__file__).with_name("jobs.yaml").read_text())
    tuples = {"command": tuple, "alone": frozenset, "dev": frozenset, "date": str}
    return [JobCase(**{key: tuples.get(key, lambda value: value)(value) for key, value in each.items()}) for each in given]


@dataclass(frozen=True)
class Planted:
    """A fault that is written into a sound manifest, and the rule that must find it."""

    rule: str
    what: str
    write: Callable[[dict[str, Any], dict[str, Any]], object]
    """On pod and container."""
    fits: Callable[[JobCase], bool] = lambda case: True


def pod_of(manifest: dict[str, Any]) -> dict[str, Any]:
    """The pod of a manifest, wherever its kind keeps it."""
    found: Any = manifest
    for key in _PLACES[manifest["kind"]]:
        found = found[key][0] if key == "workerGroupSpecs" else found[key]
    return found["spec"] if manifest["kind"] == "Pod" else found["template"]["spec"]


def planted(case: JobCase, fault: Planted) -> dict[str, Any]:
    """The manifest with the fault."""
    manifest = copy.deepcopy(case.manifest())
    pod = pod_of(manifest)
    fault.write(pod, pod["containers"][0])
    return manifest


def _limits(**amounts: object) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    names = {"neuron": NEURON_RESOURCE, "efa": EFA_RESOURCE, "cpu": "cpu", "old": "aws.amazon.com/neurondevice"}

    def write(_: dict[str, Any], container: dict[str, Any]) -> None:
        limits = container["resources"]["limits"]
        for key, amount in amounts.items():
            limits.pop(names[key], None)
            if amount is not None:
                limits[names[key]] = amount

    return write


def _set(name: str, **entry: object) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    def write(_: dict[str, Any], container: dict[str, Any]) -> None:
        container["env"] = [each for each in container["env"] if each["name"] != name] + [{"name": name, **entry}]

    return write


def _image(sdk: str, kind: str = "pytorch", version: str = "2.9.0") -> Callable[[dict[str, Any], dict[str, Any]], object]:
    tag = f"{version}-neuronx-py312-sdk{sdk}-ubuntu24.04"
    return lambda _, container: container.update(image=f"public.ecr.aws/neuron/{kind}-training-neuronx:{tag}")


def _both(*writes: Callable[[dict[str, Any], dict[str, Any]], object]) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda pod, container: [write(pod, container) for write in writes]


def _command(text: str) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda _, container: container.update(command=["bash", "-c", text])


def _is_gang(case: JobCase) -> bool:
    return (case.count or 1) > 1 and case.asks.get(EFA_RESOURCE) is not None


def _on_whole_trn1(case: JobCase) -> bool:
    return case.selector.get("node.kubernetes.io/instance-type") == "trn1.32xlarge" and "aws.amazon.com/neuron" in case.asks


def _counts(case: JobCase) -> bool:
    return str(case.asks.get("aws.amazon.com/neuron", "$")).isdigit()


FAULTS: tuple[Planted, ...] = (
    Planted("unpinned-image", "latest", lambda _, container: container.update(image="registry.example/train:latest")),
    Planted("unpinned-image", "no tag", lambda _, container: container.update(image="registry.example:5000/train")),
    Planted("image-and-driver", "SDK 2.20", _image("2.20.1", version="2.1.2")),
    Planted("image-and-driver", "SDK 2.15, before the table", _image("2.15.0", version="1.13.1")),
    Planted("image-and-driver", "SDK 2.30 on the newest driver", _image("2.30.0")),
    Planted("dead-variable", "in-flight requests", _both(_image("2.32.0"), _set("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", value="3"))),
    Planted("dead-variable", "bf16 of PyTorch/XLA under JAX", _both(_image("2.32.0", "jax", "0.10.0"), _set("XLA_USE_BF16", value="1"))),
    Planted("foreign-variable", "of CUDA", _set("CUDA_VISIBLE_DEVICES", value="0")),
    Planted("foreign-variable", "of NCCL", _set("NCCL_SOCKET_IFNAME", value="eth0")),
    Planted("dead-resource", "the old name", _limits(neuron=None, old=1)),
    Planted("no-whole-number", "half a chip", _limits(neuron="0.5")),
    Planted("more-than-a-node", "17 chips", _limits(neuron=17), _counts),
    Planted("more-than-a-node", "32 interfaces", _limits(efa=32)),
    Planted("chips-not-connected", "3 chips of trn1", _limits(neuron=3), _on_whole_trn1),
    Planted("missing-efa", "none of a gang's interfaces", _limits(efa=None), _is_gang),
    Planted("fewer-interfaces", "half of them", _limits(efa=4), lambda case: _is_gang(case) and _on_whole_trn1(case)),
    Planted("small-shared-memory", "torchrun without it", _both(_command("torchrun --nproc_per_node=32 a.py"), lambda _, container: container.pop("volumeMounts"))),
    Planted("worker-count", "31 processes", _command("torchrun --nproc-per-node=31 a.py"), lambda case: "aws.amazon.com/neuroncore" not in case.asks),
    Planted("idle-cores", "8 processes on 16 chips", _both(_command("torchrun --nproc_per_node=8 a.py"), lambda _, container: container.update(env=[])), _on_whole_trn1),
    Planted("few-processors", "2 CPUs for 32 workers", _both(_command("torchrun --nproc_per_node=32 a.py"), _limits(cpu="2"))),
    Planted("few-processors", "in thousandths", _both(_command("torchrun --nproc_per_node=32 a.py"), _limits(cpu="4000m"))),
    Planted("own-master", "the pod's own address", _set("MASTER_ADDR", valueFrom={"fieldRef": {"fieldPath": "status.podIP"}}), _is_gang),
    Planted("own-master", "localhost", _set("MASTER_ADDR", value="localhost"), _is_gang),
    Planted("shared-rendezvous-store", "restarts of torchrun", _command("torchrun --max-restarts=3 --nproc_per_node=32 a.py")),
)  # fmt: skip
