"""Programs that run beside fake pods: Volcano's controller and scheduler once its release is there, and etcd for the stack's StatefulSet.

Without them queues have no state, Volcano's jobs no pods, and etcd's Service nothing that answers. Each runs for as long as what it
belongs to is there; one that ends is started again at the next look.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from urllib3.exceptions import HTTPError

from addons.etcd.manifests import SERVER
from local_kubernetes import volcano_webhook
from local_kubernetes.api import Api, Object, Refused
from local_kubernetes.beside import Beside
from local_kubernetes.certificates import Authority
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.ranges import is_free

SCHEDULER_CONFIGURATION = "volcano-scheduler-configmap"
"""ConfigMap of the pinned chart (templates/scheduler.yaml)."""
CONFIGURATION_KEY = "volcano-scheduler.conf"
LISTENS_ANYWHERE = "0.0.0.0"


@dataclass(frozen=True)
class Program:
    """One program to run."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def volcano_programs(tools: Mapping[str, Path], kubeconfig: Path, configuration: Path, ports: tuple[int, ...]) -> dict[str, Program]:
    """Its controller and scheduler, one of each. `ports`: four that are free."""
    shared = ("--logtostderr", f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--enable-healthz=true")
    own = {"vc-controller-manager": (), "vc-scheduler": (f"--scheduler-conf={configuration}", "--schedule-period=1s")}
    return {
        name: Program(
            (
                str(tools[name]), *shared, *flags, f"--listen-address=127.0.0.1:{ports[2 * number]}",
                f"--healthz-address=127.0.0.1:{ports[2 * number + 1]}",
            )
        )
        for number, (name, flags) in enumerate(own.items())
    }  # fmt: skip


def etcd_program(tools: Mapping[str, Path], pod: Object, folder: Path) -> Program | None:
    """What etcd's container would run, at the pod's address on loopback; None for a pod without an address.

    Its Service's name becomes its address: no name server is here.
    """
    address = pod.get("status", {}).get("podIP")
    if not address:
        return None
    here = "127." + address.removeprefix("10.")
    (container,) = pod["spec"]["containers"]
    given = {entry["name"]: str(entry["value"]) for entry in container["env"] if "value" in entry}
    environment = {key: value.replace(LISTENS_ANYWHERE, here).replace(f"//{SERVER}:", f"//{here}:") for key, value in given.items()}
    program, *arguments = container["command"]
    return Program((str(tools[program]), *arguments), {**environment, "ETCD_DATA_DIR": str(folder)})


class Webhook:
    """Volcano's, of one control plane."""

    def __init__(self, control_plane: ControlPlane | Beside) -> None:
        self._control_plane, self._api = control_plane, control_plane.api()
        self._port, self._health_port = control_plane.ranges.ports(2)
        self._authority: Authority | None = None
        self._guarded: tuple[str, bool] = ("", False)
        """The namespace whose release's webhook is asked, and whether without it nothing is let through."""

    def program(self) -> Program:
        """The program, with certificates that are made at the first time."""
        if self._authority is None:
            self._authority = Authority(self._control_plane.folder / "volcano-webhook")
            self._authority.server("tls", [volcano_webhook.HOST])
        flags = volcano_webhook.arguments(
            self._control_plane.tools, self._control_plane.kubeconfig, self._authority.folder, self._port, self._health_port
        )
        return Program(flags)

    def guard(self, namespace: str) -> None:
        """Have the API server ask it, or no more where the namespace is empty."""
        wanted = (namespace, bool(namespace) and not is_free(self._port))
        if wanted == self._guarded or self._authority is None:
            return
        for item in volcano_webhook.configurations(namespace, self._port, self._authority.pem, answers=wanted[1]):
            if namespace:
                self._api.apply(item).ok()
            else:
                self._api.delete(item)
        self._guarded = wanted


class Companions:
    """Those of one control plane."""

    def __init__(self, control_plane: ControlPlane | Beside) -> None:
        self._control_plane, self._api = control_plane, control_plane.api()
        self._running: dict[str, Program] = {}
        self._namespace = ""
        """Of Volcano's release."""
        self._ports = tuple(control_plane.ranges.ports(4))
        self._webhook = Webhook(control_plane) if control_plane.reaches_pods else None

    def look(self) -> None:
        """Start what is missing, end what belongs to nothing any more. Nothing while the API server does not answer."""
        try:
            wanted = {**self._volcano(self._api), **self._etcd(self._api)}
        except HTTPError:
            return
        self._run(wanted)
        if self._webhook is not None:
            with suppress(HTTPError, Refused):
                self._webhook.guard(self._namespace if volcano_webhook.PROGRAM in self._running else "")

    def _run(self, wanted: Mapping[str, Program]) -> None:
        processes = self._control_plane.processes
        for name in list(self._running):
            ended = processes.code(name) is not None
            if ended or self._running[name] != wanted.get(name):
                processes.stop(name)
                del self._running[name]
        for name, program in wanted.items():
            if name not in self._running:
                processes.start(name, program.argv, self._control_plane.environment() | dict(program.environment))
                self._running[name] = program

    def _volcano(self, api: Api) -> dict[str, Program]:
        tools = self._control_plane.tools
        found = api.call("GET", "/api/v1/configmaps", fieldSelector=f"metadata.name={SCHEDULER_CONFIGURATION}").body.get("items") or ()
        if not found or "vc-scheduler" not in tools:
            return {}
        configuration = self._control_plane.folder / CONFIGURATION_KEY
        text = found[0]["data"][CONFIGURATION_KEY]
        # The scheduler reads it again whenever it is written, also half.
        if not configuration.exists() or configuration.read_text() != text:
            beside = configuration.with_name(f"{CONFIGURATION_KEY}.new")
            beside.write_text(text)
            beside.replace(configuration)
        self._namespace = found[0]["metadata"]["namespace"]
        programs = volcano_programs(tools, self._control_plane.kubeconfig, configuration, self._ports)
        return programs if self._webhook is None else {**programs, volcano_webhook.PROGRAM: self._webhook.program()}

    def _etcd(self, api: Api) -> dict[str, Program]:
        if "etcd" not in self._control_plane.tools:
            return {}
        found = api.call("GET", "/api/v1/pods", fieldSelector=f"metadata.name={SERVER}-0").body.get("items") or ()
        program = etcd_program(self._control_plane.tools, found[0], self._control_plane.folder / "stack-etcd") if found else None
        return {"stack-etcd": program} if program is not None else {}
