"""What each volume of a pod becomes on disk: a folder, memory, the folder of a claim, or files with their content. Pure: nothing is written here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.kubernetes.kubelet import fields
from tests.kubernetes.kubelet.environment import MissingReference
from tests.kubernetes.kubelet.pods import Object

FILE_MODE = 0o644


@dataclass(frozen=True)
class Folder:
    """An empty folder of the pod: emptyDir."""


@dataclass(frozen=True)
class Memory:
    """A tmpfs that the pod's containers share: emptyDir with medium Memory."""

    size_bytes: int | None
    """None: half of the machine's memory, as tmpfs does it."""


@dataclass(frozen=True)
class Claim:
    """The folder of a claim, shared by all pods that name it, on whichever node: the stand-in for FSx for Lustre."""

    name: str


@dataclass(frozen=True)
class Files:
    """Files with their content and mode, by path under the volume."""

    content: Mapping[str, tuple[bytes, int]] = field(default_factory=dict)


Volume = Folder | Memory | Claim | Files


class Refused(Exception):
    """A kind of volume that a process on this machine shall not or cannot have."""


@dataclass(frozen=True)
class Sources:
    """Where the content of files comes from."""

    read: Callable[[str, str], Mapping[str, bytes] | None]
    """Keys of (configmap or secret, name) in the pod's namespace; None for an object that is not there."""
    token: Callable[[str, int], str]
    """A token of the pod's service account for (audience, seconds of life)."""
    addresses: Mapping[str, str]
    allocatable: Mapping[str, str] = field(default_factory=dict)


def check_volumes(pod: Object) -> None:
    """Raises Refused for the first volume that cannot be had here, before anything of the pod is started."""
    known = {"emptyDir", "configMap", "secret", "projected", "downwardAPI", "persistentVolumeClaim", "ephemeral"}
    for volume in pod["spec"].get("volumes") or ():
        kinds = set(volume) - {"name"}
        if not kinds <= known:
            raise Refused(
                f"volume {volume['name']}: the process kubelet has no {', '.join(sorted(kinds - known))}; it has {', '.join(sorted(known))}"
            )


def claim_name(pod: Object, volume: Object) -> str | None:
    """The claim behind a volume; a generic ephemeral volume has one of the pod's own. None for other kinds."""
    if "persistentVolumeClaim" in volume:
        return volume["persistentVolumeClaim"]["claimName"]
    return f"{pod['metadata']['name']}-{volume['name']}" if "ephemeral" in volume else None


def plan_volumes(pod: Object, sources: Sources) -> dict[str, Volume]:
    """Every volume of the pod by name. Raises Refused, MissingReference (to be tried again: the object may come)."""
    check_volumes(pod)
    return {volume["name"]: _plan(pod, volume, sources) for volume in pod["spec"].get("volumes") or ()}


def _plan(pod: Object, volume: Object, sources: Sources) -> Volume:
    if claim := claim_name(pod, volume):
        return Claim(claim)
    if "configMap" in volume:
        return Files(_objects_files("configmap", volume["configMap"], volume["configMap"].get("name", ""), sources))
    if "secret" in volume:
        return Files(_objects_files("secret", volume["secret"], volume["secret"]["secretName"], sources))
    if "downwardAPI" in volume:
        return Files(_downward_files(pod, volume["downwardAPI"], volume["downwardAPI"].get("defaultMode"), sources))
    if "projected" in volume:
        return Files(_projected_files(pod, volume["projected"], sources))
    empty = volume.get("emptyDir") or {}
    if empty.get("medium") == "Memory":
        size = empty.get("sizeLimit")
        return Memory(int(fields.parse_quantity(size)) if size else None)
    return Folder()


def _objects_files(kind: str, source: Object, name: str, sources: Sources, default_mode: int | None = None) -> dict[str, tuple[bytes, int]]:
    """Keys of a ConfigMap or Secret as files: all, or those that `items` names."""
    mode = source.get("defaultMode") or default_mode or FILE_MODE
    found = sources.read(kind, name)
    if found is None:
        if source.get("optional"):
            return {}
        raise MissingReference(f'{kind} "{name}" not found')
    items = source.get("items")
    if not items:
        return {key: (content, mode) for key, content in found.items()}
    missing = [item["key"] for item in items if item["key"] not in found]
    if missing and not source.get("optional"):
        raise MissingReference(f"references non-existent {kind} key: {missing[0]}")
    return {item["path"]: (found[item["key"]], item.get("mode") or mode) for item in items if item["key"] in found}


def _downward_files(pod: Object, source: Object, default_mode: int | None, sources: Sources) -> dict[str, tuple[bytes, int]]:
    """What the pod says about itself, a file for each item."""
    files: dict[str, tuple[bytes, int]] = {}
    for item in source.get("items") or ():
        if "fieldRef" in item:
            text = fields.field(pod, item["fieldRef"]["fieldPath"], sources.addresses)
        else:
            wanted = item["resourceFieldRef"]
            container = next(each for each in pod["spec"]["containers"] if each["name"] == wanted["containerName"])
            text = fields.resource(container, wanted["resource"], wanted.get("divisor"), sources.allocatable)
        files[item["path"]] = (text.encode(), item.get("mode") or default_mode or FILE_MODE)
    return files


def _projected_files(pod: Object, projected: Object, sources: Sources) -> dict[str, tuple[bytes, int]]:
    """Several sources in one folder; the later wins."""
    mode = projected.get("defaultMode")
    files: dict[str, tuple[bytes, int]] = {}
    for source in projected.get("sources") or ():
        if "configMap" in source:
            files |= _objects_files("configmap", source["configMap"], source["configMap"].get("name", ""), sources, mode)
        elif "secret" in source:
            files |= _objects_files("secret", source["secret"], source["secret"].get("name", ""), sources, mode)
        elif "downwardAPI" in source:
            files |= _downward_files(pod, source["downwardAPI"], mode, sources)
        elif "serviceAccountToken" in source:
            wanted = source["serviceAccountToken"]
            token = sources.token(wanted.get("audience", ""), wanted.get("expirationSeconds", 3600))
            files[wanted["path"]] = (token.encode(), mode or FILE_MODE)
        else:
            raise Refused(f"a projected volume of the process kubelet has no {', '.join(source)}")
    return files
