"""What EC2 refuses about address space."""

from ipaddress import IPv4Network

from facts.regions import zone_exists
from simulator.account import kinds
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration


def _blocks(state: AccountState, vpc_id: str) -> list[IPv4Network]:
    found = state.find(kinds.VPC, vpc_id)
    primary = [IPv4Network(found.registration.inputs["cidrBlock"])] if found is not None else []
    more = [item.inputs for item in state.ready(kinds.POD_BLOCK) if item.inputs["vpcId"] == vpc_id]
    return [*primary, *(IPv4Network(inputs["cidrBlock"]) for inputs in more)]


@rule("create", kinds.SUBNET, source="EC2 API, CreateSubnet, InvalidSubnet.Range")
def subnet_in_vpc(state: AccountState, request: Registration) -> Refusal | None:
    """A subnet lies within a block that its VPC already has."""
    asked = IPv4Network(request.inputs["cidrBlock"])
    blocks = _blocks(state, request.inputs["vpcId"])
    if any(asked.subnet_of(block) for block in blocks):
        return None
    return Refusal(
        "InvalidSubnet.Range",
        f"The CIDR '{asked}' is invalid.",
        f"the VPC has {', '.join(map(str, blocks)) or 'no block'} at this moment; a secondary block counts once it is associated",
        "let the subnet depend on the association of its block, or take a CIDR inside the VPC",
    )


@rule("create", kinds.SUBNET, source="EC2 API, CreateSubnet, InvalidParameterValue; AWS Availability Zones, global infrastructure guide")
def zone_is_there(_: AccountState, request: Registration) -> Refusal | None:
    """A subnet lies in a zone that its region has."""
    zone_id = request.inputs.get("availabilityZoneId")
    if zone_id is None or zone_exists(zone_id):
        return None
    return Refusal(
        "InvalidParameterValue",
        f"Value ({zone_id}) for parameter availabilityZoneId is invalid.",
        "no region has this zone",
        "take a zone that `aws ec2 describe-availability-zones` lists",
    )


@rule("create", kinds.SUBNET, source="EC2 API, CreateSubnet, InvalidSubnet.Conflict")
def subnets_apart(state: AccountState, request: Registration) -> Refusal | None:
    """Two subnets of a VPC do not overlap, so a subnet cannot be replaced before the old one is gone."""
    asked = IPv4Network(request.inputs["cidrBlock"])
    for existing in state.existing(kinds.SUBNET):
        other = existing.registration
        if other.inputs["vpcId"] == request.inputs["vpcId"] and asked.overlaps(IPv4Network(other.inputs["cidrBlock"])):
            return Refusal(
                "InvalidSubnet.Conflict",
                f"The CIDR '{asked}' conflicts with another subnet",
                f"{other.name} ({other.id}) has {other.inputs['cidrBlock']}",
                "take another CIDR, or delete the other subnet first",
            )
    return None


@rule("create", kinds.NAT_GATEWAY, source="EC2 API, CreateNatGateway; terraform-provider-aws internal/service/ec2/vpc_nat_gateway.go")
def address_is_free(state: AccountState, request: Registration) -> Refusal | None:
    """An Elastic IP address serves one NAT gateway at a time."""
    for existing in state.existing(kinds.NAT_GATEWAY):
        if existing.registration.inputs.get("allocationId") == request.inputs.get("allocationId"):
            return Refusal(
                "Resource.AlreadyAssociated",
                f"resource {request.inputs['allocationId']} is already associated with NAT gateway {existing.registration.id}",
                f"{existing.registration.name} still holds the address",
                "replace the gateway with deleteBeforeReplace, or give the new one an address of its own",
            )
    return None


@rule("create", kinds.ENDPOINT, source="EC2 API, CreateVpcEndpoint; one private DNS name per service and VPC")
def one_private_name(state: AccountState, request: Registration) -> Refusal | None:
    """A VPC has one interface endpoint with private DNS for each service."""
    if not request.inputs.get("privateDnsEnabled"):
        return None
    for existing in state.existing(kinds.ENDPOINT):
        other = existing.registration.inputs
        if (other["vpcId"], other["serviceName"], other.get("privateDnsEnabled")) == (
            request.inputs["vpcId"],
            request.inputs["serviceName"],
            True,
        ):
            return Refusal(
                "InvalidParameter",
                f"private-dns-enabled cannot be set because there is already a conflicting DNS domain for {request.inputs['serviceName']}",
                f"{existing.registration.name} has the name already",
                "name each service once",
            )
    return None


@rule("create", kinds.SECURITY_GROUP, source="EC2 API, CreateSecurityGroup, InvalidVpcID.NotFound")
def vpc_is_there(state: AccountState, request: Registration) -> Refusal | None:
    """A security group lies in a VPC that exists."""
    vpc_id = str(request.inputs.get("vpcId"))
    if state.find(kinds.VPC, vpc_id) is not None or vpc_id in state.others.get("vpc", {}):
        return None
    return Refusal(
        "InvalidVpcID.NotFound",
        f"The vpc ID '{vpc_id}' does not exist",
        f"{request.name} is to lie in it",
        "correct `network.existing.vpcId`, or the region",
    )
