"""What the keys of a configuration can get wrong together. Each rule is one function that yields its problems.

Rules compare the configuration with tables and with itself, never with an account: that is `trn check`.
"""

from collections.abc import Callable, Iterator
from ipaddress import AddressValueError, IPv4Network, NetmaskValueError

from addons.versions import SUPPORTED_KUBERNETES
from components.hardware import cidr, neuron_releases
from components.hardware.catalogue import NEURON_TYPES, known_zone_ids
from components.hardware.efa import addresses_per_node, plan_interfaces
from components.hardware.kubernetes_versions import KUBERNETES_VERSIONS, leaves_standard_support_soon
from components.hardware.names import CLUSTER_TAG
from components.hardware.regions import CONTROL_PLANE_REFUSED_ZONES, partition, zone_id_prefix
from stacks.problems import Problem, missing
from stacks.settings import LOG_RETENTION_DAYS, NodeGroup, Settings, largest_size, uses_efa

Rule = Callable[[Settings], Iterator[Problem]]

DOCUMENTATION_BLOCKS = tuple(IPv4Network(block) for block in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"))
"""Blocks that RFC 5737 sets aside for examples: nobody has these addresses."""
ENDPOINTS_WITHOUT_NAT = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "sts")
"""Services a node must reach before it can join and give its pods an identity (EKS user guide, private clusters)."""


def check(settings: Settings, *, rehearsal: bool) -> list[Problem]:
    """All problems of a configuration, in the order of its sections. A rehearsal accepts documentation addresses."""
    problems = [problem for rule in RULES for problem in rule(settings)]
    if not rehearsal:
        problems += documentation_addresses(settings)
    return problems


def zones(settings: Settings) -> Iterator[Problem]:
    """Zone ids belong to the region, differ, and take a control plane."""
    prefix = zone_id_prefix(settings.region)
    for index, zone_id in enumerate(settings.network.zones):
        path = f"network.zones[{index}]"
        if not zone_id.startswith(f"{prefix}-az"):
            hint = f"`aws ec2 describe-availability-zones --region {settings.region}` lists them as ZoneId; zone names such as us-west-2d do not do"
            yield Problem(path, zone_id, f"not a zone id of {settings.region}", f"{prefix}-az1, {prefix}-az2, ...", hint)
        if zone_id in CONTROL_PLANE_REFUSED_ZONES:
            yield Problem(path, zone_id, "EKS places no control plane in this zone", hint="take another zone of the region")
        if zone_id in settings.network.zones[:index]:
            yield Problem(path, zone_id, "zone named twice", hint="name each zone once; a control plane needs two different ones")


def address_space(settings: Settings) -> Iterator[Problem]:
    """Both blocks are valid, apart, and large enough for their subnets."""
    parsed: dict[str, IPv4Network] = {}
    for key, value, smallest in (("cidr", settings.network.cidr, 23), ("podCidr", settings.network.pod_cidr, 26)):
        try:
            parsed[key] = IPv4Network(value)
        except (AddressValueError, NetmaskValueError, ValueError):
            yield Problem(
                f"network.{key}",
                value,
                "not an IPv4 block",
                "such as 10.1.0.0/21, host bits zero",
                "write network address and prefix length",
            )
            continue
        if not 16 <= parsed[key].prefixlen <= smallest:
            yield Problem(f"network.{key}", value, "block of the wrong size", f"/16 to /{smallest}", "a VPC block is at most a /16")
    if len(parsed) == 2 and parsed["cidr"].overlaps(parsed["podCidr"]):
        hint = "take podCidr from 100.64.0.0/10, which no VPC block overlaps"
        yield Problem("network.podCidr", settings.network.pod_cidr, f"overlaps `network.cidr` {settings.network.cidr}", hint=hint)


def way_out(settings: Settings) -> Iterator[Problem]:
    """Nodes reach the registries and the control plane: by NAT, or by endpoints for all they need."""
    if settings.network.nat != "none":
        return
    absent = [service for service in ENDPOINTS_WITHOUT_NAT if service not in settings.network.interface_endpoints]
    if absent or not settings.network.s3_endpoint:
        needed = ", ".join(ENDPOINTS_WITHOUT_NAT)
        yield Problem(
            "network.nat", "none", "no way out for the nodes, which then never join", f"single, per-zone; or none with interfaceEndpoints {needed} and s3Endpoint",
            f"add {', '.join(absent) or 's3Endpoint: true'}, or set `network.nat: single`",
        )  # fmt: skip


def kubernetes_version(settings: Settings) -> Iterator[Problem]:
    """The version stays in standard support for a while, or extended support was asked for."""
    plane = settings.control_plane
    if plane.support_type == "STANDARD" and leaves_standard_support_soon(plane.kubernetes_version):
        ends = KUBERNETES_VERSIONS[plane.kubernetes_version].standard_support_ends
        newer = [name for name in SUPPORTED_KUBERNETES if not leaves_standard_support_soon(name)]
        hint = f'set it to "{newer[0]}", or `controlPlane.supportType: EXTENDED` at 0.60 instead of 0.10 USD an hour'
        wrong = f"standard support ends on {ends}, EKS would upgrade the control plane by itself then"
        yield Problem("controlPlane.kubernetesVersion", plane.kubernetes_version, wrong, ", ".join(newer), hint)


def public_access(settings: Settings) -> Iterator[Problem]:
    """The public endpoint is open to named blocks only."""
    for index, value in enumerate(settings.control_plane.public_access_cidrs):
        path = f"controlPlane.publicAccessCidrs[{index}]"
        try:
            block = IPv4Network(value)
        except ValueError:
            yield Problem(
                path,
                value,
                "not an IPv4 block",
                "such as 198.51.100.7/32",
                "write your address with /32; `curl https://checkip.amazonaws.com` tells it",
            )
            continue
        if block.prefixlen == 0:
            yield Problem(
                path,
                value,
                "opens the Kubernetes API to the whole internet",
                "blocks narrower than /0",
                "write your own address with /32, or leave the list empty",
            )


def documentation_addresses(settings: Settings) -> Iterator[Problem]:
    """A real run refuses the example address of the shipped stack file."""
    for index, value in enumerate(settings.control_plane.public_access_cidrs):
        try:
            block = IPv4Network(value)
        except ValueError:
            continue
        if any(block.subnet_of(example) for example in DOCUMENTATION_BLOCKS):
            hint = (
                "`pulumi config set --path 'trn:controlPlane.publicAccessCidrs[0]' \"$(curl -s https://checkip.amazonaws.com)/32\"`;"
                " outside that list each `pulumi up` would wait 305 seconds for the endpoint"
            )
            yield Problem(
                f"controlPlane.publicAccessCidrs[{index}]", value, "an address from documentation, which nobody has",
                "the addresses that you run Pulumi and kubectl from", hint,
            )  # fmt: skip


def principals(settings: Settings) -> Iterator[Problem]:
    """ARNs lie in the region's partition; retentions are ones CloudWatch takes."""
    expected = partition(settings.region)
    arns = {
        f"controlPlane.accessEntries.{name}.principalArn": entry.principal_arn
        for name, entry in settings.control_plane.access_entries.items()
    }
    if settings.control_plane.encryption_key_arn:
        arns["controlPlane.encryptionKeyArn"] = settings.control_plane.encryption_key_arn
        key_region = settings.control_plane.encryption_key_arn.split(":")[3]
        if key_region != settings.region:
            yield Problem(
                "controlPlane.encryptionKeyArn",
                settings.control_plane.encryption_key_arn,
                f"a key of {key_region}",
                settings.region,
                "name a key of the cluster's region",
            )
    for path, arn in arns.items():
        if arn.split(":")[1] != expected:
            yield Problem(
                path,
                arn,
                f"an ARN of another partition than {settings.region}",
                f"arn:{expected}:...",
                "name a principal or key of this partition",
            )
    if settings.control_plane.log_retention_days not in LOG_RETENTION_DAYS:
        allowed = ", ".join(str(days) for days in LOG_RETENTION_DAYS)
        yield Problem(
            "controlPlane.logRetentionDays",
            settings.control_plane.log_retention_days,
            "not a retention of CloudWatch Logs",
            allowed,
            "take the next larger one",
        )


def sizes(settings: Settings) -> Iterator[Problem]:
    """min <= size <= max, for every group."""
    core = settings.core_nodes
    if not core.min_size <= core.desired_size <= core.max_size:
        yield Problem(
            "coreNodes.desiredSize",
            core.desired_size,
            "size outside its limits",
            f"{core.min_size} to {core.max_size}",
            "widen minSize or maxSize, or change desiredSize",
        )
    for name, group in settings.node_groups.items():
        if not group.min_size <= group.size <= largest_size(group):
            path = f"nodeGroups.{name}.size"
            yield Problem(
                path,
                group.size,
                "size outside its limits",
                f"{group.min_size} to {largest_size(group)}",
                "widen minSize or maxSize, or change size",
            )


def node_group_names(settings: Settings) -> Iterator[Problem]:
    """No Neuron group takes the core group's name."""
    if "core" in settings.node_groups:
        yield missing(
            "nodeGroups.core",
            "`nodeGroups.core` is the name of the core group",
            hint="rename it; the core group is configured under `coreNodes`",
        )


def node_group_zones(settings: Settings) -> Iterator[Problem]:
    """Zones of groups and file system are zones of the network; an EFA group has one."""
    for name, group in settings.node_groups.items():
        for index, zone_id in enumerate(group.zone_ids):
            if zone_id not in settings.network.zones:
                yield Problem(
                    f"nodeGroups.{name}.zoneIds[{index}]",
                    zone_id,
                    "no zone of the network",
                    ", ".join(settings.network.zones),
                    "append it to `network.zones`",
                )
        if len(group.zone_ids) > 1 and uses_efa(group):
            hint = "keep one zone, or set `efa: false` for single-node runs"
            yield Problem(f"nodeGroups.{name}.zoneIds", list(group.zone_ids), "EFA does not cross zones", "one zone id", hint)
    zone_id = settings.storage.lustre.zone_id
    if zone_id is not None and zone_id not in settings.network.zones:
        yield Problem(
            "storage.lustre.zoneId", zone_id, "no zone of the network", ", ".join(settings.network.zones), "take one of the network's zones"
        )


def efa(settings: Settings) -> Iterator[Problem]:
    """EFA, layouts and logical cores only where the type has them."""
    with_efa = ", ".join(name for name, instance in NEURON_TYPES.items() if instance.has_efa)
    for name, group in settings.node_groups.items():
        path, instance = f"nodeGroups.{name}.instanceType", NEURON_TYPES[group.instance_type]
        if group.efa and not instance.has_efa:
            yield Problem(
                path,
                group.instance_type,
                "EFA needs an instance type with EFA",
                with_efa,
                f"set it to `trn1.32xlarge`, or `nodeGroups.{name}.efa: false` for single-node runs",
            )
        if "efa_layout" in group.model_fields_set and not uses_efa(group):
            yield Problem(
                f"nodeGroups.{name}.efaLayout", group.efa_layout, "a layout without EFA", with_efa, "remove it, or take a type with EFA"
            )
        if group.logical_core_size is not None and instance.chip != "Trainium2":
            path = f"nodeGroups.{name}.logicalCoreSize"
            yield Problem(path, group.logical_core_size, f"{group.instance_type} has no logical cores", "Trainium2 types only", "remove it")


def capacity(settings: Settings) -> Iterator[Problem]:
    """Capacity blocks, reservations, spot and placement groups that go together."""
    for name, group in settings.node_groups.items():
        base = f"nodeGroups.{name}"
        if group.capacity_type == "CAPACITY_BLOCK":
            if group.capacity_reservation_id is None:
                yield Problem(
                    f"{base}.capacityType",
                    "CAPACITY_BLOCK",
                    "a capacity block has a reservation id",
                    hint=f"buy a block, then set `{base}.capacityReservationId: cr-...`",
                )
            if not NEURON_TYPES[group.instance_type].capacity_block:
                sold = ", ".join(key for key, instance in NEURON_TYPES.items() if instance.capacity_block)
                yield Problem(
                    f"{base}.instanceType",
                    group.instance_type,
                    "a type not sold in capacity blocks",
                    sold,
                    "take one of these types, or `capacityType: ON_DEMAND`",
                )
        if group.capacity_type == "SPOT" and group.capacity_reservation_id is not None:
            yield Problem(
                f"{base}.capacityType",
                "SPOT",
                "spot instances use no reservation",
                "ON_DEMAND, CAPACITY_BLOCK",
                "remove capacityReservationId, or change capacityType",
            )
        if group.placement_group and group.capacity_reservation_id is not None:
            hint = "set it to false: the reservation decides where its instances stand"
            yield Problem(
                f"{base}.placementGroup", True, "a placement group with a reservation finds no capacity although it is free", "false", hint
            )


def ami_releases(settings: Settings) -> Iterator[Problem]:
    """A pinned AMI release is one, is of the cluster's Kubernetes, and its Neuron driver fits the training image."""
    minor = settings.control_plane.kubernetes_version
    releases = {"coreNodes": settings.core_nodes.release_version}
    releases |= {f"nodeGroups.{name}": group.release_version for name, group in settings.node_groups.items()}
    for base, release in releases.items():
        if release is None:
            continue
        match = neuron_releases.RELEASE_PATTERN.fullmatch(release)
        if match is None or match["minor"] != minor:
            hint = f"`aws ssm get-parameter --name /aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/x86_64/neuron/recommended/release_version`"
            yield Problem(
                f"{base}.releaseVersion",
                release,
                f"no AMI release of Kubernetes {minor}",
                f"{minor}.<patch>-<date>, such as 1.35.4-20260505",
                hint,
            )
    if settings.training.neuron_sdk is not None:
        for name, group in settings.node_groups.items():
            yield from _driver_and_runtime(name, group, neuron_releases.SDK_RELEASES[settings.training.neuron_sdk], minor)


def _driver_and_runtime(name: str, group: NodeGroup, sdk: neuron_releases.SdkRelease, minor: str) -> Iterator[Problem]:
    try:
        driver = neuron_releases.ami_driver(group.release_version)
    except ValueError:
        return  # told as a malformed release version already
    conflict = neuron_releases.runtime_conflict(driver, sdk.runtime)
    if conflict is None:
        return
    first, last = neuron_releases.fitting_ami_dates(sdk.runtime)
    dates = f"{minor}.<patch>-{first} or later" + (f", before {last}" if last else "")
    runtime, brought = neuron_releases.version_text(sdk.runtime), neuron_releases.version_text(driver)
    path = f"nodeGroups.{name}.releaseVersion"
    wrong = f"the AMI brings Neuron driver {brought}, the training image of SDK {sdk.name} has runtime {runtime}: {conflict}"
    hint = f"pin an AMI release of those dates, or take an image of another SDK and say so in `training.neuronSdk` (now {sdk.name})"
    if group.release_version is None:
        yield missing(path, f"{wrong}; `{path}` is not set, so the newest AMI is used", allowed=dates, hint=hint)
    else:
        yield Problem(path, group.release_version, wrong, dates, hint)


def file_system(settings: Settings) -> Iterator[Problem]:
    """Sizes that FSx for Lustre has."""
    size = settings.storage.lustre.capacity_gib
    if size != 1200 and (size <= 0 or size % 2400):
        larger = 1200 if size < 1200 else -(-size // 2400) * 2400
        yield Problem(
            "storage.lustre.capacityGib", size, "not a size of FSx for Lustre", "1200, or a multiple of 2400", f"set it to {larger}"
        )


def addresses(settings: Settings) -> Iterator[Problem]:
    """Every node of every group finds addresses in its subnet, at the groups' largest sizes."""
    try:
        plan = cidr.plan_subnets(settings.network.cidr, settings.network.pod_cidr, settings.network.zones)
    except ValueError:
        return  # told by the rules on zones and address space
    room = {subnets.zone_id: cidr.usable_addresses(subnets.node) for subnets in plan}
    need = dict.fromkeys(room, 0)
    for group in settings.node_groups.values():
        instance = NEURON_TYPES[group.instance_type]
        interfaces = plan_interfaces(instance, group.efa_layout) if uses_efa(group) and instance.has_efa else ()
        for zone_id in settings.zones_of(group):
            if zone_id in need:
                need[zone_id] += largest_size(group) * addresses_per_node(instance, interfaces)
    for zone_id, addresses_needed in need.items():
        if addresses_needed > room[zone_id]:
            wrong = f"the groups of {zone_id} can grow to need {addresses_needed} addresses, their subnet has {room[zone_id]}"
            yield Problem(
                "network.podCidr",
                settings.network.pod_cidr,
                wrong,
                hint="take a larger block (at most /16), lower maxSize, or use `efaLayout: efa-primary`",
            )


def addon_needs(settings: Settings) -> Iterator[Problem]:
    """The file system's claim does not fall into a namespace that Kubernetes owns."""
    if settings.training.namespace in ("default", "kube-system", "kube-public", "kube-node-lease", "volcano-system"):
        hint = "take a name of your own: Volcano's webhooks exempt system namespaces, and the stack deletes this one"
        yield Problem("training.namespace", settings.training.namespace, "a namespace that is not the stack's to make", hint=hint)


def tags(settings: Settings) -> Iterator[Problem]:
    """No tag that AWS, EKS or the program itself owns."""
    for key, value in settings.tags.items():
        if key.lower().startswith("aws:") or key.startswith("kubernetes.io/cluster/") or key in (CLUSTER_TAG, "Name"):
            yield Problem(
                f"tags.{key}",
                value,
                "a reserved tag",
                "keys other than aws:*, kubernetes.io/cluster/*, Name, trn:cluster",
                "rename the tag",
            )


RULES: tuple[Rule, ...] = (
    zones, address_space, way_out, kubernetes_version, public_access, principals, sizes, node_group_names, node_group_zones, efa,
    capacity, ami_releases, file_system, addresses, addon_needs, tags,
)  # fmt: skip


def notices(settings: Settings) -> list[str]:
    """What is allowed but should be known before money is spent, one sentence each."""
    said: list[str] = []
    plane, prefix = settings.control_plane, zone_id_prefix(settings.region)
    if any(True for _ in documentation_addresses(settings)):
        said.append("publicAccessCidrs holds a documentation address: a rehearsal accepts it, `pulumi up` refuses it")
    if not plane.public_access_cidrs:
        said.append("there is no public endpoint: `pulumi up` and kubectl must run inside the VPC")
    for name, group in settings.node_groups.items():
        instance = NEURON_TYPES[group.instance_type]
        known = known_zone_ids(instance, prefix)
        for zone_id in settings.zones_of(group):
            if zone_id not in known and (known or settings.region not in instance.offered_regions):
                where = f"seen in {', '.join(known)}" if known else f"not seen in {settings.region}"
                said.append(
                    f"nodeGroups.{name}: {instance.name} was {where}, not in {zone_id}; a group without capacity fails after 33 minutes"
                )
        if group.capacity_type == "ON_DEMAND" and group.capacity_reservation_id is None and instance.price_usd_per_hour is None:
            said.append(f"nodeGroups.{name}: {instance.name} has no on-demand list price; it is sold as capacity block or spot")
        if uses_efa(group) and settings.storage.lustre.enabled and settings.zones_of(group)[0] != settings.lustre_zone:
            said.append(
                f"nodeGroups.{name} is in {settings.zones_of(group)[0]}, the file system in {settings.lustre_zone}: traffic between them costs per GB"
            )
        if uses_efa(group) and not settings.addons.efa.enabled:
            said.append(f"nodeGroups.{name} has EFA interfaces, but `addons.efa` is off: no pod can ask for them")
    if settings.node_groups and not settings.addons.neuron.enabled:
        said.append("`addons.neuron` is off: no pod can ask for Neuron devices")
    return said
