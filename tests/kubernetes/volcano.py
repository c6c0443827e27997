"""Volcano itself on a control plane: the pinned chart installed by Helm with the program's values, and its three programs.

kwok says that the chart's pods run; what would run in them runs beside them: the same release's programs, with the arguments of
their containers, under their own ServiceAccounts, so that their rights count, and the admission webhook at its pod's address.
"""

import socket
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from local_kubernetes.api import Api, Object, settled, wait
from local_kubernetes.certificates import Authority
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.sources import CHARTS, folder
from simulator.recording import Registration
from tests.kubernetes import crds
from tests.kubernetes.charts import Helm, pods, release_of
from tests.kubernetes.conftest import Programs
from tests.simulator.account.standing import recording

ADMISSION = "volcano-admission"
PROGRAMS = {ADMISSION: "vc-webhook-manager", "volcano-controller": "vc-controller-manager", "volcano-scheduler": "vc-scheduler"}
"""By the label `app` of the pods that run them."""
QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"
QUEUE = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"}
SERVICE, SECRET = "volcano-admission-service", "volcano-admission-secret"


@contextmanager
def volcano_of(control_plane: ControlPlane, programs: Programs, configuration: str | None = None) -> Iterator["Volcano"]:
    """The dev stack's Volcano, which takes jobs. The control plane must have the dev stack's nodes, for its pods.

    `configuration`: of its scheduler, in place of the dev stack's.
    """
    tools = programs("volcano", "helm")
    # Helm takes over no definition that another module's tests have left.
    crds.remove_all(control_plane.api())
    settled(control_plane.api())
    release = release_of(recording(), "volcano")
    if configuration is not None:
        values = release.inputs["values"]
        custom = {**values["custom"], "scheduler_config_override": configuration}
        release = replace(release, inputs={**release.inputs, "values": {**values, "custom": custom}})
    made = Volcano(control_plane, Helm(control_plane, tools["helm"]), release, tools)
    made.start()
    api, probe = made.api, {**QUEUE, "metadata": {"name": "probe"}, "spec": {"weight": 1}}
    wait(lambda: api.apply(probe).status < 300, "the webhook answers")
    api.delete(probe)
    # The scheduler makes these itself.
    wait(lambda: {"default", "root"} <= api.names(QUEUES), "Volcano's own queues are there")
    wait(lambda: queue_state(api, "default") == "Open", "jobs are taken")
    yield made
    made.stop()


def queue_state(api: Api, name: str) -> str:
    """A queue's, as its controller says; empty while it has not."""
    return api.get({**QUEUE, "metadata": {"name": name}}).ok().get("status", {}).get("state", "")


class Volcano:
    """One Volcano, until `stop`."""

    def __init__(self, control_plane: ControlPlane, helm: Helm, release: Registration, tools: Mapping[str, Path]) -> None:
        self._control_plane, self._helm, self._release, self._tools = control_plane, helm, release, tools
        self.api: Api = control_plane.api()
        self.namespace: str = release.inputs["namespace"]
        self._started: list[str] = []

    def start(self) -> None:
        """Install the chart, then start what its pods run."""
        self.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}).ok()
        certificates = self._certificates()
        chart = next(place for chart, place in CHARTS.items() if chart.name == "volcano")
        self._helm.install(self._release, folder(chart[0]) / chart[1])
        for app, program in PROGRAMS.items():
            # Of the others the second replica only waits to be the leader.
            for number, pod in enumerate(pods(self.api, self.namespace, app=app)):
                if number == 0 or app == ADMISSION:
                    self._run(f"{program}-{number}", program, pod, certificates)

    def stop(self) -> None:
        """End the programs and delete the release."""
        for name in self._started:
            self._control_plane.processes.stop(name)
        self._helm.uninstall(self._release)
        self.api.delete({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})

    def _certificates(self) -> Path:
        """What the chart's Job makes in a cluster whose pods run: the webhook's certificate, as a Secret and as files."""
        authority = Authority(self._control_plane.folder / "volcano")
        authority.server("tls", [f"{SERVICE}.{self.namespace}.svc"])
        data = {name: b64encode((authority.folder / name).read_bytes()).decode() for name in ("ca.crt", "tls.crt", "tls.key")}
        metadata = {"name": SECRET, "namespace": self.namespace}
        self.api.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}).ok()
        return authority.folder

    def _run(self, name: str, program: str, pod: Object, certificates: Path) -> None:
        (container,) = pod["spec"]["containers"]
        address = "127." + pod["status"]["podIP"].removeprefix("10.")
        kubeconfig = service_account_kubeconfig(self._control_plane, self.namespace, pod["spec"]["serviceAccountName"])
        health, metrics = self._control_plane.ranges.ports(2)
        flags = [self._here(argument, certificates) for argument in container["args"] if argument != "2>&1"]
        flags = [flag for flag in flags if not flag.startswith(("--leader-elect", "--listen-address", "--healthz-address"))]
        is_webhook = program == PROGRAMS[ADMISSION]
        listens = address if is_webhook else f"127.0.0.1:{metrics}"
        flags += [f"--kubeconfig={kubeconfig}", f"--listen-address={listens}", f"--healthz-address=127.0.0.1:{health}"]
        flags += [] if is_webhook else ["--leader-elect=false"]
        self._control_plane.processes.start(name, [self._tools[program], *flags])
        self._started.append(name)
        if is_webhook:
            port = next(int(flag.partition("=")[2]) for flag in flags if flag.startswith("--port="))
            self._control_plane.processes.wait(lambda: listens_at(address, port), name)

    def _here(self, argument: str, certificates: Path) -> str:
        """An argument with the files of a container's volumes where they are here."""
        flag, _, path = argument.partition("=")
        if path.startswith("/admission.local.config/certificates/"):
            return f"{flag}={certificates / Path(path).name}"
        if path.startswith(("/admission.local.config/configmap/", "/volcano.scheduler/", "/volcano.controller/")):
            return f"{flag}={self._configuration(Path(path).name)}"
        return argument

    def _configuration(self, key: str) -> Path:
        """A key of one of the chart's ConfigMaps as a file."""
        for item in self.api.items(f"/api/v1/namespaces/{self.namespace}/configmaps"):
            if key in (item.get("data") or {}):
                path = self._control_plane.folder / key
                path.write_text(item["data"][key])
                return path
        raise LookupError(key)


def listens_at(address: str, port: int) -> bool:
    """Whether something takes connections there."""
    try:
        socket.create_connection((address, port), timeout=1).close()
    except OSError:
        return False
    return True


def service_account_kubeconfig(control_plane: ControlPlane, namespace: str, account: str) -> Path:
    """A kubeconfig with a token of a ServiceAccount, as a pod has one mounted."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    token = control_plane.api().call("POST", path, body).ok()["status"]["token"]
    return control_plane.kubeconfig_for(f"{namespace}-{account}", token=token)
