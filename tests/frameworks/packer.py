"""The packer on this machine, as it runs in a pod, with text of every form."""

import gzip
import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training import packing

SMALL = "import sys; sys.path.insert(0, {place!r}); import pack; pack.RECORD_S, pack.SAY_S, pack.BATCH_CHARACTERS, pack.SHARD_TOKENS = 0, 0, 500, 3000"
"""So that a small set has several shards, and every few documents are recorded."""


@dataclass(frozen=True)
class Packer:
    """The script and its text, on this machine."""

    python: Path
    place: Path
    text: Path

    def start(self, into: Path, tokenizer: str = "wordpiece", more: str = "", **options: Any) -> subprocess.Popen[str]:
        """Begins a set."""
        into.mkdir(parents=True, exist_ok=True)
        asked = {
            "options": {"validation": 0.1, **options}, "from": str(self.text / "text"),
            "tokenizer": {"name": tokenizer, "path": str(self.text / f"{tokenizer}.json")},
        }  # fmt: skip
        listed = into.with_suffix(".request.gz")
        listed.write_bytes(gzip.compress(json.dumps(asked).encode()))
        code = f"{SMALL.format(place=str(self.place))}; {more or 0}; sys.exit(pack.main())"
        words = [str(self.python), "-c", code, "--request", str(listed), "--into", str(into)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env={**os.environ, "TOKENIZERS_PARALLELISM": "true"})

    def run(self, into: Path, tokenizer: str = "wordpiece", more: str = "", **options: Any) -> tuple[int, list[dict[str, Any]]]:
        """Exit code, and the lines that it said."""
        process = self.start(into, tokenizer, more, **options)
        said, _ = process.communicate(timeout=300)
        return process.returncode, [json.loads(line) for line in said.splitlines()]


def packer(python: Path, place: Path, text: Path) -> Packer:
    """Lays out the script, and writes text in five files."""
    for name, body in packing.files().items():
        (place / name).write_text(body)
    subprocess.run([python, Path(__file__).with_name("text_files.py"), text], check=True)
    return Packer(python, place, text)
