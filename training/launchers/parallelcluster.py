"""AWS ParallelCluster: a Slurm cluster of EC2 instances beside the EKS cluster, in its network and with its file system, and the job for it.

Keys as in aws-parallelcluster 3.16, whose own schema a test of the `frameworks` tier loads the configuration with.
"""

from collections.abc import Iterator
from typing import Any

from facts.problems import Problem
from facts.yaml_text import write_yaml
from training.account import Account, needed
from training.job import Job
from training.launchers import sbatch
from training.launchers.base import Document, Launcher, no_objects
from training.launchers.slurm import about, whole_nodes
from training.plan import Plan, plan
from training.site import Site

OS = "ubuntu2204"
HEAD_TYPE = "c6i.xlarge"
"""slurmctld of a small cluster; ParallelCluster asks for no less than 2 vCPU."""
QUEUE, RESOURCE = "neuron", "trainium"


def documents(job: Job, site: Site) -> list[Document]:
    """The cluster's configuration, and the job's script for its queue."""
    found = plan(job, site)
    account = found.site.account
    assert account is not None
    name, script = f"{site.cluster}-slurm", f"{job.name}.sbatch"
    text = write_yaml(configuration(found, account))
    create = f"pcluster create-cluster --cluster-name {name} --region {site.region} --cluster-configuration {name}.yaml"
    return [
        Document(f"{name}.yaml", text, create),
        Document(script, sbatch.script(found, about(found), {"partition": QUEUE}), f"sbatch {script}   # on the head node"),
    ]


def configuration(plan: Plan, account: Account) -> dict[str, Any]:
    """The configuration of a cluster with as many nodes as the job has, started when a job needs them."""
    networking: dict[str, Any] = {"SubnetId": account.subnet_id, "AdditionalSecurityGroups": list(account.security_group_ids)}
    key = {"Ssh": {"KeyName": account.key_name}} if account.key_name is not None else {}
    group = {"Name": account.placement_group} if account.placement_group is not None else {}
    compute: dict[str, Any] = {
        "Name": RESOURCE,
        "InstanceType": plan.nodes.instance.name,
        "MinCount": 0,
        "MaxCount": plan.job.nodes,
    }
    queue: dict[str, Any] = {
        "Name": QUEUE,
        "ComputeResources": [compute],
        "Networking": {"SubnetIds": [account.subnet_id], "AdditionalSecurityGroups": list(account.security_group_ids)},
    }
    if plan.nodes.instance.has_efa and plan.job.efa is not False:
        compute["Efa"] = {"Enabled": True}
        queue["Networking"]["PlacementGroup"] = {"Enabled": True, **group}
    found: dict[str, Any] = {
        "Region": plan.site.region,
        "Image": {"Os": OS, **({"CustomAmi": account.ami_id} if account.ami_id is not None else {})},
        "HeadNode": {
            "InstanceType": HEAD_TYPE,
            "Networking": networking,
            **key,
            # Session Manager logs in without a key and without a way in from the internet.
            "Iam": {"AdditionalIamPolicies": [{"Policy": f"arn:{plan.site.partition}:iam::aws:policy/AmazonSSMManagedInstanceCore"}]},
            "Imds": {"Secured": True},
        },
        "Scheduling": {"Scheduler": "slurm", "SlurmQueues": [queue]},
    }
    if account.file_system_id is not None:
        found["SharedStorage"] = [
            {
                "MountDir": mount.path,
                "Name": f"shared-{index}",
                "StorageType": "FsxLustre",
                "FsxLustreSettings": {"FileSystemId": account.file_system_id},
            }
            for index, mount in enumerate(plan.mounts)
        ]
    return found


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """Ids, and what no Slurm of EC2 instances has."""
    yield from needed(site, "ParallelCluster", "amiId")
    yield from whole_nodes(job, "a node of ParallelCluster's is an instance, and a job has it as a whole")
    yield from own_file_system(job, "ParallelCluster")
    if job.image is not None:
        hint = "leave `image` out, and build the AMI with what the job needs"
        yield Problem("image", job.image, "a job of ParallelCluster's runs on the instance, in no container", hint=hint)


def own_file_system(job: Job, title: str) -> Iterator[Problem]:
    """Refuses claims, which are the cluster's, and more than one mount: it would be the same file system twice."""
    for index, mount in enumerate(job.mounts):
        if mount.claim is not None or index:
            hint = "mount the stack's file system alone: one entry with a path, and no `claim`"
            yield Problem(f"mounts[{index}]", mount.claim or mount.path, f"{title} knows no claims of the cluster", hint=hint)


LAUNCHER = Launcher(
    name="parallelcluster",
    title="ParallelCluster",
    takes_source=("packed",),
    take_it="Slurm on EC2 instances is wanted, without Kubernetes, beside the stack and with its file system",
    lacks=(
        "the image: the AMI must bring driver, toolchain and Python; ParallelCluster's own AMIs have no Neuron driver",
        "the stack: its instances are not the stack's: its destroy leaves them, and fails while they use its subnets",
        "capacity: it asks EC2 for instances of its own",
        "what Slurm lacks as well",
    ),
    restarts=(
        "The script puts the job back into its queue (`scontrol requeue`) while it has started fewer than `restarts.max` times "
        "again (`SLURM_RESTART_COUNT`), unless its time limit has passed or its exit code ends it. After a lost node Slurm "
        "requeues it by itself (`--requeue`)."
    ),
    tried=("Not run: it needs instances. Its configuration passes the library's own schema (`tests/frameworks/test_parallelcluster.py`)."),
    status="`job_state` of `squeue --json` or `scontrol show job --json`, on the head node.",
    states=sbatch.PHASES,
    sources=(
        "aws-parallelcluster 3.16, configuration schema",
        "SchedMD's manual pages of sbatch, srun, sbcast, scontrol and squeue, Slurm 26.05",
    ),
    needs=(
        "`--account FILE` with `amiId`, `subnetId` and `securityGroupIds`",
        "`pcluster` of aws-parallelcluster 3.16",
    ),
    render=no_objects,
    phase=sbatch.phase,
    documents=documents,
    problems=problems,
)
