"""What collectors of metrics and logs may do. Source: service authorization reference; each writes to its own place only."""

from facts.iam import Document, document
from facts.names import container_insights_log_group


def remote_write_policy(workspace_arn: str) -> Document:
    """Writing metrics into one workspace; AWS's managed policy may write into all."""
    return document({"Effect": "Allow", "Action": "aps:RemoteWrite", "Resource": workspace_arn})


def query_policy(workspace_arn: str) -> Document:
    """Reading metrics of one workspace (AmazonPrometheusQueryAccess v1, which may read all)."""
    actions = ["aps:GetLabels", "aps:GetMetricMetadata", "aps:GetSeries", "aps:QueryMetrics"]
    return document({"Effect": "Allow", "Action": actions, "Resource": workspace_arn})


def log_shipper_policy(partition: str, region: str, log_group: str, bucket: str | None) -> Document:
    """Writing into one log group, and below one bucket where there is one. The group is made by the program, not the shipper."""
    group = f"arn:{partition}:logs:{region}:*:log-group:{log_group}"
    statements: list[Document] = [
        {
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
            "Resource": [group, f"{group}:*"],
        }
    ]
    if bucket is not None:
        statements.append({"Effect": "Allow", "Action": "s3:PutObject", "Resource": f"arn:{partition}:s3:::{bucket}/*"})
    return document(*statements)


def container_insights_policy(partition: str, region: str, cluster: str) -> Document:
    """Metrics of Container Insights and its log groups, narrower than CloudWatchAgentServerPolicy."""
    groups = f"arn:{partition}:logs:{region}:*:log-group:{container_insights_log_group(cluster, '*')}"
    return document(
        {
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": ["ContainerInsights", "ContainerInsights/Prometheus", "CWAgent"]}},
        },
        {
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents", "logs:PutRetentionPolicy"],
            "Resource": groups,
        },
        {"Effect": "Allow", "Action": ["ec2:DescribeTags", "ec2:DescribeVolumes", "logs:DescribeLogGroups"], "Resource": "*"},
    )


def node_recovery_policy(cluster: str) -> Document:
    """Handing a broken node of this cluster back to its Auto Scaling group.

    Neuron's own document names the group's ARN for a read that accepts none, and a condition that restricts nothing.
    """
    return document(
        {
            "Effect": "Allow",
            "Action": "autoscaling:SetInstanceHealth",
            "Resource": "*",
            "Condition": {"StringEquals": {f"autoscaling:ResourceTag/kubernetes.io/cluster/{cluster}": "owned"}},
        },
        {"Effect": "Allow", "Action": ["autoscaling:DescribeAutoScalingInstances", "ec2:DescribeInstances"], "Resource": "*"},
        {
            "Effect": "Allow",
            "Action": "cloudwatch:PutMetricData",
            "Resource": "*",
            "Condition": {"StringEquals": {"cloudwatch:namespace": "NeuronHealthCheck"}},
        },
    )
