"""Sets of add-ons that may be on together, as changes to the shipped stack."""

from typing import Any

from addons.registry import SWITCHED, with_needs
from tests.support import dev_configuration, merged

SETTINGS: dict[str, dict[str, Any]] = {
    "neuron": {"schedulerExtension": True, "nodeProblemDetector": True},
    "fluentBit": {"s3Bucket": "pod-logs"},
    "prometheus": {"alertmanager": True},
    "volcano": {
        "topology": True,
        "queues": {
            "team": {"parent": "root", "deserved": {"aws.amazon.com/neuron": 16}},
            "nlp": {"parent": "team", "deserved": {"aws.amazon.com/neuron": 16}},
        },
    },
    "kueue": {"namespace": "kueue-jobs"},
    "trainer": {"images": {"torch-2.33": "registry.example/train:1.0"}},
    "slurm": {"nodeGroups": ["trn1-32xl"], "sshKeys": ["ssh-ed25519 AAAA demo"]},
    "batch": {"nodeGroups": ["trn1n-32xl"], "image": "registry.example/train:1.0"},
    "kubeRay": {"batchScheduler": "none"},
    "idleGuard": {"emails": ["team@example.com"], "action": "scale-to-zero"},
    "mountpointS3": {"buckets": ["corpus"], "writable": True},
    "karpenter": {
        "neuronPools": {
            "pool": {"instanceType": "trn1n.32xlarge", "maxNodes": 1},
            "fixed": {"instanceType": "trn1.2xlarge", "maxNodes": 1, "static": True},
        }
    },
}
"""What a section needs, beside `enabled`, to make all that it can make."""
ALTERNATIVES: dict[str, dict[str, Any]] = {
    "everything": {},
    "DRA in place of the plug-ins": {
        "neuron": {"devices": "dra", "schedulerExtension": False, "nodeProblemDetector": False},
        "slurm": {"enabled": False},
        "batch": {"enabled": False},
        "efa": {"devices": "dra"},
        "neuronMonitor": {"enabled": False},
        "cloudWatch": {"neuronMetrics": True, "containerLogs": True},
        "fluentBit": {"enabled": False},
        "karpenter": {"enabled": False},
    },
    "nodes replaced by the problem detector": {
        "neuron": {"nodeRecovery": True},
        "karpenter": {"neuronPools": {"pool": {"static": True}}},
    },
    "the other scaler": {
        "trainingOperator": {"batchScheduler": "volcano"},
        "clusterAutoscaler": {"enabled": False},
        "karpenter": {"generalPool": {"enabled": True, "spot": True}},
    },
}
"""Changes to everything: add-ons that exclude each other stand in different sets."""


def switched_on(key: str) -> dict[str, Any]:
    """The section of an add-on that is on and makes all that it can."""
    return {"enabled": True, **SETTINGS.get(key, {})}


def everything(alternative: str = "everything") -> dict[str, Any]:
    """The shipped stack with all add-ons of one set on."""
    sections = {key: switched_on(key) for key in SWITCHED}
    configuration = merged(dev_configuration(), addons={**sections, "coreDns": {"autoscaled": True}})
    if alternative == "nodes replaced by the problem detector":
        configuration = merged(configuration, nodeGroups={name: {"nodeRepair": False} for name in configuration["nodeGroups"]})
    found = merged(configuration, coreNodes={"autoscaled": True}, addons=ALTERNATIVES[alternative])
    if alternative == "DRA in place of the plug-ins":
        for queue in found["addons"]["volcano"]["queues"].values():
            queue.update({"deserved": {"deviceclass/neuron.aws.com": 16}} if "deserved" in queue else {})
    return found


def only_with_needs(key: str, *, on: bool = True) -> dict[str, Any]:
    """The shipped stack with one add-on on (or off), all that it needs on, and every other off."""
    *needs, last = with_needs(key)
    sections: dict[str, Any] = {other: {"enabled": False} for other in SWITCHED}
    sections |= {need: switched_on(need) for need in needs}
    sections[last] = switched_on(last) if on else {"enabled": False}
    return merged(dev_configuration(), addons=sections)
