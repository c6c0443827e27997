"""Physical names, built from the cluster's name and kept within AWS's limits.

Names are set by the program, not generated: an object that a crash left behind then shows up as a conflict on the next
run instead of as a silent bill.
"""

import hashlib
import re

CLUSTER_NAME_LIMIT = 28
"""Longest cluster name: the longest role name below then still fits IAM's 64 characters in the longest region."""
CLUSTER_NAME = rf"[a-z][a-z0-9-]{{0,{CLUSTER_NAME_LIMIT - 2}}}[a-z0-9]"
CLUSTER_NAME_WORDS = f"letters, digits and hyphens, at most {CLUSTER_NAME_LIMIT} characters: role names built from it must fit IAM's 64"
LAUNCH_TEMPLATE_NAME_LIMIT = 128
ROLE_NAME_LIMIT = 64
NODE_GROUP_NAME_LIMIT = 63
SCHEDULED_GROUP_NAME_LIMIT = 64 - len("-down")
"""Longest name of a node group with schedules: EventBridge Scheduler takes 64 characters."""


def role_name(cluster: str, region: str, purpose: str) -> str:
    """IAM role name; holds the region because IAM names are unique per account, not per region."""
    name = f"{cluster}-{region}-{purpose}"
    if len(name) > ROLE_NAME_LIMIT:
        raise ValueError(f"role name {name} has {len(name)} characters, IAM allows {ROLE_NAME_LIMIT}")
    return name


CONTROL_PLANE_ROLE = "control-plane"
"""What the control plane's role is for, and the end of its name where the stack makes it."""
GIVEN_ROLES = (
    CONTROL_PLANE_ROLE, "node", "karpenter-node", "vpc-cni", "ebs-csi", "fsx-csi", "efs-csi", "mountpoint-s3", "load-balancers", "cluster-autoscaler", "karpenter",
    "node-recovery", "cloudwatch-agent", "fluent-bit", "remote-write", "grafana", "schedules",
)  # fmt: skip
"""Roles, by what they are for, in whose place a stack can be given others: those of the control plane, of nodes, of
pods, and of the schedules that size groups."""


def launch_template_name(cluster: str, node_group: str) -> str:
    """Launch template, and placement group, of one node group; unique per region.

    Names of clusters and groups hold hyphens, so that with a hyphen between them group `b-c` of `a` and group `c` of `a-b`
    would be one.
    """
    return f"{cluster}/{node_group}"


def job_definition_name(cluster: str, node_group: str) -> str:
    """AWS Batch's job definition of one node group; unique per region. Batch takes letters, digits, `-` and `_`."""
    return f"{cluster}_{node_group}"


def control_plane_log_group(cluster: str) -> str:
    """The log group EKS writes to; the name is EKS's own (EKS user guide, control plane logs)."""
    return f"/aws/eks/{cluster}/cluster"


def pod_log_group(cluster: str) -> str:
    """The log group of all pods' logs (Fluent Bit)."""
    return f"/aws/eks/{cluster}/pods"


def file_system_log_group(cluster: str) -> str:
    """The log group of what FSx could not import or export; its name must begin with /aws/fsx/ (FSx API, LogConfiguration)."""
    return f"/aws/fsx/{cluster}"


def container_insights_log_group(cluster: str, part: str) -> str:
    """One log group of Container Insights: `part` is an entry of `CONTAINER_INSIGHTS`."""
    return f"/aws/containerinsights/{cluster}/{part}"


def log_group_names(cluster: str) -> tuple[str, ...]:
    """Every log group that the program makes, or that AWS creates again for the cluster, by its exact name.

    Those that AWS makes itself carry no tag: only the name identifies them.
    """
    insights = (container_insights_log_group(cluster, part) for part in CONTAINER_INSIGHTS)
    return (control_plane_log_group(cluster), pod_log_group(cluster), file_system_log_group(cluster), *insights)


def interruption_queue_name(cluster: str) -> str:
    """The queue from which Karpenter reads which instances will stop."""
    return f"{cluster}-karpenter"


def budget_name(cluster: str, region: str) -> str:
    """The budget of a cluster; holds the region because names of budgets are unique per account."""
    return role_name(cluster, region, "budget")


def schedule_group_name(cluster: str) -> str:
    """EventBridge Scheduler's group of the cluster's schedules; unique per region."""
    return cluster


def schedule_name(node_group: str, direction: str) -> str:
    """The schedule that sets a node group `up` or `down`; unique in the cluster's schedule group."""
    return f"{node_group}-{direction}"


def secrets_alias(cluster: str) -> str:
    """Alias of the key that encrypts the secrets of Kubernetes."""
    return f"alias/{cluster}-secrets"


def lock_name(cluster: str) -> str:
    """The launch template that one operator holds while a command changes the cluster; unique per region.

    No group's template can have this name: those have one slash. EC2 takes 128 characters, a cluster's name has 100 at most.
    """
    return f"trn/lock/{cluster}"


def part_lock_name(kind: str, name: str) -> str:
    """The same for a command that changes something smaller than a cluster, such as the `image` train/training:1.0.

    EC2 takes letters, digits and ().-/_ only; what is too long has the hash of its name. No cluster's lock can have such a name: theirs has
    one slash less.
    """
    whole = lock_name(f"{kind}/" + re.sub(r"[^A-Za-z0-9().\-/_]", "/", name))
    return whole if len(whole) <= LAUNCH_TEMPLATE_NAME_LIMIT else lock_name(f"{kind}/{hashlib.sha256(name.encode()).hexdigest()}")


def lock_parameter(cluster: str) -> str:
    """The parameter of Systems Manager that release 0.1.0 held in its place."""
    return f"/{lock_name(cluster)}"


def cluster_tags(cluster: str, stack: str) -> dict[str, str]:
    """The tags that mark everything of one cluster, matched exactly by sweep and never by substring.

    `stack`: the Pulumi stack that made it, from `stack_path`.
    """
    return {CLUSTER_TAG: cluster, STACK_TAG: stack}


def stack_path(organization: str, project: str, stack: str) -> str:
    """A stack as Pulumi names it in full. A file backend has one organization, `organization`, for everybody."""
    return f"{organization}/{project}/{stack}"


CONTAINER_INSIGHTS = ("application", "dataplane", "host", "performance", "prometheus")
"""Log groups that Container Insights makes below the cluster's name (CloudWatch user guide, Container Insights)."""
CLUSTER_TAG = "trn:cluster"
STACK_TAG = "trn:stack"
"""Which stack made it: two clusters of one name, one after the other or in two regions, are told apart by it."""
OFFER_TAG = "trn:capacity-offer"
"""On a capacity block: the offer that was bought, by which a second run knows that it must not buy again."""
BLOCK_GROUP_TAG = "trn:block-for"
"""On a capacity block: the node group that it was bought for, which can have one block at a time."""
PURCHASE_TAG = "trn:purchase"
"""On a capacity block: the run that bought it, by which a run whose purchase got no answer knows its own."""
LOCK_TAG = "trn:lock"
"""On the lock of a cluster, with the cluster's name. The lock has no `trn:cluster`: it is nothing of the stack's, and no sweep finds it."""
FINAL_BACKUP_TAG = "trn:final-backup"
"""On a file system whose settings want a backup when it is deleted: `true`."""
EFA_LABEL = "vpc.amazonaws.com/efa.present"
"""Node label put on EFA groups: the EFA plug-in crash-loops on matching types without EFA interfaces (aws/eks-charts#1239)."""
CORE_GROUP = "core"
"""Name of the group of ordinary nodes."""
GROUP_LABEL = "trn/node-group"
POOL_LABEL = "trn/node-pool"
"""Label of each node that Karpenter makes, with the name of its pool."""
VOLCANO_SCHEDULER = "volcano"
"""`schedulerName` of pods that Volcano places (volcano-sh/volcano, the scheduler's default name)."""
JOB_LABEL = "trn/job"
"""On everything that is made for a training job, with the job's name."""
AUTOSCALED_TAG = "trn/autoscaled"
"""Tag of the Auto Scaling groups whose size is left to an autoscaler."""
NEURON_RESOURCE = "aws.amazon.com/neuron"
NEURON_CORE_RESOURCE = "aws.amazon.com/neuroncore"
EFA_RESOURCE = "vpc.amazonaws.com/efa"
BATCH_ROLE = "AWSServiceRoleForBatch"
"""The service-linked role of AWS Batch, one for the account."""
NEURON_TAINT = NEURON_RESOURCE
"""Taint key of Neuron nodes: EKS adds the matching toleration to every pod that asks for the resource of that name."""
RESERVED_TAG_PREFIXES = (
    "aws:", "eks:", "trn:", "trn/", "kubernetes.io/", "k8s.io/", "karpenter.sh/", "karpenter.k8s.aws/", "elbv2.k8s.aws/", "service.k8s.aws/",
    "ingress.k8s.aws/", "ebs.csi.aws.com/", "efs.csi.aws.com/", "cluster.k8s.amazonaws.com/", "node.k8s.amazonaws.com/", "topology.kubernetes.io/",
)  # fmt: skip
"""How tag keys begin by which AWS, EKS, controllers in a cluster and this program mark what is theirs, in any case: on other
resources such a tag names a wrong owner, and a sweep or a controller believes it."""
RESERVED_TAGS = ("name", "csivolumename")
"""Tag keys that the program or a driver sets itself, in lower case."""
