"""EC2: instances, which are listed by reservation, launch templates that are made by hand, and what must be undone before a deletion."""

from collections.abc import Iterator

from simulator.account import kinds
from simulator.aws_endpoint import filters, network_entries
from simulator.aws_endpoint.entries import Entry, made_id
from simulator.aws_endpoint.inventory import Inventory
from simulator.aws_endpoint.wire import Handler, Refused
from simulator.outputs import CREATED_AT


class Ec2:
    """Answers of EC2 over one account."""

    def __init__(self, inventory: Inventory, *, caller: str, ignores_filters: bool) -> None:
        """`caller`: ARN, as EC2 notes who made something."""
        self._inventory, self._caller, self._ignores_filters = inventory, caller, ignores_filters
        self._templates: dict[str, tuple[Entry, Entry]] = {}
        """By client token: what was asked for, and what was made of it."""

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "ec2.DeleteRouteTable", self._deleter("route table", "RouteTableId")
        yield "ec2.DeleteInternetGateway", self._deleter("internet gateway", "InternetGatewayId")
        yield "ec2.DescribeInstances", self._instances
        yield "ec2.DescribeVpcAttribute", self._vpc_attribute
        yield "ec2.DescribeDhcpOptions", self._dhcp_options
        yield "ec2.DeleteVpcEndpoints", self._delete_endpoints
        yield "ec2.RevokeSecurityGroupIngress", self._revoke("IpPermissions", kinds.INGRESS)
        yield "ec2.RevokeSecurityGroupEgress", self._revoke("IpPermissionsEgress", kinds.EGRESS)
        yield "ec2.DetachInternetGateway", self._detach
        yield "ec2.DisassociateRouteTable", self._disassociate
        yield "ec2.CreateLaunchTemplate", self._create_template

    def _create_template(self, given: Entry) -> Entry:
        """Once for each token, and once for each name (EC2 API, CreateLaunchTemplate; EC2 developer guide, ensuring idempotency)."""
        token, name = given["ClientToken"], given["LaunchTemplateName"]
        asked, made = self._templates.get(token, (given, None))
        if asked != given:
            raise Refused("IdempotentParameterMismatch", "The request uses the same client token as a previous, but non-identical request.")
        if made is not None:
            return {"LaunchTemplate": made}
        if not given["LaunchTemplateData"]:
            raise Refused("MissingParameter", "No launch template data was provided.")
        if any(entry["LaunchTemplateName"] == name for entry in self._inventory.entries("template").values()):
            raise Refused("InvalidLaunchTemplateName.AlreadyExistsException", "Launch template name already in use.")
        which = made_id("lt", token)
        tags = [tag for each in given.get("TagSpecifications", ()) if each["ResourceType"] == "launch-template" for tag in each["Tags"]]
        made = {
            "LaunchTemplateId": which, "LaunchTemplateName": name, "CreateTime": CREATED_AT, "CreatedBy": self._caller,
            "DefaultVersionNumber": 1, "LatestVersionNumber": 1, "Tags": tags,
        }  # fmt: skip
        self._inventory.world.state.others.setdefault("template", {})[which] = made
        self._templates[token] = (given, made)
        return {"LaunchTemplate": made}

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

    def _vpc_attribute(self, given: Entry) -> Entry:
        """One switch of a VPC at a time (EC2 API, DescribeVpcAttribute)."""
        which, attribute = given["VpcId"], given["Attribute"]
        entry = self._inventory.entries("vpc").get(which)
        if entry is None:
            raise Refused("InvalidVpcID.NotFound", f"The vpc ID '{which}' does not exist")
        key = attribute[0].upper() + attribute[1:]
        return {"VpcId": which, key: {"Value": entry[key]}}

    def _dhcp_options(self, given: Entry) -> Entry:
        """Name servers of VPCs, by the id of their options."""
        found = [entry for entry in self._inventory.entries("vpc").values() if entry.get("DhcpOptionsId") in given["DhcpOptionsIds"]]
        named = {entry["DhcpOptionsId"]: [{"Value": server} for server in entry["NameServers"]] for entry in found}
        return {
            "DhcpOptions": [
                {"DhcpOptionsId": which, "DhcpConfigurations": [{"Key": "domain-name-servers", "Values": values}]}
                for which, values in named.items()
            ]
        }

    def _delete_endpoints(self, given: Entry) -> Entry:
        failed = []
        for which in given["VpcEndpointIds"]:
            try:
                self._inventory.delete("endpoint", which)
            except Refused as refusal:
                failed.append({"ResourceId": which, "Error": {"Code": refusal.code, "Message": refusal.message}})
        return {"Unsuccessful": failed}

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
        else:
            self._inventory.change("internet gateway", which, vpcId=None)
        return {}

    def _disassociate(self, given: Entry) -> Entry:
        state, which = self._inventory.world.state, given["AssociationId"]
        for entry in state.others.get("route table", {}).values():
            entry["Associations"] = [item for item in entry["Associations"] if item["RouteTableAssociationId"] != which]
        found = state.find(kinds.ROUTE_TABLE_ASSOCIATION, which)
        if found is not None:
            state.remove(found.registration)
        return {}
