"""Parts of the AWS account: who asks, the control plane, node groups, quotas."""

from collections.abc import Iterator
from typing import Any

from facts.typed import typed
from trn.aws.eks import described, node_group, node_group_names
from trn.aws.identity import caller
from trn.cli.findings import Finding
from trn.engine import quotas
from trn.engine.quotas import StackInAccount
from trn.running.bundle.part import Absent, Part
from trn.running.bundle.subject import Subject

QUOTAS = (quotas.vcpus, quotas.network, quotas.clusters, quotas.node_groups, quotas.lustre_storage)


def parts(subject: Subject) -> Iterator[Part]:
    """All of AWS."""
    yield Part("aws/caller.json", "whose credentials asked", "AWS", "sts:GetCallerIdentity", lambda: _caller(subject))
    yield Part("aws/cluster.json", "the control plane", "AWS", "eks:DescribeCluster", lambda: _cluster(subject))
    yield Part("aws/node-groups.json", "node groups with their health", "AWS", "eks:DescribeNodegroup", lambda: _groups(subject))
    yield Part(
        "aws/quotas.txt",
        "quotas beside what the stack needs",
        "AWS",
        f"the quota checks of `{typed('trn check')}`",
        lambda: _quotas(subject),
    )


def _caller(subject: Subject) -> dict[str, str]:
    who = caller(subject.api)
    found = {"account": who.account, "arn": who.arn, "region": subject.api.region}
    return found | ({"warning": wrong} if (wrong := other_account(who.account, subject)) else {})


def other_account(account: str, subject: Subject) -> str:
    """What is wrong where the caller's account is not the stack's own; empty where it is, or where that is not known."""
    own = str(subject.outputs.get("clusterArn", "")).split(":")[4:5]
    if own and own != [account]:
        return f"these credentials are of account {account}, and the stack's outputs name {own[0]}: what AWS and the cluster say may be of another cluster"
    return ""


def _cluster(subject: Subject) -> dict[str, Any]:
    name, region = subject.place
    found = described(subject.api, name)
    if found is None:
        raise Absent(f"there is no cluster `{name}` in {region}")
    return found


def _groups(subject: Subject) -> list[dict[str, Any]]:
    name = subject.place[0]
    if described(subject.api, name) is None:
        raise Absent(f"there is no cluster `{name}`")
    return [node_group(subject.api, name, group) for group in node_group_names(subject.api, name)]


def _quotas(subject: Subject) -> str:
    asked = StackInAccount(settings=subject.settings, api=subject.api)
    return lines(finding for check in QUOTAS for finding in check(asked))


def lines(findings: Iterator[Finding]) -> str:
    """Findings as `trn check` and `trn status` print them."""
    return "".join(f"{it.verdict:<5}{it.check}: {it.what}\n" + (f"     -> {it.do}\n" if it.do else "") for it in findings)
