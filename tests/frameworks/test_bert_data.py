"""BERT on a set that the packer made: no sample twice over a stop, perplexity of what is kept back, and generated text only where it is asked for."""

import json
import signal
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.frameworks.jobs import Job
from tests.frameworks.packer import packer
from training.metrics_line import Event

pytestmark = pytest.mark.frameworks
STEPS, STOPPED_AFTER, SAMPLES = 12, 5, 12 * 2 * 8 * 2
"""Steps, and samples of all: micro batches x sequences x workers for each step."""
OPTIONS = ("--size", "tiny", "--steps", STEPS, "--validate-steps", 4, "--validation-batches", 2)
RECORDER = '''

_order = order


def order(first, count, samples, seed):
    """Also writes which samples they are, and takes its time, so that a signal arrives before the last step."""
    epochs, found = _order(first, count, samples, seed)
    import os
    import time

    time.sleep(0.2)

    with open(f"{os.environ['SEEN']}/{os.getpid()}", "a") as file:
        file.writelines(f"{samples} {epoch} {index}\\n" for epoch, index in zip(epochs, found, strict=True))
    return epochs, found
'''
"""Behind the reader's own text."""


@dataclass(frozen=True)
class Counted(Job):
    """A job whose workers write which samples they ask for."""

    def lay_out(self) -> Path:
        """With the recorder."""
        scripts = super().lay_out()
        reader = scripts / "token_data.py"
        reader.write_text(reader.read_text() + RECORDER)
        return scripts


@pytest.fixture(scope="module")
def packed(python, tmp_path_factory) -> Path:
    """A set of 300 documents."""
    folder = tmp_path_factory.mktemp("sets")
    made = packer(python("torch"), tmp_path_factory.mktemp("packer"), tmp_path_factory.mktemp("text"))
    code, said = made.run(folder / "set")
    assert code == 0, said
    return folder / "set"


def job(python, kind: str, compiled: Path, folder: Path, data: Path) -> Counted:
    """Two workers on one node."""
    (folder / "seen").mkdir()
    variables = (("JAX_COMPILATION_CACHE_DIR", str(compiled)), ("TRN_DATA", str(data)), ("SEEN", str(folder / "seen")))
    return Counted(python(kind), folder, "bert", {"jax": "jax", "torch": "torchrun"}[kind], variables=variables)


def first_line(node) -> str:
    """Of the log, behind the entry script's own."""
    return next(line for line in node.lines if not line.startswith('{"trn"'))


@pytest.mark.parametrize("kind", ["jax", "torch"])
def test_no_sample_is_seen_twice_over_a_stop(python, kind, compiled, packed, tmp_path):
    """Counted by what the workers of both starts asked for: each sample of the training once, and those that are kept back never."""
    made = job(python, kind, compiled, tmp_path, packed)
    (node,) = made.launch(*OPTIONS)
    node.after(STOPPED_AFTER)
    node.process.send_signal(signal.SIGTERM)
    assert node.end() == 75, node.story()
    second = made.run(*OPTIONS)
    assert second.event("resumed").step == max(node.losses)
    splits = json.loads((packed / "index.json").read_text())["splits"]
    sentences = {name: sum(shard["sentences"] for shard in split["shards"]) for name, split in splits.items()}
    asked = [tuple(map(int, line.split())) for path in (tmp_path / "seen").iterdir() for line in path.read_text().splitlines()]
    trained = Counter(each for each in asked if each[0] == sentences["train"])
    assert sentences["train"] > SAMPLES, "one epoch, so that each may come once"
    assert (len(trained), set(trained.values()), {epoch for _, epoch, _ in trained}) == (SAMPLES, {1}, {0})
    losses = {**node.losses, **second.losses}
    assert sum(losses[step] for step in range(9, 13)) < sum(losses[step] for step in range(1, 5))
    looks = [said for said in node.said() + second.said() if isinstance(said, Event) and said.event == "measured"]
    assert [said.step for said in looks] == [4, 8, 12]
    assert looks[0].more["perplexity"] > looks[-1].more["perplexity"] > 1
    assert {each[2] for each in asked if each[0] == sentences["validation"]}
    assert first_line(node).startswith(f"data: {packed}, ")


def test_generated_text_is_said_first_and_never_taken_unasked(python, compiled, tmp_path):
    """Without a set the worker ends at once."""
    made = job(python, "jax", compiled, tmp_path, Path())
    without = Counted(made.python, tmp_path, "bert", "jax", variables=(*made.variables, ("TRN_DATA", "")))
    (node,) = without.launch("--size", "tiny", "--steps", "2")
    assert node.end() == 1
    assert "there is no data" in "".join(node.errors)
    assert node.losses == {}
    asked = without.run("--size", "tiny", "--steps", "2", "--data", "generated")
    assert "GENERATED TEXT" in first_line(asked)


def test_hugging_face_trainer_reads_the_set_too(python, packed, tmp_path):
    """In its own order."""
    variables = (("TRN_DATA", str(packed)), ("USE_TORCH_XLA", "0"))
    node = Job(python("torch"), tmp_path, "hf-trainer", "torchrun", variables=variables).run("--size", "tiny", "--steps", "12")
    assert first_line(node).startswith(f"data: {packed}, ")
    assert min(node.losses[step] for step in (10, 11, 12)) < node.losses[1]
