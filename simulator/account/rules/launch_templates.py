"""What EKS refuses about launch templates, and EC2 about the interfaces in them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from simulator.account import kinds, view
from simulator.account.rule import Refusal, rule
from simulator.account.rules.capacity import replace_after
from simulator.account.state import AccountState
from simulator.recording import Registration

_TEMPLATES = "EKS user guide, launch-templates; EKS API, CreateNodegroup, InvalidParameterException"


def _refused(text: str, cause: str, fix: str) -> Refusal:
    return Refusal("InvalidParameterException", text, cause, fix)


@rule("create", kinds.NODE_GROUP, source=_TEMPLATES)
def no_subnet_in_template(state: AccountState, request: Registration) -> Refusal | None:
    """The template of a managed node group names no subnet: the group does."""
    interfaces = view.listed(view.template_of(state, request).get("networkInterfaces"))
    if not any(interface.get("subnetId") for interface in interfaces):
        return None
    return _refused(
        "Launch template details can't contain a subnet",
        f"an interface in the template of {request.inputs['nodeGroupName']} names a subnet",
        "remove subnetId from the template's interfaces",
    )


@rule("create", kinds.NODE_GROUP, source=_TEMPLATES)
def no_image_with_ami_type(state: AccountState, request: Registration) -> Refusal | None:
    """A template with an image takes the choice of AMI from EKS: no amiType, version or release may be given then."""
    given = [key for key in ("amiType", "version", "releaseVersion") if request.inputs.get(key)]
    if not view.template_of(state, request).get("imageId") or not given:
        return None
    return _refused(
        "You cannot specify an image id within the launch template, since your nodegroup is configured to use an EKS optimized AMI",
        f"{request.inputs['nodeGroupName']} has {', '.join(given)}, and its template an image",
        "remove imageId from the template; pin the AMI with releaseVersion",
    )


@rule("create", kinds.NODE_GROUP, source=_TEMPLATES)
def instance_type_in_one_place(state: AccountState, request: Registration) -> Refusal | None:
    """The instance type is set in the template or in the group, never in both."""
    if not (view.template_of(state, request).get("instanceType") and request.inputs.get("instanceTypes")):
        return None
    return _refused(
        "You must specify an instance type in either the launch template or the node group request, but not both",
        f"{request.inputs['nodeGroupName']} names its type twice",
        "leave it out of one of the two: a capacity block wants it in the template, everything else in the group",
    )


@rule("create", kinds.NODE_GROUP, source=_TEMPLATES)
def disk_and_access_in_template(state: AccountState, request: Registration) -> Refusal | None:
    """With a template, disk size and remote access are set in the template."""
    both = [key for key in ("diskSize", "remoteAccess") if request.inputs.get(key)]
    if not both or not request.inputs.get("launchTemplate"):
        return None
    return _refused(
        f"{', '.join(both)} cannot be specified with a launch template",
        f"{request.inputs['nodeGroupName']} has a template and {', '.join(both)}",
        "move it into the template",
    )


@rule(
    "settle",
    kinds.NODE_GROUP,
    source="EC2 user guide, EFA and network cards; EC2 API, RunInstances; terraform-aws-modules/terraform-aws-eks#2654",
)
def interfaces_fit_the_cards(state: AccountState, request: Registration) -> Refusal | None:
    """Interfaces fit the instance's network cards: one EFA a card, indexes below the limits, card 0 device 0 first and no `efa-only`."""
    instance = view.instance_type_of(state, request)
    interfaces = view.listed(view.template_of(state, request).get("networkInterfaces"))
    if instance is None or not interfaces or not view.desired_size(request):
        return None
    wrong = _wrong_interface(interfaces, instance.network_card_count, instance.interfaces_per_card, instance.efa_count)
    if wrong is None:
        return None
    return Refusal(
        "InvalidParameterValue",
        f"unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'. last error: Ec2LaunchTemplateInvalidConfiguration: {wrong}",
        f"the template of {request.inputs['nodeGroupName']} lists {len(interfaces)} interfaces for {instance.name}, which has"
        f" {instance.network_card_count} cards of {instance.interfaces_per_card} interfaces and {instance.efa_count} EFA",
        replace_after("take one of the layouts of docs/hardware.md", request),
        leaves="failed",
        remedy="replace",
    )


def _wrong_interface(interfaces: list[Mapping[str, Any]], cards: int, per_card: int, efa_count: int) -> str | None:
    """The first error that RunInstances would return, with its code."""
    places = [(int(item.get("networkCardIndex", 0)), int(item.get("deviceIndex", 0)), item.get("interfaceType")) for item in interfaces]
    efa = [card for card, _, kind in places if kind in ("efa", "efa-only")]
    if len(efa) > efa_count:
        return f"{len(efa)} EFA interfaces exceed the {efa_count} that the instance type supports"
    for card, device, _ in places:
        if card >= cards:
            return f"Network card index '{card}' exceeds the limit for the instance type"
        if device >= per_card:
            return f"Device index '{device}' exceeds the limit for network card '{card}'"
    taken = Counter((card, device) for card, device, _ in places)
    doubled = next((place for place, count in sorted(taken.items()) if count > 1), None)
    if doubled is not None:
        return f"Device index '{doubled[1]}' is used twice on network card '{doubled[0]}'"
    crowded = next((card for card, count in sorted(Counter(efa).items()) if count > 1), None)
    if crowded is not None:
        return f"Network card '{crowded}' has more than one EFA interface"
    primary = next((kind for card, device, kind in places if (card, device) == (0, 0)), "missing")
    if primary in ("efa-only", "missing"):
        return "The primary network interface must be at network card 0, device 0, and must not be of type efa-only"
    return _wrong_addresses(interfaces)


def _wrong_addresses(interfaces: list[Mapping[str, Any]]) -> str | None:
    counts = ("ipv4AddressCount", "ipv4PrefixCount", "ipv6AddressCount", "ipv6PrefixCount", "secondaryPrivateIpAddressCount")
    for item in interfaces:
        public = str(item.get("associatePublicIpAddress", "")).lower() == "true"
        if public and len(interfaces) > 1:
            return "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces"
        if item.get("interfaceType") == "efa-only" and (public or any(item.get(key) for key in counts)):
            return "IP addresses cannot be assigned to an interface of type efa-only"
    return None
