"""The program itself refuses what a running cluster cannot take: another key, another VPC, other zones."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from components.permanent import Identity, kept_for_life
from facts.permanent import KEPT as KEPT_OUTPUT
from facts.permanent import PARTS, PermanentChanged, refuse_change

ARN, OTHER = (f"arn:aws:kms:us-west-2:123456789012:key/{digit * 8}-0000-0000-0000-000000000000" for digit in "01")
PLAIN = Identity("trainium-dev", "us-west-2", "10.1.0.0/21", ("usw2-az4", "usw2-az1"), None, "trainium-dev-us-west-2-control-plane")
KEPT = replace(PLAIN, encryption_key_arn=ARN)
EXISTING = replace(PLAIN, vpc="vpc-0123456789abcdef0")
WIDER = replace(PLAIN, zone_ids=("usw2-az4", "usw2-az1", "usw2-az2"))


@pytest.mark.parametrize(
    ("made", "wanted", "law", "fix"),
    [
        (PLAIN, KEPT, "EKS takes a key for Kubernetes secrets once", "Remove `controlPlane.encryptionKeyArn`"),
        (KEPT, PLAIN, "EKS takes a key for Kubernetes secrets once", f"Set `controlPlane.encryptionKeyArn: {ARN}`"),
        (KEPT, replace(KEPT, encryption_key_arn=OTHER), "EKS takes a key", f"Set `controlPlane.encryptionKeyArn: {ARN}`"),
        (PLAIN, replace(PLAIN, vpc="10.2.0.0/21"), "in the VPC that it was made in", "Set `network.cidr: 10.1.0.0/21`"),
        (PLAIN, EXISTING, "in the VPC that it was made in", "without `network.existing`"),
        (EXISTING, PLAIN, "in the VPC that it was made in", "Set `network.existing.vpcId: vpc-0123456789abcdef0`"),
        (PLAIN, WIDER, "in the set of zones that it was made in", "Set `controlPlane.zones: [usw2-az1, usw2-az4]`"),
        (
            PLAIN,
            replace(PLAIN, role_name="other"),
            "EKS keeps the role",
            "Set `controlPlane.roleName: trainium-dev-us-west-2-control-plane`",
        ),
        (PLAIN, replace(PLAIN, role_name=f"teams/{PLAIN.role_name}"), "EKS keeps the role", "without `iam.path`"),
        (
            replace(PLAIN, role_name="teams/plane"),
            PLAIN,
            "EKS keeps the role",
            "Set `controlPlane.roleName: plane`, and `iam.path: /teams/`",
        ),
        (WIDER, PLAIN, "in the set of zones", "Set `controlPlane.zones: [usw2-az1, usw2-az2, usw2-az4]`"),
    ],
)
def test_what_a_cluster_keeps_is_refused_with_its_fix(made: Identity, wanted: Identity, law: str, fix: str):
    """The engine would delete the key that the cluster still uses, or build half of another network before EKS refuses."""
    with pytest.raises(PermanentChanged) as refused:
        refuse_change(made.remembered, wanted.remembered)
    assert law in str(refused.value)
    assert fix in str(refused.value)


def test_all_that_would_change_is_named_at_once():
    """Whoever fixes one should not meet the next at the next run."""
    with pytest.raises(PermanentChanged) as refused:
        refuse_change(PLAIN.remembered, replace(KEPT, vpc="10.2.0.0/21").remembered)
    assert "network.cidr" in str(refused.value)
    assert "controlPlane.encryptionKeyArn" in str(refused.value)


def test_it_is_refused_in_previews_too(monkeypatch: pytest.MonkeyPatch):
    """A plan that passes would be believed, and approved. Where there is no cluster yet, nothing is refused."""
    hooks = list[tuple[Any, Any]]()
    monkeypatch.setattr("pulumi.ResourceHook", lambda _name, callback, options: hooks.append((callback, options)))
    kept_for_life("cluster")
    ((refuse, options),) = hooks
    assert options.on_dry_run
    with pytest.raises(PermanentChanged):
        refuse(SimpleNamespace(old_outputs={KEPT_OUTPUT: PLAIN.remembered}, new_inputs=KEPT.remembered))
    refuse(SimpleNamespace(old_outputs={}, new_inputs=KEPT.remembered))


FLEET = "fs-0123456789abcdef0"


def test_the_file_system_that_the_stack_made_is_not_given_away_in_passing():
    """Without its resource the program would let the engine delete it, with its data."""
    given = replace(PLAIN, given_file_system=FLEET)
    with pytest.raises(PermanentChanged) as refused:
        refuse_change(PLAIN.kept(FLEET), given.remembered)
    assert f"the stack made the file system {FLEET}" in str(refused.value)
    assert "Remove `storage.lustre.existing`" in str(refused.value)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        # It was given from the start, or the state has forgotten it since.
        (PLAIN.kept(None), replace(PLAIN, given_file_system=FLEET)),
        (replace(PLAIN, given_file_system=FLEET).kept(None), replace(PLAIN, given_file_system=FLEET)),
        # Another one takes its place: a plan says that the data of the first is lost.
        (PLAIN.kept("fs-00000000000000001"), replace(PLAIN, given_file_system=FLEET)),
        (PLAIN.kept(FLEET), PLAIN),
    ],
)
def test_a_file_system_of_others_passes(made: dict[str, str], wanted: Identity):
    """Only the stack's own one is refused."""
    refuse_change(made, wanted.remembered)


def test_the_component_says_all_of_it():
    """The rehearsal's engine knows the component by what it says."""
    assert set(PLAIN.remembered) == set(PARTS)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (PLAIN.remembered, PLAIN.remembered),
        (KEPT.remembered, KEPT.remembered),
        # The same set in another order.
        (PLAIN.remembered, replace(PLAIN, zone_ids=PLAIN.zone_ids[::-1]).remembered),
        # A state from before the component said it: nothing is known of it.
        ({key: KEPT.remembered[key] for key in ("clusterName", "region")}, replace(PLAIN, vpc="10.2.0.0/21").remembered),
        # The cluster was never made, for instance since the key does not exist: another may be tried.
        ({}, KEPT.remembered),
        (None, KEPT.remembered),
        # Another cluster is made in its place.
        (PLAIN.remembered, replace(KEPT, cluster_name="other", vpc="10.2.0.0/21").remembered),
    ],
)
def test_what_changes_nothing_of_it_passes(made: dict[str, str] | None, wanted: dict[str, str]):
    """A refusal too many would stop a first run that is being fixed."""
    refuse_change(made, wanted)
