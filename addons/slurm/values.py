"""Helm values of the Slinky charts: small controllers on core nodes, slurmd on whole Neuron nodes."""

from addons.cluster import Cluster
from addons.efa import EfaSettings
from addons.images import Values
from addons.manifests import TOLERATE_NEURON
from addons.slurm import SlurmSettings
from addons.versions import SLURM_SIDECAR_TAG
from facts.catalogue import InstanceType
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from facts.node_resources import job_share

GRES = "neuron"
LOGIN = "login"
MOUNT = "/fsx"
GROUP_LABEL = "eks.amazonaws.com/nodegroup"
"""Label that EKS puts on each node of a managed group (EKS user guide, managed node groups)."""


def slurm_operator_values() -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart."""
    small = {"resources": {"requests": {"cpu": "50m", "memory": "128Mi"}}}
    # The webhook fails closed on Slurm's kinds: one replica is one drain away from that.
    return {"operator": small, "webhook": {"replicas": 2, **small}}


def slurm_values(cluster: Cluster, state_claim: str) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart. All partitions have the same number of devices on each node.

    The chart makes both keys of the cluster when it is first installed, and finds them again on each upgrade: neither
    configuration nor state ever hold them.
    """
    # The sidecar that prints the log, which the chart takes from `latest`.
    sidecar = {"image": {"tag": SLURM_SIDECAR_TAG}}
    partitions = cluster.section(SlurmSettings).node_groups
    return {
        "clusterName": cluster.name,
        "configFiles": {"gres.conf": gres_conf(cluster.node_groups[partitions[0]].instance)},
        "controller": {
            "extraConfMap": {"GresTypes": [GRES], "ReturnToService": 2},
            "persistence": {"existingClaim": state_claim},
            "slurmctld": {"resources": {"requests": {"cpu": "100m", "memory": "512Mi"}}},
            "logfile": sidecar,
        },
        # The operator drains nodes through it.
        "restapi": {"slurmrestd": {"resources": {"requests": {"cpu": "50m", "memory": "128Mi"}}}},
        "nodesetDefaults": {"logfile": sidecar},
        "nodesets": {name: _node_set(cluster, name, default=name == partitions[0]) for name in partitions},
        "loginsetDefaults": {"initconf": sidecar},
        "loginsets": {LOGIN: _login_set(cluster)},
    }


def gres_conf(instance: InstanceType) -> str:
    """Neuron devices as Slurm counts them: one file for all nodes."""
    last = instance.chip_count - 1
    return f"Name={GRES} Type={_type(instance)} File=/dev/neuron{f'[0-{last}]' if last else '0'}\n"


def _type(instance: InstanceType) -> str:
    return instance.chip_name.lower()


def _node_set(cluster: Cluster, name: str, *, default: bool) -> Values:
    group = cluster.node_groups[name]
    instance = group.instance
    # A pod asks for interfaces of the device plug-in; without it there are none to ask for.
    efa = cluster.section(EfaSettings)
    efa_count = instance.efa_count if efa.enabled and efa.devices == "device-plugin" and group.uses_efa else 0
    share = job_share(instance, instance.chip_count, efa=group.uses_efa)
    whole: Values = {"memory": f"{share.memory_mib // 1024}Gi", NEURON_RESOURCE: instance.chip_count}
    if efa_count:
        whole[EFA_RESOURCE] = efa_count
    is_default = {"Default": "YES"} if default else {}
    pod: Values = {"nodeSelector": {"kubernetes.io/os": "linux", GROUP_LABEL: name}, "tolerations": [TOLERATE_NEURON]}
    slurmd: Values = {"resources": {"requests": {"cpu": str(share.cpu_millis // 1000), **whole}, "limits": whole}}
    if efa_count:
        slurmd["env"] = [{"name": "FI_PROVIDER", "value": "efa"}, {"name": "FI_EFA_USE_DEVICE_RDMA", "value": "1"}]
    return {
        "replicas": group.size,
        # A new image must not end jobs: delete a pod when its node is idle.
        "updateStrategy": {"type": "OnDelete"},
        "extraConfMap": {"Features": [instance.name.partition(".")[0]], "Gres": [f"{GRES}:{_type(instance)}:{instance.chip_count}"]},
        # Slurm counts devices and does not keep jobs from each other's: inside the pod every job sees all of them, so that two
        # with half the devices each would meet on the first (Slurm, gres.conf and cgroup.conf, ConstrainDevices). A job has its nodes alone.
        "partition": {"enabled": True, "configMap": {"State": "UP", "MaxTime": "UNLIMITED", "OverSubscribe": "EXCLUSIVE", **is_default}},
        "slurmd": _mounted(cluster, slurmd),
        "podSpec": {**pod, **_volumes(cluster)},
    }


def _login_set(cluster: Cluster) -> Values:
    ssh_keys = cluster.section(SlurmSettings).ssh_keys
    login: Values = {"resources": {"requests": {"cpu": "100m", "memory": "256Mi"}}}
    keys = {"rootSshAuthorizedKeys": "\n".join(ssh_keys)} if ssh_keys else {}
    # The chart's own Service is a load balancer, open to the internet and unknown to the stack.
    return {"service": {"spec": {"type": "ClusterIP"}}, "login": _mounted(cluster, login), "podSpec": _volumes(cluster), **keys}


def _mounted(cluster: Cluster, container: Values) -> Values:
    return {**container, "volumeMounts": [{"name": "data", "mountPath": MOUNT}]} if cluster.claim_name else container


def _volumes(cluster: Cluster) -> Values:
    return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": cluster.claim_name}}]} if cluster.claim_name else {}
