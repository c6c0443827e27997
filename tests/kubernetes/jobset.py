"""JobSet's real controller beside a control plane: it makes Jobs of JobSets, and all of them again when one fails."""

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import yaml

from local_kubernetes import build
from local_kubernetes.api import Object, wait
from local_kubernetes.certificates import Authority
from local_kubernetes.clients import answers
from local_kubernetes.control_plane import ControlPlane
from tests.kubernetes import crds
from tests.kubernetes.conftest import Programs
from tests.kubernetes.training_operator import LOADER

MODULE = "sigs.k8s.io/jobset"
DEFINITION, WEBHOOKS = "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml", "config/components/webhook/manifests.yaml"
SERVED = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"


def definition() -> Object:
    """Its CRD, of the release that the controller is built from. The tool must have been built."""
    return crds.undescribed(yaml.load(build.module_file("jobset", MODULE, DEFINITION).read_text(), LOADER))


@contextmanager
def job_set_controller(programs: Programs, control_plane: ControlPlane) -> Iterator[None]:
    """The controller with its webhooks, which fill in what a JobSet leaves out; gone at the end, with the definition."""
    program = programs("jobset")["jobset"]
    api, (port, probes) = control_plane.api(), control_plane.ranges.ports(2)
    api.apply(definition()).ok()
    wait(lambda: api.call("GET", SERVED).status == 200, "JobSets are known")
    authority = Authority(control_plane.folder / "jobset")
    authority.server("tls", ("127.0.0.1",))
    configuration = authority.folder / "configuration.json"
    configuration.write_text(json.dumps(_configuration(authority, port, probes)))
    command = [program, f"--kubeconfig={control_plane.kubeconfig}", f"--config={configuration}"]
    control_plane.processes.start("jobset", command)
    control_plane.processes.wait(lambda: answers(f"http://127.0.0.1:{probes}/readyz"), "jobset")
    hooks = _webhooks(authority, port)
    for each in hooks:
        api.apply(each).ok()
    yield
    for each in hooks:
        api.delete(each)
    control_plane.processes.stop("jobset")
    api.delete(definition())


def _configuration(authority: Authority, port: int, probes: int) -> dict[str, Any]:
    """What a test machine needs otherwise than a cluster: everything on loopback, and the certificate that is there."""
    return {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": f"127.0.0.1:{probes}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": port, "certDir": str(authority.folder)},
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
    }


def _webhooks(authority: Authority, port: int) -> list[Object]:
    """Its own registrations, called at the port where it listens here and not at a Service's pods."""
    found = list(yaml.safe_load_all(build.module_file("jobset", MODULE, WEBHOOKS).read_text()))
    for item in found:
        item["metadata"]["name"] = f"jobset-{item['metadata']['name']}"
        for hook in item["webhooks"]:
            path = hook["clientConfig"].pop("service")["path"]
            hook["clientConfig"] = {"url": f"https://127.0.0.1:{port}{path}", "caBundle": b64encode(authority.pem).decode()}
    return found
