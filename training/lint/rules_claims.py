"""Claims of dynamic resource allocation: of a mechanism that the cluster has, counted by its queues, connected, and as many as a node has."""

from collections.abc import Iterator

from facts.device_claims import EFA_CLASS, NEURON_CLASS
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from facts.node_resources import chip_counts
from facts.typed import typed
from training.lint.finding import Finding
from training.lint.placement import instance_of
from training.lint.workloads import Workload
from training.site import Site


def other_mechanism(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """Devices asked of a plug-in where they are claimed, or claimed where there is a plug-in."""
    if site is None:
        return
    ways = ((NEURON_RESOURCE, NEURON_CLASS, site.devices, "neuron"), (EFA_RESOURCE, EFA_CLASS, site.efa_devices, "efa"))
    for workload in found:
        for resource, device_class, devices, key in ways:
            if devices == "dra" and (asked := workload.asks(resource)):
                yield Finding(
                    "other-mechanism", workload.document.index, asked[1], f"the cluster {site.cluster} hands out `{resource}` by claims",
                    "no plug-in offers it there: the pod waits for ever", f"claim devices of the class `{device_class}`: `{typed('trn submit --dry-run')}` shows how",
                )  # fmt: skip
            for claim in workload.claimed(device_class) if devices == "device-plugin" else ():
                yield Finding(
                    "other-mechanism", claim.document.index, claim.path, f"the cluster {site.cluster} has no driver for claims of `{device_class}`",
                    "no driver publishes devices there: the pod waits for ever", f"ask for `{resource}`, or set `addons.{key}.devices: dra`",
                )  # fmt: skip


def claim_of_all(found: list[Workload], _: Site | None) -> Iterator[Finding]:
    """`allocationMode: All`: Kueue refuses it, and Volcano's queues do not count it."""
    for claim in {id(claim): claim for workload in found for claim in workload.claims}.values():
        if claim.count is None and claim.device_class in (NEURON_CLASS, EFA_CLASS):
            yield Finding(
                "claim-of-all", claim.document.index, (*claim.path, "allocationMode"), "no queue counts a claim of `All`",
                "Kueue refuses the job, and in Volcano it goes past every limit", "set `allocationMode: ExactCount`, and `count` to what the node has",
            )  # fmt: skip


def claim_without_connection(found: list[Workload], site: Site | None) -> Iterator[Finding]:
    """Some of a node's chips, which nothing keeps together; more than it has; or a number that no group has."""
    for workload in found:
        instance = instance_of(workload, site)
        for claim in workload.claimed(NEURON_CLASS) if instance is not None else ():
            if claim.count is None or instance is None:
                continue
            place, attribute = (*claim.path, "count"), f"resource.aws.com/devicegroup{claim.count}_id"
            if claim.count not in chip_counts(instance):
                allowed = ", ".join(map(str, chip_counts(instance)))
                yield Finding(
                    "chips-not-connected", claim.document.index, place, f"{claim.count} chips of {instance.name} are no group of connected ones",
                    "the claim finds no devices, or such as cannot reach each other", f"claim one of {allowed}",
                )  # fmt: skip
            elif 1 < claim.count < instance.chip_count and attribute not in claim.matched:
                yield Finding(
                    "chips-not-connected", claim.document.index, place, f"nothing keeps the {claim.count} chips of the claim together",
                    "collectives between chips without a connection do not start", f"add the constraint `matchAttribute: {attribute}`",
                )  # fmt: skip


RULES = (other_mechanism, claim_of_all, claim_without_connection)
