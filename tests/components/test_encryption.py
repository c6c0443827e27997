"""The program itself refuses another key for the secrets of a running cluster."""

import pytest

from components.encryption import EncryptionKeyChanged, identity, refuse_other_key

ARN, OTHER = (f"arn:aws:kms:us-west-2:123456789012:key/{digit * 8}-0000-0000-0000-000000000000" for digit in "01")


def of(arn: str | None, name: str = "trainium-dev", region: str = "us-west-2") -> dict[str, str]:
    """What the component says of a cluster with this key."""
    return identity(name, region, arn)


@pytest.mark.parametrize(
    ("made", "wanted", "fix"),
    [
        (of(None), of(ARN), "Remove `controlPlane.encryptionKeyArn`"),
        (of(ARN), of(None), f"Set `controlPlane.encryptionKeyArn: {ARN}`"),
        (of(ARN), of(OTHER), f"Set `controlPlane.encryptionKeyArn: {ARN}`"),
    ],
)
def test_another_key_is_refused_with_its_fix(made: dict[str, str], wanted: dict[str, str], fix: str):
    """The provider says nothing, and the engine would delete the key that the cluster still uses."""
    with pytest.raises(EncryptionKeyChanged, match="EKS takes a key for Kubernetes secrets once") as refused:
        refuse_other_key(made, wanted)
    assert fix in str(refused.value)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (of(None), of(None)),
        (of(ARN), of(ARN)),
        # A state from before the component said which key: nothing is known of it.
        ({"name": "trainium-dev"}, of(None)),
        # The cluster was never made, for instance since the key does not exist: another key may be tried.
        ({}, of(ARN)),
        (None, of(ARN)),
        # Another cluster is made in its place.
        (of(None), of(ARN, name="other")),
        (of(None), of(ARN, region="us-east-2")),
    ],
)
def test_what_changes_no_key_passes(made: dict[str, str] | None, wanted: dict[str, str]):
    """A refusal too many would stop a first run that is being fixed."""
    refuse_other_key(made, wanted)
