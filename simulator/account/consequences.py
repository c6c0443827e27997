"""What a deletion causes beyond the object itself: what is deleted with it, and what it leaves in the account."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from facts.resources import autoscaling, fsx, sns, sqs
from simulator.account import kinds, view
from simulator.account.charts import chart_of
from simulator.account.objects import Stray
from simulator.account.one_cluster import seen_by
from simulator.account.state import AccountState
from simulator.recording import Registration


@dataclass(frozen=True)
class Consequence:
    """One effect of a deletion."""

    name: str
    types: tuple[str, ...]
    source: str
    sentence: str
    apply: Callable[[AccountState, Registration], None]


def _consequence(*types: str, source: str) -> Callable[[Callable[[AccountState, Registration], None]], Consequence]:
    def make(apply: Callable[[AccountState, Registration], None]) -> Consequence:
        sentence = (apply.__doc__ or "").strip().split("\n")[0]
        assert sentence, f"{apply} has no docstring"
        return Consequence(apply.__name__.replace("_", "-"), types, source, sentence, apply)

    return make


def of_deletion(state: AccountState, gone: Registration) -> None:
    """Apply all consequences of a deletion that has just ended."""
    for consequence in CONSEQUENCES:
        if gone.type in consequence.types:
            consequence.apply(seen_by(state, gone), gone)


@_consequence(kinds.NODE_GROUP, source="pulumi/pulumi-eks#1226; terraform-aws-modules/terraform-aws-eks#2048")
def cni_leaks_interfaces(state: AccountState, group: Registration) -> None:
    """Nodes deleted after the VPC CNI leave the interfaces that it made for their pods; unused, they block the subnet and the group."""
    if not view.desired_size(group) or view.has_addon(state, "vpc-cni") or view.cluster(state) is None:
        return
    carried = tuple(sorted({group_id for ids in view.security_groups_of(state, group) for group_id in ids}))
    what = f"interfaces that the VPC CNI made for nodes of {group.inputs['nodeGroupName']}, now `available`"
    subnets = tuple(view.listed(group.inputs.get("subnetIds")))
    state.add_stray(Stray(f"interfaces of {group.urn}", what, group.urn, subnets, carried, cluster=str(group.inputs["clusterName"])))


@_consequence(kinds.CLUSTER, source="EKS API, DeleteCluster; aws/karpenter-provider-aws#1268, pulumi/pulumi-awsx#905")
def all_that_the_cluster_stored_goes(state: AccountState, gone: Registration) -> None:
    """Deleting the control plane deletes all that it stored; instances and load balancers that its controllers made stay."""
    parts = (kinds.ADDON, kinds.ACCESS_ENTRY, kinds.ACCESS_POLICY, kinds.POD_IDENTITY)
    held = [
        existing.registration
        for existing in state
        if kinds.is_kubernetes(existing.registration.type) or existing.registration.type in parts
    ]
    group = (gone.outputs.get("vpcConfig") or {}).get("clusterSecurityGroupId")
    _remove_all(state, [*held, *_naming(state, "securityGroupId", group, kinds.INGRESS, kinds.EGRESS)])
    for stray in [stray for name, stray in state.strays.items() if name.startswith(("crd ", "namespace ", "pod on ", "access entry "))]:
        state.drop_stray(stray)


_PARTS: Mapping[str, tuple[tuple[str, str], ...]] = {
    kinds.VPC: (("vpcId", kinds.POD_BLOCK),),
    kinds.ROUTE_TABLE: (("routeTableId", kinds.ROUTE), ("routeTableId", kinds.ROUTE_TABLE_ASSOCIATION)),
    kinds.SUBNET: (("subnetId", kinds.ROUTE_TABLE_ASSOCIATION),),
    kinds.SECURITY_GROUP: (("securityGroupId", kinds.INGRESS), ("securityGroupId", kinds.EGRESS)),
    kinds.FILE_SYSTEM: (("fileSystemId", fsx.DATA_REPOSITORY.token),),
    sns.TOPIC.token: (("topic", sns.SUBSCRIPTION.token),),
    sqs.QUEUE.token: (("queueUrl", sqs.QUEUE_POLICY.token),),
}
"""Type to the input and the type of what is part of it and has no life of its own."""


@_consequence(*_PARTS, source="EC2, FSx, SNS and SQS APIs, the Delete actions")
def parts_go_along(state: AccountState, gone: Registration) -> None:
    """Routes, rules, associations, subscriptions and policies are deleted with what they are part of."""
    for key, kind in _PARTS[gone.type]:
        _remove_all(state, _naming(state, key, gone.id, kind))


@_consequence(kinds.NODE_GROUP, source="Auto Scaling API, DeleteAutoScalingGroup: tags go with their group")
def group_tags_go_along(state: AccountState, gone: Registration) -> None:
    """Tags that the program put on an Auto Scaling group are deleted with it."""
    names = {each["name"] for resource in gone.outputs.get("resources") or () for each in resource.get("autoscalingGroups") or ()}
    tags = [item.registration for item in state.existing(autoscaling.GROUP_TAG.token)]
    _remove_all(state, [tag for tag in tags if tag.inputs["autoscalingGroupName"] in names])


def _naming(state: AccountState, key: str, which: str | None, *types: str) -> list[Registration]:
    objects = (item.registration for kind in types for item in state.existing(kind))
    return [registration for registration in objects if which and registration.inputs.get(key) == which]


def _remove_all(state: AccountState, registrations: Iterable[Registration]) -> None:
    for registration in registrations:
        state.remove(registration)


@_consequence(kinds.FILE_SYSTEM, source="FSx API, DeleteFileSystem, SkipFinalBackup; terraform-provider-aws: skipped by default")
def backups_stay(state: AccountState, gone: Registration) -> None:
    """A file system leaves its daily backups, and a final one where that is not switched off; both are billed."""
    if gone.inputs.get("skipFinalBackup") is False:
        state.add_stray(Stray(f"backup of {gone.urn}", f"final backup of {gone.id}", gone.urn))
    days = gone.inputs.get("automaticBackupRetentionDays")
    if days:
        state.add_stray(Stray(f"daily backups of {gone.urn}", f"daily backups of {gone.id}, kept {days} days", gone.urn))


@_consequence(kinds.LOG_GROUP, source="EKS user guide, control-plane-logs")
def log_group_returns(state: AccountState, gone: Registration) -> None:
    """A control plane that is still there creates its log group again, and the new one never expires."""
    if any(gone.inputs["name"] == f"/aws/eks/{found.registration.id}/cluster" for found in state.existing(kinds.CLUSTER)):
        state.add_stray(Stray(f"log group {gone.id}", f"log group {gone.id}, which EKS created again and which never expires", gone.urn))


@_consequence(kinds.COMPUTE_ENVIRONMENT, source="Batch user guide, eks-access-entries: deleting an environment does not remove the entry")
def batch_keeps_its_way_in(state: AccountState, gone: Registration) -> None:
    """The access entry that Batch made for its role stays on the cluster, and Batch cannot delete it in this mode."""
    role = gone.inputs.get("serviceRole")
    if role and view.cluster(state) is not None:
        what = "access entry of AWSServiceRoleForBatch, which Batch made and keeps"
        state.add_stray(Stray(f"access entry {role}", what, gone.urn))


@_consequence(kinds.NAMESPACE, source="Kubernetes API, namespace deletion")
def namespace_takes_its_objects(state: AccountState, gone: Registration) -> None:
    """Deleting a namespace deletes all objects in it, also those that the program did not make."""
    name = gone.inputs["metadata"]["name"]
    inside = [
        existing.registration
        for existing in state
        if kinds.is_kubernetes(existing.registration.type)
        and name in (existing.registration.inputs.get("namespace"), existing.registration.inputs.get("metadata", {}).get("namespace"))
    ]
    for registration in inside:
        state.remove(registration)


@_consequence(kinds.RELEASE, kinds.ADDON, source="helm/helm: crds/ is never deleted; measured with pulumi-kubernetes 4.34.2")
def chart_takes_or_leaves_its_kinds(state: AccountState, gone: Registration) -> None:
    """Kinds of a chart's templates go with all their objects; kinds of its `crds/` folder stay, and so does a namespace that Helm made."""
    chart = chart_of(gone)
    for kind in chart.kinds if chart is not None else ():
        if not view.knows_kind(state, kind):
            for existing in view.objects_of_kind(state, kind):
                state.remove(existing.registration)
    if gone.type != kinds.RELEASE:
        return
    for kind in chart.kinds_that_stay if chart is not None and not gone.inputs.get("skipCrds") else ():
        group = kind.split("/")[0].replace(".", r"\.")
        remove = f"kubectl get crd -o name | grep '\\.{group}$' | xargs kubectl delete"
        state.add_stray(Stray(f"crd {kind}", f"custom resource definition of {kind}, which Helm never deletes", gone.urn, remove=remove))
    if gone.inputs.get("createNamespace"):
        name = gone.inputs["namespace"]
        what, remove = f"namespace {name}, which Helm made and never deletes", f"kubectl delete namespace {name}"
        state.add_stray(Stray(f"namespace {name}", what, gone.urn, remove=remove))


CONSEQUENCES: tuple[Consequence, ...] = tuple(value for value in list(vars().values()) if isinstance(value, Consequence))
"""All of them, in the order in which they are applied."""
