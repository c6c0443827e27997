"""What people want of a stack file, with the lines that do it: the first half of docs/configuration.md. Tests read each of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from facts.yaml_text import write_yaml


@dataclass(frozen=True)
class Task:
    """One wish."""

    question: str
    settings: dict[str, Any]
    """Keys below `trn:`, nested as in the file."""
    says: str = ""
    """What else there is to know."""


TASKS = (
    Task(
        "How do I let myself in?",
        {"controlPlane": {"publicAccessCidrs": ["198.51.100.7/32"]}},
        "Your own address with `/32`, as `curl -s https://checkip.amazonaws.com` prints it. Without any address there is no public endpoint:"
        " [private](private.md) has the steps.",
    ),
    Task(
        "How do I let a colleague in?",
        {
            "controlPlane": {
                "accessEntries": {
                    "anna": {
                        "principalArn": "arn:aws:iam::111122223333:role/researchers",
                        "policy": "AmazonEKSEditPolicy",
                        "namespaces": ["training"],
                    }
                }
            }
        },
        "A role or a user, by a name of your choice. Without `namespaces` the policy holds in the whole cluster.",
    ),
    Task("How do I change the number of nodes?", {"nodeGroups": {"trn1-32xl": {"size": 4}}}, "`trn scale` does it at once, and looks first at what runs there."),
    Task(
        "How do I pay nothing for Trainium at night?",
        {"nodeGroups": {"trn1-32xl": {"size": 0}}},
        "The rest still bills: `trn cost` says how much when idle.",
    ),
    Task(
        "How do I use Trainium2?",
        {
            "region": "us-east-2",
            "network": {"zones": ["use2-az3", "use2-az1"]},
            "nodeGroups": {"trn2-48xl": {"instanceType": "trn2.48xlarge", "size": 1, "releaseVersion": "1.35.4-20260505"}},
        },
        "The training zone comes first, and must offer the type: [hardware](hardware.md) lists where each is sold.",
    ),
    Task(
        "How do I use a capacity block?",
        {
            "nodeGroups": {
                "trn1-32xl": {
                    "instanceType": "trn1.32xlarge", "size": 2, "capacityType": "CAPACITY_BLOCK",
                    "capacityReservationId": "cr-0123456789abcdef0",
                }
            }
        },
        "`trn check` lists blocks on offer, with prices and the command that buys one. A block is paid in advance.",
    ),
    Task(
        "How do I get nodes only while a job wants them?",
        {
            "addons": {
                "clusterAutoscaler": {"enabled": False},
                "karpenter": {"enabled": True, "neuronPools": {"trn1": {"instanceType": "trn1.32xlarge", "maxNodes": 4}}},
            }
        },
        "Karpenter starts and ends them. Cluster Autoscaler must be off: both would add nodes for the same pods.",
    ),
    Task(
        "How do I make the file system faster?",
        {"storage": {"lustre": {"capacityGib": 2400, "throughputMbpsPerTib": 500}}},
        "Throughput is per TiB, and so grows with the size. `trn cost` has the price.",
    ),
    Task(
        "How do I keep the file system's data?",
        {"storage": {"lustre": {"finalBackup": True}}},
        "A backup is made before the file system is deleted, and bills until you delete it.",
    ),
    Task(
        "How do I give each team a queue?",
        {"addons": {"volcano": {"queues": {"vision": {"weight": 2}, "language": {"weight": 1}}}}},
        "A job names its queue. Weights share what is scarce.",
    ),
    Task(
        "How do I get alerts?",
        {"addons": {"prometheus": {"alertmanager": True}}},
        "[Monitoring](monitoring.md) has every panel and alert, and what to do at each. Where an alert goes is Alertmanager's own configuration.",
    ),
    Task(
        "How do I protect it from a destroy by mistake?",
        {"controlPlane": {"deletionProtection": True}},
        "`pulumi destroy` then stops at the cluster, until it is off again.",
    ),
    Task(
        "How do I pin what the core nodes run?",
        {"coreNodes": {"releaseVersion": "1.35.4-20260505"}},
        "Without it EKS takes the newest AMI release when the group is made. Of a Neuron group the release also brings the driver:"
        " [toolchains](toolchains.md) says which images run on it.",
    ),
)  # fmt: skip


def task_lines() -> Iterator[str]:
    """The part of the page: a question, the lines of the file, and a sentence."""
    for task in TASKS:
        text = write_yaml({f"trn:{key}": value for key, value in task.settings.items()})
        yield from (f"## {task.question}", "", "```yaml", "config:", *(f"  {line}" for line in text.splitlines()), "```", "", task.says, "")
