"""The shipped stack, up and well: its account and its Kubernetes, to be broken one thing at a time."""

from typing import Any

from operations.rehearse import settings_of
from operations.stack_file import read_stack_file
from operations.status.nodes import DAEMON_SETS
from operations.status.subject import NODES, Subject
from stacks.settings import Settings
from tests.operations.aws.cloud import Cloud, tag_list
from tests.operations.aws.leftovers import leave_control_plane
from tests.operations.cluster import busy
from tests.support import ROOT

NAME, GROUP, SECURITY_GROUP = "trainium-dev", "trn1-32xl", "sg-1"
ETCD = "/api/v1/namespaces/training/services/etcd-client:2379/proxy/v2/keys/"
CLAIM = "/api/v1/namespaces/training/persistentvolumeclaims/fsx-claim"
OFFERED = {"aws.amazon.com/neuron": "16", "aws.amazon.com/neuroncore": "32", "vpc.amazonaws.com/efa": "8"}


class Healthy:
    """A cluster of two trn1.32xlarge nodes; whatever is changed here is what the commands see."""

    def __init__(self) -> None:
        self.settings: Settings = settings_of(read_stack_file("dev", ROOT))
        self.cloud, self.cluster = Cloud(), busy()
        leave_control_plane(self.cloud, NAME)
        self.control_plane: dict[str, Any] = self.cloud.of("cluster")[NAME]
        version = self.settings.control_plane.kubernetes_version
        self.control_plane |= {"endpoint": "https://example", "version": version, "certificateAuthority": {"data": "Q0E="}}
        self.cloud.of("node group").clear()
        for group in self.settings.node_groups:
            self._group(group, 2 if group == GROUP else 0)
        self.group: dict[str, Any] = self.cloud.of("node group")[GROUP]
        self.rules = [self._rule(number, egress) for number, egress in enumerate((False, True), 1)]
        self.cloud.wire.handlers["ec2.DescribeSecurityGroupRules"] = lambda given: {"SecurityGroupRules": self.rules}
        self.nodes = [self._node(number) for number in (1, 2)]
        self.cluster.objects[NODES] = [*self.nodes, {"metadata": {"name": "core", "labels": {}}}]
        self.cluster.objects[DAEMON_SETS] = []
        self.plugins = [self._plugin(name) for name in ("neuron-device-plugin", "aws-efa-k8s-device-plugin")]
        self.claim: dict[str, Any] = {"status": {"phase": "Bound"}}
        self.cluster.served = {ETCD: {"action": "get", "node": {"dir": True}}, CLAIM: self.claim}
        self.file_system: dict[str, Any] = {"FileSystemId": f"fs-{1:0>17}", "Lifecycle": "AVAILABLE"}
        for which, tags in ((f"fs-{1:0>17}", {"trn:cluster": NAME}), (f"fs-{2:0>17}", {"trn:cluster": f"{NAME}-2"})):
            entry = self.file_system if "1" in which else {"FileSystemId": which, "Lifecycle": "FAILED"}
            self.cloud.put("fsx", which, entry | {"Tags": tag_list(tags)})
        self.file_system = self.cloud.of("fsx")[f"fs-{1:0>17}"]

    @property
    def subject(self) -> Subject:
        """What the checks look at."""
        return Subject(self.settings, self.cloud.api, self.cluster)

    def _group(self, name: str, size: int) -> None:
        scaling = {"minSize": 0, "maxSize": 2, "desiredSize": size}
        self.cloud.put("node group", name, {"nodegroupName": name, "status": "ACTIVE", "scalingConfig": scaling, "health": {"issues": []}})

    def _node(self, number: int) -> dict[str, Any]:
        kinds = ["efa", *["efa-only"] * 7, "interface"]
        interfaces = [{"InterfaceType": kind, "Groups": [{"GroupId": SECURITY_GROUP}]} for kind in kinds]
        self.cloud.put("instance", f"i-{number}", {"InstanceId": f"i-{number}", "NetworkInterfaces": interfaces})
        return {
            "metadata": {"name": f"node-{number}", "labels": {"trn/node-group": GROUP}},
            "spec": {"providerID": f"aws:///us-west-2d/i-{number}"},
            "status": {"allocatable": dict(OFFERED), "conditions": [{"type": "Ready", "status": "True"}]},
        }

    def _plugin(self, name: str) -> dict[str, Any]:
        self.cluster.put(DAEMON_SETS, name, "kube-system", status={"numberReady": 2})
        return self.cluster.objects[DAEMON_SETS][-1]

    @staticmethod
    def _rule(number: int, egress: bool) -> dict[str, Any]:
        rule = {"SecurityGroupRuleId": f"sgr-{number}", "GroupId": SECURITY_GROUP, "IsEgress": egress, "IpProtocol": "-1"}
        return {**rule, "ReferencedGroupInfo": {"GroupId": SECURITY_GROUP}}
