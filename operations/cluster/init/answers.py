"""The answers that make a stack file, what may be answered, and the text of the file: the same answers, the same bytes."""

from collections.abc import Sequence
from dataclasses import dataclass

from facts.catalogue import NEURON_TYPES, known_zone_ids
from facts.neuron_releases import AMI_RELEASES
from facts.regions import CONTROL_PLANE_REFUSED_ZONES, zone_id_prefix, zone_ids
from facts.toolchains import DEFAULT_TOOLCHAIN, running_on
from operations.errors import MISUSE, CommandError

REGIONS = (
    "us-west-2", "us-east-1", "us-east-2", "ap-south-1", "ap-south-2", "ap-southeast-2", "ap-southeast-4", "sa-east-1",
)  # fmt: skip
"""Regions in which the catalogue has seen a Neuron type."""
CAPACITY = {"on-demand": "ON_DEMAND", "spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}
ADDONS = ("neuron", "efa", "volcano", "etcd")
"""On without a word, and named in the file where they are off."""
RELEASE = AMI_RELEASES["1.35"]
"""AMI release on which the image of the default toolchain starts: newer drivers do not run it."""


@dataclass(frozen=True)
class Answers:
    """What was asked, or given by options."""

    stack: str
    name: str
    region: str
    instance_type: str
    count: int
    capacity: str
    """A key of `CAPACITY`."""
    reservation: str | None
    zone: str
    """Zone id of the nodes."""
    second_zone: str
    """The control plane needs subnets in two zones."""
    allow: tuple[str, ...]
    """Blocks that may reach the API; none means no public endpoint."""
    fsx_gib: int
    """0 for no file system."""
    addons: tuple[str, ...]


def regions_offering(instance_type: str) -> list[str]:
    """Regions in which the catalogue has seen the type."""
    instance = NEURON_TYPES[instance_type]
    return [region for region in REGIONS if known_zone_ids(instance, zone_id_prefix(region)) or region in instance.offered_regions]


def types_in(region: str) -> list[str]:
    """Neuron types that the catalogue has seen in a region; all of them for a region that it does not know."""
    return [name for name in NEURON_TYPES if region in regions_offering(name)] or list(NEURON_TYPES)


def capacity_kinds(instance_type: str) -> list[str]:
    """How the type is sold."""
    return [kind for kind in CAPACITY if kind != "capacity-block" or NEURON_TYPES[instance_type].capacity_block]


def zones_offering(instance_type: str, region: str) -> list[str]:
    """Zone ids that the catalogue has seen to offer the type, the highest first: AWS's own samples take those.

    Raises CommandError where it knows none: a guess would end in a group that fails after 33 minutes.
    """
    found = known_zone_ids(NEURON_TYPES[instance_type], zone_id_prefix(region))
    if not found:
        where = ", ".join(regions_offering(instance_type)) or "no region"
        wrong = f"the zones of {region} that offer {instance_type} are not in the table; it was seen in {where}"
        raise CommandError(wrong, "add --live to ask the account, or --zone with a zone id that you know", code=MISUSE)
    return sorted(found, reverse=True)


def second_zone(zone: str, region: str, known: Sequence[str] = ()) -> str:
    """Another zone for the control plane: the first of the account's, or of the region's, that EKS takes."""
    others = known or zone_ids(region) or [f"{zone_id_prefix(region)}-az{number}" for number in range(1, 4)]
    return next(other for other in sorted(others) if other != zone and other not in CONTROL_PLANE_REFUSED_ZONES)


def stack_file_text(answers: Answers) -> str:
    """The stack file, with comments."""
    group = answers.instance_type.replace(".", "-").removesuffix("xlarge") + "xl"
    lines = [
        "# yaml-language-server: $schema=docs/config.schema.json",
        "#",
        f"# Made by `trn init {answers.stack}`. Every key, with its default and what it does: docs/configuration.md",
        "config:",
        f"  trn:name: {answers.name}",
        f"  trn:region: {answers.region}",
        "  trn:network:",
        "    # Zone ids, the training zone first. Append further ones, never reorder.",
        f"    zones: [{answers.zone}, {answers.second_zone}]",
        "  trn:controlPlane:",
        '    kubernetesVersion: "1.35"',
        *_allow_list(answers),
        "  trn:nodeGroups:",
        f"    {group}:",
        f"      instanceType: {answers.instance_type}",
        "      # 0 empties the group for the night: `trn cost` shows what still bills.",
        f"      size: {answers.count}",
        *([f"      maxSize: {max(1, answers.count)}"] if answers.count == 0 else []),
        *_capacity(answers),
        f"      # An AMI release whose Neuron driver runs images of {toolchain_for(answers.instance_type)}"
        + ("; the newest one's does not." if toolchain_for(answers.instance_type) == DEFAULT_TOOLCHAIN else "."),
        f"      releaseVersion: {RELEASE}",
        "  trn:storage:",
        "    lustre:",
        *_lustre(answers),
        "  trn:training:",
        f"    toolchain: {toolchain_for(answers.instance_type)}",
        "  trn:addons:",
        *(
            line
            for addon in dict.fromkeys((*ADDONS, *answers.addons))
            for line in (f"    {addon}:", f"      enabled: {str(addon in answers.addons).lower()}")
        ),
    ]
    return "\n".join(lines) + "\n"


def toolchain_for(instance_type: str) -> str:
    """The default toolchain where the type runs it, else the first that it runs."""
    fitting = running_on(NEURON_TYPES[instance_type])
    return DEFAULT_TOOLCHAIN if DEFAULT_TOOLCHAIN in fitting else fitting[0]


def _allow_list(answers: Answers) -> list[str]:
    if not answers.allow:
        return ["    # No public endpoint: `pulumi up` and kubectl must run inside the VPC.", "    publicAccessCidrs: []"]
    return [
        "    # Who may reach the API. The address that runs `pulumi up` must be among them.",
        f"    publicAccessCidrs: [{', '.join(answers.allow)}]",
    ]


def _capacity(answers: Answers) -> list[str]:
    lines = [f"      capacityType: {CAPACITY[answers.capacity]}"]
    return [*lines, f"      capacityReservationId: {answers.reservation}"] if answers.reservation else lines


def _lustre(answers: Answers) -> list[str]:
    if answers.fsx_gib == 0:
        return ["      enabled: false"]
    return ["      # 1200, or a multiple of 2400. It grows in place and never shrinks.", f"      capacityGib: {answers.fsx_gib}"]
