"""Rules on what makes the cluster grow: two scalers must not answer the same pods, and pools must be ones Karpenter can make."""

from collections.abc import Iterator

from addons.cluster_autoscaler import ClusterAutoscalerSettings
from addons.efa import EfaSettings
from addons.karpenter import KarpenterSettings
from addons.neuron import NeuronSettings
from facts import neuron_releases
from facts.ami_releases import AMI_DATES, NEWEST_KNOWN, near
from facts.catalogue import NEURON_TYPES
from facts.problems import Problem
from facts.toolchains import TOOLCHAINS, driver_conflict, hardware_conflict
from stacks.settings import Settings, uses_efa


def scalers(settings: Settings) -> Iterator[Problem]:
    """Karpenter and Cluster Autoscaler each have nodes of their own.

    Both act on every pod without a place: where both could make the node, both do, and each later takes the other's away.
    """
    karpenter = settings.addons.of(KarpenterSettings)
    if not (karpenter.enabled and settings.addons.of(ClusterAutoscalerSettings).enabled):
        return
    if karpenter.general_pool.enabled and settings.core_nodes.autoscaled:
        wrong = "Karpenter and Cluster Autoscaler would both make nodes for the same untainted pods"
        hint = "set it to false, or `coreNodes.autoscaled: false`"
        yield Problem("addons.karpenter.generalPool.enabled", True, wrong, "one of the two", hint)
    autoscaled = [name for name, group in settings.node_groups.items() if group.autoscaled]
    for name, pool in karpenter.neuron_pools.items() if autoscaled else ():
        if not pool.static:
            # A pod names devices and no instance type: any node with as many of them would do.
            wrong = f"Cluster Autoscaler makes Neuron nodes in `nodeGroups.{autoscaled[0]}`: a pod that asks for devices fits both, and both would buy"
            hint = "set it to true, remove the pool, or set `autoscaled: false` for the group"
            yield Problem(f"addons.karpenter.neuronPools.{name}.static", False, wrong, "true", hint)


def claims_of_drivers(settings: Settings) -> Iterator[Problem]:
    """Devices that are claimed by DRA are on nodes that are there: no scaler makes the first one.

    A DRA driver publishes a node's devices in ResourceSlices once the node runs; a node that does not exist has none
    (EKS user guide, EFA devices with DRA; kubernetes/autoscaler cluster-autoscaler FAQ).
    """
    claimed = {"neuron": settings.addons.of(NeuronSettings), "efa": settings.addons.of(EfaSettings)}
    keys = [f"addons.{key}.devices" for key, section in claimed.items() if section.enabled and section.devices == "dra"]
    if not keys:
        return
    for name, group in settings.node_groups.items():
        if group.autoscaled and group.min_size == 0:
            wrong = f"with `{keys[0]}: dra` an empty group never grows: an autoscaler sees no devices of a node that is not there"
            hint = f"keep one node, or set `{keys[0]}: device-plugin`"
            yield Problem(f"nodeGroups.{name}.minSize", 0, wrong, "1 and more", hint)
    if "addons.efa.devices" in keys and settings.addons.of(KarpenterSettings).enabled:
        wrong = "EKS does not support EFA by DRA on nodes that Karpenter makes"
        hint = "set it to device-plugin, or `addons.karpenter.enabled: false`"
        yield Problem("addons.efa.devices", "dra", wrong, "device-plugin", hint)


def karpenter_pools(settings: Settings) -> Iterator[Problem]:
    """Pools lie in the network, buy what is sold, and get a Neuron image."""
    zones = settings.network.zones
    for name, pool in settings.addons.of(KarpenterSettings).neuron_pools.items():
        base = f"addons.karpenter.neuronPools.{name}"
        if name == "general":
            hint = "take another name"
            yield Problem("addons.karpenter.neuronPools", name, "the name of the pool of ordinary nodes", hint=hint)
        if pool.zone_id is not None and pool.zone_id not in zones:
            hint = "append the zone to `network.zones`, or take one of these"
            yield Problem(f"{base}.zoneId", pool.zone_id, "not in `network.zones`", ", ".join(zones), hint)
        if pool.instance_type.startswith("trn2u."):
            hint = "take a managed node group, which names its AMI type"
            wrong = "a type for which Karpenter picks the standard image: EC2 lists no accelerators for it, and nodes would offer none"
            yield Problem(f"{base}.instanceType", pool.instance_type, wrong, "types other than trn2u", hint)
        reserved = pool.capacity_type in ("RESERVED", "CAPACITY_BLOCK")
        if reserved and pool.capacity_reservation_id is None:
            wrong, hint = "reserved capacity has a reservation id", f"set `{base}.capacityReservationId: cr-...`"
            yield Problem(f"{base}.capacityType", pool.capacity_type, wrong, hint=hint)
        if not reserved and pool.capacity_reservation_id is not None:
            wrong, hint = "a reservation that instances of this kind do not use", "set `capacityType` to one of these, or remove the id"
            yield Problem(f"{base}.capacityType", pool.capacity_type, wrong, "RESERVED, CAPACITY_BLOCK", hint)
        if pool.capacity_type == "CAPACITY_BLOCK" and not NEURON_TYPES[pool.instance_type].capacity_block:
            sold = ", ".join(key for key, instance in NEURON_TYPES.items() if instance.capacity_block)
            hint = "take one of these types, or `capacityType: ON_DEMAND`"
            yield Problem(f"{base}.instanceType", pool.instance_type, "a type not sold in capacity blocks", sold, hint)


def karpenter_image(settings: Settings) -> Iterator[Problem]:
    """The AMI release of Karpenter's nodes was published, and its Neuron driver fits the training image."""
    karpenter, name = settings.addons.of(KarpenterSettings), settings.training.toolchain
    day = karpenter.ami_version[1:]
    if karpenter.enabled and day <= NEWEST_KNOWN and day not in AMI_DATES:
        close = ", ".join(f"v{release}" for release in near(day, AMI_DATES))
        hint = "take one of these: with another no node class becomes ready, and no node is made"
        yield Problem("addons.karpenter.amiVersion", karpenter.ami_version, "an AMI release that AWS did not publish", close, hint)
    if not (karpenter.enabled and karpenter.neuron_pools and name):
        return
    toolchain = TOOLCHAINS[name]
    if all(hardware_conflict(toolchain, NEURON_TYPES[pool.instance_type]) for pool in karpenter.neuron_pools.values()):
        return  # no job of the default toolchain can run there at all
    driver = neuron_releases.ami_driver(f"{settings.control_plane.kubernetes_version}.0-{karpenter.ami_version[1:]}")
    conflict = driver_conflict(toolchain, driver)
    if conflict is not None:
        first, last = toolchain.ami_dates
        dates = f"v{first} or later" + (f", before v{last}" if last else "")
        brought, runtime = neuron_releases.version_text(driver), neuron_releases.version_text(toolchain.sdk.runtime)
        wrong = f"the AMI brings Neuron driver {brought}, the image of {toolchain.name} has runtime {runtime}: {conflict}"
        yield Problem("addons.karpenter.amiVersion", karpenter.ami_version, wrong, dates, "take a release of those dates")


def core_dns(settings: Settings) -> Iterator[Problem]:
    """The bounds of CoreDNS's autoscaling are in order."""
    section = settings.addons.core_dns
    if section.min_replicas > section.max_replicas:
        wrong = "more replicas at least than at most"
        yield Problem("addons.coreDns.minReplicas", section.min_replicas, wrong, f"at most {section.max_replicas}", "change one of the two")


def scaling_notices(settings: Settings) -> Iterator[str]:
    """What scales nothing, or is left without a scaler."""
    groups = [name for name, group in settings.node_groups.items() if group.autoscaled]
    autoscaled = groups or settings.core_nodes.autoscaled
    scaler = settings.addons.of(ClusterAutoscalerSettings).enabled
    if scaler and not autoscaled:
        yield "`addons.clusterAutoscaler` is on, but no group says `autoscaled: true`: it has nothing to size"
    if autoscaled and not scaler:
        names = ", ".join([*(f"nodeGroups.{name}" for name in groups), *(["coreNodes"] if settings.core_nodes.autoscaled else [])])
        yield f"{names}: `autoscaled` leaves the size to an autoscaler, but `addons.clusterAutoscaler` is off: nothing changes it"
    karpenter = settings.addons.of(KarpenterSettings)
    if karpenter.enabled and not (karpenter.neuron_pools or karpenter.general_pool.enabled):
        yield "`addons.karpenter` is on without a pool: it makes no node"
    for name, pool in karpenter.neuron_pools.items() if karpenter.enabled else ():
        zone = pool.zone_id or settings.network.zones[0]
        others = [group for group, item in settings.node_groups.items() if uses_efa(item) and settings.zones_of(item)[0] != zone]
        if others:
            yield f"addons.karpenter.neuronPools.{name} is in {zone}, nodeGroups.{others[0]} is not: a job over both has no EFA between them"
