"""An account in which the shipped stack would come up, to be spoilt one thing at a time."""

from datetime import date, timedelta
from typing import Any

from facts.neuron_releases import AMI_RELEASES, NEWEST_AMI_DATE, ami_date
from simulator.aws_endpoint.surroundings import Surroundings
from tests.trn.aws.cloud import ACCOUNT, Cloud

Entry = dict[str, Any]
ROLE = f"arn:aws:iam::{ACCOUNT}:role/team/deployer"
OFFERED = {
    "trn1.32xlarge": ["usw2-az1", "usw2-az4"],
    "trn1n.32xlarge": ["usw2-az4"],
    "m5.xlarge": ["usw2-az1", "usw2-az2", "usw2-az3", "usw2-az4"],
}
QUOTAS = {
    "L-2C3B7624": 256, "L-6B0D517C": 256, "L-1216C47A": 64, "L-F678F1CE": 5, "L-A4707A72": 5, "L-FE5A380F": 5, "L-0263D0A3": 5,
    "L-1194D53C": 100, "L-6D54EA21": 30, "L-8F1B9C74": 100800,
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
    """The account with surroundings in which all checks pass; tests change `around`."""

    def __init__(self) -> None:
        self.around = Surroundings(
            caller=f"arn:aws:sts::{ACCOUNT}:assumed-role/deployer/anna",
            role_arn=ROLE,
            zones={f"usw2-az{number}": ("available", "opt-in-not-required") for number in range(1, 5)},
            offered=dict(OFFERED),
            quotas=dict(QUOTAS),
            is_complete=True,
            addons=dict(ADDONS),
            images={f"amazon-eks-node-al2023-x86_64-neuron-1.35-v{ami_date(AMI_RELEASES['1.35'])}"},
            recommended=dict.fromkeys(("neuron", "standard"), f"1.35.4-{NEWEST_AMI_DATE}"),
        )
        super().__init__(surroundings=self.around)
        # Batch has made its own role in this account, as in any that has used Batch.
        self.put("role", "AWSServiceRoleForBatch", {"tags": {}, "attached": [], "inline": []})
        self.put("cluster", "others", {"name": "others", "status": "ACTIVE"})
