"""What EC2 refuses to delete: objects that others still use."""

from collections.abc import Sequence
from ipaddress import IPv4Network

from facts.typed import typed
from simulator.account import kinds, view
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.account.timeouts import GATEWAY_S, SECURITY_GROUP_S, SUBNET_S, VPC_S
from simulator.recording import Registration


def _depended_on(text: str, holders: Sequence[str], retry_s: float) -> Refusal:
    several = f", and {len(holders) - 3} more" if len(holders) > 3 else ""
    sweep = f"`{typed('trn sweep')}` lists what is left and deletes what carries the cluster's tags; then `{typed('pulumi destroy')}` again"
    return Refusal("DependencyViolation", text, f"held by {'; '.join(holders[:3])}{several}", sweep, retry_s=retry_s, remedy="sweep")


@rule("delete", kinds.SUBNET, source="EC2 API, DeleteSubnet; terraform-provider-aws internal/service/ec2/vpc_subnet.go")
def subnet_has_interfaces(state: AccountState, request: Registration) -> Refusal | None:
    """A subnet cannot be deleted while any interface is in it; nodes, EKS, NAT and FSx remove only their own interfaces."""
    holders = sorted({interface.what for interface in view.interfaces(state) if interface.subnet_id == request.id})
    if not holders:
        return None
    return _depended_on(f"The subnet '{request.id}' has dependencies and cannot be deleted.", holders, SUBNET_S)


@rule(
    "delete", kinds.SECURITY_GROUP, source="EC2 API, DeleteSecurityGroup; terraform-provider-aws internal/service/ec2/vpc_security_group.go"
)
def security_group_in_use(state: AccountState, request: Registration) -> Refusal | None:
    """A security group stays while an interface carries it, or a rule of another group names it."""
    holders = {interface.what for interface in view.interfaces(state) if request.id in interface.security_group_ids}
    for kind in (kinds.INGRESS, kinds.EGRESS):
        for existing in state.existing(kind):
            inputs = existing.registration.inputs
            if inputs.get("referencedSecurityGroupId") == request.id != inputs["securityGroupId"]:
                holders.add(f"rule {existing.registration.name} of {inputs['securityGroupId']}")
    if not holders:
        return None
    return _depended_on(f"resource {request.id} has a dependent object", sorted(holders), SECURITY_GROUP_S)


@rule("delete", kinds.VPC, source="EC2 API, DeleteVpc; terraform-provider-aws internal/service/ec2/vpc_.go")
def vpc_is_empty(state: AccountState, request: Registration) -> Refusal | None:
    """A VPC stays while it has subnets, gateways, endpoints, route tables or security groups beyond its own."""
    in_vpc = (kinds.SUBNET, kinds.SECURITY_GROUP, kinds.ENDPOINT, kinds.ROUTE_TABLE, kinds.INTERNET_GATEWAY)
    holders = [
        f"{existing.registration.name} ({existing.registration.id})"
        for kind in in_vpc
        for existing in state.existing(kind)
        if existing.registration.inputs.get("vpcId") == request.id
    ]
    holders += [stray.what for stray in state.strays.values() if stray.subnet_ids]
    if not holders:
        return None
    return _depended_on(f"The vpc '{request.id}' has dependencies and cannot be deleted.", sorted(holders), VPC_S)


@rule(
    "delete",
    kinds.INTERNET_GATEWAY,
    source="EC2 API, DetachInternetGateway; terraform-provider-aws internal/service/ec2/vpc_internet_gateway.go",
)
def gateway_in_use(state: AccountState, request: Registration) -> Refusal | None:
    """An internet gateway is not detached while its VPC has mapped public addresses."""
    vpc_id = request.inputs.get("vpcId")
    subnets = {existing.registration.id for existing in state.existing(kinds.SUBNET) if existing.registration.inputs["vpcId"] == vpc_id}
    holders = [
        f"NAT gateway {existing.registration.id}"
        for existing in state.existing(kinds.NAT_GATEWAY)
        if existing.registration.inputs["subnetId"] in subnets
    ]
    holders += [stray.what for stray in state.strays.values() if stray.name.startswith("load balancer")]
    if not holders:
        return None
    text = f"Network {vpc_id} has some mapped public address(es). Please unmap those public address(es) before detaching the gateway."
    return _depended_on(text, sorted(holders), GATEWAY_S)


@rule("delete", kinds.ADDRESS, source="EC2 API, ReleaseAddress; terraform-provider-aws internal/service/ec2/ec2_eip.go")
def address_in_use(state: AccountState, request: Registration) -> Refusal | None:
    """An Elastic IP address is released only after the NAT gateway that holds it."""
    holders = [
        existing.registration
        for existing in state.existing(kinds.NAT_GATEWAY)
        if existing.registration.inputs.get("allocationId") == request.id
    ]
    if not holders:
        return None
    return Refusal(
        "InvalidIPAddress.InUse",
        f"The Elastic IP address '{request.id}' is in use by NAT gateway {holders[0].id}.",
        f"{holders[0].name} holds the address",
        "let the gateway depend on the address, so that the gateway is deleted first",
    )


@rule("delete", kinds.POD_BLOCK, source="EC2 API, DisassociateVpcCidrBlock, InvalidCidrBlock.InUse")
def block_in_use(state: AccountState, request: Registration) -> Refusal | None:
    """A secondary block of a VPC stays while a subnet lies in it."""
    block = IPv4Network(request.inputs["cidrBlock"])
    inside = [
        existing.registration
        for existing in state.existing(kinds.SUBNET)
        if existing.registration.inputs["vpcId"] == request.inputs["vpcId"]
        and IPv4Network(existing.registration.inputs["cidrBlock"]).subnet_of(block)
    ]
    if not inside:
        return None
    return Refusal(
        "InvalidCidrBlock.InUse",
        f"The vpc CIDR block with association ID {request.id} may not be disassociated: it is in use",
        f"{inside[0].name} ({inside[0].inputs['cidrBlock']}) lies in it",
        "let the subnets depend on the association",
    )


@rule("delete", kinds.PLACEMENT_GROUP, source="EC2 API, DeletePlacementGroup, InvalidPlacementGroup.InUse")
def placement_group_in_use(state: AccountState, request: Registration) -> Refusal | None:
    """A placement group stays while instances are in it, those that are shutting down included."""
    holders = [
        group for group in view.node_groups(state) if view.template_of(state, group).get("placement", {}).get("groupName") == request.id
    ]
    if not any(view.desired_size(group) for group in holders):
        return None
    return Refusal(
        "InvalidPlacementGroup.InUse",
        f"The placement group '{request.id}' is in use and may not be deleted.",
        f"nodes of {holders[0].inputs['nodeGroupName']} are in it",
        "let the launch template depend on the placement group, so that the group's nodes go first",
    )
