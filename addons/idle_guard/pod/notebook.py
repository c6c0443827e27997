"""What the guard keeps from look to look: of each group, and messages that were not sent."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .decision import Memory
from .kubernetes import ApiError, Kubernetes

MOST_UNSENT = 20
"""Messages that are kept; of more the oldest are lost. An object of Kubernetes has at most a megabyte."""


@dataclass(frozen=True)
class Message:
    """One that was not sent."""

    subject: str
    text: str


class Notebook:
    """The guard's memory: a ConfigMap that only one guard can write at a time."""

    def __init__(self, api: Kubernetes, namespace: str, name: str) -> None:
        self._api, self._name = api, name
        self._path = f"/api/v1/namespaces/{namespace}/configmaps"
        self._found: dict[str, Any] | None = None
        self.unsent: tuple[Message, ...] = ()
        """The oldest first; written with the rest."""

    def read(self) -> dict[str, Memory]:
        """What was kept; nothing where there is none, or what is there cannot be read. Raises ApiError."""
        try:
            self._found = self._api.call(f"{self._path}/{self._name}")
        except ApiError as error:
            if error.code != 404:
                raise
            self._found = None
            return {}
        data = self._found.get("data") or {}
        try:
            self.unsent = tuple(Message(str(each["subject"]), str(each["text"])) for each in json.loads(data.get("unsent", "[]")))
        except (ValueError, TypeError, KeyError):
            self.unsent = ()
        try:
            kept = json.loads(data.get("groups", "{}"))
            return {name: _memory(entry) for name, entry in kept.items()}
        except (ValueError, TypeError, AttributeError):
            return {}

    def write(self, memory: Mapping[str, Memory], unsent: Sequence[Message] | None = None) -> None:
        """Keep it. `unsent`: in place of those that are kept. Raises ApiError with 409 where another guard has written since `read`."""
        if unsent is not None:
            self.unsent = tuple(unsent[-MOST_UNSENT:])
        data = {
            "groups": json.dumps({name: asdict(entry) for name, entry in sorted(memory.items())}),
            "unsent": json.dumps([asdict(message) for message in self.unsent]),
        }
        if self._found is None:
            made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": self._name}, "data": data}
            self._found = self._api.call(self._path, "POST", made)
        else:
            # With its resourceVersion: the API server refuses a second writer.
            self._found = self._api.call(f"{self._path}/{self._name}", "PUT", {**self._found, "data": data})


def _memory(entry: Mapping[str, Any]) -> Memory:
    """One group's, with numbers that can be reckoned with. Raises ValueError and TypeError for what no guard has written."""
    found = Memory(**entry)
    for number in (found.used, *(each for each in (found.told, found.desired, found.looked) if each is not None)):
        # JSON of Python has NaN, before which nothing is recent.
        if not math.isfinite(number):
            raise ValueError(number)
    return found
