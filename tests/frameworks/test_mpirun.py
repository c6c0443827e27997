"""The MPIJob launcher's own command, run by a real mpirun on this machine: its options are Open MPI's, its variables reach the ranks."""

import json
import os
import subprocess

import pytest

from tests.training.sites import job, site
from training.launchers.mpijob import HOST_FILE, mpirun
from training.payload import files
from training.plan import plan

pytestmark = pytest.mark.frameworks


def test_ranks_get_the_jobs_variables_and_know_their_place(python, tmp_path):
    """One node with two slots: the same words but for folders and host file."""
    for name, text in files(None).items():
        (tmp_path / name).write_text(text)
    (tmp_path / "hosts").write_text("localhost slots=2\n")
    said = "echo rank $OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE: $MARK"
    on = plan(job(nodes=1, workersPerNode=2, start="none", command=["sh", "-c", said], environment={"MARK": "a b"}), site())
    words = [word.replace(HOST_FILE, str(tmp_path / "hosts")).replace("/trn/", f"{tmp_path}/") for word in mpirun(on)]
    folder = python("mpi").parent
    given = {
        "MARK": "a b",
        "TRN_JOB": "bert",
        "TRN_NODES": "1",
        "TRN_WORKERS_PER_NODE": "2",
        "TRN_START": "none",
        "TRN_ADDRESS": "127.0.0.1",
    }
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(tmp_path), **given}
    done = subprocess.run([str(folder / words[0]), *words[1:]], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    lines = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    assert sorted(line for line in lines if line.startswith("rank")) == ["rank 0 of 2: a b", "rank 1 of 2: a b"]
    ended = [json.loads(line) for line in lines if '"ended"' in line]
    assert [(each["launcher"], each["code"]) for each in ended] == [("mpi", 0)] * 2
