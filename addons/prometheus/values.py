"""Helm values of kube-prometheus-stack, and what it is to scrape, as plain data."""

from typing import Any

import pulumi

from addons.cluster import Cluster
from addons.images import Values
from addons.prometheus import SERVICE_ACCOUNT, PrometheusSettings

JOB_LABELS = ("volcano.sh/job-name", "volcano.sh/queue-name", "kueue.x-k8s.io/queue-name", "jobset.sigs.k8s.io/jobset-name")
"""Pod labels that tell jobs and queues apart; kube-state-metrics exports no label unless it is listed."""


def prometheus_values(cluster: Cluster, remote_write_url: pulumi.Input[str] | None = None) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart. `remote_write_url`: of the workspace, where there is one."""
    settings = cluster.section(PrometheusSettings)
    off = {"enabled": False}
    spec: Values = {
        "retention": f"{settings.retention_hours}h",
        # No claim: it would stay after the release, and its volume after the cluster. What must stay longer is sent to the workspace.
        "retentionSize": "8GB",
        "externalLabels": {"cluster": cluster.name},
        "resources": {"requests": {"cpu": "200m", "memory": "1Gi"}, "limits": {"memory": "4Gi"}},
        # By default only monitors with the release's label are read, in silence.
        **{f"{kind}SelectorNilUsesHelmValues": False for kind in ("serviceMonitor", "podMonitor", "rule", "probe", "scrapeConfig")},
    }
    if remote_write_url is not None:
        # The signature comes from the service account's Pod Identity: no keys stand here.
        spec["remoteWrite"] = [
            {
                "url": remote_write_url,
                "sigv4": {"region": cluster.region},
                "queueConfig": {"maxSamplesPerSend": 1000, "maxShards": 200, "capacity": 2500},
            }
        ]
    small = {"requests": {"cpu": "50m", "memory": "128Mi"}}
    return {
        "alertmanager": {"enabled": settings.alertmanager},
        # Grafana is an add-on of its own.
        "grafana": off,
        # On EKS these cannot be scraped: their alerts would never stop.
        "kubeControllerManager": off,
        "kubeEtcd": off,
        "kubeProxy": off,
        "kubeScheduler": off,
        "defaultRules": {"rules": {"etcd": False, "kubeControllerManager": False, "kubeSchedulerAlerting": False}},
        "kube-state-metrics": {
            "resources": small,
            "metricLabelsAllowlist": ["nodes=[node.kubernetes.io/instance-type,trn/node-group]", f"pods=[{','.join(JOB_LABELS)}]"],
        },
        # The chart tolerates NoSchedule only; a node that is drained is still worth watching.
        "prometheus-node-exporter": {"tolerations": [{"operator": "Exists"}], "resources": small},
        "prometheusOperator": {"resources": small},
        "prometheus": {"serviceAccount": {"name": SERVICE_ACCOUNT}, "prometheusSpec": spec},
    }


def _monitor(selector: dict[str, str], namespace: str, endpoints: str, port: str) -> Values:
    return {
        "namespaceSelector": {"matchNames": [namespace]},
        "selector": {"matchLabels": selector},
        # The exporters know instances, not nodes; jobs are distinguished by node.
        endpoints: [{"port": port, "relabelings": [{"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}]}],
    }


POD_MONITORS: dict[str, Any] = {
    "neuron-monitor": _monitor({"app.kubernetes.io/name": "neuron-monitor"}, "neuron-monitor", "podMetricsEndpoints", "metrics"),
    "efa-exporter": _monitor({"app.kubernetes.io/name": "efa-exporter"}, "efa-exporter", "podMetricsEndpoints", "metrics"),
}
"""`spec` of each PodMonitor. They stand whether the exporter is on or not: without pods they find nothing, and switching it
touches nothing here."""
SERVICE_MONITORS: dict[str, Any] = {
    "volcano-scheduler": _monitor({"app": "volcano-scheduler"}, "volcano-system", "endpoints", "metrics"),
    "volcano-controller": _monitor({"app": "volcano-controller"}, "volcano-system", "endpoints", "metrics"),
    "karpenter": _monitor({"app.kubernetes.io/name": "karpenter"}, "kube-system", "endpoints", "http-metrics"),
}
"""`spec` of each ServiceMonitor; as above."""
