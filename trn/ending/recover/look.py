"""Looks in the account and the cluster for what a run was making, and waits for what AWS is still making.

On AWS an object is found by its tags and its place; behind the API server by its name and its maker, a Helm release by its Secrets.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from facts.kubernetes_kinds import Resource
from facts.resources.queries import Leftover, Lookup, Tagging
from facts.resources.table import TYPES
from trn.aws.api import Api
from trn.aws.cluster_identity import moment
from trn.aws.sighting import Sighting, sightings
from trn.cli.errors import CommandError
from trn.ending.recover.plan import Plan, plan_recovery
from trn.engine.interrupted import Pending, State
from trn.kubernetes.client import Kubernetes

LOOKUPS: Mapping[str, Lookup] = {token: item.lookup for token, item in TYPES.items() if isinstance(item.lookup, Lookup)}
"""How each AWS type is found, by its token."""
NAMED: Mapping[str, Leftover] = {
    token: item.leftover
    for token, item in TYPES.items()
    if token in LOOKUPS and LOOKUPS[token].mark == "part" and not LOOKUPS[token].query.tags
    if isinstance(item.tagging, Tagging) and isinstance(item.leftover, Leftover) and item.leftover.detail is not None
}
"""Types that are found by a name which anybody may have given, and how a sweep reads their tags."""
ROUNDS, PAUSE_S = 160, 15
"""Together 40 minutes: the provider itself waits 30 for a control plane."""

PULUMI = "pulumi-kubernetes"
"""Begins the name under which Pulumi's Kubernetes provider owns fields (pulumi/pulumi-kubernetes provider/pkg/provider, server-side apply)."""
RELEASE = "kubernetes:helm.sh/v3:Release"
SECRETS = Resource("Secret", "/api/v1", "secrets")
RELEASE_TYPE = "helm.sh/release.v1"
"""Type of the Secrets in which Helm keeps its releases (helm/helm pkg/storage/driver/secrets.go)."""


@dataclass(frozen=True)
class Objects:
    """One cluster's objects."""

    kubernetes: Kubernetes

    def find(self, resource_type: str, inputs: Mapping[str, Any]) -> Iterator[Sighting]:
        """What these inputs may have made. Raises KeyError where they tell too little."""
        if resource_type == RELEASE:
            yield from self._release(inputs.get("namespace") or "default", inputs["name"])
        else:
            yield from self._object(inputs)

    def _object(self, inputs: Mapping[str, Any]) -> Iterator[Sighting]:
        metadata, version, kind = inputs["metadata"], inputs["apiVersion"], inputs["kind"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        served = (self.kubernetes.read(base) or {}).get("resources", ())
        # Subresources are served under the kind of their owner: `deployments/status`.
        entry = next((item for item in served if item["kind"] == kind and "/" not in item["name"]), None)
        if entry is None:
            return
        name, namespace = metadata["name"], metadata.get("namespace") or "default"
        place = f"/namespaces/{namespace}" if entry["namespaced"] else ""
        found = self.kubernetes.read(f"{base}{place}/{entry['name']}/{name}")
        if found is not None and not found["metadata"].get("deletionTimestamp"):
            which, metadata = f"{namespace}/{name}" if entry["namespaced"] else name, found["metadata"]
            managers = [str(each.get("manager", "")) for each in metadata.get("managedFields") or ()]
            is_pulumis = any(manager.startswith(PULUMI) for manager in managers)
            doubt = "" if is_pulumis else f"{' and '.join(managers) or 'nobody that is known'} made it, and not Pulumi"
            yield Sighting(which, born=metadata.get("creationTimestamp", ""), doubt=doubt)

    def _release(self, namespace: str, name: str) -> Iterator[Sighting]:
        secrets = [entry["metadata"] for entry in self._secrets(namespace, name)]
        states = [metadata["labels"]["status"] for metadata in secrets]
        born = secrets[-1].get("creationTimestamp", "") if secrets else ""
        if "deployed" in states:
            yield Sighting(f"{namespace}/{name}", said="deployed", born=born)
        elif states:
            parts = tuple((each["name"], each.get("uid", ""), each.get("resourceVersion", "")) for each in secrets)
            yield Sighting(f"{namespace}/{name}", "half", states[-1], born, parts=parts)

    def _secrets(self, namespace: str, name: str) -> list[dict[str, Any]]:
        """A release's Secrets, by its exact name and namespace, oldest first."""
        found = [
            entry
            for entry in self.kubernetes.list(SECRETS) or ()
            if entry.get("type") == RELEASE_TYPE
            and entry["metadata"]["namespace"] == namespace
            and entry["metadata"].get("labels", {}).get("name") == name
        ]
        return sorted(found, key=lambda entry: int(entry["metadata"]["labels"]["version"]))


@dataclass(frozen=True)
class Recovery:
    """One recovery, with how to pass the time."""

    api: Api
    cluster: str
    connect: Callable[[], Objects | None]
    """Asked once, and only where something lives behind the API server; None where there is no cluster."""
    pause: Callable[[float], None]
    tell: Callable[[str], None]
    stack: str = ""
    """As in the tag `trn:stack`; `/trn/dev` where the organization is not known. What another stack made is not imported."""
    is_guess: bool = False
    """Nothing says that a creation had begun: what cannot be looked for is taken as not there."""

    @cached_property
    def objects(self) -> Objects | None:
        """The cluster's objects, None where there is no cluster."""
        return self.connect()

    def plan(self, state: State) -> Plan:
        """What to do, once nothing that was found is still being made.

        Raises CommandError where something is not ready after 40 minutes, and what a look raises.
        """
        plan = Plan()
        for _ in range(ROUNDS):
            found = {pending.urn: self.seen(pending) for pending in state.pending if pending.doing == "creating"}
            plan = plan_recovery(state, {urn: in_time(urn, state, there) for urn, there in found.items()})
            if not plan.making:
                return plan
            self.tell("waiting for " + ", ".join(f"{item.pending} ({item.sighting.said})" for item in plan.making))
            self.pause(PAUSE_S)
        names = ", ".join(f"{item.pending} {item.sighting.id}" for item in plan.making)
        raise CommandError(f"still not ready after 40 minutes: {names}", "run this again; what was made so far stays as it is")

    def seen(self, pending: Pending) -> tuple[Sighting, ...] | None:
        """What may have been made of one creation; None where that cannot be known."""
        if not pending.is_custom:
            return ()
        try:
            if pending.type.startswith("kubernetes:"):
                return tuple(self.objects.find(pending.type, pending.inputs)) if self.objects else ()
            if pending.type in LOOKUPS:
                return tuple(sightings(self.api, LOOKUPS[pending.type], self.cluster, pending.inputs, self.stack, NAMED.get(pending.type)))
        except LookupError:
            # The inputs lack what identifies such an object.
            pass
        return () if self.is_guess else None


def in_time(urn: str, state: State, found: tuple[Sighting, ...] | None) -> tuple[Sighting, ...] | None:
    """The same, with a doubt about what was made before the killed run could have made it, or after its end."""
    if found is None:
        return None
    since, until = state.window(urn)
    judged = list[Sighting]()
    for item in found:
        at = moment(item.born)
        late = "after" if until and at > until else "before" if since and at < since else ""
        judged.append(
            replace(item, doubt=f"it was made at {at}, {late} the run that was killed") if at and late and not item.doubt else item
        )
    return tuple(judged)
