"""Every pod that a manifest would start, of any kind: found by the shape of a pod, so that unknown kinds are read too."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from facts.device_claims import EFA_CLASS, NEURON_CLASS
from facts.names import EFA_RESOURCE, NEURON_CORE_RESOURCE, NEURON_RESOURCE
from training.lint.finding import Document, Path

DEAD_RESOURCE = "aws.amazon.com/neurondevice"
"""Of device plug-ins before 2.20 (aws-neuron/aws-neuron-sdk, device plug-in release notes): no node offers it since."""
DEVICES = (NEURON_RESOURCE, NEURON_CORE_RESOURCE, DEAD_RESOURCE)
_CLAIMS: Mapping[str, tuple[str, Path]] = {
    "ResourceClaimTemplate": ("resourceClaimTemplateName", ("spec", "spec")),
    "ResourceClaim": ("resourceClaimName", ("spec",)),
}
"""Kinds that a pod may name under `resourceClaims`: by which key, and where what they claim stands."""
_COUNTS = ("replicas", "parallelism", "numNodes", "numOfHosts")
"""Keys beside or above a pod that say how many of it there are."""
INDEPENDENT = frozenset({"CronJob", "DaemonSet", "Deployment", "Pod", "ReplicaSet", "StatefulSet"})
"""Kinds of Kubernetes whose pods start one by one and know nothing of each other."""
_ASSIGNED = re.compile(r"(?:^|[\s;&\"'])(?:export\s+|-x\s+|--env\s+)?([A-Z][A-Z0-9_]+)=")


@dataclass(frozen=True)
class Container:
    """One container, with its place in the document."""

    path: Path
    value: Mapping[str, Any]

    @property
    def image(self) -> str | None:
        """None where there is none, or no text."""
        image = self.value.get("image")
        return image if isinstance(image, str) else None

    @cached_property
    def text(self) -> str:
        """Command and arguments as one text."""
        words = [*_list(self.value.get("command")), *_list(self.value.get("args"))]
        return " ".join(str(word) for word in words)

    @cached_property
    def environment(self) -> dict[str, tuple[str | None, Path]]:
        """Variables by name: value, None where it comes from elsewhere, and place; those that the command sets among them."""
        found: dict[str, tuple[str | None, Path]] = {}
        for key in ("args", "command"):
            for name in _ASSIGNED.findall(" ".join(str(word) for word in _list(self.value.get(key)))):
                found[name] = (None, (*self.path, key))
        for index, entry in enumerate(_list(self.value.get("env"))):
            if isinstance(entry, dict) and isinstance(entry.get("name"), str):
                value = entry.get("value")
                found[entry["name"]] = (value if isinstance(value, str) else None, (*self.path, "env", index))
        return found

    @cached_property
    def resources(self) -> dict[str, tuple[int, Path]]:
        """Extended resources and others as whole numbers, by name: the limit, else the request."""
        return {name: (number, path) for name, (amount, path) in self._amounts.items() if (number := _whole(amount)) is not None}

    @cached_property
    def unreadable(self) -> dict[str, tuple[Any, Path]]:
        """Devices whose number is no whole number: amount and place, by name."""
        asked = {name: found for name, found in self._amounts.items() if name in (*DEVICES, EFA_RESOURCE)}
        return {name: (amount, path) for name, (amount, path) in asked.items() if _whole(amount) is None and not is_template(amount)}

    @property
    def asked(self) -> frozenset[str]:
        """Names of the resources that it asks for, however many."""
        return frozenset(self._amounts)

    @property
    def claims(self) -> bool:
        """Whether it uses a claim of its pod."""
        resources = self.value.get("resources")
        return isinstance(resources, dict) and bool(_list(resources.get("claims")))

    @cached_property
    def _amounts(self) -> dict[str, tuple[Any, Path]]:
        keys = ("resources", "resourcesPerNode")
        return {name: found for key in keys for name, found in _resources(self.value.get(key), (*self.path, key)).items()}


@dataclass(frozen=True)
class Claim:
    """One request of a ResourceClaim or of a template that a pod names, with its place."""

    document: Document
    path: Path
    """Of `exactly`."""
    device_class: str
    count: int | None
    """None for all devices of a node."""
    matched: tuple[str, ...]
    """Attributes in which its devices must be alike."""


@dataclass(frozen=True)
class Workload:
    """Pods of one kind that a document starts."""

    document: Document
    path: Path
    """Of the pod's spec, or of what stands for it."""
    containers: tuple[Container, ...]
    count: int
    pod: Mapping[str, Any] | None = field(default=None)
    """None for a TrainJob, whose pod is in a runtime."""
    claims: tuple[Claim, ...] = ()
    """What it claims by dynamic resource allocation, as far as the manifest has the claims or their templates."""
    gang: int | None = None
    """Pods of it that train together; None for all of them."""

    @property
    def gang_size(self) -> int:
        """Pods of it that start together and train together."""
        if self.document.kind in INDEPENDENT:
            return min(1, self.count)
        return self.count if self.gang is None else min(self.gang, self.count)

    @property
    def devices(self) -> dict[str, tuple[int, Path]]:
        """Neuron resources that the pod asks for, by name, all containers together."""
        return {name: found for name in DEVICES if (found := self.asks(name)) is not None}

    def asks(self, resource: str) -> tuple[int, Path] | None:
        """How many of a resource the pod asks for, and where the first of it stands; None where it asks for none."""
        found = [container.resources[resource] for container in self.containers if resource in container.resources]
        return (sum(count for count, _ in found), found[0][1]) if found else None

    @property
    def interface_count(self) -> int:
        """EFA interfaces that the pod asks for."""
        asked = self.asks(EFA_RESOURCE)
        return (asked[0] if asked else 0) + sum(each.count or 1 for each in self.claims if each.device_class == EFA_CLASS)

    def claimed(self, device_class: str) -> list[Claim]:
        """Its requests for devices of a class."""
        return [each for each in self.claims if each.device_class == device_class]

    @property
    def on_neuron(self) -> Container | None:
        """The container that trains; None for a pod without Neuron. One with a claim of which nothing more is known has it of Neuron."""
        claims = not self.claims or bool(self.claimed(NEURON_CLASS))
        asking = (each for each in self.containers if any(name in each.asked for name in DEVICES) or (each.claims and claims))
        return next(asking, None)

    @property
    def selector(self) -> Mapping[str, str]:
        """`nodeSelector`, as far as it is text."""
        given = (self.pod or {}).get("nodeSelector")
        return {key: value for key, value in given.items() if isinstance(value, str)} if isinstance(given, dict) else {}


def workloads(documents: list[Document]) -> list[Workload]:
    """Those of all documents, with or without Neuron."""
    claims = {(document.kind, document.name): list(_claims(document)) for document in documents if document.kind in _CLAIMS}
    return [replace(found, claims=tuple(_claimed(found, claims))) for document in documents for found in _in(document)]


def _claimed(workload: Workload, claims: Mapping[tuple[str, str], list[Claim]]) -> Iterator[Claim]:
    for entry in _list((workload.pod or {}).get("resourceClaims")):
        for kind, (key, _) in _CLAIMS.items():
            if isinstance(entry, dict) and isinstance(name := entry.get(key), str):
                yield from claims.get((kind, name), ())


def _claims(document: Document) -> Iterator[Claim]:
    """Requests of a claim or of a template; those with alternatives (`firstAvailable`) are left out."""
    _, path = _CLAIMS[document.kind]
    devices: Any = document.value
    for key in (*path, "devices"):
        devices = devices.get(key) if isinstance(devices, dict) else None
    requests = _list(devices.get("requests")) if isinstance(devices, dict) else []
    constraints = [each for each in _list(devices.get("constraints")) if isinstance(each, dict)] if isinstance(devices, dict) else []
    for index, request in enumerate(each for each in requests if isinstance(each, dict)):
        exactly = request.get("exactly")
        if isinstance(exactly, dict) and isinstance(exactly.get("deviceClassName"), str):
            count = None if exactly.get("allocationMode") == "All" else _whole(exactly.get("count", 1))
            of_it = [each for each in constraints if not each.get("requests") or request.get("name") in _list(each["requests"])]
            matched = tuple(str(each.get("matchAttribute", "")) for each in of_it)
            place: Path = (*path, "devices", "requests", index, "exactly")
            yield Claim(document, place, exactly["deviceClassName"], count, matched)


def _in(document: Document) -> Iterator[Workload]:
    spec = document.value.get("spec")
    if document.kind == "TrainJob" and isinstance(spec, dict) and isinstance(trainer := spec.get("trainer"), dict):
        path: Path = ("spec", "trainer")
        yield Workload(document, path, (Container(path, trainer),), _whole(trainer.get("numNodes")) or 1)
    if document.kind == "LeaderWorkerSet" and isinstance(spec, dict):
        yield from _groups(document, spec)
        return
    yield from _pods(document, document.value, (), 1)


def _groups(document: Document, spec: dict[str, Any]) -> Iterator[Workload]:
    """Of a LeaderWorkerSet: `replicas` groups of `size` pods, the first of each by the leader's template where there is one (LeaderWorkerSet API)."""
    template, path = spec.get("leaderWorkerTemplate"), ("spec", "leaderWorkerTemplate")
    given = (_whole(spec.get("replicas")), _whole(template.get("size")) if isinstance(template, dict) else None)
    groups, size = (1 if number is None else number for number in given)
    if not isinstance(template, dict):
        return
    leaders = [*_pods(document, template.get("leaderTemplate"), (*path, "leaderTemplate"), groups)]
    yield from (replace(leader, gang=1) for leader in leaders)
    workers = size - 1 if leaders else size
    for worker in _pods(document, template.get("workerTemplate"), (*path, "workerTemplate"), groups * workers) if workers else ():
        yield replace(worker, gang=workers)


def _pods(document: Document, value: Any, path: Path, count: int) -> Iterator[Workload]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _pods(document, item, (*path, index), count)
    if not isinstance(value, dict):
        return
    containers = value.get("containers")
    if isinstance(containers, list) and any(isinstance(item, dict) and "name" in item for item in containers):
        places = [(key, index, item) for key in ("containers", "initContainers") for index, item in enumerate(_list(value.get(key)))]
        found = tuple(Container((*path, key, index), item) for key, index, item in places if isinstance(item, dict))
        yield Workload(document, path, found, count, value)
        return
    for key in _COUNTS:
        number = _whole(value.get(key))
        if key == "replicas" and number is None:
            number = _whole(value.get("minReplicas"))  # of a group of Ray's workers
        count *= number if number is not None else 1
    for key, item in value.items():
        if key != "status":
            yield from _pods(document, item, (*path, key), count)


def _resources(value: Any, path: Path) -> dict[str, tuple[Any, Path]]:
    found: dict[str, tuple[Any, Path]] = {}
    for part in ("requests", "limits"):
        given = value.get(part) if isinstance(value, dict) else None
        for name, amount in (given or {}).items() if isinstance(given, dict) else ():
            found[str(name)] = (amount, (*path, part, str(name)))
    return found


def is_template(value: object) -> bool:
    """Whether something else writes the value before the manifest is used: `${NODES}`, `{{ .Values.nodes }}`."""
    return isinstance(value, str) and ("$" in value or "{{" in value)


def _whole(value: Any) -> int | None:
    """A whole number, also written as text; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}", value) else None


def _list(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, str) else []
