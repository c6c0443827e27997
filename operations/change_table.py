"""The table of docs/changes.md: for each key of the configuration, what changing it does to a running cluster.

Each row is a rehearsed change of the dev stack. Most new values follow from the key's type; the others stand here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from operations.change import with_settings
from operations.configuration_keys import Key, keys
from operations.rehearse import record_stack
from operations.stack_file import read_stack_file
from simulator.drawing.text import duration, short_type
from simulator.engine.change import Changed, rehearse_change
from simulator.engine.plan import counts
from simulator.recording import Recording

GROUP, QUEUE, ENTRY = "trn1-32xl", "training", "team"
_ENTRY = f'controlPlane.accessEntries.{ENTRY}={{principalArn: "arn:aws:iam::123456789012:role/team"}}'
_SINGLE = f"nodeGroups.{GROUP}={{instanceType: trn1.2xlarge, size: 1, efa: false}}"


@dataclass(frozen=True)
class Sample:
    """One change that stands for a key."""

    settings: tuple[str, ...]
    """What is set, the key itself last."""
    before: tuple[str, ...] = ()
    """What the running cluster has beside the dev stack's own configuration."""


def _one(setting: str, *before: str) -> Sample:
    return Sample((setting,), before)


_SAMPLES: Mapping[str, Sample] = {
    "name": _one("name=other"),
    "region": Sample(("network.zones=[use2-az3, use2-az1]", "region=us-east-2")),
    "network.zones": _one("network.zones=[usw2-az4, usw2-az1, usw2-az2]"),
    "network.cidr": _one("network.cidr=10.2.0.0/21"),
    "network.podCidr": _one("network.podCidr=100.65.0.0/16"),
    "network.interfaceEndpoints": _one("network.interfaceEndpoints=[ecr.api, ecr.dkr]"),
    "controlPlane.kubernetesVersion": Sample(
        (
            f"nodeGroups.{GROUP}.releaseVersion=1.36.0-20260610", "nodeGroups.trn1n-32xl.releaseVersion=1.36.0-20260610",
            "controlPlane.kubernetesVersion='1.36'",
        )
    ),
    "controlPlane.publicAccessCidrs": _one("controlPlane.publicAccessCidrs=[198.18.0.7/32]"),
    "controlPlane.accessEntries.NAME.principalArn": _one(
        f"controlPlane.accessEntries.{ENTRY}.principalArn=arn:aws:iam::123456789012:role/others", _ENTRY
    ),
    "controlPlane.accessEntries.NAME.policy": _one(f"controlPlane.accessEntries.{ENTRY}.policy=AmazonEKSViewPolicy", _ENTRY),
    "controlPlane.accessEntries.NAME.namespaces": _one(f"controlPlane.accessEntries.{ENTRY}.namespaces=[training]", _ENTRY),
    "controlPlane.logTypes": _one("controlPlane.logTypes=[api]"),
    "controlPlane.logRetentionDays": _one("controlPlane.logRetentionDays=90"),
    "controlPlane.encryptionKeyArn": _one(
        "controlPlane.encryptionKeyArn=arn:aws:kms:us-west-2:123456789012:key/00000000-0000-0000-0000-000000000000"
    ),
    "coreNodes.instanceType": _one("coreNodes.instanceType=m5.2xlarge"),
    "coreNodes.minSize": _one("coreNodes.minSize=1"),
    "coreNodes.releaseVersion": _one("coreNodes.releaseVersion=1.35.4-20260610"),
    "nodeGroups.NAME.instanceType": _one(f"nodeGroups.{GROUP}.instanceType=trn1n.32xlarge"),
    "nodeGroups.NAME.size": _one(f"nodeGroups.{GROUP}.size=4"),
    "nodeGroups.NAME.minSize": _one(f"nodeGroups.{GROUP}.minSize=1"),
    "nodeGroups.NAME.maxSize": _one(f"nodeGroups.{GROUP}.maxSize=8"),
    "nodeGroups.NAME.zoneIds": _one(f"nodeGroups.{GROUP}.zoneIds=[usw2-az1]"),
    "nodeGroups.NAME.efa": _one(f"nodeGroups.{GROUP}.efa=false"),
    "nodeGroups.NAME.efaLayout": _one(f"nodeGroups.{GROUP}.efaLayout=all-efa"),
    "nodeGroups.NAME.capacityType": _one(f"nodeGroups.{GROUP}.capacityType=SPOT"),
    "nodeGroups.NAME.capacityReservationId": _one(f"nodeGroups.{GROUP}.capacityReservationId=cr-0123456789abcdef0"),
    "nodeGroups.NAME.releaseVersion": _one(f"nodeGroups.{GROUP}.releaseVersion=1.35.4-20260610"),
    "nodeGroups.NAME.labels": _one(f"nodeGroups.{GROUP}.labels={{team: research}}"),
    "nodeGroups.NAME.logicalCoreSize": Sample(
        ("nodeGroups.trn2.logicalCoreSize=1",),
        ("region=us-east-2", "network.zones=[use2-az3, use2-az1]", "nodeGroups={trn2: {instanceType: trn2.48xlarge, size: 1, releaseVersion: 1.35.4-20260505}}"),
    ),
    "storage.lustre.capacityGib": _one("storage.lustre.capacityGib=2400"),
    "storage.lustre.zoneId": _one("storage.lustre.zoneId=usw2-az1"),
    "storage.lustre.claimName": _one("storage.lustre.claimName=data"),
    "storage.lustre.dataRepository.s3Uri": _one("storage.lustre.dataRepository={s3Uri: s3://training-data}"),
    "storage.lustre.dataRepository.path": _one(
        "storage.lustre.dataRepository.path=/corpus", "storage.lustre.dataRepository={s3Uri: s3://training-data}"
    ),
    "training.namespace": _one("training.namespace=jobs"),
    "training.neuronSdk": _one("training.neuronSdk='2.29'"),
    "addons.volcano.imageRegistry": _one("addons.volcano.imageRegistry=registry.example.com"),
    "addons.volcano.queues.NAME.capability": _one(f"addons.volcano.queues.{QUEUE}.capability={{cpu: 64}}"),
    "tags": _one("tags={team: research}"),
}  # fmt: skip


def sample_of(key: Key) -> Sample:
    """The change that stands for a key.

    Raises KeyError for a key whose type tells no other value and that has no sample of its own.
    """
    if key.path in _SAMPLES:
        return _SAMPLES[key.path]
    path = key.path.replace("nodeGroups.NAME", f"nodeGroups.{GROUP}").replace("queues.NAME", f"queues.{QUEUE}")
    if isinstance(key.default, bool):
        return _one(f"{path}={str(not key.default).lower()}")
    if key.choices:
        return _one(f"{path}={next(choice for choice in key.choices if choice != key.default)}")
    if isinstance(key.default, int):
        return _one(f"{path}={key.default + 1}")
    raise KeyError(key.path)


def rows(chosen: list[Key]) -> Iterator[str]:
    """A line of the table for each key."""
    for key in chosen:
        sample = sample_of(key)
        yield f"| `{key.path}` | {_told(sample)} | {effect(_changed(sample))} |"


def _told(sample: Sample) -> str:
    path, _, value = sample.settings[-1].partition("=")
    del path
    return f"`{value}`"


@cache
def _recorded(settings: tuple[str, ...]) -> Recording:
    return record_stack(with_settings(read_stack_file("dev"), settings))


def _changed(sample: Sample) -> Changed:
    return rehearse_change(_recorded(sample.before), _recorded((*sample.before, *sample.settings)), seed=0)


def effect(changed: Changed) -> str:
    """What a change does, in one cell: what goes first, then how many resources, and how long."""
    if not changed.touched:
        return "nothing in a running cluster"
    said = [f"**{caution.text}**" if caution.severity == "red" else caution.text for caution in changed.cautions]
    kinds = counts(changed.changes)
    if sum(kinds.values()) == 1:
        (change,) = changed.touched
        what = f"{change.kind}s {short_type(change.registration.type)} {change.registration.name}"
    else:
        what = ", ".join(f"{kind}s {count}" for kind, count in sorted(kinds.items())) + " resources"
    said += [f"{step.urn.rsplit('::', 1)[-1]} is refused: {step.error}" for step in changed.phase.errors]
    return "; ".join([what, *said, f"{duration(changed.phase.seconds)}"]).replace("|", "/").replace("updates", "changes")


def page() -> str:
    """docs/changes.md."""
    return "\n".join(
        [
            "# What a change of the configuration does",
            "",
            "Each row is the dev stack, up, with one key changed: `trn rehearse change --set KEY=VALUE`. **Bold**: running jobs or data go.",
            "Times are virtual, of seed 0. Made by `make docs`.",
            "",
            "| key | changed to | what happens |",
            "| --- | --- | --- |",
            *rows(keys()),
            "",
        ]
    )
