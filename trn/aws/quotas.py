"""Service quotas: what the account may have."""

from dataclasses import dataclass

from botocore.exceptions import ClientError

from facts.regions import partition
from trn.aws.api import Api, Call
from trn.aws.errors import code_of

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
