"""What a region and an account offer before anything is made: zones, types, quotas, versions, prices, and who is asking."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from facts.catalogue import CORE_TYPES, NEURON_TYPES, QUOTA_CODES, known_zone_ids
from facts.kubernetes_versions import KUBERNETES_VERSIONS
from facts.neuron_releases import NEWEST_AMI_DATE
from facts.regions import zone_id_prefix, zone_ids
from simulator.account.allowances import Allowances
from simulator.aws_endpoint.entries import Entry, arn
from simulator.aws_endpoint.wire import Handler, Refused
from simulator.outputs import ACCOUNT

PLENTY = 100_000.0
"""Value of a quota that nothing limits."""
_OTHER_VCPUS = {"p5.48xlarge": 192}
"""vCPUs of a type that neighbours run and the catalogue lacks (EC2 instance types, P5)."""


@dataclass
class Surroundings:
    """Mutable, so that a test can make one of them wrong at a time."""

    caller: str = f"arn:aws:sts::{ACCOUNT}:assumed-role/deployer/practice"
    role_arn: str = f"arn:aws:iam::{ACCOUNT}:role/deployer"
    """The role behind the caller's session."""
    zones: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Zone id to state and opt-in status."""
    offered: dict[str, list[str]] = field(default_factory=dict)
    """Instance type to the zone ids that offer it."""
    quotas: dict[str, float] = field(default_factory=dict)
    """Quota code to value."""
    addons: dict[str, str] = field(default_factory=dict)
    """Managed add-on to the version that EKS has of it."""
    other_addons: Callable[[str, str], str | None] = lambda _name, _minor: None
    """Version of any other add-on, from its name and the Kubernetes minor; None for none."""
    images: set[str] = field(default_factory=set)
    """Names of public images."""
    recommended: dict[str, str] = field(default_factory=dict)
    """AMI release by variant."""
    is_complete: bool = False
    """Whether quotas, images and releases are all that there are. Otherwise any other quota has plenty, each image that is
    asked for exists, and the newest release known is recommended."""
    standard_support_ends: str | None = None
    """Of every minor, in place of the dates in facts/kubernetes_versions; empty where EKS offers none."""
    """None: EKS does not offer the version."""
    reservations: dict[str, Entry] = field(default_factory=dict)
    """Capacity reservations and blocks that the account did not buy at this endpoint, by id, as EC2 describes them."""
    blocks: list[Entry] = field(default_factory=list)
    """Capacity blocks on offer, beside those of the market."""
    has_market: bool = False
    """Whether blocks, spot scores and spot prices that are not named here are made up by chance, the same at every look."""
    is_without_blocks: bool = False
    """Whether the region knows no capacity blocks: EC2 then answers `Unsupported`."""
    unsold: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Code and text with which the purchase of an offer fails, by its id; an offer that is not there any more is none of them."""
    spot_scores: dict[tuple[str, str], int] = field(default_factory=dict)
    """Spot placement score by instance type and zone id; a zone that is not named has a 1."""
    spot_prices: dict[tuple[str, str], float] = field(default_factory=dict)
    """USD of an instance and hour by instance type and zone id; a zone that is not named has no price."""
    now: Callable[[], datetime] | None = None
    """The account's clock, by which blocks begin and end. Without it their states stay as they are written."""
    price_list: list[str] = field(default_factory=list)
    """Products as the Pricing API gives them, in JSON."""
    denied_actions: set[str] = field(default_factory=set)
    """Actions that IAM would deny the caller."""
    denied_roles: dict[str, set[str]] = field(default_factory=dict)
    """Actions that IAM would deny other roles, by ARN."""
    missing_images: set[str] = field(default_factory=set)
    """Tags and digests, as `REPOSITORY:TAG` or `REPOSITORY@DIGEST`, that are not in ECR: what users push there is not simulated, so any other is."""
    refused_dry_runs: dict[str, str] = field(default_factory=dict)
    """Operation to the code of its refusal."""

    @classmethod
    def of_region(cls, region: str, allowances: Allowances | None = None) -> "Surroundings":
        """A region as the catalogue knows it, with an account's quotas; types that no zone is known for are offered in all."""
        prefix = zone_id_prefix(region)
        ids = zone_ids(region) or tuple(f"{prefix}-az{number}" for number in range(1, 4))
        zones: dict[str, tuple[str, str]] = dict.fromkeys(ids, ("available", "opt-in-not-required"))
        types = {**CORE_TYPES, **NEURON_TYPES}
        quotas: dict[str, float] = {}
        for family, limit in (allowances or Allowances()).vcpu_quotas.items():
            quotas[QUOTA_CODES[family]["on-demand"]] = limit
        for family, limit in (allowances or Allowances()).spot_vcpu_quotas.items():
            quotas[QUOTA_CODES[family]["spot"]] = limit
        offered = {name: list(known_zone_ids(item, prefix)) or list(zones) for name, item in types.items()}
        caller = arn(region, "sts", "assumed-role/deployer/practice", regional=False)
        role = arn(region, "iam", "role/deployer", regional=False)
        return cls(caller=caller, role_arn=role, zones=zones, offered=offered, quotas=quotas)

    def handlers(self, region: str) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        identity = {"Account": self.caller.split(":")[4], "UserId": "AROAEXAMPLE:practice"}
        yield "sts.GetCallerIdentity", lambda _: {**identity, "Arn": self.caller}
        yield "iam.SimulatePrincipalPolicy", self._simulated
        for operation in ("CreateVpc", "CreateInternetGateway", "AllocateAddress"):
            yield f"ec2.{operation}", self._dry_run(operation)
        yield "ec2.DescribeAvailabilityZones", lambda _: {"AvailabilityZones": [self.zone(region, which) for which in self.zones]}
        yield "ec2.DescribeInstanceTypeOfferings", self._offerings
        yield "ec2.DescribeInstanceTypes", _types
        yield "ec2.DescribeImages", self._images
        yield "ecr.DescribeImages", self._image_details
        yield "service-quotas.GetServiceQuota", self._quota
        yield "service-quotas.GetAWSDefaultServiceQuota", lambda given: {"Quota": self._value(given)}
        yield "ssm.GetParameter", self.recommended_release
        yield "eks.DescribeClusterVersions", self._versions
        yield "eks.DescribeAddonVersions", self._addon
        yield "pricing.GetProducts", lambda given: {"PriceList": [text for text in self.price_list if _is_priced(text, given)]}

    def _simulated(self, given: Entry) -> Entry:
        source = given["PolicySourceArn"]
        is_caller = source in (self.role_arn, self.caller)
        if not is_caller and ":role/" not in source:
            raise Refused("NoSuchEntity", f"{source} cannot be found.", 404)
        denied = self.denied_actions if is_caller else self.denied_roles.get(source, ())
        decisions = {action: "implicitDeny" if action in denied else "allowed" for action in given["ActionNames"]}
        return {"EvaluationResults": [{"EvalActionName": name, "EvalDecision": said} for name, said in decisions.items()]}

    def _image_details(self, given: Entry) -> Entry:
        details = []
        for which in given["imageIds"]:
            name = given["repositoryName"] + (f"@{which['imageDigest']}" if "imageDigest" in which else f":{which['imageTag']}")
            if name in self.missing_images:
                raise Refused("ImageNotFoundException", f"The image with imageId {which} does not exist within the repository", 400)
            details.append({"registryId": given["registryId"], "repositoryName": given["repositoryName"]})
        return {"imageDetails": details}

    def _dry_run(self, operation: str) -> Handler:
        def answer(given: Entry) -> Entry:
            # `trn` makes nothing by these calls: Pulumi does, through its own provider.
            assert given["DryRun"] is True, f"{operation} is answered as a dry run only"
            code = self.refused_dry_runs.get(operation, "DryRunOperation")
            raise Refused(code, "Request would have succeeded, but DryRun flag is set.", 412)

        return answer

    def zone(self, region: str, which: str) -> Entry:
        """One zone as EC2 describes it."""
        state, opted = self.zones[which]
        return {"ZoneId": which, "ZoneName": f"{region}{which[-1]}", "State": state, "OptInStatus": opted}

    def _offerings(self, given: Entry) -> Entry:
        assert given["LocationType"] == "availability-zone-id", given
        names = given["Filters"][0]["Values"]
        return {"InstanceTypeOfferings": [{"InstanceType": n, "Location": place} for n in names for place in self.offered.get(n, [])]}

    def _images(self, given: Entry) -> Entry:
        names = given["Filters"][0]["Values"]
        return {"Images": [{"Name": name} for name in names if name in self.images or not self.is_complete]}

    def _quota(self, given: Entry) -> Entry:
        # Applied values exist for the vCPU quotas only; the others have AWS's default.
        if given["ServiceCode"] != "ec2":
            raise Refused("NoSuchResourceException", "no applied value")
        return {"Quota": self._value(given)}

    def _value(self, given: Entry) -> Entry:
        code = given["QuotaCode"]
        if code not in self.quotas and self.is_complete:
            raise Refused("NoSuchResourceException", f"no quota {code}")
        named = {"QuotaCode": code, "ServiceCode": given["ServiceCode"], "QuotaName": f"quota {code}"}
        return {**named, "Value": self.quotas.get(code, PLENTY)}

    def recommended_release(self, given: Entry) -> Entry:
        """The parameters that AWS publishes: AMI releases of EKS."""
        parts = given["Name"].split("/")
        if len(parts) < 6:
            raise Refused("ParameterNotFound", given["Name"])
        variant, minor = parts[-3], parts[5]
        found = self.recommended.get(variant) or (None if self.is_complete else f"{minor}.0-{NEWEST_AMI_DATE}")
        if found is None:
            raise Refused("ParameterNotFound", given["Name"])
        return {"Parameter": {"Name": given["Name"], "Value": found}}

    def _versions(self, given: Entry) -> Entry:
        ends = self.standard_support_ends
        known = [KUBERNETES_VERSIONS[name] for name in given["clusterVersions"] if name in KUBERNETES_VERSIONS]
        dates = {item.name: f"{item.standard_support_ends}T00:00:00Z" if ends is None else ends for item in known}
        return {"clusterVersions": [{"clusterVersion": name, "endOfStandardSupportDate": date} for name, date in dates.items() if date]}

    def _addon(self, given: Entry) -> Entry:
        version = self.addons.get(given["addonName"]) or self.other_addons(given["addonName"], given.get("kubernetesVersion", ""))
        versions = [{"addonVersion": version}, {"addonVersion": "v0.1.0-eksbuild.1"}] if version else []
        return {"addons": [{"addonName": given["addonName"], "addonVersions": versions}]}


def _types(given: Entry) -> Entry:
    known = _OTHER_VCPUS | {name: item.vcpu_count for name, item in {**CORE_TYPES, **NEURON_TYPES}.items()}
    names = [name for name in given["InstanceTypes"] if name in known]
    return {"InstanceTypes": [{"InstanceType": name, "VCpuInfo": {"DefaultVCpus": known[name]}} for name in names]}


def _is_priced(text: str, given: Entry) -> bool:
    """Whether a product is of the service and has the attributes that the request asks for; what its entry lacks fits."""
    entry = json.loads(text)
    attributes = entry["product"]["attributes"]
    if entry.get("serviceCode", given["ServiceCode"]) != given["ServiceCode"]:
        return False
    return all(attributes.get(each["Field"], each["Value"]) == each["Value"] for each in given.get("Filters", ()))
