"""Neuron instances as TorchX's resources. TorchX's own name a device that no plug-in offers any more, and ask for more CPU than a node has.

Source: meta-pytorch/torchx named_resources_aws.py, 2026.10.26 (NEURON_DEVICE is aws.amazon.com/neurondevice).
"""

from torchx.specs import Resource  # pyright: ignore[reportMissingImports] - is in an extra

from facts.catalogue import NEURON_TYPES
from facts.names import EFA_RESOURCE, NEURON_RESOURCE
from facts.node_resources import job_share

BYTES_PER_MIB, BYTES_PER_MB = 1 << 20, 10**6


def neuron_resource(instance_type: str, *, efa: bool = True, chip_count: int | None = None) -> Resource:
    """A node of an instance type, whole unless `chip_count` says less, as far as jobs may have it; KeyError for a type without Neuron chips."""
    instance = NEURON_TYPES[instance_type]
    chips = chip_count or instance.chip_count
    interfaces = instance.efa_count if efa else 0
    share = job_share(instance, chips, efa=interfaces > 0)
    return Resource(
        cpu=share.cpu_millis // 1000,
        gpu=0,
        memMB=share.memory_mib // 1024 * 1024 * BYTES_PER_MIB // BYTES_PER_MB,
        devices={NEURON_RESOURCE: chips, **({EFA_RESOURCE: interfaces} if interfaces else {})},
    )


def trn1_2xlarge() -> Resource:
    """A whole trn1.2xlarge."""
    return neuron_resource("trn1.2xlarge")


def trn1_32xlarge() -> Resource:
    """A whole trn1.32xlarge."""
    return neuron_resource("trn1.32xlarge")


def trn1n_32xlarge() -> Resource:
    """A whole trn1n.32xlarge."""
    return neuron_resource("trn1n.32xlarge")


def trn2_48xlarge() -> Resource:
    """A whole trn2.48xlarge."""
    return neuron_resource("trn2.48xlarge")
