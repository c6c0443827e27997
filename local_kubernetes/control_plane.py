"""A Kubernetes control plane of its own on loopback: etcd, API server, controller manager, scheduler, and kwok for the nodes.

    control_plane = ControlPlane.start(build.tools("kubernetes", "etcd", "kwok"))       # 5 s, or RuntimeError with a log's end
    control_plane.server, .authority, .kubeconfig      # https://127.0.0.1:PORT, PEM bytes, path of an administrator's kubeconfig
    control_plane.client()                             # kubernetes.client.ApiClient of an administrator
    control_plane.client("alice", ["team-a"])          # the same as another user
    control_plane.api("alice", ["team-a"])             # plain requests with their statuses: api.py
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

Nodes with the annotation `kwok.x-k8s.io/node: fake` are kwok's (kwok.py). Any other node is whoever's made it: its kubelet renews
the lease `kube-node-lease/NAME` and sets status, with the port of its own API in `status.daemonEndpoints.kubeletEndpoint.Port`. Without
kwok among the tools none runs.
"""

import json
import ssl
import subprocess
import sys
import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kubernetes.client import ApiClient

from local_kubernetes import flags
from local_kubernetes.api import Api
from local_kubernetes.authenticator import Authenticator
from local_kubernetes.certificates import Authority
from local_kubernetes.clients import admin_client, answers, configuration_of, environment_of, kubeconfig, write_kubeconfig
from local_kubernetes.kwok import Kwok
from local_kubernetes.processes import Processes
from local_kubernetes.ranges import Ranges

ADMINISTRATORS = "system:masters"
POD_LOG = ("first line", "second line")


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

    reaches_pods = True
    """Whether the API server finds what listens at a pod's address."""

    @property
    def parts(self) -> Sequence[str]:
        """Programs without which it is of no use."""
        return ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", *(["kwok"] if "kwok" in self.tools else []))

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

    def token(self, user: str, groups: Sequence[str] = ()) -> str:
        """A bearer token of a user."""
        return self.authenticator.token(user, groups)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = (), token: str | None = None) -> Path:
        """A kubeconfig with the user's token, or with one of a ServiceAccount's that is given."""
        path = self.folder / f"{user.replace('/', '-').replace(':', '-')}.kubeconfig"
        write_kubeconfig(path, kubeconfig(self.server, self.authority, {"token": token or self.token(user, groups)}))
        return path

    def client(self, user: str | None = None, groups: Sequence[str] = ()) -> ApiClient:
        """A client of the API server, as an administrator with a certificate or as a user with a token."""
        if user is None:
            return admin_client(self.server, self._authority.folder)
        return ApiClient(
            configuration_of(self.server, self.authority_file),
            header_name="Authorization",
            header_value=f"Bearer {self.token(user, groups)}",
        )

    def api(self, user: str | None = None, groups: Sequence[str] = ()) -> Api:
        """Plain requests as an administrator, or as a user."""
        return Api(self.client(user, groups))

    def kubectl(self, *arguments: str, stdin: str | None = None, kubeconfig: Path | None = None, fails: bool = False) -> str:
        """What kubectl prints, its errors too where it should fail. Raises RuntimeError with its words where it fails, or should and does not."""
        command = [str(self.tools["kubectl"]), "--kubeconfig", str(kubeconfig or self.kubeconfig), *arguments]
        done = subprocess.run(command, input=stdin, env=self.environment(), capture_output=True, text=True, check=False)
        if (done.returncode != 0) is not fails:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout + done.stderr if fails else done.stdout

    def environment(self) -> dict[str, str]:
        """For a user's program: the tools on its PATH, this cluster as its default, and a home where nothing is."""
        return environment_of(self.tools, self.folder, self.kubeconfig)

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
        hosts = ("127.0.0.1", flags.SERVICE_ADDRESS, "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
        authority.server("api-server", hosts)
        authority.server("kubelet", ("127.0.0.1", "localhost"))
        authority.client("kubelet-client", "kube-apiserver-kubelet-client", [ADMINISTRATORS])
        authority.key_pair("service-accounts")
        authority.client("admin", "kubernetes-admin", [ADMINISTRATORS])
        self._write_kubeconfig(self.kubeconfig, "admin")
        for name, user in flags.COMPONENTS.items():
            authority.client(name, user)
            self._write_kubeconfig(self.folder / f"{name}.kubeconfig", name)

    def _write_kubeconfig(self, path: Path, name: str) -> None:
        folder = self._authority.folder
        data = {f"client-{what}-data": (folder / f"{name}.{end}").read_bytes() for what, end in (("certificate", "crt"), ("key", "key"))}
        write_kubeconfig(path, kubeconfig(self.server, self.authority, {key: b64encode(value).decode() for key, value in data.items()}))

    def _start_etcd(self) -> None:
        self.processes.start("etcd", [self.tools["etcd"], *flags.etcd(self.folder / "etcd", self.etcd_port, self._peer_port)])
        self.processes.wait(lambda: answers(f"http://127.0.0.1:{self.etcd_port}/health"), "etcd")

    def _start_api_server(self) -> None:
        folder = self._authority.folder
        proxy = self.folder / "egress.sock"
        self.processes.start("egress", [sys.executable, "-I", Path(__file__).with_name("egress.py"), proxy])
        tokens, egress = self.folder / "authenticator.json", self.folder / "egress.json"
        tokens.write_text(json.dumps(self.authenticator.configuration()))
        egress.write_text(json.dumps(flags.egress_selection(proxy)))
        given = flags.api_server(folder, self._api_port, self.etcd_port, tokens, egress)
        self.processes.start("kube-apiserver", [self.tools["kube-apiserver"], *given])
        trust = ssl.create_default_context(cafile=str(folder / "ca.crt"))
        trust.load_cert_chain(folder / "admin.crt", folder / "admin.key")
        self.processes.wait(lambda: answers(f"{self.server}/readyz", trust), "kube-apiserver")

    def _start_controllers(self) -> None:
        ports = {"kube-controller-manager": self._manager_port, "kube-scheduler": self._scheduler_port}
        for name, port in ports.items():
            given = flags.component(name, self._authority.folder, self.folder / f"{name}.kubeconfig", port)
            self.processes.start(name, [self.tools[name], *given])
        if "kwok" in self.tools:
            self.processes.start("kwok", self._kwok().write())
            ports["kwok"] = self.kwok_port
        # Their certificates are their own.
        trust = ssl._create_unverified_context()
        for name, port in ports.items():
            self.processes.wait(lambda port=port: answers(f"https://127.0.0.1:{port}/healthz", trust), name)
        # Pods are refused in a namespace that has no ServiceAccount yet.
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        self.processes.wait(lambda: self.api().call("GET", path).status == 200, "kube-controller-manager")

    def _kwok(self) -> Kwok:
        pki, manner = self._authority.folder, self.manner
        return Kwok(
            self.tools["kwok"], self.folder, self.kubeconfig, pki / "kubelet.crt", pki / "kubelet.key", self.kwok_port, self.ranges.pods,
            manner.pod_log, manner.runs_commands, manner.jobs_stay,
        )  # fmt: skip
