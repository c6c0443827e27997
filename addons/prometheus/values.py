"""Helm values of kube-prometheus-stack, and what it is to scrape, as plain data."""

from dataclasses import dataclass
from typing import Any

import pulumi

from addons.cluster import Cluster
from addons.images import Values
from addons.manifests import POD_IDENTITY_ANNOTATION
from addons.prometheus import SCRAPE_INTERVAL, SERVICE_ACCOUNT, PrometheusSettings

JOB_LABELS = ("volcano.sh/job-name", "volcano.sh/queue-name", "kueue.x-k8s.io/queue-name", "jobset.sigs.k8s.io/jobset-name")
"""Pod labels that tell jobs and queues apart; kube-state-metrics exports no label unless it is listed."""


@dataclass(frozen=True)
class RemoteWrite:
    """Where Prometheus sends its samples too, and the right to."""

    url: pulumi.Input[str]
    association_id: pulumi.Input[str]
    """Of the Pod Identity association of Prometheus's service account."""


def prometheus_values(cluster: Cluster, remote_write: RemoteWrite | None = None) -> Values:
    """Helm values; keys as in `values.yaml` of the pinned chart. `remote_write`: to the workspace, where there is one."""
    settings = cluster.section(PrometheusSettings)
    off = {"enabled": False}
    spec: Values = {
        "retention": f"{settings.retention_hours}h",
        # No claim: it would stay after the release, and its volume after the cluster. What must stay longer is sent to the workspace.
        "retentionSize": "8GB",
        "scrapeInterval": SCRAPE_INTERVAL,
        "externalLabels": {"cluster": cluster.name},
        "resources": {"requests": {"cpu": "200m", "memory": "1Gi"}, "limits": {"memory": "4Gi"}},
        # By default only monitors with the release's label are read, in silence.
        **{f"{kind}SelectorNilUsesHelmValues": False for kind in ("serviceMonitor", "podMonitor", "rule", "probe", "scrapeConfig")},
    }
    if remote_write is not None:
        # Pods get credentials as they start: one from before the association must be made again, and a changed template does that.
        spec["podMetadata"] = {"annotations": {POD_IDENTITY_ANNOTATION: remote_write.association_id}}
        # The signature comes from the service account's Pod Identity: no keys stand here.
        spec["remoteWrite"] = [
            {
                "url": remote_write.url,
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


def _monitor(selector: dict[str, str], namespace: str | None, endpoints: str, port: str, **endpoint: str) -> Values:
    """`namespace`: of the pods; None for any."""
    # The exporters know instances, not nodes; jobs are distinguished by node.
    relabeling = {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"}
    return {
        "namespaceSelector": {"matchNames": [namespace]} if namespace else {"any": True},
        "selector": {"matchLabels": selector},
        endpoints: [{"port": port, **endpoint, "relabelings": [relabeling]}],
    }


POD_MONITORS: dict[str, Any] = {
    "neuron-monitor": _monitor(
        {"app.kubernetes.io/name": "neuron-monitor"},
        "neuron-monitor",
        "podMetricsEndpoints",
        "metrics",
        # The exporter drops a process's series as soon as it is gone: the errors that end one are there for one of its periods of 5 s.
        interval="5s",
        scrapeTimeout="5s",
    ),
    "lustre-exporter": _monitor({"app.kubernetes.io/name": "lustre-exporter"}, None, "podMetricsEndpoints", "metrics"),
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
