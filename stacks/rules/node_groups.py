"""Rules on node groups: sizes, zones, EFA, capacity, AMI releases, labels."""

from collections.abc import Iterator

from addons.karpenter import KarpenterSettings
from addons.versions import SUPPORTED_KUBERNETES
from facts import ami_releases as published
from facts import neuron_releases
from facts.catalogue import NEURON_TYPES
from facts.kubernetes_versions import KUBELET_SKEW, minor_number
from facts.names import EFA_LABEL, GROUP_LABEL
from facts.problems import Problem, missing
from facts.text_formats import LABEL_KEY, LABEL_VALUE, is_date
from facts.toolchains import TOOLCHAINS, Toolchain, driver_conflict, hardware_conflict
from facts.typed import typed
from stacks.settings import CoreNodes, NodeGroup, Settings, largest_size, uses_efa

LABEL_LIMIT = 63
"""Characters of a label's key, its prefix included (EKS API, labelKey): fewer than Kubernetes takes."""


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
                    "not in `network.zones`",
                    ", ".join(settings.network.zones),
                    "append it to `network.zones`",
                )
        if len(group.zone_ids) > 1 and uses_efa(group):
            hint = "keep one zone, or set `efa: false` for single-node runs"
            yield Problem(f"nodeGroups.{name}.zoneIds", list(group.zone_ids), "EFA does not cross zones", "one zone id", hint)
    zone_id = settings.storage.lustre.zone_id
    if zone_id is not None and zone_id not in settings.network.zones:
        yield Problem(
            "storage.lustre.zoneId", zone_id, "not in `network.zones`", ", ".join(settings.network.zones), "take one of the network's zones"
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
        sizes_of_chip = instance.chip.logical_sizes if instance.chip and instance.chip.has_logical_cores else ()
        if group.logical_core_size is not None and group.logical_core_size not in sizes_of_chip:
            with_choice = sorted({item.chip_name for item in NEURON_TYPES.values() if item.chip and item.chip.has_logical_cores})
            path, wrong = f"nodeGroups.{name}.logicalCoreSize", f"{group.instance_type} has no logical cores of that size"
            yield Problem(path, group.logical_core_size, wrong, f"{', '.join(with_choice)} types only", "remove it")


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
        if group.capacity_reservation_id is not None and len(settings.zones_of(group)) > 1:
            zones, hint = list(settings.zones_of(group)), "name the zone of the reservation: in the others the group would launch nothing"
            yield Problem(f"{base}.zoneIds", zones, "a capacity reservation lies in one zone", "one zone id", hint)
        if group.placement_group and len(settings.zones_of(group)) > 1:
            zones, hint = list(settings.zones_of(group)), "name one zone, or set `placementGroup: false`"
            yield Problem(f"{base}.zoneIds", zones, "a cluster placement group lies in one zone", "one zone id", hint)
        if group.placement_group and group.capacity_reservation_id is not None:
            hint = "set it to false: the reservation decides where its instances run"
            yield Problem(
                f"{base}.placementGroup", True, "a placement group with a reservation finds no capacity although it is free", "false", hint
            )


def ami_releases(settings: Settings) -> Iterator[Problem]:
    """A pinned AMI release is one, is of the nodes' Kubernetes, and its Neuron driver fits the training image."""
    plane = settings.control_plane.kubernetes_version
    for base, group in _groups(settings).items():
        minor, release = group.kubernetes_version or plane, group.release_version
        if release is None:
            continue
        match = neuron_releases.RELEASE_PATTERN.fullmatch(release)
        if match is None or match["minor"] != minor or not is_date(match["date"]):
            kind = "standard" if base == "coreNodes" else "neuron"
            parameter = f"/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/x86_64/{kind}/recommended/release_version"
            hint = f"`aws ssm get-parameter --region {settings.region} --query Parameter.Value --name {parameter}` tells the newest"
            is_default = group.kubernetes_version is None and "kubernetes_version" not in settings.control_plane.model_fields_set
            which = f"{minor}, which it is without `controlPlane.kubernetesVersion`" if is_default else minor
            if is_default and match is not None and match["minor"] in SUPPORTED_KUBERNETES:
                hint = f'set `controlPlane.kubernetesVersion: "{match["minor"]}"`, or pin another release: {hint}'
            yield Problem(
                f"{base}.releaseVersion",
                release,
                f"no AMI release of Kubernetes {which}",
                f"{minor}.<patch>-<date>, such as {neuron_releases.AMI_RELEASES['1.35']}",
                hint,
            )
        elif match["date"] <= published.NEWEST_KNOWN and release not in published.PUBLISHED.get(minor, (release,)):
            close = published.near(match["date"], published.PUBLISHED[minor])
            hint = "take one of these: EKS refuses a release that it does not have, when it makes the group"
            yield Problem(f"{base}.releaseVersion", release, "an AMI release that AWS did not publish", ", ".join(close), hint)
    if settings.training.toolchain is not None:
        toolchain = TOOLCHAINS[settings.training.toolchain]
        for name, group in settings.node_groups.items():
            # Of a type that cannot run it at all, jobs name another toolchain.
            if hardware_conflict(toolchain, NEURON_TYPES[group.instance_type]) is None:
                yield from _driver_and_runtime(name, group, toolchain, group.kubernetes_version or plane)


def node_versions(settings: Settings) -> Iterator[Problem]:
    """Nodes are of the control plane's minor, or at most three older (Kubernetes version skew policy; EKS user guide, update-cluster)."""
    plane = settings.control_plane.kubernetes_version
    allowed = [f"1.{minor_number(plane) - behind}" for behind in range(KUBELET_SKEW + 1)]
    for base, group in _groups(settings).items():
        if group.kubernetes_version is not None and group.kubernetes_version not in allowed:
            hint = (
                f"remove it: nodes then follow the control plane, and `{typed('trn upgrade')}` moves both in the order that the skew allows"
            )
            wrong = f"not within the skew that a control plane of {plane} allows"
            yield Problem(f"{base}.kubernetesVersion", group.kubernetes_version, wrong, ", ".join(allowed), hint)


def _groups(settings: Settings) -> dict[str, CoreNodes | NodeGroup]:
    """All groups by the path of their section."""
    return {"coreNodes": settings.core_nodes, **{f"nodeGroups.{name}": group for name, group in settings.node_groups.items()}}


def release_notices(settings: Settings) -> Iterator[str]:
    """Releases that are newer than the table of them."""
    releases = {"coreNodes.releaseVersion": settings.core_nodes.release_version}
    releases |= {f"nodeGroups.{name}.releaseVersion": group.release_version for name, group in settings.node_groups.items()}
    for path, release in releases.items():
        if release is not None and neuron_releases.ami_date(release) > published.NEWEST_KNOWN:
            yield f"{path} {release} is newer than {published.NEWEST_KNOWN}, the newest release known here: `{typed('trn check')}` asks AWS whether it is there"


def _driver_and_runtime(name: str, group: NodeGroup, toolchain: Toolchain, minor: str) -> Iterator[Problem]:
    try:
        driver = neuron_releases.ami_driver(group.release_version)
    except ValueError:
        return  # reported already as a malformed release version
    conflict = driver_conflict(toolchain, driver)
    if conflict is None:
        return
    first, last = toolchain.ami_dates
    dates = f"{minor}.<patch>-{first} or later" + (f", before {last}" if last else "")
    runtime, brought = neuron_releases.version_text(toolchain.sdk.runtime), neuron_releases.version_text(driver)
    path = f"nodeGroups.{name}.releaseVersion"
    wrong = f"the AMI brings Neuron driver {brought}, the image of {toolchain.name} has runtime {runtime}: {conflict}"
    hint = f"pin an AMI release of those dates, or take another `training.toolchain` (now {toolchain.name})"
    if group.release_version is None:
        yield missing(path, f"{wrong}; `{path}` is not set, so the newest AMI is used", allowed=dates, hint=hint)
    else:
        yield Problem(path, group.release_version, wrong, dates, hint)


def toolchain(settings: Settings) -> Iterator[Problem]:
    """Some group or pool can run the toolchain: with none, no job of the stack can start."""
    name = settings.training.toolchain
    karpenter = settings.addons.of(KarpenterSettings)
    types = {group.instance_type for group in settings.node_groups.values()}
    types |= {pool.instance_type for pool in karpenter.neuron_pools.values()} if karpenter.enabled else set()
    if name is None or not types or any(hardware_conflict(TOOLCHAINS[name], NEURON_TYPES[entry]) is None for entry in types):
        return
    fitting = [other for other, entry in TOOLCHAINS.items() if types & entry.workers.keys()]
    wrong = f"no group of the stack runs it: it needs {', '.join(TOOLCHAINS[name].workers)}, the stack has {', '.join(sorted(types))}"
    hint = "take one of these, or add a group of a type that it runs on; remove the key where nothing is trained"
    yield Problem("training.toolchain", name, wrong, ", ".join(fitting) or "no toolchain trains on these types", hint)


OWN_LABELS = (GROUP_LABEL, EFA_LABEL)
"""Those that the program sets itself. Groups of others have that of EFA too (patterns of aws-ia/terraform-aws-eks-blueprints for EFA on
Neuron): where it says what the program would, it may be written."""


def labels(settings: Settings) -> Iterator[Problem]:
    """Node labels that EKS takes (EKS API, labelKey and labelValue) and that are not the program's own."""
    for name, group in settings.node_groups.items():
        for key, value in group.labels.items():
            path = f"nodeGroups.{name}.labels.{key}"
            if key == EFA_LABEL and value == "true" and uses_efa(group):
                continue
            if key in OWN_LABELS:
                yield Problem(path, value, "a label that the program sets itself", hint="remove it")
            elif is_reserved(key):
                hint = "nodes with it never join: AL2023's kubelet refuses it, and EKS its own; take a prefix of yours"
                yield Problem(
                    path,
                    value,
                    "a label that nodes may not set themselves",
                    "prefixes other than *kubernetes.io, *k8s.io, eks.amazonaws.com",
                    hint,
                )
            elif not (LABEL_KEY.fits(key) and len(key) <= LABEL_LIMIT and LABEL_VALUE.fits(value)):
                hint = "letters, digits, `-`, `_` and `.`, beginning and ending with a letter or digit; a prefix is a domain name and `/`"
                yield Problem(path, value, "not a label that EKS takes", "key and value of 1 to 63 characters each", hint)


def is_reserved(key: str) -> bool:
    """Labels that the NodeRestriction admission plug-in, or EKS, keeps to itself."""
    prefix = key.partition("/")[0] if "/" in key else ""
    if prefix == "eks.amazonaws.com" or prefix.endswith(".eks.amazonaws.com"):
        return True
    kubernetes = any(prefix == domain or prefix.endswith(f".{domain}") for domain in ("kubernetes.io", "k8s.io"))
    allowed = any(prefix == domain or prefix.endswith(f".{domain}") for domain in ("node.kubernetes.io", "kubelet.kubernetes.io"))
    return kubernetes and not allowed
