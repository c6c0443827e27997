"""What the nodes have: resources that exist, as many as there are, and placement on them."""

from collections.abc import Iterator

from facts.device_claims import NEURON_CLASS
from facts.names import EFA_RESOURCE, NEURON_CORE_RESOURCE, NEURON_RESOURCE, NEURON_TAINT
from facts.node_resources import chip_counts
from training.lint.finding import Finding, Path
from training.lint.placement import instance_of, nodes_for, types_of
from training.lint.workloads import DEAD_RESOURCE, Workload
from training.site import Site


def dead_resource(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """The old name of a chip."""
    for workload in found:
        if asked := workload.asks(DEAD_RESOURCE):
            yield Finding(
                "dead-resource", workload.document.index, asked[1], f"no node offers `{DEAD_RESOURCE}`: the pod waits for ever",
                "device plug-ins since 2.20 offer `aws.amazon.com/neuron` and `aws.amazon.com/neuroncore`", f"ask for `{NEURON_RESOURCE}`: the same number of chips",
            )  # fmt: skip


def device_count(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """Devices are counted whole."""
    for workload in found:
        for container in workload.containers:
            for name, (amount, path) in container.unreadable.items():
                yield Finding(
                    "no-whole-number", workload.document.index, path, f"`{name}` is `{str(amount)[:40]}`, which is no whole number",
                    "the API server refuses a part of a device, and a number with a suffix is a thousand and more",
                    "write the number of devices in digits",
                )  # fmt: skip


def more_than_a_node(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """More chips, cores or interfaces than any node has, or a number of chips that are not connected."""
    for workload in found:
        instance = instance_of(workload, site)
        types = types_of(workload, site)
        where = " or ".join(each.name for each in types) if len(types) < 4 else "any instance type"
        most = {
            NEURON_RESOURCE: max(each.chip_count for each in types),
            DEAD_RESOURCE: max(each.chip_count for each in types),
            NEURON_CORE_RESOURCE: max(each.physical_core_count for each in types),
            EFA_RESOURCE: max(each.efa_count for each in types),
        }
        for resource, limit in most.items():
            asked = workload.asks(resource)
            if asked is not None and asked[0] > limit:
                yield Finding(
                    "more-than-a-node", workload.document.index, asked[1], f"the pod asks for {asked[0]} of `{resource}`, {where} has {limit}",
                    "a pod runs on one node: it waits for ever", f"ask for {limit} or less, and take more nodes",
                )  # fmt: skip
        asked = workload.asks(NEURON_RESOURCE)
        if asked is not None and instance is not None and asked[0] <= instance.chip_count and asked[0] not in chip_counts(instance):
            allowed = ", ".join(map(str, chip_counts(instance)))
            yield Finding(
                "chips-not-connected", workload.document.index, asked[1], f"{asked[0]} chips of {instance.name} are not connected to each other",
                "collectives between chips without a connection do not start", f"ask for one of {allowed}",
            )  # fmt: skip


def too_few_interfaces(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """Several whole nodes, and none or a part of their EFA interfaces."""
    for workload in found:
        asked = workload.asks(NEURON_RESOURCE) or workload.asks(DEAD_RESOURCE) or _claimed(workload)
        instance = instance_of(workload, site)
        whole = asked is not None and asked[0] >= (instance.chip_count if instance is not None else 16)
        nodes, count = _nodes_of_job(workload, found), instance.efa_count if instance is not None else 8
        if not whole or nodes < 2 or workload.interface_count >= count or (instance is not None and not instance.has_efa):
            continue
        assert asked is not None
        of_type = "" if instance is not None else " (16 on trn1n and trn2)"
        if workload.interface_count:
            # Of a node that is not known nothing is said: it may have as many.
            if instance is not None:
                yield Finding(
                    "fewer-interfaces", workload.document.index, (workload.asks(EFA_RESOURCE) or asked)[1],
                    f"{workload.interface_count} of the {count} EFA interfaces of {instance.name} for all of its chips",
                    "each chip sends by the interfaces near it: those without one share what is left", f"ask for `{EFA_RESOURCE}: {count}`",
                )  # fmt: skip
            continue
        yield Finding(
            "missing-efa", workload.document.index, asked[1][:-2], f"{nodes} nodes, and no `{EFA_RESOURCE}`",
            "collectives between nodes do not start: the OFI plug-in takes EFA alone on Neuron (aws-ofi-nccl, src/platform-aws.cpp)",
            f"ask for `{EFA_RESOURCE}: {count}`{of_type}",
        )  # fmt: skip


def _claimed(workload: Workload) -> tuple[int, Path] | None:
    """Chips that it claims, and the place of its container's resources, as an amount would have it."""
    counts = [16 if claim.count is None else claim.count for claim in workload.claimed(NEURON_CLASS)]
    container = workload.on_neuron
    return (sum(counts), (*container.path, "resources", "claims", 0, "name")) if counts and container is not None else None


def _nodes_of_job(workload: Workload, found: list[Workload]) -> int:
    """Pods with Neuron that train together with those of the workload."""
    if workload.gang_size < workload.count and workload.gang is None:
        return workload.gang_size
    return sum(other.gang_size for other in found if other.document is workload.document and other.on_neuron is not None)


def missing_toleration(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """On the Neuron nodes of a stack only what tolerates their taint is placed; EKS adds that for the taint's own resource alone."""
    for workload in found:
        if (
            site is None
            or workload.pod is None
            or workload.on_neuron is None
            or any(NEURON_RESOURCE in each.asked for each in workload.containers)
        ):
            continue
        tolerations = workload.pod.get("tolerations")
        if isinstance(tolerations, list) and any(_tolerates(item) for item in tolerations):
            continue
        yield Finding(
            "missing-toleration", workload.document.index, workload.path, f"the pod does not tolerate the taint `{NEURON_TAINT}`",
            f"Neuron nodes of stack {site.stack} have it, and EKS adds the toleration only to pods that ask for `{NEURON_RESOURCE}`",
            f"add a toleration with `key: {NEURON_TAINT}` and `operator: Exists`",
        )  # fmt: skip


def _tolerates(toleration: object) -> bool:
    if not isinstance(toleration, dict):
        return False
    return toleration.get("key") == NEURON_TAINT or (toleration.get("key") in (None, "") and toleration.get("operator") == "Exists")


def grace_beyond_block(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """A pod on a capacity block that may take longer to stop than the block leaves."""
    for workload in found:
        grace = (workload.pod or {}).get("terminationGracePeriodSeconds")
        if not isinstance(grace, int):
            continue
        for nodes in nodes_for(workload, site):
            left = int(nodes.block.to_save.total_seconds()) if nodes.block is not None else grace
            if grace > left:
                yield Finding(
                    "grace-beyond-block", workload.document.index, (*workload.path, "terminationGracePeriodSeconds"),
                    f"the pod may take {grace} seconds to save, nodes of {nodes.name} are terminated {left} seconds after they begin to be drained",
                    "EC2 terminates the instances of a capacity block 30 minutes before its end, whatever runs on them",
                    f"write smaller checkpoints and set {left} or less, or drain earlier by `{nodes.path}.capacityBlock` of the stack file",
                )  # fmt: skip


RULES = (grace_beyond_block, dead_resource, device_count, more_than_a_node, too_few_interfaces, missing_toleration)
