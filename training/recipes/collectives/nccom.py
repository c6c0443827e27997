"""AWS's own nccom-test within one node, and the table that it prints. Standard library only."""

from __future__ import annotations

import shutil
import subprocess

GB_PER_GIB = 2**30 / 10**9


def measured(cores: int, size: int) -> dict[str, float] | None:
    """Algorithm bandwidth of an all-reduce among the cores of this node, by bytes; None where the image has no nccom-test."""
    if shutil.which("nccom-test") is None:
        return None
    options = f"-r {cores} -b {size} -e {size} -n 20 -w 5 -d fp32 --non-interactive"
    done = subprocess.run(["nccom-test", "allr", *options.split()], capture_output=True, text=True, check=True)
    return rates(done.stdout)


def rates(output: str) -> dict[str, float]:
    """10^9 bytes a second by size in bytes. Columns differ between releases and are found by their heads.

    Form: aws-neuron/aws-neuron-sdk tools/neuron-sys-tools/nccom-test.rst. Its heads say GB/s; the times beside them say GiB/s.
    """
    heads: list[str] = []
    found = {}
    for line in output.splitlines():
        words = line.split()
        if "algbw(GB/s)" in words:
            heads = words
        elif heads and len(words) == len(heads) and words[0].isdigit():
            found[words[heads.index("size(B)")]] = round(float(words[heads.index("algbw(GB/s)")]) * GB_PER_GIB, 3)
    return found
