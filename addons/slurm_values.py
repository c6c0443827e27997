"""Helm values of the Slinky charts: small controllers on core nodes, slurmd on whole Neuron nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from addons.base import NODE_SHARE, TOLERATE_NEURON
from addons.images import Values
from addons.versions import SLURM_SIDECAR_TAG
from facts.catalogue import InstanceType
from facts.names import EFA_RESOURCE, NEURON_RESOURCE

GRES = "neuron"
LOGIN = "login"
MOUNT = "/fsx"
GROUP_LABEL = "eks.amazonaws.com/nodegroup"
"""Label that EKS puts on each node of a managed group (EKS user guide, managed node groups)."""


@dataclass(frozen=True)
class PartitionArgs:
    """One node group as a partition."""

    instance: InstanceType
    node_count: int
    efa_count: int
    """EFA interfaces that a pod can ask for on each node; 0 without the EFA device plug-in."""


@dataclass(frozen=True)
class SlurmValuesArgs:
    """What the Slurm cluster is made of. All partitions have the same number of devices on each node."""

    cluster_name: str
    partitions: Mapping[str, PartitionArgs] = field(default_factory=dict)
    """By node group; the first is the default."""
    claim_name: str | None = None
    """The file system's claim, where there is one: mounted at /fsx."""
    ssh_keys: Sequence[str] = ()


def slurm_operator_values() -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    small = {"resources": {"requests": {"cpu": "50m", "memory": "128Mi"}}}
    # The webhook fails closed on Slurm's kinds: one replica is one drain away from that.
    return {"operator": small, "webhook": {"replicas": 2, **small}}


def slurm_values(args: SlurmValuesArgs, state_claim: str) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart.

    The chart makes both keys of the cluster when it is first installed, and finds them again on each upgrade: neither
    configuration nor state ever hold them.
    """
    # The sidecar that prints the log, which the chart takes from `latest`.
    sidecar = {"image": {"tag": SLURM_SIDECAR_TAG}}
    return {
        "clusterName": args.cluster_name,
        "configFiles": {"gres.conf": gres_conf(args)},
        "controller": {
            "extraConfMap": {"GresTypes": [GRES], "ReturnToService": 2},
            "persistence": {"existingClaim": state_claim},
            "slurmctld": {"resources": {"requests": {"cpu": "100m", "memory": "512Mi"}}},
            "logfile": sidecar,
        },
        # The operator drains nodes through it.
        "restapi": {"slurmrestd": {"resources": {"requests": {"cpu": "50m", "memory": "128Mi"}}}},
        "nodesetDefaults": {"logfile": sidecar},
        "nodesets": {name: _node_set(args, name, partition) for name, partition in args.partitions.items()},
        "loginsetDefaults": {"initconf": sidecar},
        "loginsets": {LOGIN: _login_set(args)},
    }


def gres_conf(args: SlurmValuesArgs) -> str:
    """Neuron devices as Slurm counts them: one file for all nodes."""
    partition = next(iter(args.partitions.values()))
    last = partition.instance.chip_count - 1
    return f"Name={GRES} Type={_type(partition.instance)} File=/dev/neuron{f'[0-{last}]' if last else '0'}\n"


def _type(instance: InstanceType) -> str:
    return instance.chip.lower()


def _node_set(args: SlurmValuesArgs, name: str, partition: PartitionArgs) -> Values:
    instance = partition.instance
    whole: Values = {"memory": f"{int(instance.memory_gib * NODE_SHARE)}Gi", NEURON_RESOURCE: instance.chip_count}
    if partition.efa_count:
        whole[EFA_RESOURCE] = partition.efa_count
    default = {"Default": "YES"} if name == next(iter(args.partitions)) else {}
    pod: Values = {"nodeSelector": {"kubernetes.io/os": "linux", GROUP_LABEL: name}, "tolerations": [TOLERATE_NEURON]}
    slurmd: Values = {"resources": {"requests": {"cpu": str(int(instance.vcpu_count * NODE_SHARE)), **whole}, "limits": whole}}
    if partition.efa_count:
        slurmd["env"] = [{"name": "FI_PROVIDER", "value": "efa"}, {"name": "FI_EFA_USE_DEVICE_RDMA", "value": "1"}]
    return {
        "replicas": partition.node_count,
        # A new image must not end jobs: delete a pod when its node is idle.
        "updateStrategy": {"type": "OnDelete"},
        "extraConfMap": {"Features": [instance.name.partition(".")[0]], "Gres": [f"{GRES}:{_type(instance)}:{instance.chip_count}"]},
        "partition": {"enabled": True, "configMap": {"State": "UP", "MaxTime": "UNLIMITED", **default}},
        "slurmd": _mounted(args, slurmd),
        "podSpec": {**pod, **_volumes(args)},
    }


def _login_set(args: SlurmValuesArgs) -> Values:
    login: Values = {"resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}}
    keys = {"rootSshAuthorizedKeys": "\n".join(args.ssh_keys)} if args.ssh_keys else {}
    # The chart's own Service is a load balancer, open to the internet and unknown to the stack.
    return {"service": {"spec": {"type": "ClusterIP"}}, "login": _mounted(args, login), "podSpec": _volumes(args), **keys}


def _mounted(args: SlurmValuesArgs, container: Values) -> Values:
    return {**container, "volumeMounts": [{"name": "data", "mountPath": MOUNT}]} if args.claim_name else container


def _volumes(args: SlurmValuesArgs) -> Values:
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": args.claim_name}}]} if args.claim_name else {}
