"""What keeps placed pods from working: images, mounts, containers that cannot start, failures, the driver. Each rule is one function, pure.

Reasons are kubelet's of Kubernetes 1.35: pkg/kubelet/images/types.go, pkg/kubelet/container/sync_result.go, pkg/kubelet/kuberuntime.
"""

from collections.abc import Iterator
from typing import Any

from facts import neuron_releases
from facts.neuron_releases import version_text
from facts.toolchains import TOOLCHAINS, driver_conflict
from facts.typed import typed
from training.entry.own_source import NO_FILE
from training.job import HUNG_EXIT_CODE
from training.launchers.parts import TOOLCHAIN_LABEL
from training.phase import Phase
from trn.kubernetes.situation import Cause, Situation

IMAGE = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable"})
CANNOT_START = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PostStartHookError"})
MOUNT = ("FailedMount", "FailedAttachVolume", "FailedMapVolume")


def image(s: Situation) -> Iterator[Cause]:
    """An image that no registry has, or that may not be pulled."""
    for pod, status, waiting in _waiting(s):
        if waiting.get("reason") in IMAGE:
            said = _line(waiting.get("message", ""))
            if waiting["reason"] == "ImagePullBackOff":
                said = _line(next(iter(s.messages("Failed")), said))
            what = f"{pod} cannot pull the image {status.get('image', '')}: {said or waiting['reason']}"
            yield Cause(
                "image", what, f"correct `image` in the job file, then `{typed(f'trn cancel {s.stack} {s.job.name}')}` and submit it again"
            )
            return


def mount(s: Situation) -> Iterator[Cause]:
    """A volume that the node cannot mount."""
    if not any(waiting.get("reason") in (None, "ContainerCreating", "PodInitializing") for _, _, waiting in _waiting(s)):
        return
    if texts := s.messages(*MOUNT):
        yield Cause(
            "mount",
            f"a volume cannot be mounted: {_line(texts[0])}",
            f"`{typed(f'trn status {s.stack}')}` looks at the file system and its driver",
        )


def container(s: Situation) -> Iterator[Cause]:
    """A container that cannot be made, such as for a ConfigMap or Secret that is not there."""
    for pod, _, waiting in _waiting(s):
        if waiting.get("reason") in CANNOT_START:
            what = f"{pod} cannot start: {_line(waiting.get('message', '')) or waiting['reason']}"
            yield Cause("container", what, f"`kubectl -n {s.job.namespace} describe pod {pod}`")
            return


def driver(s: Situation) -> Iterator[Cause]:
    """A job that fails on nodes whose driver its runtime does not start on."""
    name, nodes = (s.job.item["metadata"].get("labels") or {}).get(TOOLCHAIN_LABEL, ""), s.group_of_nodes
    if name not in TOOLCHAINS or nodes is None or not _has_failed(s):
        return
    try:
        found = neuron_releases.ami_driver(nodes.release_version)
    except ValueError:
        return  # `trn check` reports a release that is none.
    conflict = driver_conflict(TOOLCHAINS[name], found)
    if conflict is not None:
        first, last = TOOLCHAINS[name].ami_dates
        key = "addons.karpenter.amiVersion" if nodes.is_pool else f"{nodes.path}.releaseVersion"
        what = f"{name} does not start on the driver {version_text(found)} of {nodes.name}: {conflict}"
        yield Cause(
            "driver",
            what,
            f"pin `{key}` to an AMI release of {first} or later{f', before {last}' if last else ''}, then `{typed('pulumi up')}`",
        )


def failure(s: Situation) -> Iterator[Cause]:
    """How the first of its containers ended."""
    if not _has_failed(s):
        return
    ended = [(pod["metadata"]["name"], pod.get("status", {}), status) for pod in s.job.pods for status in _statuses(pod)]
    logs = f"`{typed(f'trn logs {s.stack} {s.job.name}')}`"
    failed = [(name, status, end) for name, status, entry in ended for end in _ends(entry) if end.get("exitCode")]
    for name, status, end in sorted(failed, key=lambda entry: str(entry[2].get("finishedAt", ""))):
        code = end["exitCode"]
        if end.get("reason") == "OOMKilled":
            yield Cause(
                "failed", f"{name} was ended for want of memory (OOMKilled)", "smaller batches, or fewer workers on a node; " + logs
            )
        elif code == HUNG_EXIT_CODE:
            yield Cause("failed", f"{name} made no step for `restarts.hangAfter` and was ended (exit code {code})", logs)
        elif said := _line(end.get("message", "")):
            # The entry script left it where Kubernetes keeps it: nothing was started.
            do = f"bring the file along with `source` or `{typed('trn run')}`, or correct `command`; then `{typed(f'trn cancel {s.stack} {s.job.name}')}` and submit it again"
            yield Cause("failed", f"{name} ended with exit code {code}: {said}", do if code == NO_FILE else logs)
        else:
            why = f", {status['reason']}" if status.get("reason") else ""
            yield Cause("failed", f"{name} ended with exit code {code}{why}", logs)
        return
    for pod in s.job.pods:
        if pod.get("status", {}).get("phase") == "Failed":
            status = pod["status"]
            said = _line(status.get("message", ""))
            yield Cause(
                "failed",
                f"{pod['metadata']['name']} failed: {status.get('reason', 'no reason is given')}{f', {said}' if said else ''}",
                logs,
            )
            return
    conditions = (s.job.item.get("status") or {}).get("conditions") or ()
    said = next(
        (entry for entry in reversed(conditions) if entry.get("type") in ("Failed", "FailureTarget") and entry.get("status") == "True"), {}
    )
    text = _line(said.get("message", "")) or said.get("reason", "")
    yield Cause("failed", f"it has failed{f': {text}' if text else ', and its pods are gone'}", logs)


def _has_failed(s: Situation) -> bool:
    return s.job.phase in (Phase.FAILED, Phase.RESTARTING) or any(
        waiting.get("reason") == "CrashLoopBackOff" for _, _, waiting in _waiting(s)
    )


def _statuses(pod: dict[str, Any]) -> list[dict[str, Any]]:
    status = pod.get("status", {})
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def _ends(status: dict[str, Any]) -> list[dict[str, Any]]:
    """The last end of a container, and how the run ended that is over."""
    return [found for key in ("lastState", "state") if (found := (status.get(key) or {}).get("terminated"))]


def _waiting(s: Situation) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Pod, container status and what it waits for, of each container that has not started. One of which kubelet has said nothing has an empty reason."""
    for pod in s.job.pods:
        if "nodeName" not in pod.get("spec", {}):
            continue
        statuses = _statuses(pod)
        if not statuses and pod.get("status", {}).get("phase") == "Pending":
            yield pod["metadata"]["name"], {}, {}
        for status in statuses:
            if waiting := (status.get("state") or {}).get("waiting"):
                yield pod["metadata"]["name"], status, waiting


def _line(text: str) -> str:
    return " ".join(text.split())[:300]
