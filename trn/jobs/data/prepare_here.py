"""A set of token shards made on this machine, by the script that a pod runs."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from facts.document import Document
from training import packing
from training.job import Data, Prepare
from trn.aws.api import Api
from trn.cli.errors import CommandError
from trn.cli.output import errors, results, write_json
from trn.jobs.data.prepare_plan import how_far, outcome, parsed, request_of
from trn.jobs.data.source import compressed


class PrepareHereReport(Document, frozen=True):
    """What `trn data prepare --here` made."""

    schema_: Literal["trn-data-prepare-here"] = "trn-data-prepare-here"
    path: str
    tokenizer: str
    fingerprint: str
    """Of what is in the set."""
    tokens: dict[str, int]
    """By split."""


def prepare_here(data: Data, prepare: Prepare, api: Api, token: str, into: Path, text: Path | None, json_file: Path | None) -> int:
    """Make a set in a folder, from `text` or the job file's source; the exit code."""
    request = request_of(data, prepare, api, token, str(text.absolute()) if text is not None else None)
    files = {name: body for name, body in packing.files().items() if name != packing.REQUIREMENTS}
    with TemporaryDirectory(prefix="trn-prepare-") as place:
        for name, body in files.items():
            Path(place, name).write_text(body)
        listed = Path(place, "request.json.gz")
        listed.write_bytes(compressed(request))
        command = [sys.executable, str(Path(place, packing.SCRIPT)), "--request", str(listed), "--into", str(into)]
        lines, told = list[str](), ""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                far = how_far(parsed(line))
                if far and far != told:
                    told = far
                    errors().print(far, markup=False, soft_wrap=True)
    found = parsed("".join(lines))
    if found.done is None:
        why = found.why or f"it was stopped; the same command goes on where it was (exit code {process.returncode})"
        raise CommandError(f"{into} has no set yet: {why}", "docs/data.md says what text is read")
    tokens = {name: int(split["tokens"]) for name, split in found.done["splits"].items()}
    write_json(
        PrepareHereReport(path=str(into), tokenizer=prepare.tokenizer, fingerprint=found.done["fingerprint"], tokens=tokens), json_file
    )
    for line in outcome(str(into), found.done):
        results(json_file).print(line, markup=False, soft_wrap=True)
    return 0
