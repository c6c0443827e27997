"""AWS's own nccom-test within one node, and the table that it prints. Standard library only."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

GB_PER_GIB = 2**30 / 10**9
OF_A_RANK = (
    "NEURON_RT_VISIBLE_CORES", "NEURON_RT_NUM_CORES", "NEURON_RT_ROOT_COMM_ID", "NEURON_PJRT_", "JAX_", "PJRT_", "PET_", "OMPI_", "TORCHELASTIC_",
    "RANK", "WORLD_SIZE", "LOCAL_", "GROUP_", "ROLE_", "MASTER_",
)  # fmt: skip
"""How variables begin that name a rank's place and its cores."""


def measured(cores: int, size: int) -> dict[str, float] | None:
    """Algorithm bandwidth of an all-reduce among the cores of this node, by bytes; None where the image has no nccom-test."""
    if shutil.which("nccom-test") is None:
        return None
    options = f"-r {cores} -b {size} -e {size} -n 20 -w 5 -d fp32 --non-interactive"
    done = subprocess.run(["nccom-test", "allr", *options.split()], capture_output=True, text=True, check=True, env=alone(os.environ))
    return rates(done.stdout)


def alone(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what makes this process one rank of a job: nccom-test starts ranks of its own on all cores of the node."""
    return {name: value for name, value in environment.items() if not name.startswith(OF_A_RANK)}


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
