"""Why a destroy takes longer than its lower bound: each wait beyond the longest chain of AWS's own, with its reason."""

from dataclasses import dataclass
from pathlib import Path

from facts.resources import amp, budgets, fsx, sns, sqs
from simulator.account import kinds
from simulator.destroy_bound import destroy_bound
from simulator.recording import Recording
from simulator.rehearsal import Rehearsal
from simulator.report.schema import PathStep, Report
from simulator.report.words import duration, short_type
from tools.pages.marked import between
from trn.engine.program import rehearse_stack
from trn.engine.stack_file import read_stack_file

MARKER = "destroy-time"
SHORTEST_S = 3.0
"""Waits below this are left out."""
_BEFORE_NODES = (
    "Kubernetes objects go before the releases that bring their kinds, and releases before the nodes on which their hook Jobs and controllers run;"
    " the engine waits for the slowest of each level"
)
REASONS = {
    kinds.ADDON: "nodes need it until they are gone, and it cannot outlive the control plane: a level between the two, or before the nodes where its pods need them",
    kinds.FILE_SYSTEM: (
        "it depends on its subnet and its security group only, so that it is made beside the control plane; the engine's levels count from there,"
        " and put it behind the control plane. An edge that brought it forward would make every `up` wait for it"
    ),
    kinds.SCHEDULE_GROUP: "its schedules are deleted first, and the engine's levels put it beside what lies as deep",
    budgets.BUDGET.token: "it depends on its topic at most: the engine's levels put it beside what lies as deep",
    sns.TOPIC.token: "the idle guard may publish to it until its pods are gone",
    sns.SUBSCRIPTION.token: "it is deleted before its topic, at which the engine's levels put it",
    kinds.ENDPOINT: "it depends on the VPC and its route tables only: the same",
    kinds.INTERNET_GATEWAY: "it depends on the VPC only, and what has public addresses goes before it",
    kinds.NAT_GATEWAY: "nodes and their pods reach AWS through it until they are gone, and so it goes behind them",
    kinds.ROLE_ATTACHMENT: "EKS needs its role's policy until the control plane is gone",
    kinds.ROLE_POLICY: "pods and nodes act by it until they are gone",
    kinds.ROLE: "what acts as it goes before it",
    kinds.KEY: "the control plane reads its secrets with it until it is gone",
    kinds.NODE_GROUP: "nodes go before the control plane; groups of one level go side by side",
    kinds.JOB_QUEUE: "Batch runs jobs from it until it is gone, and its environment cannot go before it",
    kinds.COMPUTE_ENVIRONMENT: "Batch takes its pods out of the cluster, for which the nodes and the API server are needed",
    amp.WORKSPACE.token: "Prometheus writes to it until its release is gone",
    fsx.DATA_REPOSITORY.token: "it is deleted before its file system, at which the engine's levels put it",
    budgets.BUDGET.token: "nothing waits for it: the engine's levels put it where they do",
    sns.TOPIC.token: "the idle guard publishes to it until its pod is gone; its subscriptions go before it",
    sns.SUBSCRIPTION.token: "it is deleted before its topic, at which the engine's levels put it",
    sqs.QUEUE.token: "Karpenter reads it until its release is gone",
    sqs.QUEUE_POLICY.token: "Karpenter reads its queue until its release is gone; a policy goes before its queue",
    kinds.SECURITY_GROUP: "what carries it, and rules that name it, go before it",
    kinds.INGRESS: "it goes before the two groups that it names, and no earlier than what they let through",
    kinds.EGRESS: "it goes before the two groups that it names, and no earlier than what they let through",
    kinds.ADDRESS: "its NAT gateway goes before it",
    kinds.POD_BLOCK: "subnets in it go before it",
    kinds.SUBNET: "interfaces in it go before it; subnets of one level go side by side",
    kinds.CLUSTER: "all that it holds goes before it",
    kinds.VPC: "all that lies in it goes before it",
    kinds.POD_IDENTITY: "pods act by it until they are gone",
}
"""Type to why nothing of it goes earlier."""


@dataclass(frozen=True)
class Wait:
    """One wait beyond the bound."""

    step: PathStep
    reason: str


def waits(report: Report, recording: Recording) -> list[Wait]:
    """Links of the destroy's critical path that are not in the bound's chain, in their order.

    Raises ValueError for one without a reason.
    """
    chain = set(destroy_bound(recording, report.seed).chain)
    beyond = [step for step in report.destroy.critical_path if step.urn not in chain and step.end - step.start >= SHORTEST_S]
    return [Wait(step, _reason(step)) for step in beyond]


def _reason(step: PathStep) -> str:
    if kinds.is_kubernetes(step.type):
        return _BEFORE_NODES
    if step.type not in REASONS:
        raise ValueError(f"the destroy waits for {step.type} {step.name} beyond its lower bound, and no reason is known")
    return REASONS[step.type]


def table(rehearsed: Rehearsal) -> str:
    """The waits of one rehearsal, links with the same reason together."""
    report, together = rehearsed.report, dict[str, list[PathStep]]()
    for wait in waits(report, rehearsed.recording):
        together.setdefault(wait.reason, []).append(wait.step)
    lines = [
        f"The shipped stack is gone after {duration(report.destroy.seconds)}; the bound is {duration(report.destroy.lower_bound_seconds)}.",
        "What lies between:",
        "",
        "| time | what | why |",
        "| --- | --- | --- |",
    ]
    for reason, steps in together.items():
        names = ", ".join(f"{short_type(step.type)} {step.name}" for step in steps)
        lines.append(f"| {duration(sum(step.end - step.start for step in steps))} | {names} | {reason} |")
    return "\n".join(lines)


def page(text: str, root: Path) -> str:
    """The page about rehearsals with the waits of the shipped stack, as they are today."""
    made = table(rehearse_stack(read_stack_file("dev", root)))
    return between(text, MARKER, f"\n{made}\n")
