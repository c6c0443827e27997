"""A real control plane behind a practice account: started with the stack, found by every command, ended with it."""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from addons.volcano import VolcanoSettings
from local_kubernetes import beside, build, made_cluster, own_nodes, running
from local_kubernetes.api import Api
from local_kubernetes.clients import Administrator, admin_client, client_of
from local_kubernetes.eks_tokens import bound, secret_in
from local_kubernetes.half import Half
from local_kubernetes.made_cluster import way_of
from local_kubernetes.running import Cluster
from local_kubernetes.ways import chosen
from simulator.account import kinds
from trn.aws.api import BotoApi
from trn.cli.errors import MISUSE, CommandError
from trn.cli.output import errors
from trn.cli.slots import ANY
from trn.engine.program import record_stack, settings_of
from trn.engine.stack_file import StackFile
from trn.kubernetes.client import Bearer, KubernetesClient, token
from trn.practice.account import PracticeAccount
from trn.practice.engine import real_provider
from trn.practice.engine.project import EngineFolder

GO_PAGE, KWOK_PAGE = "https://go.dev/doc/install", "https://kwok.sigs.k8s.io/docs/user/installation/"


def start(folder: EngineFolder, stack_file: StackFile, *, has_stack: bool, by_pulumi: bool, wanted: str = ANY) -> bool:
    """Have the control plane of a stack run, its programs built or its cluster made where they are missing, with the account's objects in it.

    `by_pulumi`: whether the Pulumi CLI has the stack, or will have it. `wanted`: name of a way to come by it, or ANY. Gives whether the engine
    must look again at what is there: a new one lacks what the real provider had made. Raises CommandError where it cannot, and for a stack
    that was brought up without one.
    """
    name = folder.root.name
    if has_stack and not folder.has_control_plane:
        hint = f"`trn practice down {name}` first; or leave out --kubernetes"
        raise CommandError(f"stack `{name}` is up in practice without a real API server", hint, code=MISUSE)
    way = chosen(None if wanted == ANY else wanted, way_of(folder.kubernetes), lambda program: shutil.which(program) is not None)
    has_volcano = settings_of(stack_file).addons.of(VolcanoSettings).enabled
    if way.makes_clusters:
        _prepare_kwok(has_volcano=has_volcano)
        made_cluster.make(folder.kubernetes, way, name, _tell, _settle)
    else:
        _build((*running.TOOLS, *(running.OPTIONAL if has_volcano else ())))
    begun = time.monotonic()
    cluster, is_new = running.start(folder.kubernetes)
    done = f"started in {time.monotonic() - begun:.0f} s" if is_new else "is running"
    if is_new and has_stack:
        _restore(folder)
    _tell(f"Kubernetes {_version(cluster)} by {way.name} {done}: {cluster.server}")
    if by_pulumi:
        _choose_provider(folder, stack_file, has_stack=has_stack)
    return is_new and has_stack and folder.real_provider is not None


def _choose_provider(folder: EngineFolder, stack_file: StackFile, *, has_stack: bool) -> None:
    plugin = None if has_stack else real_provider.plugin_on(os.environ)
    has_charts = plugin is not None and any(item.type == kinds.RELEASE for item in record_stack(stack_file).registrations.values())
    found, said = real_provider.chosen(plugin, has_stack=has_stack, kept=folder.real_provider, has_charts=has_charts)
    real_provider.keep(folder, found)
    _tell(f"objects of Kubernetes are made {said}")


def _version(cluster: Cluster) -> str:
    return str(cluster.api().call("GET", "/version").ok()["gitVersion"])


def _tell(text: str) -> None:
    errors().print(text, markup=False)


def _settle(administrator: Administrator) -> None:
    with tempfile.TemporaryDirectory() as folder:
        administrator.write(Path(folder))
        own_nodes.settle(Api(admin_client(administrator.server, Path(folder))))


def _prepare_kwok(*, has_volcano: bool) -> None:
    """What plays the nodes, built where it is not on PATH. Raises CommandError where it cannot be had."""
    has_go = shutil.which("go") is not None
    if beside.kwok_program() is None:
        if not has_go:
            wrong = "there is no kwok to play the stack's nodes: none is on PATH, and there is no Go to build it with"
            raise CommandError(wrong, f"install kwok, {KWOK_PAGE}; or leave out --kubernetes", code=MISUSE)
        _build((beside.KWOK,))
    if has_volcano:
        if has_go:
            _build(running.OPTIONAL)
        else:
            _tell("note     without Go there are no programs of Volcano: its queues have no state, and its jobs no pods")


def _restore(folder: EngineFolder) -> None:
    """What the account holds comes to a new control plane. What users made in the old one is lost with it."""
    account = PracticeAccount(folder).open()
    try:
        half = account.world.cluster
        assert isinstance(half, Half), "it was started a moment ago"
        for refused in half.restore(account.world.state):
            errors().print(f"note     not brought back: {refused}", markup=False)
    finally:
        account.close()


def _build(names: Sequence[str]) -> None:
    missing = [name for name in names if not _is_there(name)]
    if missing:
        errors().print(f"building {', '.join(missing)} from Go modules: 10 to 15 minutes, once", markup=False)
    try:
        build.tools(*names, built=lambda name, seconds: errors().print(f"built {name} in {seconds:.0f} s", markup=False))
    except build.Missing as error:
        hint = f"install Go, {GO_PAGE}; or leave out --kubernetes: the account then answers for Kubernetes itself"
        raise CommandError(str(error), hint, code=MISUSE) from error


def _is_there(name: str) -> bool:
    try:
        return build.there(name)
    except build.Missing:
        return False


def stop(folder: EngineFolder) -> None:
    """End the control plane, if there is one, and delete its files; a cluster that a tool made for it too.

    Raises CommandError, and keeps what names the cluster, where that cannot be deleted.
    """
    if folder.kubernetes.is_dir():
        running.end(folder.kubernetes)
        made_cluster.delete(folder.kubernetes, _tell)
        running.stop(folder.kubernetes)
        _tell("Kubernetes ended")


def half_of(folder: EngineFolder) -> Half | None:
    """The control plane as the account's half; None where it does not run."""
    cluster = running.find(folder.kubernetes)
    return None if cluster is None else Half(cluster)


def client(api: BotoApi, folder: EngineFolder, entry: dict[str, Any]) -> KubernetesClient:
    """The commands' own client, with a token as EKS's callers make it. Raises CommandError where the control plane does not run."""
    cluster = _running(folder)
    if made_cluster.read(folder.kubernetes) is not None:
        # It asks no authenticator of ours who a token is.
        return KubernetesClient(cluster.client(), None)
    made = client_of(cluster.server, cluster.authority_file)
    secret = secret_in(cluster.folder / running.IDENTITY)
    return KubernetesClient(made, Bearer(lambda: bound(token(api, entry["name"]), secret), time.monotonic))


def kubeconfig(folder: EngineFolder) -> dict[str, Any]:
    """An administrator's. Raises CommandError where the control plane does not run."""
    return json.loads(_running(folder).kubeconfig.read_text())


def _running(folder: EngineFolder) -> Cluster:
    cluster = running.find(folder.kubernetes)
    if cluster is None:
        hint = f"`trn practice up {folder.root.name}` starts it again, with what the account holds"
        raise CommandError(f"the API server of stack `{folder.root.name}` has ended", hint)
    return cluster


def kubectl_hint(folder: EngineFolder) -> str:
    """How to look at it with kubectl."""
    program = "kubectl" if shutil.which("kubectl") or not _is_there("kubernetes") else str(build.tools("kubernetes")["kubectl"])
    return f"{program} --kubeconfig {folder.kubernetes / running.KUBECONFIG} get nodes"
