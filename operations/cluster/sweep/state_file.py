"""A state in a file, beside the one that the backend has today: the file may be an old one, and know nothing of what was made since."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operations.cluster_identity import moment
from operations.errors import OwnershipError
from operations.ownership import StackCluster
from operations.pulumi import Pulumi
from operations.stack_state import MAX_BYTES, ROOT_TYPE, parse_state
from operations.text_files import read_text

_HINT = "leave --state out: today's state is read from the backend, which answers"


@dataclass(frozen=True)
class Version:
    """One state of one stack. Pulumi numbers neither: a lineage has its own key, or its own first run; a serial is a time and a digest."""

    lineage: str
    """How its secrets are encrypted, and when its first run began; empty where it says neither."""
    written_at: str
    """UTC, to the second; empty where it does not say."""
    digest: str
    """Of what it holds."""


def version_of(export: Mapping[str, Any]) -> Version:
    """The version of what `pulumi stack export` printed."""
    deployment = export["deployment"]
    resources = deployment.get("resources") or []
    root = next((each for each in resources if each.get("type") == ROOT_TYPE), {})
    key = (deployment.get("secrets_providers") or {}).get("state") or {}
    born = {name: value for name, value in {**key, "created": root.get("created")}.items() if value}
    held = sorted((each["urn"], each.get("id") or "", each.get("type") or "", bool(each.get("delete"))) for each in resources)
    digest = hashlib.sha256(_text([held, deployment.get("pending_operations") or []]).encode()).hexdigest()
    return Version(_text(born) if born else "", moment((deployment.get("manifest") or {}).get("time")), digest)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


@dataclass(frozen=True)
class Today:
    """What is known of a stack today, where it was read from a file."""

    ids: frozenset[str] = frozenset()
    """What the backend's state holds."""
    unknown_since: str | None = None
    """Time of the file, where the backend does not say what it holds."""


def ask_today(pulumi: Pulumi, subject: StackCluster, path: Path) -> Today:
    """The backend's state beside that of a file, which was read as this stack's before. Raises OwnershipError where it is not the same, or a newer one."""
    given = version_of(json.loads(read_text(path, MAX_BYTES, _HINT, too_large=_HINT)))
    code, printed = pulumi.ask(("pulumi", "stack", "export", "--stack", subject.stack))
    try:
        export = json.loads(printed) if code == 0 else None
        now = version_of(export) if export is not None else None
        ids = parse_state(export, subject.cluster).ids if export is not None else frozenset[str]()
    except (ValueError, KeyError, TypeError, AttributeError):
        now, ids = None, frozenset[str]()
    if now is None:
        return Today(unknown_since=given.written_at)
    if given.lineage != now.lineage and given.lineage and now.lineage:
        raise OwnershipError(f"`{path}` is the state of another stack of this name than the one that Pulumi's backend has", _HINT)
    if given.digest != now.digest and not (now.written_at and given.written_at > now.written_at):
        written = f" of {given.written_at}" if given.written_at else ""
        raise OwnershipError(f"`{path}` is an old state{written}: Pulumi's backend has another{_of(now)}", _HINT)
    return Today(ids)


def _of(version: Version) -> str:
    return f", of {version.written_at}" if version.written_at else ""
