"""What tests of the process kubelet ask the API server again and again."""

import json
from collections.abc import Callable

from local_kubernetes.api import Api, Object, wait


def over(api: Api, pod: Object) -> Object:
    """The pod's object once it has ended."""
    return phase(api, pod, "Succeeded", "Failed")


def phase(api: Api, pod: Object, *phases: str) -> Object:
    """The pod's object once it is in one of these phases."""

    def found() -> Object | None:
        item = api.get(pod)
        return item.body if item.status == 200 and item.body["status"]["phase"] in phases else None

    return wait(found, f"{pod['metadata']['name']} is {' or '.join(phases)}")


def history(api: Api, created: Object) -> list[Object]:
    """All that a pod has been since it was created, one after the other: a state of half a second is missed by who looks now and then.

    `created`: the API server's answer to its creation.
    """
    about = created["metadata"]
    asked = {
        "watch": "1",
        "timeoutSeconds": "1",
        "resourceVersion": about["resourceVersion"],
        "fieldSelector": f"metadata.name={about['name']}",
    }
    answer = api.call("GET", f"/api/v1/namespaces/{about['namespace']}/pods", **asked).ok()
    # Several lines are no JSON, a single one is.
    events = [json.loads(line) for line in answer["text"].splitlines()] if "text" in answer else [answer]
    return [event["object"] for event in events if event.get("type") in ("ADDED", "MODIFIED")]


def status_of(pod: Object, container: str = "main") -> Object:
    """The status of one of its containers."""
    both = (*pod["status"].get("containerStatuses", ()), *pod["status"].get("initContainerStatuses", ()))
    return next(each for each in both if each["name"] == container)


def container(api: Api, pod: Object, is_so: Callable[[Object], bool], what: str, name: str = "main") -> Object:
    """The status of a container once it is so."""

    def found() -> Object | None:
        item = api.get(pod).ok()
        if not (item["status"].get("containerStatuses") or item["status"].get("initContainerStatuses")):
            return None
        return each if is_so(each := status_of(item, name)) else None

    return wait(found, what)


def log(api: Api, pod: Object, **query: str) -> str:
    """What `kubectl logs` prints."""
    answer = api.call("GET", f"{api.path(pod)}/{pod['metadata']['name']}/log", **query)
    assert answer.status == 200, answer.body
    return answer.body.get("text") or str(answer.body.get("value", ""))


def pods_of(api: Api, namespace: str, label: str) -> list[Object]:
    """Pods with a label, by name."""
    items = api.items(f"/api/v1/namespaces/{namespace}/pods", labelSelector=label)
    items = [{"apiVersion": "v1", "kind": "Pod", **item} for item in items]
    return sorted(items, key=lambda each: each["metadata"]["name"])
