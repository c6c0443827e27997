"""The table of launchers says what the code does, of every key of the job file."""

from tests.support import ROOT
from tools.pages.launcher_table import CLAIMS, NOT_TRIED, TAKEN, VALUES, WITHOUT_EFFECT, Bench, tried_keys
from training.job import Job
from training.launchers import launcher

ON_KUBERNETES = ("indexed-job", "jobset", "torchx", "trainjob", "volcano")
"""Those that start workers as a toolchain does, and take every image."""


def test_every_key_of_the_job_file_is_tried():
    """A new key has a value in `VALUES` before it has a row."""
    names = {info.alias or name for name, info in Job.model_fields.items()}
    assert {key.partition(".")[0] for key in VALUES} | NOT_TRIED == names
    assert len(tried_keys()) == len(VALUES)


def test_no_launcher_on_kubernetes_refuses_bert():
    """Where its add-on is on: the recipe, on the toolchain that the stack has."""
    assert {Bench.of(launcher(name), ROOT).outcome("recipe") for name in (*ON_KUBERNETES, "pytorchjob")} == {TAKEN}


def test_a_reason_is_that_of_the_check():
    """In the words that a person sees, with the fix."""
    bench = Bench.of(launcher("torchx"), ROOT)
    assert "an overlay knows none of them" in bench.outcome(CLAIMS)
    assert "take volcano" in bench.outcome("restarts.exitCodes")
    assert bench.outcome("ttl") == WITHOUT_EFFECT
