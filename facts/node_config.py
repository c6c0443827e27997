"""User data of a node: nodeadm's NodeConfig as a MIME document.

Without an ImageId in the launch template EKS adds its own part with the cluster's address, so ours names no cluster.
Source: awslabs/amazon-eks-ami nodeadm API `node.eks.aws/v1alpha1`, 2026-07-23.
"""

import json

_BOUNDARY = "==NODECONFIG=="


def node_config(*, local_storage_raid0: bool, max_pods: int | None = None) -> dict[str, object]:
    """The NodeConfig object.

    `local_storage_raid0` joins all NVMe instance store disks and puts containerd and pod logs on them: Neuron images are
    10 GB and more. `max_pods` overrides kubelet's own figure where the interface layout leaves fewer addresses.
    """
    spec: dict[str, object] = {}
    if local_storage_raid0:
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    if max_pods is not None:
        spec["kubelet"] = {"config": {"maxPods": max_pods}}
    return {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}


def user_data(config: dict[str, object], *, logical_core_size: int | None = None) -> str:
    """MIME multipart text with the NodeConfig, and a shell part where the logical core size differs from the AMI's.

    JSON is YAML, which is what nodeadm reads. `logical_core_size`: aws-neuron/aws-neuron-sdk, logical NeuronCore configuration.
    """
    parts = [("application/node.eks.aws", json.dumps(config, indent=2, sort_keys=True))]
    if logical_core_size is not None:
        command = f"mkdir -p /opt/aws/neuron\necho NEURON_LOGICAL_NC_CONFIG={logical_core_size} > /opt/aws/neuron/logical_nc_config"
        parts.append(('text/x-shellscript; charset="us-ascii"', f"#!/bin/bash\nset -euo pipefail\n{command}"))
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"', ""]
    for content_type, body in parts:
        lines += [f"--{_BOUNDARY}", f"Content-Type: {content_type}", "", body, ""]
    return "\n".join([*lines, f"--{_BOUNDARY}--", ""])
