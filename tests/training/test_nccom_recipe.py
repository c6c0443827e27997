"""The collectives recipe runs nccom-test as its guide says, and reads the table in the forms that the guide shows."""

import os
from pathlib import Path

import pytest

from tests.training.recipe_files import module

GUIDE = """nccom-test -r 2 allr
     size(B)    count(elems)     type    time(us)    algbw(GB/s)    busbw(GB/s)
    33554432        33554432    uint8         768          40.69          40.69
Avg bus bandwidth:      40.6901GB/s
"""
"""The example of aws-neuron/aws-neuron-sdk tools/neuron-sys-tools/nccom-test.rst, 2.26 to 2.29: 32 MiB in 768 us."""
LATER = "size(B) count(elems) type time:avg(us) time:p99(us) algbw(GB/s) busbw(GB/s) algorithm\n8 2 fp32 5.1 6.0 0.50 0.99 mesh"
"""Columns of later releases, renamed and added (the same guide, 2026-08-21)."""

nccom = module("collectives", "nccom")


def test_the_table_is_read_in_both_forms():
    """Bytes a second, as the times in the table say: its GB are GiB."""
    assert nccom.rates(GUIDE) == {"33554432": pytest.approx(33_554_432 / 768e-6 / 1e9, rel=1e-3)}
    assert nccom.rates(LATER) == {"8": 0.537}


@pytest.mark.parametrize("text", ["", "1 2 3\n", "size(B) algbw(GB/s)\n33554432  Failure running neuron-bench - log file x"])
def test_what_is_no_table_gives_no_rates(text: str):
    assert nccom.rates(text) == {}


def test_it_is_run_with_the_cores_of_the_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The image need not have it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert nccom.measured(32, 2**30) is None
    fake = tmp_path / "nccom-test"
    fake.write_text(f"#!/bin/sh\necho \"$*\" > {tmp_path}/said\necho 'size(B) algbw(GB/s)'\necho '1073741824 1.0'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    assert nccom.measured(32, 2**30) == {"1073741824": 1.074}
    assert (tmp_path / "said").read_text() == "allr -r 32 -b 1073741824 -e 1073741824 -n 20 -w 5 -d fp32 --non-interactive\n"


def test_it_is_no_rank_of_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It starts ranks of its own: with one rank's variables it would see one core and wait for the other ranks."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("FI_PROVIDER", "efa")
    rank = {
        "NEURON_RT_VISIBLE_CORES": "3",
        "NEURON_RT_ROOT_COMM_ID": "a:1",
        "NEURON_PJRT_PROCESS_INDEX": "3",
        "RANK": "3",
        "LOCAL_RANK": "3",
    }
    for name, value in rank.items():
        monkeypatch.setenv(name, value)
    fake = tmp_path / "nccom-test"
    fake.write_text(f"#!/bin/sh\nenv > {tmp_path}/environment\n")
    fake.chmod(0o755)
    nccom.measured(32, 2**30)
    said = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines())
    assert not said.keys() & rank.keys()
    assert said["FI_PROVIDER"] == "efa"
