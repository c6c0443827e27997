"""A cluster in memory that runs what is started in it: places pods as Kubernetes and Volcano do, and lets them go on at each look."""

from collections.abc import Callable
from typing import Any

from addons import volcano
from facts.kubernetes_kinds import Resource
from tests.trn.kubernetes.fake_kubernetes import FakeCluster
from trn.cli.errors import CommandError
from trn.kubernetes import kinds
from trn.kubernetes.client import AlreadyThere, Object
from trn.kubernetes.job_pods import PODS
from trn.kubernetes.kinds import NODES
from trn.running.verify.jobs import TEST_LABEL

LOOKS_TO_RUN, LOOKS_TO_END = 1, 2


class RunningCluster(FakeCluster):
    """Jobs of either kind have pods. What goes wrong is set by the name of the test."""

    def __init__(self) -> None:
        super().__init__()
        self.objects[PODS] = []
        self.logs: dict[str, str] = {}
        self.stays: set[str] = set()
        """Tests, or pods, that run until they are deleted; so do those that only sleep."""
        self.fails: set[str] = set()
        """Tests, or pods, that end with an exit code."""
        self.never_starts: dict[str, str] = {}
        """Tests, or pods, that wait for this reason."""
        self.refuses: str | None = None
        self.on_look: Callable[[int], None] = lambda look: None
        """Called with the number of pod listings so far."""
        self.started: list[Object] = []
        """Every Job that was made, also those that are gone."""
        self.seen: set[tuple[str, str]] = set()
        """Verbs and what they were for: rights that the commands need."""
        self._looks, self._ages = 0, dict[str, int]()

    def create(self, resource: Resource, namespace: str, body: Object) -> None:
        """As before."""
        self._note("create", resource)
        super().create(resource, namespace, body)

    def make(self, resource: Resource, namespace: str, body: Object) -> Object:
        """Pods for a job; anything else as before. A job or pod of an earlier run has its name until it is gone."""
        self._note("create", resource)
        if resource not in (kinds.JOBS, volcano.JOBS, PODS):
            return super().make(resource, namespace, body)
        if self.refuses:
            raise CommandError(self.refuses)
        name = body["metadata"]["name"]
        if name in [item["metadata"]["name"] for item in self.objects[resource]]:
            raise AlreadyThere(f"409 Conflict: {name}")
        self.log.append(f"create {resource.kind} {name}")
        self.started.append(body)
        if resource == PODS:
            self._place([{**_made(body), "spec": dict(body["spec"]), "status": {"phase": "Pending"}}], gang=False)
        else:
            self.objects[resource].append(_made(body))
            self._place(_pods_of(body), gang=resource == volcano.JOBS)
        return _made(body)

    def apply(self, resource: Resource, namespace: str, body: Object, *, dry_run: bool = False) -> Object:
        """As before. The server wants both rights of whoever may make an object in this way (Kubernetes, server-side apply)."""
        self._note("create", resource)
        self._note("patch", resource)
        return super().apply(resource, namespace, body, dry_run=dry_run)

    def delete(
        self, resource: Resource, name: str, namespace: str = "", *, uid: str = "", version: str = "", grace_s: int | None = None
    ) -> None:
        """As before."""
        self._note("delete", resource)
        super().delete(resource, name, namespace, uid=uid, grace_s=grace_s)

    def patch(self, resource: Resource, name: str, namespace: str, body: Object) -> None:
        """As before."""
        self._note("patch", resource)
        super().patch(resource, name, namespace, body)

    def read(self, path: str) -> "Object | None":
        """As before."""
        self.seen.add(("get", path))
        return super().read(path)

    def list(self, resource: Resource, *, namespace: str = "", label: str = "") -> "list[Object] | None":
        """A look at pods lets them go on; those of a job that is gone are gone."""
        self._note("list", resource)
        if resource == PODS:
            self._looks += 1
            self.on_look(self._looks)
            jobs = {item["metadata"]["name"] for kind in (kinds.JOBS, volcano.JOBS) for item in self.objects.get(kind, ())}
            self.objects[PODS] = [pod for pod in self.objects[PODS] if pod["metadata"].get("owner", "") in ("", *jobs)]
            for pod in self.objects[PODS]:
                if _test(pod):
                    self._go_on(pod)
        return super().list(resource, namespace=namespace, label=label)

    def text(self, path: str, *, timeout_s: float = 30) -> str | None:
        """The log of a pod."""
        self.seen.add(("get", path))
        name = path.split("/pods/")[-1].split("/")[0]
        pod = next((item for item in self.objects[PODS] if item["metadata"]["name"] == name), None)
        if pod is None or not _test(pod):
            return super().text(path, timeout_s=timeout_s)
        return self.logs.get(name, self.logs.get(_test(pod), ""))

    def _note(self, verb: str, resource: Resource) -> None:
        self.seen.add((verb, f"{resource.path}/{resource.plural}"))

    def _go_on(self, pod: Object) -> None:
        name, test = pod["metadata"]["name"], _test(pod)
        reason = self.never_starts.get(name, self.never_starts.get(test))
        if pod["spec"].get("nodeName") is None:
            return
        if reason:
            pod["status"] = {"phase": "Pending", "containerStatuses": [{"name": "work", "state": {"waiting": {"reason": reason}}}]}
            return
        self._ages[name] = self._ages.get(name, 0) + 1
        if self._ages[name] > LOOKS_TO_END and {name, test} & self.fails:
            ended = {"name": "work", "state": {"terminated": {"exitCode": 1}}}
            pod["status"] = {"phase": "Failed", "containerStatuses": [ended]}
        elif self._ages[name] > LOOKS_TO_END and not {name, test} & self.stays and pod["spec"]["containers"][0]["command"][0] != "sleep":
            pod["status"] = {"phase": "Succeeded"}
        elif self._ages[name] > LOOKS_TO_RUN:
            pod["status"] = {"phase": "Running"}

    def _place(self, pods: "list[Object]", *, gang: bool) -> None:
        """All or none of a gang; else each that fits."""
        placed = list[Object]()
        for pod in pods:
            self.objects[PODS].append(pod)
            node = next((entry["metadata"]["name"] for entry in self.objects[NODES] if not self.misfits(pod, entry)), None)
            if node is not None:
                pod["spec"]["nodeName"] = node
                placed.append(pod)
            else:
                condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}
                pod["status"] = {"phase": "Pending", "conditions": [condition]}
        if gang and len(placed) < len(pods):
            for pod in placed:
                del pod["spec"]["nodeName"]

    def misfits(self, pod: Object, node: Object) -> "list[str]":
        """Why the scheduler would not put a pod on a node: taints, selectors, affinity, devices in use."""
        spec, labels = pod["spec"], node["metadata"]["labels"]
        found = [taint["key"] for taint in node.get("spec", {}).get("taints", ()) if not _tolerates(spec["tolerations"], taint)]
        affinity = spec.get("affinity", {})
        within = affinity.get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", {}).get("nodeSelectorTerms", ())
        for term in within:
            found += [item["key"] for item in term["matchExpressions"] if labels.get(item["key"]) not in item["values"]]
        there = [other for other in self.objects[PODS] if other["spec"].get("nodeName") == node["metadata"]["name"]]
        for term in affinity.get("podAntiAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution", ()):
            wanted = term["labelSelector"]["matchLabels"].items()
            found += [other["metadata"]["name"] for other in there if wanted <= other["metadata"].get("labels", {}).items()]
        offered = node.get("status", {}).get("allocatable", {})
        for key, count in _devices(pod).items():
            used = sum(_devices(other).get(key, 0) for other in there)
            found += [key] if int(offered.get(key, 0)) - used < count else []
        return found


def _made(body: Object) -> Object:
    """As the API server keeps it."""
    return {**body, "metadata": {**body["metadata"], "uid": f"uid-{body['metadata']['name']}"}}


def _test(pod: Object) -> str:
    return str(pod["metadata"].get("labels", {}).get(TEST_LABEL, ""))


def _devices(pod: Object) -> dict[str, int]:
    limits: dict[str, Any] = pod["spec"]["containers"][0].get("resources", {}).get("limits") or {}
    return {key: int(count) for key, count in limits.items() if "/" in key}


def _tolerates(tolerations: "list[Object]", taint: Object) -> bool:
    return any(item["key"] == taint["key"] and item["effect"] == taint["effect"] and item["operator"] == "Exists" for item in tolerations)


def _pods_of(body: Object) -> "list[Object]":
    """Pods of a Job as its controller names them."""
    name, namespace, spec = body["metadata"]["name"], body["metadata"]["namespace"], body["spec"]
    if "tasks" in spec:
        parts = [(f"{name}-{task['name']}-{number}", task["template"]) for task in spec["tasks"] for number in range(task["replicas"])]
    else:
        parts = [(f"{name}-{number}", spec["template"]) for number in range(spec["completions"])]
    return [
        {
            "metadata": {
                "name": pod, "namespace": namespace, "uid": f"uid-{pod}", "labels": dict(template["metadata"]["labels"]), "owner": name,
            },
            "spec": dict(template["spec"]),
            "status": {"phase": "Pending"},
        }
        for pod, template in parts
    ]  # fmt: skip
