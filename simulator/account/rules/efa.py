"""What lets a cluster come up well and its jobs hang: EFA between nodes, and Neuron software that does not fit."""

from facts import neuron_releases
from facts.toolchains import TOOLCHAINS, driver_conflict, hardware_conflict
from simulator.account import kinds, view
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration

UNUSABLE = "ready, but EFA unusable"


def _has_efa(state: AccountState, group: Registration) -> bool:
    interfaces = view.listed(view.template_of(state, group).get("networkInterfaces"))
    return any(interface.get("interfaceType") in ("efa", "efa-only") for interface in interfaces)


def _allows_itself(state: AccountState, kind: str, group_id: str) -> bool:
    return any(
        item.inputs["securityGroupId"] == group_id == item.inputs.get("referencedSecurityGroupId")
        and str(item.inputs["ipProtocol"]) == "-1"
        for item in state.ready(kind)
    )


@rule("verify", kinds.NODE_GROUP, source="EKS user guide, node-efa; aws-samples/awsome-distributed-training#519")
def efa_self_rules(state: AccountState, request: Registration) -> Refusal | None:
    """EFA interfaces share a security group that allows all from and all to itself: 0.0.0.0/0 does not cover EFA, and collectives time out."""
    if not _has_efa(state, request):
        return None
    # The group that EKS makes has all rules today; clusters of 2024 and earlier may lack the egress one (EKS user guide, sec-group-reqs).
    own = {group_id for ids in view.security_groups_of(state, request) for group_id in ids} - {view.cluster_group_id(state)}
    lacking = {
        group_id: [
            word for word, kind in (("ingress", kinds.INGRESS), ("egress", kinds.EGRESS)) if not _allows_itself(state, kind, group_id)
        ]
        for group_id in sorted(own)
    }
    # One that has both is enough: beside it may be a group of others, for clients of their file system.
    if not all(lacking.values()) or not lacking:
        return None
    nearest = min(lacking, key=lambda group_id: len(lacking[group_id]))
    return Refusal(
        UNUSABLE,
        "collectives time out: libfabric finds no path between the nodes",
        f"{nearest} on the interfaces of {request.inputs['nodeGroupName']} has no self-referencing {' and '.join(lacking[nearest])} rule for all protocols",
        "add the rule; running nodes take it at once, running jobs do not",
    )


@rule("verify", kinds.NODE_GROUP, source="EC2 user guide, EFA: traffic stays within one subnet")
def efa_in_one_zone(state: AccountState, request: Registration) -> Refusal | None:
    """Nodes that use EFA with each other are in one zone: EFA traffic is not routed."""
    zones = view.zones_of(state, request)
    if len(zones) < 2 or not _has_efa(state, request):
        return None
    return Refusal(
        UNUSABLE,
        "collectives fall back to TCP or time out between zones",
        f"{request.inputs['nodeGroupName']} spreads over {', '.join(zones)}",
        "give the group one zone; that replaces it",
    )


@rule("verify", kinds.NODE_GROUP, source="aws-neuron/aws-neuron-sdk release-notes, runtime; awslabs/amazon-eks-ami CHANGELOG")
def driver_fits_runtime(state: AccountState, request: Registration) -> Refusal | None:
    """The Neuron driver of the AMI release and the runtime of the training image go together."""
    toolchain = TOOLCHAINS.get(state.job.toolchain or "")
    if toolchain is None or request.inputs.get("amiType") != neuron_releases.NEURON_AMI_TYPE:
        return None
    instance = view.instance_type_of(state, request)
    if instance is not None and hardware_conflict(toolchain, instance) is not None:
        return None  # its jobs bring another image, of which nothing is known
    driver = neuron_releases.ami_driver(request.inputs.get("releaseVersion"))
    conflict = driver_conflict(toolchain, driver)
    if conflict is None:
        return None
    return Refusal(
        "ready, but the image does not start",
        "nrt_init failed: the runtime does not support the installed driver",
        f"{request.inputs['nodeGroupName']} brings driver {neuron_releases.version_text(driver)}, {toolchain.name} has runtime"
        f" {neuron_releases.version_text(toolchain.sdk.runtime)}: {conflict}",
        "pin `releaseVersion` to an AMI release with a fitting driver; that rolls the nodes",
    )
