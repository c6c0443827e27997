"""EC2 and Elastic Load Balancing: lists, deletions, and what must be undone before a deletion."""

from collections.abc import Iterator

from simulator.account import kinds
from simulator.doors.wire import filters, network_entries
from simulator.doors.wire.entries import Entry, tag_list
from simulator.doors.wire.inventory import Inventory
from simulator.doors.wire.wire import Handler, Refused

_LISTS = {
    "vpc": ("DescribeVpcs", "Vpcs", "DeleteVpc", "VpcId"),
    "subnet": ("DescribeSubnets", "Subnets", "DeleteSubnet", "SubnetId"),
    "route table": ("DescribeRouteTables", "RouteTables", "DeleteRouteTable", "RouteTableId"),
    "internet gateway": ("DescribeInternetGateways", "InternetGateways", "DeleteInternetGateway", "InternetGatewayId"),
    "nat": ("DescribeNatGateways", "NatGateways", "DeleteNatGateway", "NatGatewayId"),
    "address": ("DescribeAddresses", "Addresses", "ReleaseAddress", "AllocationId"),
    "interface": ("DescribeNetworkInterfaces", "NetworkInterfaces", "DeleteNetworkInterface", "NetworkInterfaceId"),
    "group": ("DescribeSecurityGroups", "SecurityGroups", "DeleteSecurityGroup", "GroupId"),
    "volume": ("DescribeVolumes", "Volumes", "DeleteVolume", "VolumeId"),
    "template": ("DescribeLaunchTemplates", "LaunchTemplates", "DeleteLaunchTemplate", "LaunchTemplateId"),
    "placement group": ("DescribePlacementGroups", "PlacementGroups", "DeletePlacementGroup", "GroupName"),
}
"""Kind to the operation that lists it, the list's key, the operation that deletes one, and its parameter."""


class Ec2:
    """Answers of EC2, ELB and ELBv2 over one account."""

    def __init__(self, inventory: Inventory, *, ignores_filters: bool) -> None:
        self._inventory, self._ignores_filters = inventory, ignores_filters

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        for kind, (describe, key, delete, parameter) in _LISTS.items():
            yield f"ec2.{describe}", self._lister(kind, key)
            yield f"ec2.{delete}", self._deleter(kind, parameter)
        yield "ec2.DescribeInstances", self._instances
        yield "ec2.TerminateInstances", self._terminate
        yield "ec2.DescribeVpcEndpoints", self._lister("endpoint", "VpcEndpoints")
        yield "ec2.DeleteVpcEndpoints", self._delete_endpoints
        yield "ec2.DescribeSecurityGroupRules", self._rules
        yield "ec2.RevokeSecurityGroupIngress", self._revoke("IpPermissions", kinds.INGRESS)
        yield "ec2.RevokeSecurityGroupEgress", self._revoke("IpPermissionsEgress", kinds.EGRESS)
        yield "ec2.DetachInternetGateway", self._detach
        yield "ec2.DisassociateRouteTable", self._disassociate
        for kind, key, parameter in (("lb", "LoadBalancer", "LoadBalancerArn"), ("target group", "TargetGroup", "TargetGroupArn")):
            yield f"elbv2.Describe{key}s", self._untagged(kind, f"{key}s")
            yield f"elbv2.Delete{key}", self._deleter(kind, parameter)
        yield "elbv2.DescribeTags", self._balancer_tags
        yield "elb.DescribeLoadBalancers", self._untagged("classic", "LoadBalancerDescriptions")
        yield "elb.DeleteLoadBalancer", self._deleter("classic", "LoadBalancerName")
        yield "elb.DescribeTags", self._classic_tags

    def _lister(self, kind: str, key: str) -> Handler:
        return lambda given: {key: filters.listed(self._inventory.look(kind), given, ignored=self._ignores_filters)}

    def _deleter(self, kind: str, parameter: str) -> Handler:
        def answer(given: Entry) -> Entry:
            self._refuse_attached(kind, given[parameter])
            return self._inventory.delete(kind, given[parameter])

        return answer

    def _refuse_attached(self, kind: str, which: str) -> None:
        """What the provider undoes by itself before it deletes, and other callers must (EC2 API, DependencyViolation)."""
        entry = self._inventory.entries(kind).get(which, {})
        if kind == "route table" and any(not item.get("Main") for item in entry.get("Associations", ())):
            raise Refused("DependencyViolation", f"The routeTable '{which}' has dependencies and cannot be deleted.")
        if kind == "internet gateway" and entry.get("Attachments"):
            raise Refused("DependencyViolation", f"The internetGateway '{which}' has dependencies and cannot be deleted.")

    def _instances(self, given: Entry) -> Entry:
        there = self._inventory.look("instance")
        named = given.get("InstanceIds") or list(there)
        for which in named:
            if which not in there:
                raise Refused("InvalidInstanceID.NotFound", f"The instance ID '{which}' does not exist")
        found = filters.listed({which: there[which] for which in named}, given, ignored=self._ignores_filters)
        return {"Reservations": [{"Instances": [entry]} for entry in found]}

    def _terminate(self, given: Entry) -> Entry:
        for instance in given["InstanceIds"]:
            self._inventory.delete("instance", instance)
        return {}

    def _delete_endpoints(self, given: Entry) -> Entry:
        failed = []
        for which in given["VpcEndpointIds"]:
            try:
                self._inventory.delete("endpoint", which)
            except Refused as refusal:
                failed.append({"ResourceId": which, "Error": {"Code": refusal.code, "Message": refusal.message}})
        return {"Unsuccessful": failed}

    def _rules(self, given: Entry) -> Entry:
        found = {**self._inventory.look("ingress rule"), **self._inventory.look("egress rule")}
        return {"SecurityGroupRules": filters.listed(found, given, ignored=self._ignores_filters)}

    def _revoke(self, key: str, token: str) -> Handler:
        def answer(given: Entry) -> Entry:
            group, wanted = given["GroupId"], given["IpPermissions"]
            state = self._inventory.world.state
            entry = state.others.get("group", {}).get(group)
            if entry is not None:
                entry[key] = [rule for rule in entry[key] if rule not in wanted]
            for rule in network_entries.rules_of(state, group, token):
                if network_entries.permission(rule.inputs) in wanted:
                    state.remove(rule)
            return {"Return": True}

        return answer

    def _detach(self, given: Entry) -> Entry:
        which, vpc_id = given["InternetGatewayId"], given["VpcId"]
        if any(entry.get("VpcId") == vpc_id for entry in self._inventory.entries("nat").values()):
            raise Refused("DependencyViolation", f"Network {vpc_id} has some mapped public address(es).")
        entry = self._inventory.world.state.others.get("internet gateway", {}).get(which)
        if entry is not None:
            entry["Attachments"] = []
        elif not self._inventory.change("internet gateway", which, vpcId=None):
            raise Refused("InvalidInternetGatewayID.NotFound", f"The internetGateway ID '{which}' does not exist")
        return {}

    def _disassociate(self, given: Entry) -> Entry:
        state, which = self._inventory.world.state, given["AssociationId"]
        for entry in state.others.get("route table", {}).values():
            entry["Associations"] = [item for item in entry["Associations"] if item["RouteTableAssociationId"] != which]
        found = state.find(kinds.ROUTE_TABLE_ASSOCIATION, which)
        if found is not None:
            state.remove(found.registration)
        return {}

    def _untagged(self, kind: str, key: str) -> Handler:
        """Load balancers show their tags in an answer of its own."""
        return lambda _given: {
            key: [{name: value for name, value in entry.items() if name != "Tags"} for entry in self._inventory.look(kind).values()]
        }

    def _balancer_tags(self, given: Entry) -> Entry:
        entries = {**self._inventory.entries("lb"), **self._inventory.entries("target group")}
        return {"TagDescriptions": [{"ResourceArn": arn, "Tags": entries.get(arn, {}).get("Tags", [])} for arn in given["ResourceArns"]]}

    def _classic_tags(self, given: Entry) -> Entry:
        entries, names = self._inventory.entries("classic"), given["LoadBalancerNames"]
        return {"TagDescriptions": [{"LoadBalancerName": name, "Tags": entries.get(name, {}).get("Tags", tag_list({}))} for name in names]}
