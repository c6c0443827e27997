"""The real Kubernetes provider of Pulumi in place of the simulated one, where its plug-in is on the machine and a real API server is there.

Only for stacks without charts: Helm would install those whole, and no container runs here to answer for their fail-closed webhooks, so
that `up` would stop half-way. A stack keeps the provider that it was brought up with: the engine's state is written in its words.
"""

import json
import os
import shutil
import stat
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from trn.practice.engine.project import EngineFolder

PACKAGE, PROGRAM, SDK = "kubernetes", "pulumi-resource-kubernetes", "pulumi-kubernetes"
TOKENS = "aws"
"""The program that the stack's own kubeconfig asks for credentials."""


def plugin_on(environment: Mapping[str, str]) -> Path | None:
    """The plug-in: on PATH, else the newest in Pulumi's own folder; None where there is none."""
    if found := shutil.which(PROGRAM, path=environment.get("PATH", "")):
        return Path(found)
    home = Path(environment.get("PULUMI_HOME") or Path(environment.get("HOME") or "/") / ".pulumi")
    there = [path for path in (home / "plugins").glob(f"resource-{PACKAGE}-v*/{PROGRAM}") if os.access(path, os.X_OK)]
    return max(there, key=lambda path: _version(path.parent.name), default=None)


def _version(folder: str) -> tuple[int, ...]:
    return tuple(int(part) for part in folder.rpartition("-v")[2].split(".") if part.isdigit())


def chosen(plugin: Path | None, *, has_stack: bool, kept: Path | None, has_charts: bool) -> tuple[Path | None, str]:
    """The plug-in that a stack's next run has, None for the simulated provider; and what is said of it.

    `kept`: the one that it was brought up with, where it was. Pure.
    """
    if has_stack:
        return (kept, f"by the real provider, {kept}") if kept else (None, "by the simulated provider, as before")
    if plugin is None:
        return None, f"by the simulated provider: no {PROGRAM} is on this machine"
    if has_charts:
        return None, f"by the simulated provider: {plugin} would install charts, whose webhooks nothing answers here"
    return plugin, f"by the real provider, {plugin}"


def keep(folder: EngineFolder, plugin: Path | None) -> None:
    """Write down which one it is."""
    if plugin is None:
        folder.provider_record.unlink(missing_ok=True)
    else:
        folder.provider_record.write_text(f"{plugin}\n")


def environment_with(folder: EngineFolder, plugin: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """What the CLI gets so that it starts the plug-in itself, and the plug-in finds credentials: an administrator's certificate."""
    place = folder.root / "home" / "plugins" / f"resource-{PACKAGE}-v{metadata.version(SDK)}" / PROGRAM
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(plugin)
    programs = folder.kubernetes / "bin"
    programs.mkdir(exist_ok=True)
    credential, program = programs / "credential.json", programs / TOKENS
    credential.touch(mode=0o600)
    credential.write_text(json.dumps(_credential(folder)))
    program.write_text(f"#!/bin/sh\n# In place of the AWS CLI: `eks get-token` for the practice cluster.\nexec cat '{credential}'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    attached = [item for item in variables["PULUMI_DEBUG_PROVIDERS"].split(",") if not item.startswith(f"{PACKAGE}:")]
    path = f"{programs}{os.pathsep}{variables.get('PATH', '')}"
    return {**variables, "PULUMI_DEBUG_PROVIDERS": ",".join(attached), "PATH": path}


def _credential(folder: EngineFolder) -> dict[str, object]:
    """As a program prints it that a kubeconfig names (kubernetes.io, client-go credential plugins)."""
    from local_kubernetes.clients import administrator_of
    from local_kubernetes.running import KUBECONFIG

    own = folder.kubernetes / KUBECONFIG
    given = administrator_of(own.read_text(), own.parent)
    status = {"clientCertificateData": given.certificate.decode(), "clientKeyData": given.key.decode()}
    return {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential", "status": status}
