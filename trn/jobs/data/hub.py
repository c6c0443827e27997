"""Files of a Hugging Face repository, at one commit, with addresses at which a pod can read them.

Source: Hub API endpoints (huggingface.co/docs/hub/api), as huggingface_hub 2.4.0 uses them: hf_api.py, dataset_info, model_info and
list_repo_tree; utils/_pagination.py; constants.py, HUGGINGFACE_CO_URL_TEMPLATE.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote

from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from trn.cli.errors import CommandError
from trn.jobs.data.source import SourceFile

HUB = "https://huggingface.co"
TOKEN = "HF_TOKEN"
"""Variable with the caller's own token, for what is not public."""
_NEXT = re.compile(r'<([^>]+)>\s*;\s*rel="next"')


@dataclass(frozen=True)
class Repository:
    """One data set or model."""

    kind: Literal["datasets", "models"]
    id: str
    """OWNER/NAME."""
    pool: PoolManager
    token: str = ""

    @property
    def page(self) -> str:
        """Where a person reads about it, and where its files are."""
        return f"{HUB}/{'datasets/' if self.kind == 'datasets' else ''}{self.id}"

    def commit(self, revision: str) -> str:
        """The commit that a branch or a tag is at. Raises CommandError where there is none, and for what asks for a token that is not there."""
        found, _ = self._ask(f"{HUB}/api/{self.kind}/{self.id}/revision/{quote(revision, safe='')}", f" at `{revision}`")
        if found.get("gated") and not self.token:
            raise CommandError(
                f"{self.page} is for those who accepted its terms", f"accept them there, then set {TOKEN} to a token of yours"
            )
        return str(found["sha"])

    def files(self, commit: str) -> Iterator[SourceFile]:
        """All files of a commit. Those in large file storage have their SHA-256."""
        url: str | None = f"{HUB}/api/{self.kind}/{self.id}/tree/{commit}?recursive=true"
        while url is not None:
            found, url = self._ask(url)
            yield from (self._file(entry, commit) for entry in found if entry["type"] == "file")

    def _file(self, entry: dict[str, Any], commit: str) -> SourceFile:
        name, sum_ = entry["path"], (entry.get("lfs") or {}).get("oid") or ""
        return SourceFile(name, self.address(name, commit), int(entry["size"]), sha256=sum_, token=self.token)

    def address(self, name: str, commit: str) -> str:
        """Of one file."""
        return f"{self.page}/resolve/{commit}/{quote(name)}"

    def _ask(self, url: str, where: str = "") -> tuple[Any, str | None]:
        """The answer, and the address of the next page."""
        headers = {"Accept": "application/json", **({"Authorization": f"Bearer {self.token}"} if self.token else {})}
        try:
            answer = self.pool.request("GET", url, headers=headers)
        except HTTPError as error:
            raise CommandError(f"Hugging Face does not answer: {error}", "a set that is in S3 needs no Hugging Face") from error
        if answer.status in (401, 403, 404):
            wrong = f"Hugging Face has no {'data set' if self.kind == 'datasets' else 'model'} {self.id}{where}, or not for everyone"
            raise CommandError(f"{wrong} (HTTP {answer.status})", f"look at {self.page}; what is private needs {TOKEN}, a token of yours")
        if answer.status != 200:
            raise CommandError(f"Hugging Face answers {answer.status} for {url}", "try again in a minute")
        following = _NEXT.search(answer.headers.get("Link") or "")
        return json.loads(answer.data), following[1] if following else None
