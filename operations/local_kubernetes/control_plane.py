"""A Kubernetes control plane of its own on loopback: etcd, API server, controller manager, scheduler, and kwok for the nodes.

    control_plane = ControlPlane.start(build.tools("kubernetes", "etcd", "kwok"))       # 5 s, or RuntimeError with a log's end
    control_plane.server, .authority, .kubeconfig      # https://127.0.0.1:PORT, PEM bytes, path of an administrator's kubeconfig
    control_plane.client()                             # kubernetes.client.ApiClient of an administrator
    control_plane.client("alice", ["team-a"])          # the same as another user
    control_plane.api("alice", ["team-a"])             # plain requests with their statuses: api.py
    control_plane.door("alice", ["team-a"])            # what operations/kube makes of it: list, read, create, patch, delete
    control_plane.kubectl("get", "nodes")              # standard output; fails the test with kubectl's words
    control_plane.token("alice", ["team-a"])           # a bearer token that the API server believes
    control_plane.kubeconfig_for("alice", ["team-a"])  # a kubeconfig with it, for programs: an operator, Helm, a kubelet
    control_plane.processes.start(...)                 # one more process with the same end as these: see processes.py
    control_plane.stop()                               # no process and no file is left; so it is when this process ends in any way

In pytest: fixture `control_plane` (one for the session, with the dev stack's nodes nowhere: `nodes.py` makes them) and
`namespace` (a fresh one for each test).

What is as on EKS: version, admission plug-ins (ExtendedResourceToleration among them), RBAC, bearer tokens by a webhook, and
the way into the cluster's network (egress.py): the API server reaches pod 10.64.3.5 at 127.64.3.5 and node 10.0.3.7 at
127.0.3.7, else at 127.0.0.1, always at the port that was asked for. So `services/proxy`, `pods/proxy`, webhooks behind Services,
logs and exec reach whatever listens there. What is not: nothing routes between pods, there is no kube-proxy and no DNS.

Nodes with the annotation `kwok.x-k8s.io/node: fake` are kwok's: it renews their leases, says they are ready, and plays their
pods by the stages of stages.yaml (run at once; those of Jobs complete); their logs are `pod_log`, and what is executed in them runs
here. Any other node is whoever's made it: its kubelet renews
the lease `kube-node-lease/NAME` and sets status, with the port of its own API in `status.daemonEndpoints.kubeletEndpoint.Port`.
"""

import json
import os
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes.client import ApiClient, Configuration
from urllib3 import Retry

from operations.kube.api import KubernetesClient
from operations.local_kubernetes.api import Api
from operations.local_kubernetes.authenticator import Authenticator
from operations.local_kubernetes.build import module_file
from operations.local_kubernetes.certificates import Authority
from operations.local_kubernetes.processes import Processes
from operations.local_kubernetes.ranges import Ranges

SERVICE_CIDR, SERVICE_ADDRESS = "172.20.0.0/16", "172.20.0.1"
ADMISSION = "NodeRestriction,ExtendedResourceToleration"
"""What EKS has on besides the API server's defaults (EKS user guide, platform versions)."""
ADMINISTRATORS = "system:masters"
STAGES = (
    "kustomize/stage/node/fast/node-initialize.yaml",
    "kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    "kustomize/stage/pod/fast/pod-ready.yaml",
    "kustomize/stage/pod/fast/pod-delete.yaml",
)
"""Of kwok's own."""
POD_LOG = ("first line", "second line")
STAYING = {"key": '.metadata.annotations["trn.example/after"]', "operator": "Exists"}
"""What a pod of a Job must have besides, where Jobs stay."""
COMPONENTS = {
    "kube-controller-manager": "system:kube-controller-manager",
    "kube-scheduler": "system:kube-scheduler",
}


@dataclass(frozen=True)
class Manner:
    """How one control plane differs from another."""

    api_port: int = 0
    """Of the API server; 0 for any that is free."""
    authority: Path | None = None
    """Folder in which its certificate authority is kept from one start to the next."""
    pod_log: Sequence[str] = POD_LOG
    """What every container on kwok's nodes is said to have printed."""
    runs_commands: bool = True
    """Whether what is executed in a pod on kwok's nodes runs on this machine; else it is refused."""
    jobs_stay: bool = False
    """Whether pods of Jobs run until they are deleted, unless annotations say how long."""


class ControlPlane:
    """See the module."""

    def __init__(self, tools: Mapping[str, Path], manner: Manner = Manner()) -> None:
        """Not started: `start` does both."""
        self.tools, self.manner = tools, manner
        self.processes = Processes()
        self.authenticator = Authenticator()
        self.ranges = Ranges()
        self.folder = self.processes.folder
        self._authority = Authority(self.folder / "pki", manner.authority)
        self.seconds: dict[str, float] = {}
        """What was ready after how many seconds."""
        self.etcd_port, self._peer_port, self._api_port, self._manager_port, self._scheduler_port, self.kwok_port = self.ranges.ports(6)
        self._api_port = manner.api_port or self._api_port

    @classmethod
    def start(cls, tools: Mapping[str, Path], manner: Manner = Manner()) -> "ControlPlane":
        """A control plane that answers. Raises RuntimeError, with nothing left, when a part does not."""
        made = cls(tools, manner)
        try:
            made.begin()
        except BaseException:
            made.stop()
            raise
        return made

    @property
    def server(self) -> str:
        """Address of the API server."""
        return f"https://127.0.0.1:{self._api_port}"

    @property
    def authority(self) -> bytes:
        """Certificate that the API server's is signed with, as PEM."""
        return self._authority.pem

    @property
    def authority_file(self) -> Path:
        """The same as a file."""
        return self._authority.folder / "ca.crt"

    @property
    def kubeconfig(self) -> Path:
        """An administrator's."""
        return self.folder / "admin.kubeconfig"

    @property
    def pod_log(self) -> Path:
        """What every container on kwok's nodes is said to have printed."""
        return self.folder / "pods.log"

    def token(self, user: str, groups: Sequence[str] = ()) -> str:
        """A bearer token of a user."""
        return self.authenticator.token(user, groups)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = (), token: str | None = None) -> Path:
        """A kubeconfig with the user's token, or with one of a ServiceAccount's that is given."""
        path = self.folder / f"{user.replace('/', '-').replace(':', '-')}.kubeconfig"
        self._write_kubeconfig(path, {"token": token or self.token(user, groups)})
        return path

    def client(self, user: str | None = None, groups: Sequence[str] = ()) -> ApiClient:
        """A client of the API server, as an administrator with a certificate or as a user with a token."""
        if user is None:
            return admin_client(self.server, self._authority.folder)
        return ApiClient(self._configuration(), header_name="Authorization", header_value=f"Bearer {self.token(user, groups)}")

    def api(self, user: str | None = None, groups: Sequence[str] = ()) -> Api:
        """Plain requests as an administrator, or as a user."""
        return Api(self.client(user, groups))

    def door(self, user: str = "administrator", groups: Sequence[str] = (ADMINISTRATORS,)) -> KubernetesClient:
        """The commands' own door, with a token of the user's."""
        return KubernetesClient(ApiClient(self._configuration()), lambda: self.token(user, groups))

    def _configuration(self) -> Configuration:
        return _configuration(self.server, self.authority_file)

    def kubectl(self, *arguments: str, stdin: str | None = None, kubeconfig: Path | None = None, fails: bool = False) -> str:
        """What kubectl prints, its errors too where it should fail. Raises RuntimeError with its words where it fails, or should and does not."""
        command = [str(self.tools["kubectl"]), "--kubeconfig", str(kubeconfig or self.kubeconfig), *arguments]
        done = subprocess.run(command, input=stdin, env=self.environment(), capture_output=True, text=True, check=False)
        if (done.returncode != 0) is not fails:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr if fails else done.stdout

    def environment(self) -> dict[str, str]:
        """For a user's program: the tools on its PATH, this cluster as its default, and a home where nothing is."""
        paths = dict.fromkeys(str(path.parent) for path in self.tools.values())
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return os.environ | {
            "PATH": os.pathsep.join([*paths, os.environ["PATH"]]),
            "KUBECONFIG": str(self.kubeconfig),
            "HOME": str(home),
        }

    def stop(self) -> None:
        """End everything and delete the folder."""
        self.processes.close()
        self.authenticator.close()
        self.ranges.close()

    def begin(self) -> None:
        """Start all of it. Raises RuntimeError when a part does not answer; `stop` is then the caller's."""
        begun = time.monotonic()
        self._sign()
        self._start_etcd()
        self.seconds["etcd"] = time.monotonic() - begun
        self._start_api_server()
        self.seconds["kube-apiserver"] = time.monotonic() - begun
        self._start_controllers()
        self.seconds["all"] = time.monotonic() - begun

    def _sign(self) -> None:
        authority = self._authority
        hosts = ("127.0.0.1", SERVICE_ADDRESS, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
        authority.server("api-server", hosts)
        authority.server("kubelet", ("127.0.0.1", "localhost"))
        authority.client("kubelet-client", "kube-apiserver-kubelet-client", [ADMINISTRATORS])
        authority.key_pair("service-accounts")
        authority.client("admin", "kubernetes-admin", [ADMINISTRATORS])
        self._write_kubeconfig(self.kubeconfig, self._certificate("admin"))
        for name, user in COMPONENTS.items():
            authority.client(name, user)
            self._write_kubeconfig(self.folder / f"{name}.kubeconfig", self._certificate(name))

    def _certificate(self, name: str) -> dict[str, str]:
        folder = self._authority.folder
        data = {f"client-{what}-data": (folder / f"{name}.{end}").read_bytes() for what, end in (("certificate", "crt"), ("key", "key"))}
        return {key: b64encode(value).decode() for key, value in data.items()}

    def _write_kubeconfig(self, path: Path, user: Mapping[str, str]) -> None:
        cluster = {"server": self.server, "certificate-authority-data": b64encode(self.authority).decode()}
        made = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "user", "user": user}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "user"}}],
            "current-context": "test",
        }
        path.write_text(json.dumps(made))
        # Helm warns of one that others can read.
        path.chmod(0o600)

    def _start_etcd(self) -> None:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self.etcd_port, self._peer_port))
        flags = ["--name", "one", "--data-dir", str(self.folder / "etcd"), "--unsafe-no-fsync", "--initial-cluster", f"one={peer}"]
        flags += ["--listen-client-urls", client, "--advertise-client-urls", client]
        flags += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer]
        self.processes.start("etcd", [self.tools["etcd"], *flags])
        self.processes.wait(lambda: answers(f"{client}/health"), "etcd")

    def _start_api_server(self) -> None:
        folder = self._authority.folder
        proxy = self.folder / "egress.sock"
        self.processes.start("egress", [sys.executable, "-I", Path(__file__).with_name("egress.py"), proxy])
        tokens, egress = self.folder / "authenticator.json", self.folder / "egress.json"
        tokens.write_text(json.dumps(self.authenticator.configuration()))
        egress.write_text(json.dumps(_egress(proxy)))
        flags = [
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._api_port}",
            # Without an endpoint of its own for the service `kubernetes`: a loopback address is refused there.
            "--advertise-address=192.0.2.2",
            "--endpoint-reconciler-type=none",
            f"--service-cluster-ip-range={SERVICE_CIDR}",
            "--allow-privileged=true",
            f"--enable-admission-plugins={ADMISSION}",
            "--authorization-mode=Node,RBAC",
            f"--client-ca-file={folder}/ca.crt",
            f"--authentication-token-webhook-config-file={tokens}",
            # Who a token is may change from one test to the next.
            "--authentication-token-webhook-cache-ttl=0s",
            f"--tls-cert-file={folder}/api-server.crt",
            f"--tls-private-key-file={folder}/api-server.key",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={folder}/service-accounts.pub",
            f"--service-account-signing-key-file={folder}/service-accounts.key",
            f"--kubelet-client-certificate={folder}/kubelet-client.crt",
            f"--kubelet-client-key={folder}/kubelet-client.key",
            "--kubelet-preferred-address-types=InternalIP",
            f"--egress-selector-config-file={egress}",
            # Webhooks and aggregated APIs are called at a pod's address, and not at a Service's that nothing here routes.
            "--enable-aggregator-routing=true",
            f"--requestheader-client-ca-file={folder}/ca.crt",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        ]
        self.processes.start("kube-apiserver", [self.tools["kube-apiserver"], *flags])
        trust = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        trust.load_cert_chain(folder / "admin.crt", folder / "admin.key")
        self.processes.wait(lambda: answers(f"{self.server}/readyz", trust), "kube-apiserver")

    def _start_controllers(self) -> None:
        folder = self._authority.folder
        ports = {"kube-controller-manager": self._manager_port, "kube-scheduler": self._scheduler_port}
        flags: dict[str, list[str]] = {
            "kube-controller-manager": [
                "--use-service-account-credentials=true",
                f"--service-account-private-key-file={folder}/service-accounts.key",
                f"--root-ca-file={folder}/ca.crt",
                f"--cluster-signing-cert-file={folder}/ca.crt",
                f"--cluster-signing-key-file={folder}/ca.key",
                "--kube-api-qps=200",
                "--kube-api-burst=400",
            ],
            "kube-scheduler": [],
        }
        for name, port in ports.items():
            own = self.folder / f"{name}.kubeconfig"
            flags[name] += [f"--{kind}kubeconfig={own}" for kind in ("", "authentication-", "authorization-")]
            flags[name] += ["--bind-address=127.0.0.1", f"--secure-port={port}", "--leader-elect=false"]
            self.processes.start(name, [self.tools[name], *flags[name]])
        self._start_kwok()
        # Their certificates are their own.
        trust = ssl._create_unverified_context()
        for name, port in ports.items():
            self.processes.wait(lambda port=port: answers(f"https://127.0.0.1:{port}/healthz", trust), name)
        self.processes.wait(lambda: answers(f"https://127.0.0.1:{self.kwok_port}/healthz", trust), "kwok")
        # Pods are refused in a namespace that has no ServiceAccount yet.
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        self.processes.wait(lambda: self.door().read(path) is not None, "kube-controller-manager")

    def _start_kwok(self) -> None:
        folder = self._authority.folder
        stages = [module_file("kwok", "sigs.k8s.io/kwok", path) for path in STAGES]
        # As a container runtime writes it (kubernetes.io, CRI logging).
        self.pod_log.write_text("".join(f"2026-11-22T10:00:00.000000000Z stdout F {line}\n" for line in self.manner.pod_log))
        kubelet = self.folder / "kubelet.yaml"
        own = self.folder / "stages.yaml"
        own.write_text("\n---\n".join(json.dumps(item) for item in _stages(jobs_stay=self.manner.jobs_stay)))
        kubelet.write_text("\n---\n".join(json.dumps(item) for item in _kubelet(self.pod_log, runs_commands=self.manner.runs_commands)))
        flags = [
            f"--kubeconfig={self.kubeconfig}",
            "--manage-all-nodes=false",
            "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
            f"--server-address=127.0.0.1:{self.kwok_port}",
            f"--node-port={self.kwok_port}",
            f"--tls-cert-file={folder}/kubelet.crt",
            f"--tls-private-key-file={folder}/kubelet.key",
            f"--cidr={self.ranges.pods}",
            "--node-lease-duration-seconds=40",
            *(f"--config={path}" for path in (*stages, own, kubelet)),
        ]
        self.processes.start("kwok", [self.tools["kwok"], *flags])


def admin_client(server: str, pki: Path) -> ApiClient:
    """A client of an administrator. `pki`: folder of the control plane's certificates."""
    configuration = _configuration(server, pki / "ca.crt")
    configuration.cert_file, configuration.key_file = (str(pki / f"admin.{end}") for end in ("crt", "key"))
    return ApiClient(configuration)


def client_of(server: str, authority: Path) -> ApiClient:
    """A client without a user: each request names its own."""
    return ApiClient(_configuration(server, authority))


def _configuration(server: str, authority: Path) -> Configuration:
    configuration = Configuration(host=server)
    configuration.ssl_ca_cert = str(authority)
    # As the commands' own client has it: what is put off comes back at once, and who waits looks again.
    configuration.retries = Retry(1, respect_retry_after_header=False)
    return configuration


def answers(url: str, context: ssl.SSLContext | None = None) -> bool:
    """Whether a GET is answered with 200."""
    try:
        with urllib.request.urlopen(url, context=context, timeout=2) as answer:
            return answer.status == 200
    except OSError:
        return False


def free_ports(count: int) -> list[int]:
    """Ports on loopback that nothing listens on, different ones."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def _kubelet(log: Path, *, runs_commands: bool) -> list[dict[str, Any]]:
    """kwok's answers to the kubelet's API: one log for all containers, and commands run on this machine (kwok.sigs.k8s.io, Logs and Exec)."""
    version = "kwok.x-k8s.io/v1alpha1"
    logs = {"logs": [{"containers": [], "logsFile": str(log), "follow": False}]}
    commands = {"execs": [{"containers": [], "local": {"workDir": str(log.parent)}}]}
    made = [{"apiVersion": version, "kind": "ClusterLogs", "metadata": {"name": "logs"}, "spec": logs}]
    if runs_commands:
        made.append({"apiVersion": version, "kind": "ClusterExec", "metadata": {"name": "exec"}, "spec": commands})
    return made


def _stages(*, jobs_stay: bool) -> list[dict[str, Any]]:
    """Those of stages.yaml."""
    made = list(yaml.safe_load_all(Path(__file__).with_name("stages.yaml").read_text()))
    for item in made if jobs_stay else ():
        if item["metadata"]["name"] == "pod-complete":
            item["spec"]["selector"]["matchExpressions"].append(STAYING)
    return made


def _egress(proxy: Path) -> dict[str, Any]:
    """Everything that lies in the cluster goes through the proxy (kubernetes.io, Set up Konnectivity service)."""
    connection = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": str(proxy)}}}
    selection = [{"name": "cluster", "connection": connection}]
    return {"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration", "egressSelections": selection}
