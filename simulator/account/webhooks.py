"""Fail-closed webhooks: those of charts, from `charts.yaml`, and those that the program makes itself."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simulator.account import kinds, view
from simulator.account.charts import guards
from simulator.account.objects import CloudObject
from simulator.account.state import AccountState
from simulator.recording import Registration


@dataclass(frozen=True)
class Guard:
    """One webhook that is called for an operation on a kind; the operation fails when it does not answer."""

    owner: Registration
    """The release, or the configuration object."""
    service: str
    namespace: str
    answers: bool


def guards_of(state: AccountState, kind: str, operation: str) -> Iterator[Guard]:
    """All webhooks that are asked, whether they answer or not."""
    for existing in view.releases(state):
        release = existing.registration
        if guards(release, kind, operation):
            yield Guard(release, f"{release.inputs['name']}-admission-service", str(release.inputs["namespace"]), answers(state, existing))
    for configuration in (kinds.VALIDATING_WEBHOOKS, kinds.MUTATING_WEBHOOKS):
        for existing in state.existing(configuration):
            for webhook in existing.registration.inputs.get("webhooks") or ():
                service = webhook["clientConfig"].get("service")
                # Without a policy of its own a webhook fails closed (Kubernetes API, admissionregistration.k8s.io/v1).
                if service is not None and webhook.get("failurePolicy", "Fail") == "Fail" and _is_asked(state, webhook, kind, operation):
                    found = _is_served(state, service["name"], service["namespace"])
                    yield Guard(existing.registration, service["name"], service["namespace"], found)


def answers(state: AccountState, release: CloudObject) -> bool:
    """Whether the pods of a release are there to answer."""
    return release.status == "ready" and bool(view.untainted_groups(state))


def _is_asked(state: AccountState, webhook: Mapping[str, Any], kind: str, operation: str) -> bool:
    return any(
        {operation, "*"} & set(rule["operations"])
        and any(_kind_of(state, group, plural) == kind for group in rule["apiGroups"] for plural in rule["resources"])
        for rule in webhook.get("rules") or ()
    )


def _kind_of(state: AccountState, group: str, plural: str) -> str | None:
    """`group/Kind` of a custom resource, from a definition that the program makes; None for any other."""
    for existing in state.existing(kinds.CUSTOM_RESOURCE_DEFINITION):
        spec = existing.registration.inputs["spec"]
        if (spec["group"], spec["names"]["plural"]) == (group, plural):
            return f"{group}/{spec['names']['kind']}"
    return None


def _is_served(state: AccountState, name: str, namespace: str) -> bool:
    """Whether a Service of the program has pods behind it: a Deployment that is ready, and a node for it."""
    wanted = {"name": name, "namespace": namespace}
    for service in state.ready(kinds.SERVICE):
        if wanted.items() <= service.inputs["metadata"].items():
            selector = service.inputs["spec"].get("selector") or {}
            pods = (item.inputs["spec"]["template"]["metadata"]["labels"] for item in state.ready(kinds.DEPLOYMENT))
            return bool(view.untainted_groups(state)) and any(selector.items() <= labels.items() for labels in pods)
    return False
