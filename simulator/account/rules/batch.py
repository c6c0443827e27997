"""What AWS Batch, and EKS on its behalf, refuse of a compute environment over a cluster."""

from facts.typed import made_again
from simulator.account import kinds, view
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration

LINKED_ROLES = ":role/aws-service-role/"


@rule("create", kinds.COMPUTE_ENVIRONMENT, source="Batch user guide, batch_eks_invalid_compute_environment: invalid Kubernetes namespace")
def environment_finds_its_namespace(state: AccountState, request: Registration) -> Refusal | None:
    """A compute environment over a cluster is INVALID when Batch cannot look at its namespace."""
    name = request.inputs.get("eksConfiguration", {}).get("kubernetesNamespace")
    if name is None or (view.api_answers(state) and view.namespace_exists(state, name)):
        return None
    return Refusal(
        "INVALID",
        f"waiting for Batch Compute Environment ({request.inputs['name']}) create: unexpected state 'INVALID', wanted target 'VALID'."
        " last error: CLIENT_ERROR - Unable to validate Kubernetes Namespace",
        f"namespace {name} is not there, or its API server does not answer Batch",
        f"let the environment depend on the namespace; now `{made_again(request.urn)}`",
        leaves="failed",
        remedy="replace",
    )


@rule("create", kinds.ACCESS_ENTRY, source="EKS user guide, creating-access-entries; EKS API, CreateAccessEntry, InvalidParameterException")
def no_entry_for_a_linked_role(state: AccountState, request: Registration) -> Refusal | None:
    """Only its service can make an access entry for a service-linked role."""
    principal = str(request.inputs["principalArn"])
    if LINKED_ROLES not in principal:
        return None
    return Refusal(
        "InvalidParameterException",
        "The caller is not allowed to modify access entries with a principalArn value of a Service Linked Role",
        f"{principal.rsplit('/', 1)[-1]} belongs to its service, which makes the entry itself",
        "leave the entry out: Batch makes it with its compute environment",
    )


@rule(
    "create", kinds.ACCESS_POLICY, source="EKS API, AssociateAccessPolicy, ResourceNotFoundException; Batch user guide, eks-access-entries"
)
def policy_needs_an_entry(state: AccountState, request: Registration) -> Refusal | None:
    """An access policy is given to a principal that has an access entry; Batch's own is there when its environment is."""
    principal = str(request.inputs["principalArn"])
    entered = any(entry.inputs["principalArn"] == principal for entry in state.ready(kinds.ACCESS_ENTRY))
    by_batch = principal in (environment.inputs.get("serviceRole") for environment in state.ready(kinds.COMPUTE_ENVIRONMENT))
    if entered or by_batch or f"access entry {principal}" in state.strays:
        return None
    return Refusal(
        "ResourceNotFoundException",
        "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'.",
        f"{principal} has no access entry yet",
        "let the association depend on the access entry, or on the compute environment with which Batch makes it",
    )


@rule("delete", kinds.COMPUTE_ENVIRONMENT, source="Batch API, DeleteComputeEnvironment, ClientException")
def queue_names_the_environment(state: AccountState, request: Registration) -> Refusal | None:
    """A compute environment stays while a job queue names it."""
    arn = request.outputs.get("arn")
    orders = (
        (queue, order) for queue in state.existing(kinds.JOB_QUEUE) for order in queue.registration.inputs["computeEnvironmentOrders"]
    )
    holders = [str(queue.registration.inputs["name"]) for queue, order in orders if order["computeEnvironment"] == arn]
    if not holders:
        return None
    return Refusal(
        "ClientException",
        "Cannot delete, found existing JobQueue relationship",
        f"job queue {', '.join(holders)} names {request.inputs['name']}",
        "delete the queue first: `aws batch update-job-queue --state DISABLED`, then `aws batch delete-job-queue`",
    )
