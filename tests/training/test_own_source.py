"""A job's own files: which file a command runs, how they are unpacked in the pod, and what is refused before."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest

from tests.training.sites import SITE, job, site
from training import launchers
from training.check import problems
from training.entry.own_source import NO_FILE, PACKED, leave_message, missing_file, script_of, unpacked
from training.payload import ENTRY, Source, files, job_files
from training.plan import plan
from training.pod import job_pod
from training.site import Site
from trn.jobs.image.layer import make_layer

PACKED_SOURCE = Source(("lib/a.py", "train.py"), packed="aGVsbG8=\n")


def wrong(on: Site = SITE, **keys: object) -> dict[str, str]:
    """What is wrong with a job, by key path."""
    return {problem.path: problem.wrong for problem in problems(job(**keys), on)}


@pytest.mark.parametrize(
    ("command", "script"),
    [
        (["python3", "train.py"], "train.py"),
        (["python3", "-u", "-X", "dev", "train.py", "other.py"], "train.py"),
        (["/usr/bin/python3.12", "-O", "a/b.py"], "a/b.py"),
        (["python3", "-m", "train"], None),
        (["python3", "-um", "train"], None),
        (["bash", "-c", "python3 train.py"], None),
        (["bash", "-ec", "x"], None),
        (["bash", "run.sh"], "run.sh"),
        (["./run", "train.py"], "./run"),
        (["torchrun", "--nproc-per-node", "32", "train.py", "--config", "x.py"], "train.py"),
        (["nccom-test", "allr"], None),
        (["python3"], None),
    ],
)
def test_the_file_that_a_command_runs(command: list[str], script: str | None):
    """A module and code on the command line are no files; options are skipped with their values."""
    assert script_of(command) == script


def packed_folder(tmp_path: Path, **texts: str) -> Path:
    """A folder as pods have it at /trn: the entry script, and a job's own files beside it."""
    source, pod = tmp_path / "source", tmp_path / "pod"
    source.mkdir()
    pod.mkdir()
    for name, text in texts.items():
        (source / f"{name}.py").write_text(text)
    layer = make_layer(source, "/workspace", sorted(source.iterdir()))
    for name, text in files(None).items():
        (pod / name).write_text(text)
    (pod / PACKED).write_bytes(base64.encodebytes(b"".join(layer.read(0))))
    return pod


def test_files_are_unpacked_once_for_all_processes_of_a_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """mpirun starts the entry script once for each rank: the second finds the whole folder of the first."""
    pod = packed_folder(tmp_path, train="print(1)", model="")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first = unpacked(str(pod))
    assert first is not None
    assert sorted(path.name for path in Path(first).iterdir()) == ["model.py", "train.py"]
    (Path(first) / "mark").touch()
    assert unpacked(str(pod)) == first
    assert (Path(first) / "mark").exists()
    assert unpacked(str(ENTRY)) is None


def test_a_missing_file_is_named_with_what_there_is(tmp_path: Path):
    """A person sees at once that the folder is another one."""
    (tmp_path / "other.py").touch()
    assert missing_file(["python3", "train.py"], str(tmp_path)) == (
        f"there is no file train.py in the pod: work begins in {tmp_path}, which has other.py"
    )
    assert missing_file(["python3", "other.py"], str(tmp_path)) is None
    assert missing_file(["no-such-program"], str(tmp_path)) == "there is no program no-such-program in the image"


def test_the_message_is_left_for_kubernetes_alone(tmp_path: Path):
    """Outside of a pod there is no such file, and none is made."""
    leave_message("why", str(tmp_path / "none"))
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "log").touch()
    leave_message("why", str(tmp_path / "log"))
    assert (tmp_path / "log").read_text() == "why"


@pytest.mark.long
def test_a_pod_runs_its_own_files_or_ends_at_once(tmp_path: Path):
    """The whole entry script: work begins beside the files, and without the script it ends before it meets anyone."""
    pod = packed_folder(tmp_path, train="import model", model="print('trained')")
    variables = {
        "TRN_START": "none",
        "TRN_NODES": "1",
        "VC_TASK_INDEX": "0",
        "TRN_JOB": "bert",
        "PATH": "/usr/bin:/bin",
        "TMPDIR": str(tmp_path),
    }

    def run(script: str) -> "subprocess.CompletedProcess[str]":
        words = [sys.executable, str(pod / "entry.py"), "--", sys.executable, script]
        return subprocess.run(words, env=variables, capture_output=True, text=True, timeout=60)

    done = run("train.py")
    assert (done.returncode, "trained" in done.stdout) == (0, True), done.stderr
    done = run("trian.py")
    assert (done.returncode, "there is no file trian.py in the pod" in done.stderr) == (NO_FILE, True)


def test_a_file_that_nothing_brings_is_refused():
    """The toolchain's image has no file of a user's: all nodes would start to find that out."""
    assert wrong(command=["python3", "train.py"]) == {"command[1]": "the toolchain's image has no such file, and the job brings none"}
    assert wrong(command=["python3", "/fsx/train.py"]) == {}
    assert wrong(command=["python3", "train.py"], image="r.example/own:1") == {}
    assert wrong(command=["python3", "-m", "train"]) == {}


def test_a_file_that_the_source_has_not_is_refused():
    """What git ignores stays out, which a person may not expect."""
    on = site(source=PACKED_SOURCE)
    assert wrong(on, command=["python3", "train.py"], source=".") == {}
    assert wrong(on, command=["python3", "./lib/a.py"], source=".") == {}
    found = problems(job(command=["python3", "trian.py"], source=".", image="r.example/own:1"), on)
    assert [(each.path, each.hint) for each in found] == [("command[1]", "did you mean `train.py`?")]


def test_a_recipe_has_its_script():
    """Files beside it would have its names."""
    with pytest.raises(Exception, match="files of your own beside a recipe"):
        job(recipe="bert", source=".", command=[])


@pytest.mark.parametrize("name", launchers.names())
def test_each_launcher_brings_the_files_in_the_ways_that_it_says(name: str):
    """A launcher that took the key and left the files behind would start nodes for nothing."""
    found = launchers.launcher(name)
    on = site(source=PACKED_SOURCE, addons=SITE.addons | ({found.addon} if found.addon else set()))
    about = {each for each in problems(job(command=["python3", "train.py"], source=".", launcher=name), on) if each.path == "source"}
    assert bool(about) == (not found.takes_source)
    if "packed" in found.takes_source and found.resource is not None and name not in ("batch", "tfjob"):
        rendered = found.render(job(command=["python3", "train.py"], source=".", launcher=name), on)
        assert rendered[0]["data"][PACKED] == PACKED_SOURCE.packed


def test_the_image_with_the_files_takes_the_place_of_the_toolchains():
    """Work begins where its layer put them."""
    on = site(source=Source(("train.py",), image="r.example/own:1"))
    made = plan(job(command=["python3", "train.py"], source="."), on)
    assert (made.image, job_pod(made).environment["TRN_SOURCE"]) == ("r.example/own:1", "/workspace")
    assert PACKED not in job_files(None, on.source)


def test_files_are_too_large_where_no_image_is_run():
    """Slurm's processes begin on the node itself."""
    on = site(source=Source(("train.py",), image="r.example/own:1"), slurm_groups=SITE.node_groups, addons=SITE.addons | {"slurm"})
    assert wrong(on, command=["python3", "train.py"], source=".", launcher="slurm")["source"].startswith("too large for a")
