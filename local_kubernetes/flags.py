"""Flags of a control plane's own programs: what is as on EKS, and what loopback needs."""

from pathlib import Path
from typing import Any

SERVICE_CIDR, SERVICE_ADDRESS = "172.20.0.0/16", "172.20.0.1"
ADMISSION = "NodeRestriction,ExtendedResourceToleration"
"""What EKS has on besides the API server's defaults (EKS user guide, platform versions)."""
COMPONENTS = {
    "kube-controller-manager": "system:kube-controller-manager",
    "kube-scheduler": "system:kube-scheduler",
}
"""Users that the two act as."""


def etcd(data: Path, port: int, peer_port: int) -> list[str]:
    """One member, whose data nothing else needs."""
    client, peer = (f"http://127.0.0.1:{number}" for number in (port, peer_port))
    return [
        "--name", "one", "--data-dir", str(data), "--unsafe-no-fsync", "--initial-cluster", f"one={peer}",
        "--listen-client-urls", client, "--advertise-client-urls", client,
        "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
    ]  # fmt: skip


def api_server(pki: Path, port: int, etcd_port: int, tokens: Path, egress: Path) -> list[str]:
    """`pki`: its certificates. `tokens`, `egress`: the files that name its authenticator and its way into the cluster's network."""
    return [
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        # Without an endpoint of its own for the service `kubernetes`: a loopback address is refused there.
        "--advertise-address=192.0.2.2",
        "--endpoint-reconciler-type=none",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        "--allow-privileged=true",
        f"--enable-admission-plugins={ADMISSION}",
        "--authorization-mode=Node,RBAC",
        f"--client-ca-file={pki}/ca.crt",
        f"--authentication-token-webhook-config-file={tokens}",
        # Who a token is may change from one test to the next.
        "--authentication-token-webhook-cache-ttl=0s",
        f"--tls-cert-file={pki}/api-server.crt",
        f"--tls-private-key-file={pki}/api-server.key",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki}/service-accounts.pub",
        f"--service-account-signing-key-file={pki}/service-accounts.key",
        f"--kubelet-client-certificate={pki}/kubelet-client.crt",
        f"--kubelet-client-key={pki}/kubelet-client.key",
        "--kubelet-preferred-address-types=InternalIP",
        f"--egress-selector-config-file={egress}",
        # Webhooks and aggregated APIs are called at a pod's address, and not at a Service's that nothing here routes.
        "--enable-aggregator-routing=true",
        f"--requestheader-client-ca-file={pki}/ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
    ]


def component(name: str, pki: Path, own: Path, port: int) -> list[str]:
    """Of the controller manager or the scheduler. `own`: its kubeconfig."""
    more = {
        "kube-controller-manager": [
            "--use-service-account-credentials=true",
            f"--service-account-private-key-file={pki}/service-accounts.key",
            f"--root-ca-file={pki}/ca.crt",
            f"--cluster-signing-cert-file={pki}/ca.crt",
            f"--cluster-signing-key-file={pki}/ca.key",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
        ],
        "kube-scheduler": [],
    }
    flags = [f"--{kind}kubeconfig={own}" for kind in ("", "authentication-", "authorization-")]
    return [*more[name], *flags, "--bind-address=127.0.0.1", f"--secure-port={port}", "--leader-elect=false"]


def egress_selection(proxy: Path) -> dict[str, Any]:
    """Everything that lies in the cluster goes through the proxy (kubernetes.io, Set up Konnectivity service)."""
    connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(proxy)}}}
    selection = [{"name": "cluster", "connection": connection}]
    return {"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration", "egressSelections": selection}
