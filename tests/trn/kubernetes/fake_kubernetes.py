"""A cluster in memory: objects by kind, some of which take a while to go."""

from typing import Any

from addons import karpenter, slurm, volcano
from facts.kubernetes_kinds import Resource
from trn.cli.errors import CommandError
from trn.kubernetes import kinds
from trn.kubernetes.client import AlreadyThere, Conflict, Object


class FakeCluster:
    """Holds objects by resource; a resource that is not a key is not installed."""

    def __init__(self, lag: int = 1) -> None:
        self.objects: dict[Resource, list[Object]] = {kind.resource: [] for kind in kinds.KINDS} | {kinds.STATEFUL_SETS: []}
        self.log: list[str] = []
        self.stuck: set[str] = set()
        """Names that a finalizer holds."""
        self.refusals: dict[str, list[Exception]] = {}
        """Raised instead of acting on a name, first to last."""
        self.texts: dict[str, str] = {}
        self.served: dict[str, Object] = {}
        """What the API serves at a path."""
        self._lag, self._going = lag, dict[tuple[Resource, str, str], int]()

    def put(self, resource: Resource, name: str, namespace: str = "training", **entry: Any) -> None:
        """One more object."""
        metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}", **entry.pop("metadata", {})}
        self.objects[resource].append({"metadata": metadata, "spec": entry.pop("spec", {}), **entry})

    def list(self, resource: Resource, *, namespace: str = "", label: str = "") -> "list[Object] | None":
        """What is there; what is going is one look nearer to its end."""
        if resource not in self.objects:
            return None
        for key in [key for key in self._going if key[0] == resource]:
            self._going[key] -= 1
            if self._going[key] < 0:
                del self._going[key]
                self._end(resource, key[1], key[2])
        if resource == karpenter.NODE_CLAIMS and not self.objects.get(karpenter.NODE_POOLS):
            self.objects[resource] = []
        found = [item for item in self.objects[resource] if namespace in ("", item["metadata"].get("namespace"))]
        key, _, value = label.partition("=")
        return [item for item in found if not label or item["metadata"].get("labels", {}).get(key) == value]

    def _end(self, resource: Resource, name: str, uid: str) -> None:
        """What it owns goes with it; what is somebody's else is made anew."""
        item = next((item for item in self.objects[resource] if (item["metadata"]["name"], item["metadata"]["uid"]) == (name, uid)), None)
        if item is None:
            return
        owners = {reference.get("uid", "none") for reference in item["metadata"].get("ownerReferences", ())}
        if owners & {other["metadata"].get("uid") for others in self.objects.values() for other in others}:
            item["metadata"]["uid"] += "-again"
            return
        self.objects[resource].remove(item)
        for other_resource, others in self.objects.items():
            for other in list(others):
                if item["metadata"]["uid"] in {reference.get("uid") for reference in other["metadata"].get("ownerReferences", ())}:
                    self._end(other_resource, other["metadata"]["name"], other["metadata"]["uid"])

    def read(self, path: str) -> "Object | None":
        """What is served there."""
        return self.served.get(path)

    def text(self, path: str, *, timeout_s: float = 30) -> str | None:
        """What is served there, as it is."""
        return self.texts.get(path)

    def delete(
        self, resource: Resource, name: str, namespace: str = "", *, uid: str = "", version: str = "", grace_s: int | None = None
    ) -> None:
        """Starts to go, unless a finalizer holds it; refused where another one has the name by now."""
        self._refuse(name)
        there = next((item["metadata"]["uid"] for item in self.objects.get(resource, ()) if item["metadata"]["name"] == name), uid)
        if uid and there != uid:
            raise Conflict(f"409 Conflict: the UID in the precondition ({uid}) does not match the UID in record ({there})")
        self.log.append(f"delete {resource.kind} {name}" + ("" if grace_s is None else f" in {grace_s} s"))
        self.served.pop(f"{resource.path}/namespaces/{namespace}/{resource.plural}/{name}", None)
        if name not in self.stuck:
            self._going.setdefault((resource, name, there), self._lag)

    def _refuse(self, name: str) -> None:
        if self.refusals.get(name):
            raise self.refusals[name].pop(0)

    def patch(self, resource: Resource, name: str, namespace: str, body: Object) -> None:
        """Slurm's operator ends as many pods as are too many. Refused where another one has the name by now."""
        self._refuse(name)
        there = [item["metadata"]["uid"] for item in self.objects[resource] if item["metadata"]["name"] == name]
        uid = body.get("metadata", {}).get("uid", "")
        if uid and [uid] != there:
            raise CommandError(f"409 Conflict: {there} is there")
        self.log.append(f"patch {resource.kind} {name} {body['spec']}")
        for item in self.objects[resource]:
            if item["metadata"]["name"] == name:
                item["spec"] |= body["spec"]
                if resource == slurm.NODE_SETS and name not in self.stuck:
                    item["status"] = {"replicas": body["spec"]["replicas"]}

    def make(self, resource: Resource, namespace: str, body: Object) -> Object:
        """Kept under its path, where nothing is yet."""
        name = body["metadata"]["name"]
        self._refuse(f"{resource.kind} {name}")
        path = f"{resource.path}/namespaces/{namespace}/{resource.plural}/{name}"
        if path in self.served:
            raise AlreadyThere(f"409 Conflict (POST {path})")
        self.log.append(f"make {resource.kind} {name}")
        self.served[path] = {**body, "metadata": {**body["metadata"], "uid": f"uid-{name}", "resourceVersion": "1"}}
        return self.served[path]

    def apply(self, resource: Resource, namespace: str, body: Object, *, dry_run: bool = False) -> Object:
        """Kept under its path, unless it is only judged."""
        name = body["metadata"]["name"]
        self.log.append(f"{'judge' if dry_run else 'apply'} {resource.kind} {name}")
        if not dry_run:
            self._refuse(f"{resource.kind} {name}")
        kept = {**body, "metadata": {**body["metadata"], "uid": f"uid-{name}"}}
        if not dry_run:
            self.served[f"{resource.path}/namespaces/{namespace}/{resource.plural}/{name}"] = kept
        return kept

    def create(self, resource: Resource, namespace: str, body: Object) -> None:
        """Volcano acts on its commands."""
        self._refuse(body["target"]["name"])
        self.log.append(f"{body['action']} {body['target']['name']}")
        for queue in self.objects[volcano.QUEUES]:
            if queue["metadata"]["name"] == body["target"]["name"]:
                queue["status"] = {"state": "Closed"}


def busy(cluster: FakeCluster | None = None) -> FakeCluster:
    """A cluster at work."""
    cluster = cluster or FakeCluster()
    for name in ("default", "root", "training", "test"):
        cluster.put(volcano.QUEUES, name, "", status={"state": "Open"})
    cluster.put(volcano.JOBS, "bert")
    cluster.put(kinds.JOBS, "prepare")
    cluster.put(kinds.JOBS, "volcano-admission-init", "volcano-system")
    cluster.put(kinds.JOBS, "of-a-cron-job", metadata={"ownerReferences": [{"kind": "CronJob"}]})
    cluster.put(kinds.SERVICES, "tensorboard", spec={"type": "LoadBalancer"})
    cluster.put(kinds.SERVICES, "etcd-server", spec={"type": "ClusterIP"})
    cluster.put(kinds.INGRESSES, "grafana")
    cluster.put(kinds.CLAIMS, "scratch", spec={"storageClassName": "fsx-lustre"})
    cluster.put(kinds.CLAIMS, "fsx-claim", spec={"storageClassName": ""})
    cluster.put(kinds.CLAIMS, "data-etcd-0", spec={"storageClassName": "gp3"})
    cluster.put(kinds.STATEFUL_SETS, "etcd", spec={"replicas": 1, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]})
    cluster.put(karpenter.NODE_POOLS, "trn", "")
    cluster.put(karpenter.NODE_CLAIMS, "trn-abc", "")
    return cluster
