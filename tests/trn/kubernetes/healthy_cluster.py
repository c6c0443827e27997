"""The shipped stack, up and well: its account and its Kubernetes, to be broken one thing at a time."""

from typing import Any

from facts.names import NEURON_TAINT
from stacks.settings import Settings
from tests.support import ROOT
from tests.trn.aws.cloud import ACCOUNT, Cloud, tag_list
from tests.trn.aws.healthy import HealthyAccount
from tests.trn.aws.leftovers import leave_control_plane
from tests.trn.kubernetes.fake_kubernetes import busy
from tests.trn.kubernetes.running_cluster import RunningCluster
from trn.engine.program import settings_of
from trn.engine.stack_file import read_stack_file
from trn.kubernetes.kinds import NODES
from trn.running.status.nodes import DAEMON_SETS
from trn.running.subject import Subject

NAME, GROUP, SECURITY_GROUP = "trainium-dev", "trn1-32xl", "sg-1"
ETCD = "/api/v1/namespaces/training/services/etcd-client:2379/proxy/v2/keys/"
CLAIM = "/api/v1/namespaces/training/persistentvolumeclaims/fsx-claim"
OFFERED = {"aws.amazon.com/neuron": "16", "aws.amazon.com/neuroncore": "32", "vpc.amazonaws.com/efa": "8"}
LOGS = {
    "trn-verify-driver": "2.27.4.0\n",
    "trn-verify-throughput": '{"type": "lustre", "write_mb_per_s": 240.4, "read_mb_per_s": 611.6}\n',
    "trn-verify-collectives-0": """runtime 2.32.31.0-0b044f0ff
       size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)
      33554432         8388608    fp32         2711.20          11.53          22.69
Avg bus bandwidth:      22.6900GB/s
       size(B)    count(elems)    type    time:avg(us)    algbw(GB/s)    busbw(GB/s)
    1073741824       268435456    fp32        41806.10          23.92          47.09
Avg bus bandwidth:      47.0900GB/s
""",
}
"""What the pods of a good run print, by test."""


class Healthy:
    """A cluster of two trn1.32xlarge nodes; whatever is changed here is what the commands see."""

    def __init__(self) -> None:
        self.settings: Settings = settings_of(read_stack_file("dev", ROOT))
        self.cloud, self.cluster = Cloud(surroundings=HealthyAccount().around), RunningCluster()
        busy(self.cluster)
        leave_control_plane(self.cloud, NAME)
        self.control_plane: dict[str, Any] = self.cloud.of("cluster")[NAME]
        version = self.settings.control_plane.kubernetes_version
        self.control_plane |= {"endpoint": "https://example", "version": version, "certificateAuthority": {"data": "Q0E="}}
        self.cloud.of("node group").clear()
        for group in self.settings.node_groups:
            self._group(group, 2 if group == GROUP else 0)
        self.group: dict[str, Any] = self.cloud.of("node group")[GROUP]
        self.rules = [self._rule(number, egress) for number, egress in enumerate((False, True), 1)]
        for rule in self.rules:
            self.cloud.put("egress rule" if rule["IsEgress"] else "ingress rule", rule["SecurityGroupRuleId"], rule)
        self.nodes = [self._node(number) for number in (1, 2)]
        self.cluster.objects[NODES] = [*self.nodes, {"metadata": {"name": "core", "labels": {}}}]
        self.cluster.objects[DAEMON_SETS] = []
        self.plugins = [self._plugin(name) for name in ("neuron-device-plugin", "aws-efa-k8s-device-plugin")]
        self.claim: dict[str, Any] = {"status": {"phase": "Bound"}}
        self.cluster.served = {ETCD: {"action": "get", "node": {"dir": True}}, CLAIM: self.claim}
        size = {"StorageCapacity": 1200, "LustreConfiguration": {"PerUnitStorageThroughput": 125}}
        self.file_system: dict[str, Any] = {"FileSystemId": f"fs-{1:0>17}", "Lifecycle": "AVAILABLE", **size}
        for which, tags in ((f"fs-{1:0>17}", {"trn:cluster": NAME}), (f"fs-{2:0>17}", {"trn:cluster": f"{NAME}-2"})):
            entry = self.file_system if "1" in which else {"FileSystemId": which, "Lifecycle": "FAILED"}
            self.cloud.put("fsx", which, entry | {"Tags": tag_list(tags)})
        self.file_system = self.cloud.of("fsx")[f"fs-{1:0>17}"]
        self.cluster.logs = dict(LOGS)
        self.cluster.stays = {"trn-verify-collectives-0-worker-1"}

    @property
    def subject(self) -> Subject:
        """What the checks look at."""
        return Subject(self.settings, self.cloud.api, self.cluster)

    def _group(self, name: str, size: int) -> None:
        scaling = {"minSize": 0, "maxSize": 2, "desiredSize": size}
        entry = {"nodegroupName": name, "nodegroupArn": f"arn:aws:eks:us-west-2:{ACCOUNT}:nodegroup/{NAME}/{name}/1", "status": "ACTIVE"}
        self.cloud.put("node group", name, {**entry, "scalingConfig": scaling, "health": {"issues": []}})

    def _node(self, number: int) -> dict[str, Any]:
        interfaces = [
            {
                "InterfaceType": kind,
                "Groups": [{"GroupId": SECURITY_GROUP}],
                "Attachment": {"NetworkCardIndex": card, "DeviceIndex": device},
            }
            # The last is the VPC CNI's own.
            for card, device, kind in ((0, 0, "efa"), *((card, 1, "efa-only") for card in range(1, 8)), (0, 1, "interface"))
        ]
        self.cloud.put("instance", f"i-{number}", {"InstanceId": f"i-{number}", "NetworkInterfaces": interfaces})
        return {
            "metadata": {"name": f"node-{number}", "labels": {"trn/node-group": GROUP}},
            "spec": {
                "providerID": f"aws:///us-west-2d/i-{number}",
                "taints": [{"key": NEURON_TAINT, "value": "true", "effect": "NoSchedule"}],
            },
            "status": {"allocatable": dict(OFFERED), "conditions": [{"type": "Ready", "status": "True"}]},
        }

    def _plugin(self, name: str) -> dict[str, Any]:
        self.cluster.put(DAEMON_SETS, name, "kube-system", status={"numberReady": 2})
        return self.cluster.objects[DAEMON_SETS][-1]

    @staticmethod
    def _rule(number: int, egress: bool) -> dict[str, Any]:
        rule = {"SecurityGroupRuleId": f"sgr-{number}", "GroupId": SECURITY_GROUP, "IsEgress": egress, "IpProtocol": "-1"}
        return {**rule, "ReferencedGroupInfo": {"GroupId": SECURITY_GROUP}}
