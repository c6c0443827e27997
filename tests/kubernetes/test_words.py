"""Words that YAML's readers disagree on, through the real kubectl to a real API server: they arrive as the text that the job file had."""

import json
from dataclasses import replace

import pytest

from local_kubernetes.control_plane import ControlPlane
from tests.facts.test_yaml_text import PLAIN, WORDS
from tests.training.sites import EVERYTHING, job
from training.launchers import launcher
from trn.jobs.rendering import as_yaml

pytestmark = pytest.mark.kubernetes


def test_words_of_a_job_arrive_as_text(control_plane: ControlPlane, namespace: str):
    """`trn submit --dry-run | kubectl create -f -` of a job with `--lr 1e-4`: the API server refuses a number among the arguments."""
    on = replace(EVERYTHING, namespace=namespace, gang=False, queues={})
    words = [*WORDS, *PLAIN]
    variables = {f"WORD_{number}": word for number, word in enumerate(words)}
    *_, wanted = launcher("indexed-job").render(job(launcher="indexed-job", command=["train.py", *words], environment=variables), on)
    said = control_plane.kubectl("create", "--dry-run=server", "--output=json", "--filename=-", stdin=as_yaml([wanted]))
    (made,) = json.loads(said)["spec"]["template"]["spec"]["containers"]
    (ours,) = wanted["spec"]["template"]["spec"]["containers"]
    assert [*made["command"], *made.get("args", [])][-len(words) :] == words
    assert {entry["name"]: entry.get("value", "") for entry in made["env"] if entry["name"] in variables} == variables
    assert made["command"] == ours["command"]
