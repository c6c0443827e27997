"""What a drain does, in which order: a value made from lists of objects."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from facts.kubernetes_kinds import Resource
from trn.cli.errors import CommandError
from trn.kubernetes.client import Forbidden, Kubernetes, Object, Unreachable
from trn.kubernetes.kinds import CLAIMS, KINDS, STATEFUL_SETS, Kind


@dataclass(frozen=True)
class Target:
    """One object."""

    resource: Resource
    name: str
    namespace: str = ""
    finalizers: tuple[str, ...] = field(default=(), compare=False)
    """What must be done before it can go."""

    @property
    def place(self) -> str:
        """NAMESPACE/NAME, or NAME of what is in none."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        return f"{self.resource.kind} {self.place}"


@dataclass(frozen=True)
class Step:
    """What is done to one object."""

    kind: Kind
    item: Object
    target: Target

    @property
    def uid(self) -> str:
        """Kubernetes' own id of the object; empty where it has none."""
        return str(self.item["metadata"].get("uid") or "")

    @property
    def owner_uids(self) -> frozenset[str]:
        """Of the objects with which it goes."""
        return frozenset(str(reference.get("uid", "")) for reference in self.item["metadata"].get("ownerReferences") or ())


@dataclass(frozen=True)
class DrainPlan:
    """What would be closed, emptied and deleted, and what the cluster does not have."""

    steps: tuple[Step, ...]
    """In order; those that only wait are the last."""
    missing: tuple[str, ...] = ()
    """Add-ons none of whose kinds the cluster knows: they are not there."""
    unknown: Mapping[str, str] = field(default_factory=dict)
    """Kinds whose objects could not be listed, with what the API server said: not the same as kinds of which there are none."""

    @property
    def counts(self) -> str:
        """Such as `close 2, delete 6`; empty where nothing would be changed."""
        found = Counter(step.kind.verb for step in self.steps if step.kind.verb != "wait for")
        return ", ".join(f"{verb} {count}" for verb, count in found.items())


def plan_drain(kubernetes: Kubernetes) -> DrainPlan:
    """What a drain would do now. Reads only. Raises Unreachable where nothing at all can be listed."""
    known: dict[str, bool] = {}
    unknown: dict[str, str] = {}
    steps: list[Step] = []

    def listed(resource: Resource) -> list[Object] | None:
        try:
            return kubernetes.list(resource)
        except Unreachable as error:
            if not isinstance(error, Forbidden):
                raise
            unknown[resource.kind] = str(error.args[0])
        except CommandError as error:
            unknown[resource.kind] = str(error.args[0])
        return []

    held = held_claims(listed(STATEFUL_SETS) or [])
    for kind in KINDS:
        found = listed(kind.resource)
        known[kind.addon] = known.get(kind.addon, False) or found is not None
        # Which claims StatefulSets hold is not known without them.
        if kind.resource != CLAIMS or STATEFUL_SETS.kind not in unknown:
            steps += [Step(kind, item, target(kind.resource, item)) for item in found or [] if kind.chosen(item)]
    missing = tuple(addon for addon, is_known in known.items() if addon and not is_known)
    return DrainPlan(tuple(step for step in steps if step.target not in held), missing, unknown)


def held_claims(stateful_sets: list[Object]) -> frozenset[Target]:
    """Claims of StatefulSets, made by them or mounted: their pods hold them until Pulumi takes the set away, and the sweep finds the volumes."""
    return frozenset(Target(CLAIMS, name, item["metadata"]["namespace"]) for item in stateful_sets for name in _claims_of(item))


def _claims_of(stateful_set: Object) -> Iterator[str]:
    spec = stateful_set["spec"]
    for template in spec.get("volumeClaimTemplates") or ():
        for number in range(spec.get("replicas", 1)):
            yield f"{template['metadata']['name']}-{stateful_set['metadata']['name']}-{number}"
    for volume in spec.get("template", {}).get("spec", {}).get("volumes") or ():
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"]


def target(resource: Resource, item: Object) -> Target:
    """An object by its names."""
    metadata = item["metadata"]
    return Target(resource, metadata["name"], metadata.get("namespace", ""), tuple(metadata.get("finalizers") or ()))
