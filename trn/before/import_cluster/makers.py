"""Who made the cluster, what of it stays outside of a stack, and how the old tool forgets what the stack takes over.

Sources: awslabs/data-on-eks ai-ml/trainium-inferentia, read at a32d9f25; terraform-aws-modules/terraform-aws-eks main.tf, v19 and v20;
eksctl-io/eksctl pkg/cfn/manager, read 2026-11; Terraform CLI, state rm; CloudFormation API, UpdateTerminationProtection.
"""

from collections.abc import Iterator
from typing import Literal

from facts.resources.rights import role_of
from facts.typed import typed
from simulator.recording import Recording
from simulator.report.words import plural
from trn.aws.api import tags_of
from trn.aws.other_cluster import EKSCTL_TAG, KARPENTER_TAG, OtherCluster, authentication_mode
from trn.before.import_cluster.draft import Draft, made_by_claim, used_file_system

Maker = Literal["the Terraform blueprint", "eksctl", "another tool"]
_REPOSITORY_TAG = "GithubRepo"
_ADDONS = "module.eks_blueprints_addons.aws_eks_addon.this"
_CHARTS = ("module.eks_data_addons", "module.eks_blueprints_addons")
_ADDRESSES = (
    "module.eks.aws_eks_cluster.this",
    "module.eks.aws_iam_role.this",
    "module.eks.aws_iam_role_policy_attachment.this",
    "module.eks.aws_cloudwatch_log_group.this",
    "module.eks.aws_eks_addon.this",
    "module.eks.aws_eks_access_entry.this",
    "module.eks.aws_eks_access_policy_association.this",
    "module.eks.module.kms",
)
"""What of Terraform's state the stack takes over or uses. An address that a state lacks is refused, and changes nothing."""
_OWN_POLICY = "AmazonEKSClusterPolicy"


def maker_of(other: OtherCluster) -> Maker:
    """By the tags of the cluster."""
    if other.tags.get(EKSCTL_TAG) == other.name or other.stacks:
        return "eksctl"
    # A tag `Blueprint` alone is on clusters of every blueprint.
    if "data-on-eks" in other.tags.get(_REPOSITORY_TAG, ""):
        return "the Terraform blueprint"
    return "another tool"


def outside(other: OtherCluster, draft: Draft, recording: Recording) -> Iterator[str]:
    """What cannot be taken over, one sentence each with what to do."""
    for group in other.node_groups:
        theirs = str(group["nodegroupName"])
        ours = f"{draft.groups[theirs]} is made beside it" if theirs in draft.groups else "the stack makes none in its place"
        yield f"node group {theirs}: its launch template, role and name are its maker's; {ours}, and you delete it when its jobs have ended"
    yield from _instances(other)
    for profile in other.fargate_profiles:
        yield (
            f"Fargate profile {profile}: its pods go on running there; EKS deletes no cluster that has one, so"
            f" `aws eks delete-fargate-profile --cluster-name {other.name} --fargate-profile-name {profile}` before `{typed('pulumi destroy')}`"
        )
    if authentication_mode(other.entry) != "API":
        yield f"config map aws-auth: EKS ignores it after `{typed('pulumi up')}`; each principal that only it names needs an entry in controlPlane.accessEntries"
    if other.service_account_roles:
        yield (
            f"{plural(len(other.service_account_roles), 'IAM role')} of service accounts ({', '.join(other.service_account_roles)}): they still work for their"
            " pods; the stack's own add-ons use Pod Identity"
        )
    yield from _file_systems(other, used_file_system(draft))
    ours = {str(item.inputs["addonName"]) for item in recording.resources() if item.type == "aws:eks/addon:Addon"}
    for addon in other.addons:
        if addon["addonName"] not in ours:
            yield f"EKS add-on {addon['addonName']}: it stays; delete it where the stack installs the same (`aws eks delete-addon`)"
    yield from _role_policies(other)
    yield "Helm releases and their objects: the account does not show them; `helm list -A` does, and one of another name blocks the stack's own chart"


def _role_policies(other: OtherCluster) -> Iterator[str]:
    """What the program's role does not have, and `pulumi destroy` would stop at (IAM API, DeleteRole: DeleteConflict)."""
    role = role_of(other.entry["roleArn"])
    if other.role_users:
        return
    for arn in other.role_policies:
        if not arn.endswith(f"/{_OWN_POLICY}"):
            detach = f"`aws iam detach-role-policy --role-name {role} --policy-arn {arn}`"
            yield f"policy {arn.rsplit('/', 1)[-1]} of the control plane's role: {detach} before `{typed('pulumi destroy')}`"
    for name in other.role_documents:
        delete = f"`aws iam delete-role-policy --role-name {role} --policy-name {name}`"
        yield f"policy {name} in the control plane's role: {delete} before `{typed('pulumi destroy')}`"


def _instances(other: OtherCluster) -> Iterator[str]:
    karpenter = [each for each in other.other_nodes if KARPENTER_TAG in tags_of(each)]
    own = [each for each in other.other_nodes if each not in karpenter]
    if own:
        names = ", ".join(str(each["InstanceId"]) for each in own)
        yield f"{plural(len(own), 'self-managed node')} ({names}): their Auto Scaling groups belong to their maker; drain the nodes and delete the groups there"
    if karpenter:
        yield f"{plural(len(karpenter), 'node')} of Karpenter: delete its NodePools first, while its controller runs"


def _file_systems(other: OtherCluster, used: str) -> Iterator[str]:
    for entry in other.file_systems:
        which = entry["FileSystemId"]
        if made_by_claim(entry):
            yield (
                f"file system {which}: a claim made it, and deleting the claim deletes it with its data; copy what you need, or set its"
                " PersistentVolume to Retain"
            )
        elif which != used:
            yield f"file system {which}: it still belongs to its maker"


def forgetting(other: OtherCluster, maker: Maker) -> Iterator[str]:
    """Steps by which the old tool loses the cluster, before the stack changes it."""
    if maker == "eksctl":
        for entry in other.stacks:
            name = entry["StackName"]
            if str(name).endswith("-cluster") and not entry.get("EnableTerminationProtection"):
                yield f"aws cloudformation update-termination-protection --enable-termination-protection --stack-name {name}"
        yield (
            "never run `eksctl delete cluster`, nor delete its stack of CloudFormation: both delete the control plane and the VPC. The stack stays,"
            " protected, for as long as its VPC is used"
        )
        return
    if maker == "the Terraform blueprint":
        yield f"terraform state rm '{_ADDONS}'"
        # Before the cluster is forgotten: the providers of Helm and Kubernetes read its endpoint from the state.
        yield f"terraform destroy {' '.join(f'-target={module}' for module in _CHARTS)}: deletes its Helm releases"
        yield f"terraform state rm {' '.join(_ADDRESSES)}"
        yield "run no `terraform apply` or `terraform destroy` on this state from here on without -target: it would make another cluster"
        return
    yield "remove the control plane, its role, log group, add-ons and key from the state of the tool that made them"


def removal(other: OtherCluster, maker: Maker) -> Iterator[str]:
    """Steps that delete the old node groups once their jobs have ended."""
    for group in other.node_groups:
        name = group["nodegroupName"]
        if maker == "eksctl":
            yield f"eksctl delete nodegroup --cluster {other.name} --region {other.region} --name {name}"
        elif maker == "the Terraform blueprint":
            yield f"aws eks delete-nodegroup --cluster-name {other.name} --region {other.region} --nodegroup-name {name}, then `terraform state rm` of it"
        else:
            yield f"aws eks delete-nodegroup --cluster-name {other.name} --region {other.region} --nodegroup-name {name}"
