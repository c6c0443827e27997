"""Service quotas: what the account may have, and how much of it is in use, the cluster's own left out: that is counted as need."""

from collections import Counter
from dataclasses import dataclass

from botocore.exceptions import ClientError

from facts.regions import partition
from trn.aws.api import Api, Call, tags_of
from trn.aws.errors import code_of
from trn.aws.owner_tags import belongs
from trn.aws.zones import vcpu_counts

GET_QUOTA = Call("service-quotas", "GetServiceQuota")
GET_DEFAULT = Call("service-quotas", "GetAWSDefaultServiceQuota")

_CONSOLES = {"aws": "console.aws.amazon.com", "aws-us-gov": "console.amazonaws-us-gov.com", "aws-cn": "console.amazonaws.cn"}


@dataclass(frozen=True)
class Quota:
    """One quota's name, its codes and its value in this account and region."""

    service: str
    code: str
    name: str
    value: float


def quota(api: Api, service: str, code: str) -> Quota:
    """The value applied to the account, or AWS's default where none was ever applied."""
    try:
        answer = api.call(GET_QUOTA, ServiceCode=service, QuotaCode=code)
    except ClientError as error:
        if code_of(error) != "NoSuchResourceException":
            raise
        answer = api.call(GET_DEFAULT, ServiceCode=service, QuotaCode=code)
    return Quota(service, code, answer["Quota"]["QuotaName"], answer["Quota"]["Value"])


def console_link(region: str, service: str, code: str) -> str:
    """Where a quota is raised."""
    host = _CONSOLES.get(partition(region), _CONSOLES["aws"])
    return f"https://{region}.{host}/servicequotas/home/services/{service}/quotas/{code}"


DESCRIBE_INSTANCES = Call("ec2", "DescribeInstances")
DESCRIBE_VPCS = Call("ec2", "DescribeVpcs")
DESCRIBE_ADDRESSES = Call("ec2", "DescribeAddresses")
DESCRIBE_NAT_GATEWAYS = Call("ec2", "DescribeNatGateways")
DESCRIBE_INTERNET_GATEWAYS = Call("ec2", "DescribeInternetGateways")
DESCRIBE_SUBNETS = Call("ec2", "DescribeSubnets")


@dataclass(frozen=True)
class Running:
    """vCPUs that run, by instance type and way of buying."""

    on_demand: Counter[str]
    spot: Counter[str]


def running_vcpus(api: Api, cluster: str) -> Running:
    """Instances that are starting or running; those in capacity blocks draw on no quota."""
    filters = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
    counts: dict[str, Counter[str]] = {"": Counter(), "spot": Counter()}
    for group in api.pages(DESCRIBE_INSTANCES, "Reservations", Filters=filters):
        for instance in group["Instances"]:
            how = instance.get("InstanceLifecycle", "")
            if how in counts and not belongs(cluster, tags_of(instance)):
                counts[how][instance["InstanceType"]] += 1
    vcpus = vcpu_counts(api, [name for found in counts.values() for name in found]) if any(counts.values()) else {}
    on_demand, spot = (Counter({name: count * vcpus[name] for name, count in found.items()}) for found in counts.values())
    return Running(on_demand, spot)


def count_vpcs(api: Api, cluster: str) -> int:
    """VPCs of others."""
    return sum(1 for vpc in api.pages(DESCRIBE_VPCS, "Vpcs") if not belongs(cluster, tags_of(vpc)))


def count_internet_gateways(api: Api, cluster: str) -> int:
    """Internet gateways of others."""
    entries = api.pages(DESCRIBE_INTERNET_GATEWAYS, "InternetGateways")
    return sum(1 for gateway in entries if not belongs(cluster, tags_of(gateway)))


def count_addresses(api: Api, cluster: str) -> int:
    """Elastic IP addresses of others."""
    return sum(1 for address in api.pages(DESCRIBE_ADDRESSES, "Addresses") if not belongs(cluster, tags_of(address)))


def nat_gateways_by_zone(api: Api, cluster: str) -> Counter[str]:
    """NAT gateways of others by zone id."""
    alive = [{"Name": "state", "Values": ["pending", "available", "deleting"]}]
    zone_of = {subnet["SubnetId"]: subnet["AvailabilityZoneId"] for subnet in api.pages(DESCRIBE_SUBNETS, "Subnets")}
    gateways = api.pages(DESCRIBE_NAT_GATEWAYS, "NatGateways", Filter=alive)
    return Counter(zone_of.get(gateway["SubnetId"], "") for gateway in gateways if not belongs(cluster, tags_of(gateway)))
