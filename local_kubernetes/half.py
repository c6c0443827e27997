"""A control plane as the Kubernetes half of a simulated account: what the program makes there is made here, nodes follow node groups.

The account keeps its own record of each object, and its rules are asked first; then the API server is, and its refusal counts. A
release whose chart is not installed by Helm here brings what its contract says: custom kinds, and what it runs.
"""

import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from urllib3.exceptions import HTTPError

from addons.versions import VOLCANO
from facts.charts import Contract
from facts.typed import typed
from local_kubernetes import crds, nodes
from local_kubernetes.api import Answer, NotInTime, Object, Refused
from local_kubernetes.build import Missing
from local_kubernetes.companions import CONFIGURATION_KEY, SCHEDULER_CONFIGURATION
from local_kubernetes.running import Cluster
from local_kubernetes.workloads import value_of, workloads
from simulator.account import kinds
from simulator.account.charts import chart_of
from simulator.account.rule import Refusal
from simulator.account.state import AccountState
from simulator.recording import Registration

MANAGER = "pulumi-kubernetes"
DELETE_S, LOOK_S = 10, 0.05
"""How long something may take to go, in real seconds, and between two looks."""
NOT_AWAITED = ("Namespace", "CustomResourceDefinition")
"""Kinds that take seconds to go, with nothing in their way: what is in a namespace has been deleted before it."""
LAG_S, DENIED = 2, "admission webhook"
"""How far a webhook's own copy of the cluster may lag behind, and what its refusals begin with."""
KIND_RETRY_S = 63
"""How long the provider waits for a kind or a namespace (measured with pulumi-kubernetes 4.34.2)."""
_CHARTS = (kinds.RELEASE, kinds.ADDON)


class Half:
    """One control plane behind one account."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._api = cluster, cluster.api()
        self._nodes: list[Object] | None = None

    def outputs(self, resource_type: str) -> Mapping[str, Any]:
        """A control plane is where the API server is, with its certificate."""
        if resource_type != kinds.CLUSTER:
            return {}
        return {"endpoint": self._cluster.server, "certificateAuthority": {"data": b64encode(self._cluster.authority).decode()}}

    def look(self, state: AccountState, request: Registration) -> None:
        """Batch looks for its namespace, which anyone may have made."""
        if request.type == kinds.COMPUTE_ENVIRONMENT:
            names = [item["metadata"]["name"] for item in self._api.items("/api/v1/namespaces") if item["status"]["phase"] == "Active"]
            state.found_namespaces = frozenset(names)

    def create(self, registration: Registration) -> Refusal | None:
        """Make an object, or what a release or an add-on brings."""
        return self._asked(registration, [*self._brought(registration), *self._own(registration)])

    def update(self, registration: Registration) -> Refusal | None:
        """The same for a change."""
        return self.create(registration)

    def delete(self, registration: Registration) -> Refusal | None:
        """Delete it, and wait until it is gone."""
        stay = crds.stays(contract.chart) if (contract := _contract(registration)) else set()
        items = [item for item in self._brought(registration) if item["metadata"]["name"] not in stay]
        try:
            for item in [*items, *self._own(registration)]:
                if (refusal := self._deleted(item)) is not None:
                    return refusal
        except HTTPError as error:
            return unreachable(error)
        return None

    def follow(self, state: AccountState) -> None:
        """Let the cluster have the nodes of the account's node groups. Nothing where its API server does not answer: the next one does it."""
        wanted = nodes.of_account(state)
        if wanted == self._nodes:
            return
        try:
            nodes.follow(self._api, wanted)
        except (HTTPError, Refused):
            return
        self._nodes = wanted

    def restore(self, state: AccountState) -> list[str]:
        """Bring the account's whole Kubernetes half to a cluster that lacks it; gives what was refused. Changes nothing where all is there."""
        self.follow(state)
        waiting = [item.registration for item in state if item.status != "deleting" and _lives_here(item.registration)]
        waiting.sort(key=_rank)
        brought = [item for registration in waiting if _contract(registration) for item in self._brought(registration)]
        with suppress(HTTPError, Refused, NotInTime):
            # Of all releases together: each definition takes the API server a second or two, and what is refused is said below.
            crds.install(self._api, [item for item in brought if item["kind"] == "CustomResourceDefinition"])
        refused: list[tuple[Registration, str]] = []
        # What needs a kind or a namespace that comes later in the list has its turn again.
        for _ in range(2):
            refused = [(item, refusal.text) for item in waiting if (refusal := self.create(item)) is not None]
            waiting = [item for item, _ in refused]
        return [f"{item.name}: {text}" for item, text in refused]

    def _asked(self, registration: Registration, items: Sequence[Object]) -> Refusal | None:
        definitions = [item for item in items if item["kind"] == "CustomResourceDefinition"]
        try:
            # All at once: each takes the API server a second or two until it is served.
            crds.install(self._api, definitions)
            for item in (item for item in items if item not in definitions):
                if (refusal := self._applied(registration, item)) is not None:
                    return refusal
        except HTTPError as error:
            return unreachable(error)
        except (Refused, NotInTime) as error:
            return Refusal(
                "Refused", str(error), f"the API server refused a part of {registration.name}", f"correct it; then `{typed('pulumi up')}`"
            )
        return None

    def _applied(self, registration: Registration, item: Object) -> Refusal | None:
        try:
            answer = _judged(lambda: self._api.apply(item, manager=MANAGER))
        except LookupError as error:
            answer = Answer(404, {"message": str(error), "reason": "NotFound"})
        return None if answer.status < 300 else refusal_of(registration, answer)

    def _deleted(self, item: Object) -> Refusal | None:
        try:
            answer = _judged(lambda: self._api.delete(item, foreground=False))
        except LookupError:
            # Its kind is gone, and it with it.
            return None
        if answer.status >= 300 and answer.status != 404:
            return Refusal(
                str(answer.body.get("reason", "")),
                answer.message,
                "the API server refused it",
                f"correct it; then `{typed('pulumi destroy')}`",
            )
        until = time.monotonic() + DELETE_S
        while item["kind"] not in NOT_AWAITED and (found := self._api.get(item)).status == 200:
            if time.monotonic() > until:
                return stuck(found.body)
            time.sleep(LOOK_S)
        return None

    def _own(self, registration: Registration) -> Iterator[Object]:
        if is_object(registration):
            yield manifest(registration)

    def _brought(self, registration: Registration) -> Iterator[Object]:
        contract = _contract(registration)
        if contract is None:
            return
        yield from _definitions(contract)
        namespace = str(registration.inputs.get("namespace") or "kube-system")
        found = workloads(contract, namespace, registration.inputs.get("values") or {})
        names = {item["metadata"]["namespace"] for item in found} - {"kube-system", namespace}
        if registration.inputs.get("createNamespace"):
            names.add(namespace)
        yield from ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(names))
        yield from found
        configuration = value_of(contract, registration.inputs.get("values") or {}, "custom.scheduler_config_override")
        if contract.chart == VOLCANO.name and configuration:
            metadata = {"name": SCHEDULER_CONFIGURATION, "namespace": namespace}
            yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {CONFIGURATION_KEY: configuration}}


def _judged(ask: Callable[[], Answer]) -> Answer:
    """The answer; a webhook's refusal counts when it stays: it may not have seen what was made or deleted a moment ago."""
    until = time.monotonic() + LAG_S
    while (answer := ask()).status >= 300 and answer.message.startswith(DENIED) and time.monotonic() < until:
        time.sleep(LOOK_S)
    return answer


def manifest(item: Registration) -> Object:
    """An object as the program sends it; kind and version are those of the type that the engine knows it by."""
    api_version, _, kind = item.type.removeprefix("kubernetes:").rpartition(":")
    return {**_plain(item.inputs), "apiVersion": api_version.removeprefix("core/"), "kind": kind}


def is_object(item: Registration) -> bool:
    """Whether a resource is one object of Kubernetes."""
    return item.custom and kinds.is_kubernetes(item.type) and item.type != kinds.RELEASE


def refusal_of(registration: Registration, answer: Answer) -> Refusal:
    """What the API server refused, in its own words. The provider tries again only for what is not there yet."""
    reason = str(answer.body.get("reason") or answer.status)
    waits = KIND_RETRY_S if answer.status == 404 else 0
    return Refusal(
        reason, answer.message, f"the API server refused {registration.name}", f"correct it; then `{typed('pulumi up')}`", retry_s=waits
    )


def stuck(found: Object) -> Refusal:
    """An object that does not go, in the provider's words."""
    metadata = found["metadata"]
    held = ", ".join(metadata.get("finalizers") or ())
    return Refusal(
        "DeadlineExceeded",
        f"finalizers might be preventing deletion ({held}); timed out waiting for the condition",
        f"{found['kind']} {metadata['name']} is still there after {DELETE_S} s",
        f"`{typed('trn drain')}` ends the jobs that use it; then `{typed('pulumi destroy')}` again",
        remedy="drain",
    )


def unreachable(error: Exception) -> Refusal:
    """The API server is gone in the middle of a run."""
    return Refusal(
        "Unreachable",
        f"configured Kubernetes cluster is unreachable: {error}",
        "the API server of the practice cluster has ended",
        f"`{typed('pulumi up')}` starts it again and brings back what the account holds",
        remedy="again",
    )


def _contract(registration: Registration) -> Contract | None:
    return chart_of(registration) if registration.type in _CHARTS else None


def _definitions(contract: Contract) -> list[Object]:
    """The pinned ones; where their modules cannot be had, those that the contract describes."""
    try:
        return crds.of_chart(contract.chart)
    except Missing:
        return [crds.made(str(crd["name"]), str(crd["kind"])) for crd in contract.crds]


def _lives_here(registration: Registration) -> bool:
    return registration.type in _CHARTS or is_object(registration)


def _rank(registration: Registration) -> int:
    """Namespaces first, then what brings kinds, then all else."""
    return 0 if registration.type == kinds.NAMESPACE else 1 if registration.type in (*_CHARTS, kinds.CUSTOM_RESOURCE_DEFINITION) else 2


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
