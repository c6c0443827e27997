"""SageMaker HyperPod with the stack's EKS cluster as orchestrator: nodes that SageMaker starts, checks and replaces, for jobs of any other launcher.

What is made is the request for the nodes. They get labels and taint of the node group, so that jobs find them like the stack's own.
Source: botocore's model of SageMaker (CreateCluster), and the SageMaker guide, SageMaker HyperPod orchestrated by Amazon EKS, prerequisites.
"""

import json
from collections.abc import Iterator
from typing import Any

from facts.names import NEURON_TAINT
from facts.problems import Problem
from training.account import needed
from training.job import Job
from training.launchers.base import Document, Launcher, no_objects
from training.phase import Phase
from training.plan import nodes_of, plan
from training.site import Site

TYPES = ("trn1.32xlarge", "trn1n.32xlarge", "trn2.3xlarge", "trn2.48xlarge")
"""Instance types of HyperPod (botocore, ClusterInstanceType); a test compares them."""
ON_CREATE = "on_create.sh"
"""Life-cycle script: run on each instance before it joins the cluster."""
NEEDS = (
    "the EKS cluster's authentication mode is API or API_AND_CONFIG_MAP, and its Kubernetes minor one that HyperPod supports",
    "the subnet has a free address for each network interface of each instance, and a way to S3, ECR and EKS",
    "a security group of the nodes lets itself in and out, for EFA, and reaches the control plane's",
    "HyperPod's Helm chart is installed before the request, without its own device plug-ins where the stack has them",
    "the role of `roleArn` has the policy AmazonSageMakerClusterInstanceRolePolicy, and rights of the VPC CNI",
    f"`{ON_CREATE}` lies under `s3Uri`",
)
"""What must be there before, in the stack and beside it."""


def request(job: Job, site: Site) -> dict[str, Any]:
    """The body of CreateCluster: as many instances as the job has nodes."""
    found = plan(job, site)
    account, nodes = found.site.account, found.nodes
    assert account is not None
    return {
        "ClusterName": f"{site.cluster}-{nodes.name}",
        "Orchestrator": {"Eks": {"ClusterArn": account.cluster_arn}},
        "InstanceGroups": [
            {
                "InstanceGroupName": nodes.name,
                "InstanceType": f"ml.{nodes.instance.name}",
                "InstanceCount": job.nodes,
                "ExecutionRole": account.role_arn,
                "LifeCycleConfig": {"SourceS3Uri": account.s3_uri, "OnCreate": ON_CREATE},
                "ThreadsPerCore": 2,
                # Instances that fail it do not join.
                "OnStartDeepHealthChecks": ["InstanceStress", "InstanceConnectivity"],
                "KubernetesConfig": {
                    "Labels": nodes.selector,
                    "Taints": [{"Key": NEURON_TAINT, "Value": "true", "Effect": "NoSchedule"}],
                },
            }
        ],
        "VpcConfig": {"Subnets": [account.subnet_id], "SecurityGroupIds": list(account.security_group_ids)},
        "NodeRecovery": "Automatic",
    }


def documents(job: Job, site: Site) -> list[Document]:
    """The request."""
    name = f"{site.cluster}.hyperpod.json"
    return [
        Document(
            name,
            json.dumps(request(job, site), indent=2) + "\n",
            f"aws sagemaker create-cluster --region {site.region} --cli-input-json file://{name}",
        )
    ]


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """Ids, and instance types."""
    yield from needed(site, "HyperPod", "clusterArn", "roleArn", "s3Uri")
    nodes = nodes_of(job, site)
    if nodes is not None and nodes.instance.name not in TYPES:
        hint = "name a node group of one of these types"
        yield Problem("nodeGroup", nodes.name, f"HyperPod has no {nodes.instance.name}", ", ".join(TYPES), hint)


_PHASES = {"InService": Phase.RUNNING, "Failed": Phase.FAILED, "RollingBack": Phase.FAILED, "Deleting": Phase.STOPPING}


def phase(status: Any) -> Phase:
    """State of the nodes as DescribeCluster has it."""
    return _PHASES.get((status or {}).get("ClusterStatus", ""), Phase.WAITING)


LAUNCHER = Launcher(
    name="hyperpod",
    title="HyperPod cluster",
    take_it="AWS is to check and replace faulty nodes: it makes nodes in the stack's cluster, on which the other launchers then run the job",
    lacks=(
        "the job: what it makes are nodes for it; submit it with another launcher when they are there",
        "the AMI and its driver: HyperPod has images of its own, and nothing here checks the toolchain against them",
        "the stack: its instances are not the stack's; delete the HyperPod cluster before the stack is destroyed",
        *(f"a check that {need}" for need in NEEDS),
    ),
    restarts=(
        "It starts no job. An instance that fails HyperPod's checks is replaced (`NodeRecovery: Automatic`), and a job on it "
        "restarts as its own launcher does after a lost node."
    ),
    tried=("Not run: HyperPod is AWS's alone. Its requests are valid against botocore's models (`tests/training`)."),
    status="`ClusterStatus` of DescribeCluster: of the nodes, not of a job.",
    states=_PHASES,
    sources=(
        "SageMaker API, CreateCluster (botocore's model)",
        "SageMaker guide, SageMaker HyperPod orchestrated by Amazon EKS, prerequisites",
    ),
    needs=("`--account FILE` with `clusterArn`, `roleArn` and `s3Uri`",),
    render=no_objects,
    phase=phase,
    documents=documents,
    problems=problems,
)
