"""`trn run`: which files go along, what is chosen, what the line shows, and the file that it saves."""

import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.support import copy_project
from tests.training.sites import SITE, group, job, site
from training.payload import SOURCE
from training.plan import plan
from trn.app import app
from trn.cli.errors import CommandError
from trn.jobs import source
from trn.jobs.cost import cost_of
from trn.jobs.rendering import read_job
from trn.jobs.run.choices import Asked, job_name, job_of, keys, toolchain_for
from trn.jobs.source import of_job, own_files, seen_with


def names(path: Path) -> list[str]:
    """Files of a source."""
    folder, files = own_files(path)
    return [each.relative_to(folder).as_posix() for each in files]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project of somebody's, outside of a repository."""
    made = tmp_path / "project"
    for name in ("train.py", "lib/model.py", "data/big.bin", "lib/__pycache__/model.pyc", ".gitignore"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text("data/\n" if name == ".gitignore" else "import torch\n")
    return made


def test_what_git_ignores_stays_out_of_a_repository_or_in_one(folder: Path):
    """By git itself: of what is tracked, of what is new, and where there is no repository."""
    assert names(folder) == [".gitignore", "lib/model.py", "train.py"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    inner = folder / "vendored"
    subprocess.run(["git", "init", "-q", str(inner)], check=True)
    (inner / "a.py").touch()
    assert names(folder) == [".gitignore", "lib/model.py", "train.py", "vendored/a.py"]
    assert names(folder / "lib") == ["model.py"]
    assert names(folder / "train.py") == ["train.py"]


def test_what_cannot_go_along_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Nothing, what leads out of the folder, and data."""
    for path, text in ((folder / "nosuch", "there is no file or folder"), (folder / "data", "git ignores all")):
        if path.name == "data":
            subprocess.run(["git", "init", "-q", str(folder)], check=True)
        with pytest.raises(CommandError, match=text):
            own_files(path)
    monkeypatch.setattr(source, "LARGEST_BYTES", 20)
    with pytest.raises(CommandError, match=r"the largest is .*; at most 20 B"):
        own_files(folder)
    (folder / "link").symlink_to("/etc/passwd")
    with pytest.raises(CommandError, match="out of the folder") as refusal:
        own_files(folder)
    assert refusal.value.hint == "copy the file, or let git ignore it"


def test_without_git_ignore_rules_are_not_guessed(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """A set of data would go along, or a key."""
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(CommandError, match="no git to read it"):
        own_files(folder)
    (folder / ".gitignore").unlink()
    assert names(folder) == ["data/big.bin", "lib/model.py", "train.py"]


def test_small_files_are_packed_and_large_ones_are_a_layer(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """A ConfigMap has 1 MiB; Ray's workers have the files in their image alone."""
    asked = job(source="project", command=["python3", "train.py"])
    small = of_job(asked, SITE, folder.parent)
    assert small is not None
    assert small.way == "packed"
    seen = seen_with(SITE, small, "").source
    assert seen is not None
    assert seen.packed
    assert seen.image is None
    ray = of_job(asked.model_copy(update={"launcher": "rayjob"}), SITE, folder.parent)
    assert ray is not None
    assert ray.way == "image"
    monkeypatch.setattr(source, "room_bytes", lambda: 100)
    large = of_job(asked, SITE, folder.parent)
    assert large is not None
    assert large.way == "image"
    seen = seen_with(SITE, large, "r.example/own:1").source
    assert seen is not None
    assert (seen.packed, seen.image) == ("", "r.example/own:1")
    slurm = of_job(asked.model_copy(update={"launcher": "slurm"}), SITE, folder.parent)
    with pytest.raises(CommandError, match="at most 75 B"):
        seen_with(SITE, slurm, "")


def test_the_tag_follows_from_files_and_base(folder: Path):
    """Known before a registry is asked; other files, or another base, have another."""
    made = of_job(job(source="project", command=["python3", "train.py"]), SITE, folder.parent)
    assert made is not None
    tags = {made.tag("t", "a"), made.tag("t", "b")}
    (folder / "train.py").write_text("import jax\n")
    changed = of_job(job(source="project", command=["python3", "train.py"]), SITE, folder.parent)
    assert changed is not None
    assert len(tags | {changed.tag("t", "a")}) == 3


def test_requirements_are_not_installed_and_that_is_said(folder: Path):
    """An import that fails on all nodes is an expensive way to learn it."""
    (folder / "requirements.txt").touch()
    made = of_job(job(source="project", command=["python3", "train.py"]), SITE, folder.parent)
    assert made is not None
    assert "nothing of it is installed" in made.notes[0]


@pytest.mark.parametrize(
    ("file", "name"), [("train_BERT.py", "train-bert"), ("2.py", "run-2"), ("é.py", "run"), ("a" * 60 + ".py", "a" * 40)]
)
def test_a_job_has_the_name_of_its_script(file: str, name: str):
    """As far as Kubernetes takes it."""
    assert job_name(Path(file)) == name
    assert job(name=name)


def test_everything_else_is_chosen(folder: Path):
    """And the file says it, so that it can be submitted again."""
    values = keys(Asked(folder / "train.py", ("--lr", "1"), 2, source=folder), SITE, "import torch\n", folder.parent)
    assert values == {
        "name": "train", "source": "project", "command": ["python3", "train.py"], "args": ["--lr", "1"], "nodes": 2, "toolchain": "xla-2.30",
        "checkpoints": {"path": "/fsx/checkpoints/train"},
    }  # fmt: skip
    made = plan(job_of(values), SITE)
    assert cost_of(made).usd_per_hour == 43.0
    assert SOURCE == "/workspace"
    assert "checkpoints" not in keys(Asked(folder / "train.py"), site(claim=None), "", folder)


@pytest.mark.parametrize(
    ("text", "type_", "toolchain"),
    [("import jax", "trn1.32xlarge", "jax-2.32"), ("import torch", "trn1.32xlarge", "xla-2.30"), ("", "trn2.48xlarge", "xla-2.30")],
)
def test_the_toolchain_is_the_stacks_unless_the_script_imports_another(text: str, type_: str, toolchain: str):
    """A JAX script in PyTorch's image stops at its first line."""
    on = site(node_groups={"g": group("g", type_)})
    assert toolchain_for(text, on, Asked(Path("train.py"))) == toolchain


def test_what_is_no_script_is_refused(tmp_path: Path):
    """With what to type; and a script that is no job file, the other way."""
    for name, hint in (("job.yaml", "trn submit"), ("train", "name a script"), ("../train.py", "--source")):
        with pytest.raises(CommandError) as refusal:
            keys(Asked(tmp_path / name, source=tmp_path), SITE, "", tmp_path)
        assert hint in refusal.value.hint
    with pytest.raises(CommandError, match="is a script, not a job file") as refusal:
        read_job(tmp_path / "train.py")
    assert "`trn run " in refusal.value.hint


def test_the_line_shows_what_was_chosen_and_saves_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The saved file renders the same objects; one that says something else is left alone."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    words = ["run", "dev", "project/train.py", "--source", "project", "--nodes", "2", "--save", "job.yaml", "--dry-run"]
    first = CliRunner().invoke(app, [*words, "--", "--lr", "1e-4"])
    assert first.exit_code == 0, first.stderr
    for text in ("3 files", "in a ConfigMap", "xla-2.30", "2 x trn1.32xlarge", "/fsx/checkpoints/train", "job.yaml is the job file"):
        assert text in first.stderr
    again = CliRunner().invoke(app, ["submit", "dev", "job.yaml", "--dry-run"])
    assert (again.exit_code, again.stdout) == (0, first.stdout)
    other = CliRunner().invoke(app, words)
    assert (other.exit_code, "says something else" in other.stderr) == (2, True)


def test_a_dry_run_of_a_layer_asks_no_account(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The account's number alone is left open."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(source, "room_bytes", lambda: 0)
    done = CliRunner().invoke(app, ["run", "dev", "project/train.py", "--source", "project", "--dry-run"])
    assert done.exit_code == 0, done.stderr
    assert "image: ACCOUNT.dkr.ecr.us-west-2.amazonaws.com/trainium-dev/training:xla-2.30-" in done.stdout
    assert "pushed to the account's registry" in done.stderr
