"""Programs that run beside fake pods: Volcano's controller and scheduler once its release is there, and etcd for the stack's StatefulSet.

Without them queues have no state, Volcano's jobs no pods, and etcd's Service nothing that answers. Each runs for as long as what it
belongs to is there; one that ends is started again at the next look. Volcano's admission webhook does not run: what it refuses is let through.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from urllib3.exceptions import HTTPError

from addons.etcd.manifests import SERVER
from operations.local_kubernetes.api import Api, Object
from operations.local_kubernetes.control_plane import ControlPlane

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


class Companions:
    """Those of one control plane."""

    def __init__(self, control_plane: ControlPlane) -> None:
        self._control_plane, self._api = control_plane, control_plane.api()
        self._running: dict[str, Program] = {}
        self._ports = tuple(control_plane.ranges.ports(4))

    def look(self) -> None:
        """Start what is missing, end what belongs to nothing any more. Nothing while the API server does not answer."""
        try:
            wanted = {**self._volcano(self._api), **self._etcd(self._api)}
        except HTTPError:
            return
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
        return volcano_programs(tools, self._control_plane.kubeconfig, configuration, self._ports)

    def _etcd(self, api: Api) -> dict[str, Program]:
        found = api.call("GET", "/api/v1/pods", fieldSelector=f"metadata.name={SERVER}-0").body.get("items") or ()
        program = etcd_program(self._control_plane.tools, found[0], self._control_plane.folder / "stack-etcd") if found else None
        return {"stack-etcd": program} if program is not None else {}
