"""How long a provider, or a service, retries before it gives up, in seconds."""

CAPACITY_S = 33 * 60
"""An Auto Scaling group that gets no instance: EKS then ends with CREATE_FAILED (aws/containers-roadmap#2204)."""
JOIN_S = 23 * 60
"""Nodes that never become ready (terraform-aws-modules/terraform-aws-eks#2041: 23:01 to CREATE_FAILED; #1910: 21 min; #3594: 35 min)."""
ADDON_S = 20 * 60
"""A managed add-on that stays DEGRADED (terraform-provider-aws internal/service/eks/addon.go, create timeout)."""
SUBNET_S = 20 * 60
"""DependencyViolation on a subnet (terraform-provider-aws internal/service/ec2/vpc_subnet.go)."""
GATEWAY_S = 20 * 60
"""The same on detaching an internet gateway (terraform-provider-aws internal/service/ec2/vpc_internet_gateway.go)."""
SECURITY_GROUP_S = 15 * 60
"""The same on a security group: one minute, then fourteen (terraform-provider-aws internal/service/ec2/vpc_security_group.go)."""
VPC_S = 5 * 60
"""The same on a VPC (terraform-provider-aws internal/service/ec2/vpc_.go; the length was not read)."""
ROLE_S = 2 * 60
"""DeleteConflict on a role (terraform-provider-aws internal/service/iam, propagationTimeout)."""
KIND_RETRY_S = 63
"""Kubernetes objects whose kind or namespace is not there yet: six tries at 0, 1, 3, 7, 15, 31 s (measured, pulumi-kubernetes 4.34.2)."""
KUBERNETES_DELETE_S = 600
"""A Kubernetes deletion that does not end, unless custom timeouts say otherwise (measured, pulumi-kubernetes 4.34.2)."""
HELM_S = 300
"""A Helm wait without an explicit timeout (measured, pulumi-kubernetes 4.34.2)."""
