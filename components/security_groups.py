"""The nodes' own security group, with the self rules that EFA needs in both directions."""

import pulumi
import pulumi_aws as aws

from components.component import Component


class NodeSecurityGroup(Component):
    """Attached to every interface of every node, beside the group that EKS makes for the cluster.

    It depends on the VPC only, so the file system can refer to it while the control plane is still being made.
    """

    security_group_id: pulumi.Output[str]
    rules: list[pulumi.Resource]
    """Wait for these before a node starts: EFA tests its paths when a job starts, and never again."""

    def __init__(self, name: str, *, cluster_name: str, vpc_id: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("trn:components:NodeSecurityGroup", name, opts)
        child = pulumi.ResourceOptions(parent=self)
        group = aws.ec2.SecurityGroup(
            self.named(name),
            name=f"{cluster_name}-node",
            description="Nodes of the cluster, among themselves and to the outside",
            vpc_id=vpc_id,
            # Rules of other groups that name this one would hold it back for 15 minutes on destroy.
            revoke_rules_on_delete=True,
            tags={"Name": f"{cluster_name}-node"},
            opts=child,
        )
        self.security_group_id = group.id
        self.rules = [
            aws.vpc.SecurityGroupIngressRule(
                self.named(f"{name}-from-self"),
                security_group_id=group.id,
                referenced_security_group_id=group.id,
                ip_protocol="-1",
                description="EFA and everything else between nodes",
                opts=child,
            ),
            # Egress to 0.0.0.0/0 does not cover EFA, which has no IP: without this rule collectives time out
            # (EKS user guide, node-efa).
            aws.vpc.SecurityGroupEgressRule(
                self.named(f"{name}-to-self"),
                security_group_id=group.id,
                referenced_security_group_id=group.id,
                ip_protocol="-1",
                description="EFA between nodes",
                opts=child,
            ),
            aws.vpc.SecurityGroupEgressRule(
                self.named(f"{name}-to-outside"),
                security_group_id=group.id,
                cidr_ipv4="0.0.0.0/0",
                ip_protocol="-1",
                description="Registries, AWS services, data",
                opts=child,
            ),
        ]
        self.register_outputs({"security_group_id": self.security_group_id})
