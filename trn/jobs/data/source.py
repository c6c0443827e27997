"""The files of a data set, with addresses at which a pod without any right of its own can read them."""

import gzip
import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from facts import text_formats
from trn.aws.api import Api
from trn.aws.repository import address, objects
from trn.cli.errors import MISUSE, CommandError

ADDRESS_LIFE_S = 12 * 3600
"""S3 takes up to 7 days; an address made with a role's login ends with that login (S3 user guide, presigned URLs)."""
SECRET_LIMIT = 1_000_000
"""Of a Secret: 1 MiB (Kubernetes, Secret)."""
_SUM = re.compile(r"(?P<sha256>[0-9a-fA-F]{64})[ \t]+\*?(?P<name>\S.*)")


@dataclass(frozen=True)
class SourceFile:
    """One file."""

    name: str
    """Path in the data set's folder."""
    url: str
    size: int | None = None
    """Bytes; None where only the server knows."""
    etag: str = ""
    sha256: str = ""
    replace: bool = False
    """Whether it takes the place of another file of its name."""
    token: str = field(default="", repr=False)
    """What the address's host wants to see."""


def files_of(source: str, api: Api, sums: Mapping[str, str]) -> list[SourceFile]:
    """The files of an S3 prefix, or the one of an address. Raises CommandError where there are none, and for a sum of no file."""
    found = _of_bucket(source, api) if source.startswith("s3://") else [_of_address(source)]
    if not found:
        raise CommandError(
            f"there is nothing in {source}", "`aws s3 ls` shows what is there; a prefix that is a folder ends with /", code=MISUSE
        )
    if unknown := sorted(set(sums) - {item.name for item in found}):
        names = ", ".join(item.name for item in found[:5])
        raise CommandError(f"the list of sums names `{unknown[0]}`, which is not in {source}", f"files there: {names}", code=MISUSE)
    return [SourceFile(item.name, item.url, item.size, item.etag, sums.get(item.name, "")) for item in found]


def replacing(files: Iterable[SourceFile], names: Collection[str], source: str) -> list[SourceFile]:
    """The files, of which those with these names may replace others. Raises CommandError for a name of no file."""
    found = list(files)
    if unknown := sorted(set(names) - {item.name for item in found}):
        named = ", ".join(item.name for item in found[:5])
        raise CommandError(f"--replace names `{unknown[0]}`, which is not in {source}", f"files there: {named}", code=MISUSE)
    return [replace(item, replace=item.name in names) for item in found]


def need_source(source: str) -> None:
    """Raises CommandError for what is neither an S3 prefix nor an address."""
    if source.startswith("s3://"):
        if not text_formats.S3_URI.fits(source):
            raise CommandError(f"`{source}` is no S3 URI\n  allowed: {text_formats.S3_URI.allowed}", text_formats.S3_URI.hint, code=MISUSE)
    elif urlsplit(source).scheme not in ("https", "http") or not urlsplit(source).netloc:
        hint = "name such as s3://my-bucket/set/, https://example.com/tokens.npy, or a job file with `data.source`"
        raise CommandError(f"`{source}` is neither an S3 prefix nor an address", hint, code=MISUSE)


def _of_bucket(source: str, api: Api) -> list[SourceFile]:
    bucket, _, prefix = source.removeprefix("s3://").partition("/")
    found = [entry for entry in objects(api, bucket, prefix) if not entry["Key"].endswith("/") and _is_below(entry["Key"], prefix)]
    folder = len(prefix) if prefix.endswith("/") or not prefix else prefix.rfind("/") + 1
    if any(entry["Key"].startswith(f"{prefix}/") for entry in found):
        folder = len(prefix) + 1
    return [
        SourceFile(entry["Key"][folder:], address(api, bucket, entry["Key"], ADDRESS_LIFE_S), int(entry["Size"]), entry["ETag"].strip('"'))
        for entry in found
    ]


def _is_below(key: str, prefix: str) -> bool:
    """Whether a key is in the folder, or is the object, that a prefix names: `set` is not `set-2/a`."""
    return not prefix or prefix.endswith("/") or key == prefix or key.startswith(f"{prefix}/")


def _of_address(source: str) -> SourceFile:
    name = unquote(urlsplit(source).path).rpartition("/")[2]
    if not name:
        raise CommandError(f"`{source}` names no file", "name the address of one file", code=MISUSE)
    return SourceFile(name, source)


def read_sums(path: Path | None) -> dict[str, str]:
    """SHA-256 by name, from a file as `sha256sum` writes it. Raises CommandError for one that is none."""
    if path is None:
        return {}
    try:
        lines = [line for line in path.read_text().splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"cannot read `{path}`: {error}", "name a file that sha256sum wrote", code=MISUSE) from error
    found = {line: _SUM.fullmatch(line) for line in lines}
    if wrong := [line for line, match in found.items() if match is None]:
        raise CommandError(
            f"`{path}` has the line `{wrong[0][:80]}`\n  allowed: 64 hexadecimal digits and a name", "write it by sha256sum", code=MISUSE
        )
    return {match["name"].removeprefix("./"): match["sha256"].lower() for match in found.values() if match is not None}


def packed(files: Iterable[SourceFile]) -> bytes:
    """The list for the pod. Raises CommandError where it is more than a Secret holds."""
    return compressed([asdict(item) for item in files])


def compressed(value: Any) -> bytes:
    """Plain values for the pod, the same bytes for the same values. Raises CommandError where they are more than a Secret holds."""
    body = gzip.compress(json.dumps(value).encode(), mtime=0)
    if len(body) * 4 // 3 > SECRET_LIMIT:
        raise CommandError("the list of files is longer than a Secret can hold", "take it in parts: a longer prefix for each")
    return body
