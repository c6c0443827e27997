"""The one way to AWS: calls that are declared before they are made, paginated, with an explicit region and adaptive retries.

A module declares each call it makes as a `Call`; `trn iam` writes the policy documents from these declarations, so the
code cannot make a call that the documents lack.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from facts.regions import partition
from facts.resources.rights import ANYTHING, Scope, action_name

PRICING_REGIONS = {"aws": "us-east-1", "aws-cn": "cn-northwest-1", "aws-us-gov": "us-east-1", "aws-eusc": "us-east-1"}
"""Where the price list is served; it describes all regions (botocore endpoints.json, 2026-11)."""
IAM_PREFIXES = {
    "service-quotas": "servicequotas", "elb": "elasticloadbalancing", "elbv2": "elasticloadbalancing", "resourcegroupstaggingapi": "tag",
    "amp": "aps",
}  # fmt: skip
"""IAM's prefix where it differs from boto3's name of the service (their signing names in botocore, 2026-11)."""


@dataclass(frozen=True)
class Call:
    """One API action that the code makes."""

    service: str
    """boto3's name."""
    operation: str
    """As the API spells it."""
    scopes: tuple[Scope, ...] = (ANYTHING,)
    """Any of them is enough. Empty for what no document can name: an object that the user names on the command line."""
    right: str = ""
    """IAM's name of the operation, where it is another one."""
    repeats: bool = True
    """Whether a request that got no answer is sent again. Not for one that costs money each time and takes no token to tell two apart."""

    @property
    def action(self) -> str:
        """IAM's name of it."""
        return f"{IAM_PREFIXES.get(self.service, self.service)}:{self.right or action_name(self.service, self.operation)}"


@dataclass(frozen=True)
class Taken(Call):
    """An action that a caller needs the right to, though no call of the code has its name: a part of another call, or of a request
    that is no call of boto3's."""


class Api(Protocol):
    """What the modules of this package need: one answer, or all pages of one."""

    @property
    def region(self) -> str:
        """Region of every call."""
        ...

    def call(self, call: Call, **parameters: Any) -> dict[str, Any]:
        """One answer. Raises what botocore raises."""
        ...

    def pages(self, call: Call, key: str, **parameters: Any) -> Iterator[Any]:
        """The entries below `key` of all pages."""
        ...


class BotoApi:
    """AWS through boto3; clients are made on first use, without waiting for any network."""

    def __init__(self, region: str, session: Any = None) -> None:
        """`session`: a boto3 session; without it, boto3's own search for credentials."""
        self._region = region
        self._session = session
        self._clients: dict[tuple[str, bool], Any] = {}
        self._paginators: dict[tuple[str, str], Any] = {}
        """Kept, because boto3 makes a class for each: a sweep asks for the same pages many times."""

    @property
    def region(self) -> str:
        """Region of every call."""
        return self._region

    def call(self, call: Call, **parameters: Any) -> dict[str, Any]:
        """One answer. Raises what botocore raises."""
        from botocore import xform_name

        return getattr(self.client(call.service, repeats=call.repeats), xform_name(call.operation))(**parameters)

    def pages(self, call: Call, key: str, **parameters: Any) -> Iterator[Any]:
        """The entries below `key` of all pages; of the one page where the API has no pages."""
        from botocore import xform_name

        client, name = self.client(call.service), xform_name(call.operation)
        paged = client.can_paginate(name)
        answers = self._paginator(client, call.service, name).paginate(**parameters) if paged else [self.call(call, **parameters)]
        for answer in answers:
            yield from answer.get(key, ())

    def _paginator(self, client: Any, service: str, name: str) -> Any:
        if (service, name) not in self._paginators:
            self._paginators[service, name] = client.get_paginator(name)
        return self._paginators[service, name]

    def client(self, service: str, *, repeats: bool = True) -> Any:
        """The boto3 client of a service. `repeats`: whether it sends a request again that got no answer."""
        if (service, repeats) not in self._clients:
            import boto3
            from botocore.config import Config

            # One for all clients: each would load the models of services again, and search for credentials again.
            self._session = self._session or boto3.Session()
            region = PRICING_REGIONS[partition(self._region)] if service == "pricing" else self._region
            retries: Any = {"mode": "adaptive", "max_attempts": 8} if repeats else {"mode": "standard", "total_max_attempts": 1}
            config = Config(retries=retries, connect_timeout=10, read_timeout=60, user_agent_extra="trn")
            self._clients[service, repeats] = self._session.client(service, region_name=region, config=config)
        return self._clients[service, repeats]


GET_CALLER = Call("sts", "GetCallerIdentity")


def account_of(api: Api) -> str:
    """Number of the account that the credentials belong to."""
    return str(api.call(GET_CALLER)["Account"])


def tags_of(entry: Mapping[str, Any], key: str = "Tags") -> dict[str, str]:
    """Tags as a dictionary, from either spelling: a list of `Key` and `Value`, or a mapping."""
    tags = entry.get(key) or {}
    if isinstance(tags, Mapping):
        return dict(tags)
    return {tag["Key"]: tag.get("Value", "") for tag in tags}
