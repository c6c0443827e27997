"""How `trn verify` measures: the scripts that run in its pods, and the figures that they are compared with."""

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from facts.catalogue import NEURON_TYPES
from tests.trn.running.test_verify_objects import bodies, stage_with, templates
from trn.running.subject import core_count
from trn.running.verify import file_system, throughput
from trn.running.verify.collectives import EXAMPLES_GB_PER_S, FRACTION, Row, bound_gb_per_s, rows
from trn.running.verify.file_system import Bought

# The script of the collective test


@pytest.fixture
def shell(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A folder of commands that only write down how they were called, and the environment to call them in."""
    folder = tmp_path / "bin"
    folder.mkdir()
    said = tmp_path / "said"
    for name in ("mkdir", "ssh-keygen", "sshd", "ssh", "sleep", "nccom-test", "dpkg-query"):
        (folder / name).write_text(f'#!/bin/sh\necho "{name} $*" >> {said}\n')
    (folder / "dpkg-query").write_text("#!/bin/sh\necho 2.32.31.0\n")
    (folder / "getent").write_text('#!/bin/sh\necho "10.0.0.$(echo $2 | tr -dc 0-9 | tail -c 1)  $2"\n')
    for path in folder.iterdir():
        path.chmod(0o755)
    stage, _, _ = stage_with("trn1.32xlarge")
    container = templates(bodies(stage)["trn-verify-collectives-0"])[0]["spec"]["containers"][0]
    environment = {item["name"]: item["value"] for item in container["env"]}
    return said, {**environment, "PATH": f"{folder}:{os.environ['PATH']}", "SCRIPT": container["command"][-1]}


def ran(shell: tuple[Path, dict[str, str]], **environment: str) -> tuple[int, list[str]]:
    """Exit code, and what was called."""
    said, base = shell
    script = base.pop("SCRIPT")
    done = subprocess.run(["bash", "-c", script], env={**base, **environment}, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode != 0 or "runtime 2.32.31.0" in done.stdout or environment.get("VC_TASK_INDEX") == "1"
    return done.returncode, said.read_text().splitlines()


HOSTS = "worker-7.test,worker-8.test"


def test_the_first_pod_starts_the_ranks_of_all(shell: tuple[Path, dict[str, str]]):
    """First with the sums checked, then for the time."""
    code, said = ran(shell, VC_WORKER_HOSTS=HOSTS, VC_TASK_INDEX="0")
    assert code == 0
    assert [line.split()[0] for line in said] == ["mkdir", "ssh-keygen", "sshd", "ssh", "ssh", "nccom-test", "nccom-test"]
    assert "FI_PROVIDER=efa" in said[2]
    assert "PATH=" in said[2]
    options = "-r 64 -d fp32 --non-interactive -N 2 --data-collector-host 10.0.0.7 --hosts 10.0.0.7 10.0.0.8"
    assert said[5:] == [
        f"nccom-test allr -b 32MB -e 32MB -n 5 -w 1 {options} --check",
        f"nccom-test allr -b 1GB -e 1GB -n 20 -w 5 {options}",
    ]


def test_the_others_wait_for_it(shell: tuple[Path, dict[str, str]]):
    """With a door open for its ranks."""
    code, said = ran(shell, VC_WORKER_HOSTS=HOSTS, VC_TASK_INDEX="1")
    assert (code, [line.split()[0] for line in said]) == (0, ["mkdir", "ssh-keygen", "sshd", "sleep"])


def test_one_node_needs_no_door(shell: tuple[Path, dict[str, str]]):
    """Nor EFA."""
    code, said = ran(shell, VC_WORKER_HOSTS=HOSTS.split(",")[0], VC_TASK_INDEX="0", RANKS="32")
    assert (code, [line.split()[0] for line in said]) == (0, ["nccom-test", "nccom-test"])
    assert said[1] == "nccom-test allr -b 1GB -e 1GB -n 20 -w 5 -r 32 -d fp32 --non-interactive"


def test_sums_that_are_wrong_end_it(shell: tuple[Path, dict[str, str]]):
    """A fast wrong answer is none."""
    (shell[0].parent / "bin" / "nccom-test").write_text(f"#!/bin/sh\necho nccom-test >> {shell[0]}\nexit 3\n")
    assert ran(shell, VC_WORKER_HOSTS=HOSTS.split(",")[0], VC_TASK_INDEX="0") == (3, ["nccom-test"])


@pytest.mark.parametrize(
    ("instance_type", "ranks", "size", "efa"),
    [
        ("trn1.32xlarge", "64", None, True),
        ("trn2.48xlarge", "128", None, True),
        ("trn2.48xlarge at 1", "256", "1", True),
        ("inf2.48xlarge", "24", None, False),
    ],
)
def test_ranks_follow_the_hardware(instance_type: str, ranks: str, size: str | None, efa: bool):
    """One for each core that Kubernetes sees; only on nodes with EFA the test uses it."""
    stage, settings, _ = stage_with(instance_type)
    container = templates(bodies(stage)["trn-verify-collectives-0"])[0]["spec"]["containers"][0]
    environment = {item["name"]: item["value"] for item in container["env"]}
    assert (environment["RANKS"], environment.get("NEURON_LOGICAL_NC_CONFIG"), "FI_PROVIDER" in environment) == (ranks, size, efa)
    assert core_count(settings) * (2 if efa else 1) == int(ranks)


# Figures

GIB_IN_GB = 1.073741824


def test_the_table_of_nccom_test_is_read_in_both_spellings():
    """Columns were renamed and added between releases."""
    old = "  size(B)  count(elems)  type  time(us)  algbw(GB/s)  busbw(GB/s)\n  1073741824  268435456  fp32  41806  23.92  47.09\nAvg bus bandwidth:  9GB/s"
    new = "size(B) count(elems) type time:avg(us) time:p99(us) algbw(GB/s) busbw(GB/s) algorithm\n8 2 fp32 5.1 6.0 0.50 0.99 mesh"
    assert [*rows(old), *rows(new)] == [Row(2**30, 23.92 * GIB_IN_GB), Row(8, 0.5 * GIB_IN_GB)]
    assert list(rows("1 2 3\nsize(B) algbw(GB/s)\n33554432  Failure running neuron-bench - log file x\nnone 1.0")) == []


def test_a_result_is_in_the_unit_of_the_bound():
    """nccom-test's GB are GiB: its own example moves 1 GiB in 41,806 us, which are 25.68 * 10^9 bytes a second, not 23.92."""
    (row,) = rows("size(B) time(us) algbw(GB/s)\n1073741824 41806 23.92")
    assert row.algorithm_gb_per_s == pytest.approx(2**30 / 41_806e-6 / 1e9, rel=1e-3)
    (slow,) = rows("size(B) time(us) algbw(GB/s)\n1073741824 69000 14.50")
    assert slow.algorithm_gb_per_s > FRACTION * 100, "read as GB/s this result would be a warning"


def test_the_bound_is_what_the_interfaces_carry():
    """800 Gbps are 100 GB/s; of two nodes each sends the data once, of very many each sends it twice."""
    instance = NEURON_TYPES["trn1.32xlarge"]
    assert [bound_gb_per_s(instance, count) for count in (2, 4)] == [100, pytest.approx(66.67, abs=0.01)]
    assert bound_gb_per_s(instance, 10_000) == pytest.approx(50, rel=0.001)
    # The warning lies above what one of the interfaces carries alone, and below AWS's own example.
    assert 100 / 8 < FRACTION * 100 < EXAMPLES_GB_PER_S["trn1.32xlarge"]


def test_a_pod_is_not_asked_for_more_than_one_flow_carries():
    """4800 GiB at 1000 MB/s per TiB are many servers."""
    assert Bought(1200, 125).expected_mb_per_s == pytest.approx(146.5, abs=0.1)
    big = Bought(4800, 1000)
    assert (big.mb_per_s, big.expected_mb_per_s) == (4687.5, 625)
    text = json.dumps({"type": "lustre", "write_mb_per_s": 320, "read_mb_per_s": 2000})
    assert "give 4688, one pod is expected to reach 625" in file_system.judged(text, big).what
    assert file_system.judged(text, big).verdict == "pass"


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight of the real ones are 256 MB, which this process would keep."""
    monkeypatch.setattr(throughput, "BLOCK", 2**20)


@pytest.mark.usefixtures("small_blocks")
def test_throughput_is_measured_and_nothing_is_left(tmp_path: Path):
    """Not even what a run that was killed left there."""
    (tmp_path / throughput.FOLDER).mkdir()
    (tmp_path / throughput.FOLDER / "old").write_text("x")
    found = throughput.measure(str(tmp_path), flags=0, file_mib=16)
    assert set(found) == {"write_mb_per_s", "read_mb_per_s"}
    assert all(rate > 0 for rate in found.values())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("small_blocks")
def test_a_slow_file_system_is_measured_by_what_it_managed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """After one block of each file the time is over; the same when somebody ends the pod."""
    written: list[int] = []
    really = os.write
    monkeypatch.setattr(throughput.os, "write", lambda file, block: written.append(1) or really(file, block))
    throughput.measure(str(tmp_path), flags=0, file_mib=64, limit_s=0)
    assert len(written) == throughput.FILES
    throughput.STOPPED.set()
    throughput.measure(str(tmp_path), flags=0, file_mib=64)
    throughput.STOPPED.clear()
    assert (len(written), list(tmp_path.iterdir())) == (2 * throughput.FILES, [])


@pytest.mark.usefixtures("small_blocks")
def test_a_full_file_system_is_an_error_and_is_tidied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The pod fails; its log has the reason."""

    def full(file: int, block: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(throughput.os, "write", full)
    with pytest.raises(OSError, match="No space left"):
        throughput.measure(str(tmp_path), flags=0, file_mib=16)
    assert list(tmp_path.iterdir()) == []


def test_the_script_runs_by_itself_in_the_pod():
    """With nothing but the standard library, and says what is mounted."""
    stage, _, _ = stage_with("trn1.32xlarge")
    command = templates(bodies(stage)["trn-verify-throughput"])[0]["spec"]["containers"][0]["command"]
    source = command[2].replace("FILE_MIB = 256", "FILE_MIB = 16").replace('getattr(os, "O_DIRECT", 0)', "0")
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*command[:2], source, folder], capture_output=True, text=True, timeout=120, check=True)
    assert json.loads(done.stdout).keys() == {"type", "write_mb_per_s", "read_mb_per_s"}
    mounts = "overlay / overlay rw 0 0\n10.0.0.5@tcp:/abc /fsx lustre rw 0 0\n"
    assert [throughput.file_system_type(path, mounts) for path in ("/fsx", "/", "/data")] == ["lustre", "overlay", ""]
