"""What pods do not reach in a network without a way out: each service of AWS then takes an endpoint."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from facts.endpoints import called_services, services_of_managed_policy
from simulator.account import kinds, view, ways
from simulator.account.charts import chart_of
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.account.timeouts import HELM_S
from simulator.recording import Registration

_SOURCE = "EKS user guide, private clusters: pods reach a service of AWS only by its endpoint"


@rule("verify", kinds.POD_IDENTITY, kinds.ADDON, source=_SOURCE)
def identity_reaches_its_services(state: AccountState, request: Registration) -> Refusal | None:
    """A service account that may call a service reaches it: its pods run otherwise, and every call of theirs times out."""
    for account, role_arn in _identities(request):
        lacking = _unreached(state, _services(state, role_arn))
        if lacking:
            return Refusal(
                "ConnectTimeout",
                f'dial tcp: i/o timeout: Post "https://{lacking[0]}.amazonaws.com/"',
                f"pods of {account} call {', '.join(lacking)}, and there is neither a NAT gateway nor an endpoint",
                "make these endpoints with `network.interfaceEndpoints`, or `network.nat: single`",
            )
    return None


@rule(
    "settle",
    kinds.RELEASE,
    source="kubernetes/autoscaler cluster-autoscaler/cloudprovider/aws/aws_cloud_provider.go: ends without its groups",
)
def release_reaches_its_services(state: AccountState, request: Registration) -> Refusal | None:
    """Pods that end where a service does not answer are never ready, and neither is their release."""
    chart = chart_of(request)
    lacking = _unreached(state, tuple(chart.calls_at_start)) if chart is not None else []
    if not lacking:
        return None
    atomic = bool(request.inputs.get("atomic"))
    ending = ", and has been uninstalled due to atomic being set" if atomic else ""
    return Refusal(
        "DeadlineExceeded",
        f"release {request.inputs['name']} failed{ending}: context deadline exceeded",
        f"pods of {request.name} end at their start: they call {', '.join(lacking)}, and there is neither a NAT gateway nor an endpoint",
        "make these endpoints with `network.interfaceEndpoints`, or `network.nat: single`",
        retry_s=float(request.inputs.get("timeout") or HELM_S),
        leaves="nothing" if atomic else "unready",
    )


def _identities(request: Registration) -> Iterator[tuple[str, str]]:
    """Service accounts with the ARNs of their roles."""
    if request.type == kinds.POD_IDENTITY:
        yield f"{request.inputs['namespace']}/{request.inputs['serviceAccount']}", str(request.inputs["roleArn"])
    else:
        for association in request.inputs.get("podIdentityAssociations") or ():
            yield f"{request.inputs['addonName']}/{association['serviceAccount']}", str(association["roleArn"])


def _services(state: AccountState, role_arn: str) -> tuple[str, ...]:
    """Services that a role may call, by the names of their endpoints."""
    roles = {role.id for role in state.ready(kinds.ROLE) if role.outputs.get("arn") == role_arn}
    documents = [_document(item.inputs["policy"]) for item in state.ready(kinds.ROLE_POLICY) if item.inputs["role"] in roles]
    attached = [str(item.inputs["policyArn"]) for item in state.ready(kinds.ROLE_ATTACHMENT) if item.inputs["role"] in roles]
    managed = {service for arn in attached for service in services_of_managed_policy(arn)}
    return tuple(sorted(called_services(documents) | managed))


def _document(policy: Any) -> Mapping[str, Any]:
    return json.loads(policy) if isinstance(policy, str) else policy


def _unreached(state: AccountState, services: tuple[str, ...]) -> list[str]:
    """Those that the nodes of some group do not reach."""
    subnets = {subnet.id: subnet for group in view.node_groups(state) for subnet in view.subnets_of(state, group)}
    lacking = {service for subnet in subnets.values() for service in ways.unreached(state, subnet, services)}
    return sorted(lacking)
