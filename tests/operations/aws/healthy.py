"""An account in which the shipped stack would come up, to be spoilt one thing at a time."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

from botocore.utils import parse_timestamp

from tests.operations.aws.cloud import Cloud
from tests.operations.aws.wire import Refused

Entry = dict[str, Any]
ROLE = "arn:aws:iam::111122223333:role/team/deployer"
OFFERED = {
    "trn1.32xlarge": ["usw2-az1", "usw2-az4"],
    "trn1n.32xlarge": ["usw2-az4"],
    "m5.xlarge": ["usw2-az1", "usw2-az2", "usw2-az3", "usw2-az4"],
}
QUOTAS = {
    "L-2C3B7624": 256, "L-6B0D517C": 256, "L-1216C47A": 64, "L-F678F1CE": 5, "L-A4707A72": 5, "L-FE5A380F": 5, "L-0263D0A3": 5,
    "L-1194D53C": 100, "L-8F1B9C74": 100800,
}  # fmt: skip
ADDONS = {
    "vpc-cni": "v1.23.0-eksbuild.1", "eks-pod-identity-agent": "v1.4.0-eksbuild.1", "aws-ebs-csi-driver": "v1.66.0-eksbuild.1",
    "aws-fsx-csi-driver": "v1.9.0-eksbuild.1", "kube-proxy": "v1.35.3-eksbuild.29", "coredns": "v1.13.2-eksbuild.31",
    "amazon-cloudwatch-observability": "v6.7.0-eksbuild.1",
}  # fmt: skip


def block(which: str, zone_name: str, starts: str, fee: str, **changes: Any) -> Entry:
    """A capacity block on offer: two trn1.32xlarge for a day."""
    ends = date.fromisoformat(starts) + timedelta(days=1)
    return {
        "CapacityBlockOfferingId": which, "InstanceType": "trn1.32xlarge", "InstanceCount": 2, "AvailabilityZone": zone_name,
        "StartDate": f"{starts}T11:30:00Z", "EndDate": f"{ends}T11:30:00Z", "CapacityBlockDurationHours": 24,
        "UpfrontFee": fee, "CurrencyCode": "USD", **changes,
    }  # fmt: skip


class HealthyAccount(Cloud):
    """What the checks ask, answered well; tests change the attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.quotas, self.offered, self.addons = dict(QUOTAS), dict(OFFERED), dict(ADDONS)
        self.denied_actions: set[str] = set()
        self.refused_dry_runs: dict[str, str] = {}
        self.caller = "arn:aws:sts::111122223333:assumed-role/deployer/anna"
        self.zones = {f"usw2-az{number}": ("available", "opt-in-not-required") for number in range(1, 5)}
        self.images = {"amazon-eks-node-al2023-x86_64-neuron-1.35-v20260505"}
        self.recommended = {"neuron": "1.35.4-20260714", "standard": "1.35.4-20260714"}
        self.standard_support_ends = "2027-03-27T00:00:00Z"
        self.reservations: dict[str, Entry] = {}
        self.blocks: list[Entry] = []
        """Capacity blocks on offer."""
        self.clusters = ["others"]
        self.wire.handlers |= self._answers()

    def _answers(self) -> dict[str, Callable[[Entry], Entry]]:
        return {
            "sts.GetCallerIdentity": lambda given: {"Account": "111122223333", "Arn": self.caller, "UserId": "AROAEXAMPLE:anna"},
            "iam.GetRole": lambda given: {"Role": {**_role(given["RoleName"]), "Arn": ROLE}},
            "iam.SimulatePrincipalPolicy": self._simulated,
            "ec2.CreateVpc": self._dry_run("CreateVpc"),
            "ec2.CreateInternetGateway": self._dry_run("CreateInternetGateway"),
            "ec2.AllocateAddress": self._dry_run("AllocateAddress"),
            "ec2.DescribeAvailabilityZones": lambda given: {"AvailabilityZones": [self._zone(which) for which in self.zones]},
            "ec2.DescribeInstanceTypeOfferings": self._offerings,
            "ec2.DescribeInstanceTypes": lambda given: {
                "InstanceTypes": [{"InstanceType": name, "VCpuInfo": {"DefaultVCpus": 128}} for name in given["InstanceTypes"]]
            },
            "ec2.DescribeCapacityReservations": self._reservations,
            "ec2.DescribeCapacityBlockOfferings": self._blocks,
            "ec2.DescribeImages": lambda given: {"Images": [{"Name": n} for n in given["Filters"][0]["Values"] if n in self.images]},
            "service-quotas.GetServiceQuota": self._quota,
            "service-quotas.GetAWSDefaultServiceQuota": lambda given: {"Quota": _quota(given, self.quotas[given["QuotaCode"]])},
            "ssm.GetParameter": self._parameter,
            "eks.ListClusters": lambda given: {"clusters": self.clusters},
            "eks.DescribeClusterVersions": self._versions,
            "eks.DescribeAddonVersions": self._addon,
        }

    def _simulated(self, given: Entry) -> Entry:
        assert given["PolicySourceArn"] in (ROLE, self.caller)
        decisions = {action: "implicitDeny" if action in self.denied_actions else "allowed" for action in given["ActionNames"]}
        return {"EvaluationResults": [{"EvalActionName": name, "EvalDecision": said} for name, said in decisions.items()]}

    def _dry_run(self, operation: str) -> Callable[[Entry], Entry]:
        def answer(given: Entry) -> Entry:
            assert given["DryRun"] is True
            raise Refused(
                self.refused_dry_runs.get(operation, "DryRunOperation"), "Request would have succeeded, but DryRun flag is set.", 412
            )

        return answer

    def _zone(self, which: str) -> Entry:
        state, opted = self.zones[which]
        return {"ZoneId": which, "ZoneName": f"us-west-2{which[-1]}", "State": state, "OptInStatus": opted}

    def _offerings(self, given: Entry) -> Entry:
        assert given["LocationType"] == "availability-zone-id"
        names = given["Filters"][0]["Values"]
        return {"InstanceTypeOfferings": [{"InstanceType": n, "Location": place} for n in names for place in self.offered.get(n, [])]}

    def _reservations(self, given: Entry) -> Entry:
        for which in given["CapacityReservationIds"]:
            if which not in self.reservations:
                raise Refused("InvalidCapacityReservationId.NotFound", f"{which} does not exist")
        return {"CapacityReservations": [self.reservations[which] for which in given["CapacityReservationIds"]]}

    def _blocks(self, given: Entry) -> Entry:
        wanted = (given["InstanceType"], given["InstanceCount"], given["CapacityDurationHours"])
        sold = [
            entry for entry in self.blocks if wanted == (entry["InstanceType"], entry["InstanceCount"], entry["CapacityBlockDurationHours"])
        ]
        inside = [
            entry for entry in sold
            if given["StartDateRange"] <= parse_timestamp(entry["StartDate"]) and parse_timestamp(entry["EndDate"]) <= given["EndDateRange"]
        ]  # fmt: skip
        return {"CapacityBlockOfferings": inside}

    def _quota(self, given: Entry) -> Entry:
        # Applied values exist for the vCPU quotas only; the others have AWS's default.
        if given["ServiceCode"] != "ec2":
            raise Refused("NoSuchResourceException", "no applied value")
        return {"Quota": _quota(given, self.quotas[given["QuotaCode"]])}

    def _parameter(self, given: Entry) -> Entry:
        variant = given["Name"].split("/")[-3]
        if variant not in self.recommended:
            raise Refused("ParameterNotFound", given["Name"])
        return {"Parameter": {"Name": given["Name"], "Value": self.recommended[variant]}}

    def _versions(self, given: Entry) -> Entry:
        entries = [{"clusterVersion": name, "endOfStandardSupportDate": self.standard_support_ends} for name in given["clusterVersions"]]
        return {"clusterVersions": entries if self.standard_support_ends else []}

    def _addon(self, given: Entry) -> Entry:
        version = self.addons.get(given["addonName"])
        versions = [{"addonVersion": version}, {"addonVersion": "v0.1.0-eksbuild.1"}] if version else []
        return {"addons": [{"addonName": given["addonName"], "addonVersions": versions}]}


def _quota(given: Entry, value: float) -> Entry:
    return {
        "QuotaCode": given["QuotaCode"],
        "ServiceCode": given["ServiceCode"],
        "QuotaName": f"quota {given['QuotaCode']}",
        "Value": value,
    }


def _role(name: str) -> Entry:
    return {"Path": "/team/", "RoleName": name, "RoleId": "AROAEXAMPLEEXAMPLE00", "CreateDate": "2026-11-01T00:00:00Z"}
