"""An id for each start of a gang, on which all its nodes agree by etcd.

One of the files that every pod has under /trn: standard library only, Python 3.9 or later. torchrun closes its run id in etcd when a gang
ends, for the two hours that the key lives (torch distributed/elastic/rendezvous/etcd_rendezvous.py, mark_rendezvous_closed): the job's name
alone, used again at a restart or by another job of the name, would let nobody join.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any

from launcher_variables import EntryError

LIFE_S = 7200
"""Of the key in etcd, after its last change."""
POLL_S = 0.5
LIMIT_S = 1800
"""Longest wait for the other nodes: an image takes minutes to be pulled."""


class Store:
    """One key of etcd's v2 API, which is what torchrun's etcd backend needs as well."""

    def __init__(self, endpoint: str, job: str) -> None:
        """`endpoint`: host and port."""
        self.url = f"http://{endpoint}/v2/keys/trn/{urllib.parse.quote(job, safe='')}"

    def read(self) -> tuple[dict[str, Any], int]:
        """The value, and the index of its last change; an empty value and 0 where there is none."""
        try:
            with urllib.request.urlopen(self.url, timeout=10) as answer:
                node = json.load(answer)["node"]
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            return {}, 0
        return json.loads(node["value"]), int(node["modifiedIndex"])

    def write(self, value: dict[str, Any], index: int) -> bool:
        """Writes where nobody has changed it since `index`; gives whether it did."""
        since = {"prevIndex": index} if index else {"prevExist": "false"}
        form = urllib.parse.urlencode({"value": json.dumps(value), "ttl": LIFE_S, **since})
        try:
            urllib.request.urlopen(urllib.request.Request(self.url, form.encode(), method="PUT"), timeout=10).close()
        except urllib.error.HTTPError as error:
            # 412: somebody was first. 404: the key has expired meanwhile.
            if error.code in (404, 412):
                return False
            raise
        return True


def joined(said: dict[str, Any], rank: int, count: int, own: str, fresh: str) -> dict[str, Any] | None:
    """What node `rank` writes after it has read `said`; None where nothing is to be written.

    `own`: mark of this process. `fresh`: id of the gang that it begins where the one that is there is not of this start: it has this rank
    already, from an earlier start, or has other nodes. A gang whose nodes have all joined is confirmed by each of them: one that joined
    and is gone confirms nothing, and its next start begins another gang.
    """
    members = said.get("members", {})
    if said.get("nodes") != count or members.get(str(rank), own) != own:
        return {"id": fresh, "nodes": count, "members": {str(rank): own}, "confirmed": []}
    if str(rank) not in members:
        return {**said, "members": {**members, str(rank): own}}
    if len(members) == count and rank not in said["confirmed"]:
        return {**said, "confirmed": sorted([*said["confirmed"], rank])}
    return None


def agree(endpoint: str, job: str, rank: int, count: int) -> str:
    """The id, when all nodes have joined; raises EntryError where they do not, or etcd does not answer."""
    store, own, fresh = Store(endpoint, job), uuid.uuid4().hex, uuid.uuid4().hex[:12]
    until, wrong = time.monotonic() + LIMIT_S, ""
    while time.monotonic() < until:
        try:
            said, index = store.read()
            change = joined(said, rank, count, own, fresh)
            if change is None and len(said["confirmed"]) == count:
                return f"{job}-{said['id']}"
            wrong = f"{len(said.get('members', ()))} of {count} nodes have joined"
            if change is not None and store.write(change, index):
                continue
        except (OSError, ValueError, KeyError) as error:
            wrong = f"{endpoint} does not answer as etcd's v2 API does: {error}"
        time.sleep(POLL_S)
    raise EntryError(f"the nodes did not meet by etcd within {LIMIT_S} seconds: {wrong}")
