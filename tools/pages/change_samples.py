"""For each key of the configuration a typical change. Most new values follow from the key's type; the others are listed here."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from addons.registry import SWITCHED, with_needs
from facts.neuron_releases import AMI_RELEASES, LATER_AMI_RELEASE, ami_date
from stacks.config import parse_settings
from tools.pages.configuration_keys import Key
from trn.engine.stack_file import read_stack_file

GROUP, QUEUE, ENTRY, POOL = "trn1-32xl", "training", "team", "spare"
_POOL = (f"addons.karpenter.neuronPools.{POOL}={{instanceType: trn1.32xlarge, maxNodes: 2}}",)
_GENERAL = ("coreNodes.autoscaled=false", "addons.karpenter.generalPool.enabled=true")

_ENTRY = f'controlPlane.accessEntries.{ENTRY}={{principalArn: "arn:aws:iam::123456789012:role/team"}}'
_SUBNETS = "usw2-az4: subnet-0a00000000000001, usw2-az1: subnet-0a00000000000002"
_EXISTING = f"network={{zones: [usw2-az4, usw2-az1], existing: {{vpcId: vpc-0123456789abcdef0, nodes: {{{_SUBNETS}}}}}}}"
_SHARED = (_EXISTING, "storage={lustre: {existing: {fileSystemId: fs-0123456789abcdef0, mountName: abcdefgh}}}")
_OTHER_SUBNETS = "{usw2-az4: subnet-0b00000000000001, usw2-az1: subnet-0b00000000000002}"
_PUBLIC = f"network.existing.loadBalancers={_OTHER_SUBNETS}"
_ALARM = "{limitUsdPerMonth: 20000, emails: [team@example.com]}"
_BLOCK_TIMES = {"startsAt": "2026-12-01T11:30:00Z", "endsAt": "2026-12-03T11:30:00Z"}
_BLOCK = f"capacityType: CAPACITY_BLOCK, capacityReservationId: cr-0123456789abcdef0, capacityBlock: {json.dumps(_BLOCK_TIMES)}"
_ON_BLOCK = (
    "region=us-east-2",
    "network.zones=[use2-az3, use2-az1]",
    f"nodeGroups={{trn2: {{instanceType: trn2.48xlarge, size: 1, releaseVersion: {AMI_RELEASES['1.35']}, {_BLOCK}}}}}",
)
_POOL_ON_BLOCK = f"addons.karpenter.neuronPools.{POOL}={{instanceType: trn1.32xlarge, maxNodes: 2, {_BLOCK}}}"
_NIGHTS = f"nodeGroups.{GROUP}.schedule={{downAt: 0 20 * * MON-FRI, upAt: 0 7 * * MON-FRI}}"


@dataclass(frozen=True)
class Sample:
    """One typical change of a key."""

    settings: tuple[str, ...]
    """What is set, the key itself last."""
    before: tuple[str, ...] = ()
    """What the running cluster has beside the dev stack's own configuration."""


def _one(setting: str, *before: str) -> Sample:
    return Sample((setting,), before)


_WITH: Mapping[str, tuple[str, ...]] = {
    "kueue": ("addons.kueue.namespace=kueue-jobs",),
    "mountpointS3": ("addons.mountpointS3.buckets=[corpus]",),
    "slurm": (f"addons.slurm.nodeGroups=[{GROUP}]",),
    "idleGuard": ("addons.idleGuard.emails=[team@example.com]",),
    "batch": (f"addons.batch.nodeGroups=[{GROUP}]",),
}
"""Settings without which an add-on cannot be switched on."""
_SAMPLES: Mapping[str, Sample] = {
    "name": _one("name=other"),
    "region": Sample(("network.zones=[use2-az3, use2-az1]", "region=us-east-2")),
    "network.zones": _one("network.zones=[usw2-az4, usw2-az1, usw2-az2]"),
    "network.cidr": _one("network.cidr=10.2.0.0/21"),
    "network.podCidr": _one("network.podCidr=100.65.0.0/16"),
    "network.existing.vpcId": Sample(
        (f"network.existing.nodes={_OTHER_SUBNETS}", "network.existing.vpcId=vpc-0fedcba9876543210"), (_EXISTING,)
    ),
    "network.existing.nodes": _one(f"network.existing.nodes={_OTHER_SUBNETS}", _EXISTING),
    "network.existing.controlPlane": _one(f"network.existing.controlPlane={_OTHER_SUBNETS}", _EXISTING),
    "network.existing.loadBalancers": _one(_PUBLIC, _EXISTING, f"network.existing.internalLoadBalancers={_OTHER_SUBNETS}".replace("0b0", "0c0"), "network.existing.tagSubnets=true"),
    "network.existing.internalLoadBalancers": _one(
        f"network.existing.internalLoadBalancers={_OTHER_SUBNETS}", _EXISTING, "network.existing.tagSubnets=true", _PUBLIC.replace("0b0", "0c0"),
    ),
    "network.existing.isolated": _one(
        "network.existing.isolated=true", _EXISTING, "addons.certManager.enabled=true", "addons.loadBalancerController.enabled=true"
    ),
    "network.existing.tagSubnets": _one("network.existing.tagSubnets=true", _EXISTING, _PUBLIC),
    "network.interfaceEndpoints": _one("network.interfaceEndpoints=[ecr.api, ecr.dkr]"),
    "controlPlane.zones": _one("controlPlane.zones=[usw2-az4, usw2-az2]", "network.zones=[usw2-az4, usw2-az1, usw2-az2]"),
    "controlPlane.kubernetesVersion": Sample(
        (
            f"nodeGroups.{GROUP}.releaseVersion={AMI_RELEASES['1.36']}", f"nodeGroups.trn1n-32xl.releaseVersion={AMI_RELEASES['1.36']}",
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
    "controlPlane.roleName": _one("controlPlane.roleName=another-role"),
    "coreNodes.instanceType": _one("coreNodes.instanceType=m5.2xlarge"),
    "coreNodes.minSize": _one("coreNodes.minSize=1"),
    "coreNodes.kubernetesVersion": _one("coreNodes.kubernetesVersion=null", "coreNodes.kubernetesVersion='1.34'"),
    "coreNodes.releaseVersion": _one(f"coreNodes.releaseVersion={LATER_AMI_RELEASE}"),
    "nodeGroups.NAME.instanceType": _one(f"nodeGroups.{GROUP}.instanceType=trn1n.32xlarge"),
    "nodeGroups.NAME.size": _one(f"nodeGroups.{GROUP}.size=4"),
    "nodeGroups.NAME.minSize": _one(f"nodeGroups.{GROUP}.minSize=1"),
    "nodeGroups.NAME.maxSize": _one(f"nodeGroups.{GROUP}.maxSize=8"),
    "nodeGroups.NAME.zoneIds": _one(f"nodeGroups.{GROUP}.zoneIds=[usw2-az1]"),
    "nodeGroups.NAME.efa": _one(f"nodeGroups.{GROUP}.efa=false"),
    "nodeGroups.NAME.efaLayout": _one(f"nodeGroups.{GROUP}.efaLayout=all-efa"),
    "nodeGroups.NAME.capacityType": _one(f"nodeGroups.{GROUP}.capacityType=SPOT"),
    "nodeGroups.NAME.capacityReservationId": _one(f"nodeGroups.{GROUP}.capacityReservationId=cr-0123456789abcdef0"),
    "nodeGroups.NAME.capacityBlock.startsAt": _one("nodeGroups.trn2.capacityBlock.startsAt='2026-12-02T11:30:00Z'", *_ON_BLOCK),
    "nodeGroups.NAME.capacityBlock.endsAt": _one("nodeGroups.trn2.capacityBlock.endsAt='2026-12-10T11:30:00Z'", *_ON_BLOCK),
    "nodeGroups.NAME.capacityBlock.checkpointMinutes": _one("nodeGroups.trn2.capacityBlock.checkpointMinutes=90", *_ON_BLOCK),
    "nodeGroups.NAME.candidates.zoneId": _one(f"nodeGroups.{GROUP}.candidates=[{{zoneId: usw2-az1}}]"),
    "nodeGroups.NAME.candidates.region": _one(f"nodeGroups.{GROUP}.candidates=[{{region: us-east-2, zoneId: use2-az3}}]"),
    "nodeGroups.NAME.schedule.downAt": _one(f"nodeGroups.{GROUP}.schedule.downAt=0 22 * * MON-FRI", _NIGHTS),
    "nodeGroups.NAME.schedule.upAt": _one(f"nodeGroups.{GROUP}.schedule.upAt=0 6 * * MON-FRI", _NIGHTS),
    "nodeGroups.NAME.schedule.timeZone": _one(f"nodeGroups.{GROUP}.schedule.timeZone=Europe/Berlin", _NIGHTS),
    "nodeGroups.NAME.releaseVersion": _one(f"nodeGroups.{GROUP}.releaseVersion={LATER_AMI_RELEASE}"),
    "nodeGroups.NAME.kubernetesVersion": Sample(
        (f"nodeGroups.{GROUP}.kubernetesVersion=null", f"nodeGroups.{GROUP}.releaseVersion={AMI_RELEASES['1.35']}"),
        (f"nodeGroups.{GROUP}.kubernetesVersion='1.34'", f"nodeGroups.{GROUP}.releaseVersion={AMI_RELEASES['1.34']}"),
    ),
    "nodeGroups.NAME.labels": _one(f"nodeGroups.{GROUP}.labels={{team: research}}"),
    "nodeGroups.NAME.logicalCoreSize": Sample(
        ("nodeGroups.trn2.logicalCoreSize=1",),
        ("region=us-east-2", "network.zones=[use2-az3, use2-az1]", f"nodeGroups={{trn2: {{instanceType: trn2.48xlarge, size: 1, releaseVersion: {AMI_RELEASES['1.35']}}}}}"),
    ),
    "training.imageRepository": _one("training.imageRepository=company/training"),
    "iam.roles": _one("iam.roles={node: \"arn:aws:iam::123456789012:role/company/nodes\"}"),
    "iam.path": _one("iam.path=/teams/training/"),
    "addons.managedPrometheus.workspaceArn": _one(
        "addons.managedPrometheus.workspaceArn=arn:aws:aps:us-west-2:123456789012:workspace/ws-00000000-0000-0000-0000-000000000000",
        "addons.prometheus.enabled=true", "addons.managedPrometheus.enabled=true",
    ),
    "storage.lustre.existing.fileSystemId": _one("storage.lustre.existing.fileSystemId=fs-0fedcba9876543210", *_SHARED),
    "storage.lustre.existing.mountName": _one("storage.lustre.existing.mountName=zyxwvuts", *_SHARED),
    "storage.lustre.existing.clientSecurityGroupId": _one("storage.lustre.existing.clientSecurityGroupId=sg-0d00000000000001", *_SHARED),
    "storage.lustre.capacityGib": _one("storage.lustre.capacityGib=2400"),
    "storage.lustre.zoneId": _one("storage.lustre.zoneId=usw2-az1"),
    "storage.lustre.claimName": _one("storage.lustre.claimName=data"),
    "storage.lustre.dataRepository.s3Uri": _one("storage.lustre.dataRepository={s3Uri: s3://training-data}"),
    "storage.lustre.dataRepository.path": _one(
        "storage.lustre.dataRepository.path=/corpus", "storage.lustre.dataRepository={s3Uri: s3://training-data}"
    ),
    "storage.lustre.dataRepository.errorLog": _one(
        "storage.lustre.dataRepository.errorLog=true", "storage.lustre.dataRepository={s3Uri: s3://training-data}"
    ),
    "training.namespace": _one("training.namespace=jobs"),
    "iam.permissionsBoundary": _one("iam.permissionsBoundary=arn:aws:iam::123456789012:policy/boundary"),
    "training.toolchain": _one("training.toolchain=xla-2.28"),
    "addons.volcano.imageRegistry": _one("addons.volcano.imageRegistry=registry.example.com"),
    "addons.volcano.queues.NAME.capability": _one(f"addons.volcano.queues.{QUEUE}.capability={{cpu: 64}}"),
    "addons.mirror": _one("addons.mirror=registry.example.com/mirror"),
    "addons.volcano.queues.NAME.parent": _one(f"addons.volcano.queues.{QUEUE}.parent=root"),
    "addons.volcano.queues.NAME.deserved": _one(
        f"addons.volcano.queues.{QUEUE}.deserved={{cpu: 64}}", f"addons.volcano.queues.{QUEUE}.parent=root"
    ),
    "addons.neuron.devices": _one("addons.neuron.devices=dra", "addons.neuronMonitor.enabled=false"),
    "addons.neuron.nodeRecovery": _one(
        "addons.neuron.nodeRecovery=true", "addons.neuron.nodeProblemDetector=true",
        f"nodeGroups.{GROUP}.nodeRepair=false", "nodeGroups.trn1n-32xl.nodeRepair=false",
    ),
    "addons.karpenter.neuronPools.NAME.capacityBlock.startsAt": _one(
        f"addons.karpenter.neuronPools.{POOL}.capacityBlock.startsAt='2026-12-02T11:30:00Z'", _POOL_ON_BLOCK
    ),
    "addons.karpenter.neuronPools.NAME.capacityBlock.endsAt": _one(
        f"addons.karpenter.neuronPools.{POOL}.capacityBlock.endsAt='2026-12-10T11:30:00Z'", _POOL_ON_BLOCK
    ),
    "addons.karpenter.neuronPools.NAME.capacityReservationId": _one(
        f"addons.karpenter.neuronPools.{POOL}.capacityReservationId=cr-0fedcba9876543210", *_POOL,
        f"addons.karpenter.neuronPools.{POOL}.capacityType=RESERVED",
        f"addons.karpenter.neuronPools.{POOL}.capacityReservationId=cr-0123456789abcdef0",
    ),
    "addons.karpenter.generalPool.enabled": _one("addons.karpenter.generalPool.enabled=true", "coreNodes.autoscaled=false"),
    "addons.karpenter.generalPool.maxVcpu": _one("addons.karpenter.generalPool.maxVcpu=128", *_GENERAL),
    "addons.karpenter.generalPool.spot": _one("addons.karpenter.generalPool.spot=true", *_GENERAL),
    "addons.prometheus.enabled": _one(
        "addons.prometheus.enabled=false", "addons.grafana.enabled=false", "addons.managedPrometheus.enabled=false"
    ),
    "addons.cloudWatch.neuronMetrics": _one("addons.cloudWatch.neuronMetrics=true", "addons.neuronMonitor.enabled=false"),
    "addons.cloudWatch.containerLogs": _one("addons.cloudWatch.containerLogs=true", "addons.fluentBit.enabled=false"),
    "addons.cloudWatch.retentionDays": _one("addons.cloudWatch.retentionDays=90"),
    "addons.fluentBit.retentionDays": _one("addons.fluentBit.retentionDays=90"),
    "addons.coreDns.autoscaled": _one("addons.coreDns.autoscaled=false"),
    "addons.karpenter.amiVersion": _one(f"addons.karpenter.amiVersion=v{ami_date(LATER_AMI_RELEASE)}", *_POOL),
    **{
        f"addons.karpenter.neuronPools.NAME.{key}": _one(f"addons.karpenter.neuronPools.{POOL}.{key}={value}", *_POOL)
        for key, value in (
            ("instanceType", "trn1n.32xlarge"), ("maxNodes", "4"), ("zoneId", "usw2-az1"), ("capacityType", "SPOT"), ("static", "true"),
        )
    },
    "addons.prometheus.retentionHours": _one("addons.prometheus.retentionHours=72"),
    "addons.grafana.adminSecret": _one("addons.grafana.adminSecret=grafana-admin"),
    "addons.fluentBit.s3Bucket": _one("addons.fluentBit.s3Bucket=pod-logs"),
    "addons.kueue.namespace": _one("addons.kueue.namespace=team-jobs"),
    "addons.trainer.images": _one("addons.trainer.images={xla-2.30: registry.example.com/train:1.0}"),
    "addons.slurm.nodeGroups": _one(f"addons.slurm.nodeGroups=[{GROUP}, trn1n-32xl]"),
    "addons.slurm.sshKeys": _one("addons.slurm.sshKeys=['ssh-ed25519 AAAA demo']"),
    "addons.batch.nodeGroups": _one(
        f"addons.batch.nodeGroups=[{GROUP}, trn1n-32xl]", "addons.batch.computeEnvironmentId=00000000-0000-4000-8000-000000000000"
    ),
    "addons.batch.computeEnvironmentId": _one("addons.batch.computeEnvironmentId=00000000-0000-4000-8000-000000000000"),
    "addons.batch.image": _one("addons.batch.image=registry.example.com/train:1.0"),
    "addons.mountpointS3.buckets": _one("addons.mountpointS3.buckets=[corpus, checkpoints]"),
    "budget.limitUsdPerHour": _one("budget.limitUsdPerHour=500"),
    "addons.idleGuard.idleHours": _one("addons.idleGuard.idleHours=12"),
    "addons.idleGuard.emails": _one("addons.idleGuard.emails=[team@example.com, lead@example.com]"),
    "addons.idleGuard.snsTopicArn": Sample(
        ("addons.idleGuard.emails=[]", "addons.idleGuard.snsTopicArn=arn:aws:sns:us-west-2:123456789012:ops")
    ),
    "budget.alarm.limitUsdPerMonth": _one(f"budget.alarm={_ALARM}"),
    "budget.alarm.actualPercent": _one("budget.alarm.actualPercent=[50, 100]", f"budget.alarm={_ALARM}"),
    "budget.alarm.forecastPercent": _one("budget.alarm.forecastPercent=[]", f"budget.alarm={_ALARM}"),
    "budget.alarm.emails": _one("budget.alarm.emails=[lead@example.com]", f"budget.alarm={_ALARM}"),
    "budget.alarm.snsTopicArn": _one("budget.alarm.snsTopicArn=arn:aws:sns:us-west-2:123456789012:costs", f"budget.alarm={_ALARM}"),
    "tags": _one("tags={team: research}"),
}  # fmt: skip


def sample_of(key: Key) -> Sample:
    """The typical change of a key.

    Of an add-on that the dev stack does not have, the running cluster is given it. Raises KeyError for a key whose type
    gives no other value and that has no sample of its own.
    """
    sample = _SAMPLES.get(key.path) or _typical(key)
    return Sample(sample.settings, (*_prepared(key), *sample.before))


def _typical(key: Key) -> Sample:
    path = key.path.replace("nodeGroups.NAME", f"nodeGroups.{GROUP}").replace("queues.NAME", f"queues.{QUEUE}")
    section, _, last = key.path.removeprefix("addons.").partition(".")
    if last == "enabled" and key.path.startswith("addons."):
        return _one(f"{path}={str(section not in _on()).lower()}")
    if isinstance(key.default, bool):
        return _one(f"{path}={str(not key.default).lower()}")
    if key.choices:
        return _one(f"{path}={next(choice for choice in key.choices if choice != key.default)}")
    if isinstance(key.default, int):
        return _one(f"{path}={key.default + 1}")
    raise KeyError(key.path)


def _prepared(key: Key) -> tuple[str, ...]:
    """What the running cluster has for a key below `addons` to matter."""
    top, _, rest = key.path.partition(".")
    section, _, last = rest.partition(".")
    if top != "addons" or section in _on() or section not in SWITCHED:
        return ()
    *needs, _ = with_needs(section)
    on = [need for need in (*needs, *(() if last == "enabled" else (section,))) if need not in _on()]
    return (*(setting for need in (*needs, section) for setting in _WITH.get(need, ())), *(f"addons.{need}.enabled=true" for need in on))


@cache
def _on() -> frozenset[str]:
    """Add-ons of the dev stack."""
    addons = parse_settings(read_stack_file("dev").configuration, "dev", rehearsal=True).addons
    return frozenset(key for key in SWITCHED if addons.get(key).enabled)
