"""Kubernetes' garbage collector learns of kinds every 30 s (kubernetes/kubernetes:cmd/kube-controller-manager/app/core.go, `Sync`)."""

from local_kubernetes.api import Api, Object, wait
from local_kubernetes.crds import install, made

GROUP, KIND, PLURAL = "trn.test", "Orphan", "orphans"


def wait_until_it_knows_all_kinds(api: Api, namespace: str) -> None:
    """Returns when it collects objects of every kind that is served at the call.

    Before that an operator makes the pods of a deleted job anew: what the job owned, and they belong to, is still there.
    """
    definition = made(f"{PLURAL}.{GROUP}", f"{GROUP}/{KIND}")
    install(api, [definition])
    # Its owner is not there: it goes when its kind, the newest one, is looked at for the first time.
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "none", "uid": "00000000-0000-4000-8000-000000000000"}
    metadata = {"name": "orphan", "namespace": namespace, "ownerReferences": [owner]}
    orphan: Object = {"apiVersion": f"{GROUP}/v1", "kind": KIND, "metadata": metadata}
    api.create(orphan).ok()
    wait(lambda: not api.exists(orphan), "the garbage collector knows the newest kind")
    api.delete(definition, foreground=False)
