"""TorchX's Volcano Job equals ours in all that matters: the command that the launcher prints, run by TorchX itself, without a cluster."""

import os
import shlex
import subprocess
from typing import Any

import pytest
import yaml

from tests.support import ROOT
from tests.training.objects import pods
from tests.training.sites import job, site
from training import launchers
from training.check import problems

pytestmark = pytest.mark.frameworks

CASES: dict[str, dict[str, Any]] = {
    "xla": {"checkpoints": {"path": "/fsx/checkpoints"}, "rendezvous": "etcd"},
    "jax": {"toolchain": "jax-2.32", "nodes": 3, "restarts": {"max": 1}, "command": ["sh", "-c", "echo $HOME ${rank0_env} $$"]},
    "bert, with all that a file says": {
        "recipe": "bert", "command": [], "args": ["--data", "generated", "--steps", "7"], "nodes": 1, "devices": 4, "timeLimit": "2h", "priority": "high",
        "environment": {"WORDS": "a 'b' $c"}, "data": {"path": "/fsx/data"}, "cache": {"path": "/fsx/cache/bert"},
        "mounts": [{"path": "/fsx"}, {"path": "/models", "claim": "models", "readOnly": True}],
        "checkpoints": {"path": "/fsx/bert", "grace": "4m"}, "restarts": {"max": 2, "hangAfter": "1h"},
    },
    "own image": {"toolchain": "none", "image": "r.example/train:1", "mounts": []},
}  # fmt: skip


@pytest.fixture
def dry_run(python):
    """The Volcano Job that TorchX would send for a job."""

    def made(**keys: Any) -> dict[str, Any]:
        wanted = job(launcher="torchx", **keys)
        assert problems(wanted, site()) == []
        (document,) = launchers.launcher("torchx").documents(wanted, site())
        torchx, run, *words = shlex.split(document.text.partition("exec ")[2])
        command = [str(python("torchx").parent / torchx), run, "--dryrun", *words]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {"PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return next(item for item in yaml.safe_load_all(done.stdout[done.stdout.index("apiVersion") :]) if item["kind"] == "Job")

    return made


def place(spec: dict[str, Any]) -> dict[str, Any]:
    """Where a pod runs, what it holds, how it is stopped."""
    (container,) = spec["containers"]
    claims = {
        volume["name"]: volume["persistentVolumeClaim"]["claimName"] for volume in spec["volumes"] if "persistentVolumeClaim" in volume
    }
    resources = {key: value for key, value in container["resources"]["limits"].items() if "/" in key}
    return {
        "image": container["image"],
        "devices": resources,
        "selector": spec["nodeSelector"],
        "tolerations": spec["tolerations"],
        "grace": spec["terminationGracePeriodSeconds"],
        "time limit": spec.get("activeDeadlineSeconds"),
        "priority": spec.get("priorityClassName"),
        "restart": spec["restartPolicy"],
        "mounts": {mount["mountPath"]: claims[mount["name"]] for mount in container["volumeMounts"] if mount["name"] in claims},
    }


@pytest.mark.parametrize("case", CASES)
def test_torchx_makes_the_pods_that_we_make(dry_run, case: str):
    """Image, devices, placement, mounts, variables and command; how the scripts get there is the one difference."""
    ours = launchers.launcher("volcano").render(job(launcher="volcano", **CASES[case]), site())
    (expected,) = pods(ours)
    theirs = dry_run(**CASES[case])
    assert theirs["spec"]["queue"] == ours[-1]["spec"]["queue"]
    assert len(theirs["spec"]["tasks"]) == ours[-1]["spec"]["tasks"][0]["replicas"]
    for task in theirs["spec"]["tasks"]:
        spec = task["template"]["spec"]
        assert place(spec) == place(expected["spec"])
        (container,), (own,) = spec["containers"], expected["spec"]["containers"]
        variables = {item["name"]: item.get("value") for item in container["env"] if not item["name"].startswith("TORCHX_")}
        del variables["TRN_FILES"]
        assert variables == {item["name"]: item["value"] for item in own["env"]}
        assert container["command"][4:] == own["command"]
        requests = container["resources"]["requests"]
        assert int(requests["cpu"].removesuffix("m")) <= int(own["resources"]["requests"]["cpu"]) * 1000
        assert int(requests["memory"].removesuffix("M")) * 10**6 <= int(own["resources"]["requests"]["memory"].removesuffix("Gi")) << 30


def test_every_pod_of_the_gang_is_needed(dry_run):
    """Without `minAvailable` Volcano takes the sum of the tasks, and a failed pod starts all of them again."""
    spec = dry_run()["spec"]
    assert "minAvailable" not in spec
    assert all(policy["action"] == "RestartJob" for task in spec["tasks"] for policy in task["policies"])


def test_a_job_file_is_run_by_hand(python):
    """As a person types it: the recipe's own file, with what only the stack knows."""
    words = ["run", "--dryrun", "--workspace", "", "-s", "kubernetes", "-cfg", "namespace=training,queue=training,validate_spec=False"]
    component = ["training/torchx/component.py:trn_job", "--job", "training/recipes/bert/job.yaml", "--claim", "fsx-claim"]
    nodes = ["--instance", "trn1.32xlarge", "--node_group", "trn1-32xl", "--toolchain", "xla-2.30"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | {"PYTHONPATH": str(ROOT)}
    command = [str(python("torchx").parent / "torchx"), *words, *component, *nodes]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "aws.amazon.com/neuron" in done.stdout
