"""EC2: security groups and their rules."""

from typing import Any

from facts.resources.api_calls import ApiCall, Creation, Members, creation, ec2_tags, titled
from facts.resources.ec2 import TAGGING, by_name, deletion, described, rights
from facts.resources.identity import by, by_all
from facts.resources.latency import INSTANT, LOGS, Latencies, both
from facts.resources.outputs import Answer, Draw, Inputs, with_arn
from facts.resources.queries import Deletion, Entry, Leftover, Lookup, Stage, Step
from facts.resources.resource_type import Changes, Conflict, NameLimit, ResourceType, Without
from facts.resources.rights import BALANCERS

_GROUPS = described("DescribeSecurityGroups", "SecurityGroups", "GroupId", vpc="VpcId", vpc_filter="vpc-id", absent="InvalidGroup.NotFound")
SECURITY_GROUP = ResourceType(
    "aws:ec2/securityGroup:SecurityGroup",
    make=with_arn("sg", "ec2", "security-group"),
    latencies=Latencies(both(1, 2, 4, LOGS)),
    changes=Changes(replacing=("name", "description", "vpcId"), name="name"),
    identity=by("vpcId", "name"),
    creation=creation(
        ApiCall("ec2", "CreateSecurityGroup", {"name": "GroupName", **titled("description", "vpcId"), **ec2_tags("security-group")}),
        later=("revokeRulesOnDelete",),
    ),
    lookup=by_name(_GROUPS, "group-name", "GroupName", {"VpcId": "vpcId"}),
    tagging=TAGGING,
    deletion=deletion(
        "DeleteSecurityGroup",
        "GroupId",
        # Rules that name other groups hold those back; a later round then meets no rule at all.
        steps=[
            Step(f"RevokeSecurityGroup{way}", {"GroupId": "GroupId", "IpPermissions": key}, needs=(key, True))
            for way, key in (("Ingress", "IpPermissions"), ("Egress", "IpPermissionsEgress"))
        ],
    ),
    rights=rights(
        "DescribeSecurityGroups DescribeNetworkInterfaces",
        "CreateSecurityGroup",
        "RevokeSecurityGroupIngress RevokeSecurityGroupEgress DeleteSecurityGroup",
    ),
    costs=Without("a security group has no price"),
    leftover=Leftover(
        "security group",
        Stage.NETWORK,
        _GROUPS,
        "tags or VPC",
        # The VPC's own group is deleted with it.
        leaves=lambda entry: entry["GroupName"] == "default",
        scopes=BALANCERS,
    ),
    # EC2 API, client error codes
    conflict=Conflict(("vpcId", "name"), "InvalidGroup.Duplicate", "The security group '{name}' already exists for VPC '{vpcId}'"),
    name_limit=NameLimit("name", 255, "EC2 API, CreateSecurityGroup"),
)


def _make_rule(draw: Draw, inputs: Inputs) -> Answer:
    rule = f"sgr-{draw.hex()}"
    return rule, {"arn": draw.arn("ec2", f"security-group-rule/{rule}"), "securityGroupRuleId": rule}


def _creation(operation: str) -> Creation:
    def call(peer: str, place: str) -> ApiCall:
        ports: Members = {
            "securityGroupId": "GroupId",
            "ipProtocol": "IpPermissions[].IpProtocol",
            "fromPort": "IpPermissions[].FromPort",
            "toPort": "IpPermissions[].ToPort",
        }
        entry = place.rsplit(".", 1)[0]
        return ApiCall("ec2", operation, {**ports, peer: place, "description": f"{entry}.Description"}, needs=peer)

    return creation(
        call("cidrIpv4", "IpPermissions[].IpRanges[].CidrIp"),
        call("referencedSecurityGroupId", "IpPermissions[].UserIdGroupPairs[].GroupId"),
    )


def _rule_of(inputs: Inputs) -> tuple[Any, ...]:
    # Where all protocols are meant, the program gives no ports, and EC2 answers with -1.
    ports = (inputs.get("fromPort", -1), inputs.get("toPort", -1))
    return inputs["ipProtocol"], *ports, inputs.get("cidrIpv4"), inputs.get("referencedSecurityGroupId")


def _rule_in(entry: Entry) -> tuple[Any, ...]:
    other = entry.get("ReferencedGroupInfo", {}).get("GroupId")
    return entry["IpProtocol"], entry.get("FromPort", -1), entry.get("ToPort", -1), entry.get("CidrIpv4"), other


def _rule(way: str, *, egress: bool) -> ResourceType:
    return ResourceType(
        f"aws:vpc/securityGroup{way}Rule:SecurityGroup{way}Rule",
        make=_make_rule,
        latencies=Latencies(INSTANT),
        changes=Changes(replacing=("securityGroupId",), calls=("ModifySecurityGroupRules",)),
        identity=by_all("securityGroupId", "ipProtocol", "fromPort", "toPort", "cidrIpv4", "referencedSecurityGroupId"),
        creation=_creation(f"AuthorizeSecurityGroup{way}"),
        lookup=Lookup(
            described("DescribeSecurityGroupRules", "SecurityGroupRules", "SecurityGroupRuleId"),
            "part",
            filters={"group-id": "securityGroupId"},
            matches={"GroupId": "securityGroupId"},
            agrees=lambda inputs, entry: entry["IsEgress"] == egress and _rule_in(entry) == _rule_of(inputs),
        ),
        tagging=TAGGING,
        deletion=Deletion("ec2", f"RevokeSecurityGroup{way}", {"GroupId": "GroupId", "SecurityGroupRuleIds[]": "SecurityGroupRuleId"}),
        rights=rights(
            "DescribeSecurityGroupRules",
            "",
            f"ModifySecurityGroupRules RevokeSecurityGroup{way}",
            # EC2 judges the group by its own tags, and the new rule by those of the request.
            upon=f"AuthorizeSecurityGroup{way}",
        ),
        costs=Without("a security group has no price"),
        leftover=Without("it is deleted with its security group"),
        conflict=Conflict((), "InvalidPermission.Duplicate"),  # EC2 API, AuthorizeSecurityGroupIngress
    )


INGRESS = _rule("Ingress", egress=False)
EGRESS = _rule("Egress", egress=True)
TYPES = (SECURITY_GROUP, INGRESS, EGRESS)
