"""Launchers outside of Kubernetes: requests that AWS's own model takes, scripts that a shell runs, and what they cannot do."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import botocore.session
import botocore.validate
import pytest
import yaml

from tests.training.sites import SITE, group, job, site
from training import launchers
from training.account import parse_account
from training.check import problems
from training.job import JobFileError
from training.launchers import batch, hyperpod, sagemaker, sbatch
from training.launchers.base import Document
from training.payload import files
from training.phase import Phase
from training.site import Site

ACCOUNT_KEYS = {
    "subnetId": "subnet-0123456789abcdef0",
    "securityGroupIds": ["sg-0123456789abcdef0", "sg-0123456789abcdef1"],
    "fileSystemId": "fs-0123456789abcdef0",
    "fileSystemMountName": "abcdefgh",
    "clusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/trainium-dev",
    "roleArn": "arn:aws:iam::123456789012:role/training",
    "s3Uri": "s3://bucket/jobs",
    "amiId": "ami-0123456789abcdef0",
}
OUTSIDE = site(
    account=parse_account(ACCOUNT_KEYS),
    slurm_groups=SITE.node_groups,
    batch_groups=frozenset(SITE.node_groups),
    addons=SITE.addons | {"slurm", "batch"},
    mirror="123456789012.dkr.ecr.us-west-2.amazonaws.com",
)
NAMES = [found.name for found in launchers.launchers() if found.resource is None]
FULL: dict[str, Any] = {
    "args": ["--name", "a b"],
    "environment": {"NEURON_RT_STOCHASTIC_ROUNDING_EN": "1", "QUOTED": "it's"},
    "checkpoints": {"path": "/fsx/bert/checkpoints", "grace": "4m"},
    "restarts": {"max": 5, "exitCodes": [1]},
    "timeLimit": "12h",
}
GOLDEN = Path(__file__).parent / "golden"


def documents(name: str, on: Site = OUTSIDE, **keys: Any) -> list[Document]:
    """What a launcher makes of a job that has nothing wrong."""
    made = job(**{"nodes": 1 if name == "batch" else 2, **keys, "launcher": name})
    assert problems(made, on) == []
    return launchers.launcher(name).documents(made, on)


def wrong(name: str, on: Site = OUTSIDE, **keys: Any) -> dict[str, str]:
    """What is wrong with a job, by key path."""
    return {problem.path: problem.wrong for problem in problems(job(**{"nodes": 1, **keys, "launcher": name}), on)}


def without_files(text: str) -> str:
    """A document without the scripts that it carries: they change without it."""
    text = re.sub(r"<<'TRN_END_OF_FILE'\n.*?\nTRN_END_OF_FILE", "<<...", text, flags=re.DOTALL)
    return re.sub(r'"trn-files-[0-9]+": "[^"]*",?\n *', "", text)


def refused(service: str, operation: str, body: dict[str, Any]) -> str:
    """What botocore, and so the AWS CLI, would refuse in a request."""
    shape = botocore.session.get_session().get_service_model(service).operation_model(operation).input_shape
    return botocore.validate.ParamValidator().validate(body, shape).generate_report()


def too_long(service: str, operation: str, body: dict[str, Any]) -> list[str]:
    """Texts, lists and maps beyond their limits, and values that are not of an enumeration: botocore leaves those to the service."""

    def walk(value: Any, shape: Any, path: str) -> list[str]:
        about, found = getattr(shape, "metadata", {}), []
        if shape.type_name in ("string", "list", "map") and len(value) > about.get("max", len(value)):
            found.append(f"{path}: {len(value)} of {about['max']}")
        if shape.type_name == "string":
            found += [f"{path}: {value}"] if shape.enum and value not in shape.enum else []
            found += [f"{path}: {value}"] if about.get("pattern") and not re.fullmatch(about["pattern"], value) else []
        if shape.type_name == "structure":
            found += [each for key, item in value.items() for each in walk(item, shape.members[key], f"{path}.{key}")]
        if shape.type_name == "list":
            found += [each for index, item in enumerate(value) for each in walk(item, shape.member, f"{path}[{index}]")]
        if shape.type_name == "map":
            found += [each for key, item in value.items() for each in walk(item, shape.value, f"{path}.{key}")]
        return found

    model = botocore.session.get_session().get_service_model(service)
    return walk(body, model.operation_model(operation).input_shape, operation)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "torchx"])
def test_documents_are_as_written(name: str):
    """A change of what is submitted is seen in a diff. `TRN_GOLDEN=write` writes them."""
    for document in documents(name, **FULL):
        path, text = GOLDEN / f"{name}.{document.name}", without_files(document.text)
        if os.environ.get("TRN_GOLDEN") == "write":
            path.write_text(text)
        assert path.read_text() == text


REQUESTS = {
    "bert.training-job.json": ("sagemaker", "CreateTrainingJob"),
    "trainium-dev.hyperpod.json": ("sagemaker", "CreateCluster"),
    "bert.job-definition.json": ("batch", "RegisterJobDefinition"),
    "bert.job.json": ("batch", "SubmitJob"),
}


@pytest.mark.parametrize(
    "keys",
    [{}, FULL, {"recipe": "bert", "command": [], "args": ["--data", "generated"], "toolchain": "jax-2.32"}],
    ids=["small", "full", "recipe"],
)
@pytest.mark.parametrize("name", ["batch", "hyperpod", "sagemaker"])
def test_requests_are_valid_by_botocores_models(name: str, keys: dict[str, Any]):
    """Names, types and required members, and beyond what botocore itself checks the lengths, patterns and enumerations of the model."""
    for document in documents(name, **keys):
        body = json.loads(document.text)
        assert refused(*REQUESTS[document.name], body) == ""
        assert too_long(*REQUESTS[document.name], body) == []


def test_the_check_of_requests_refuses_what_is_wrong():
    """One that always passes would show nothing."""
    (document,) = documents("sagemaker")
    body = json.loads(document.text)
    body["Environment"]["LONG"] = "x" * 513
    body["ResourceConfig"]["InstanceType"] = "ml.trn9"
    assert len(too_long("sagemaker", "CreateTrainingJob", body)) == 2
    del body["RoleArn"]
    assert "RoleArn" in refused("sagemaker", "CreateTrainingJob", body)


@pytest.mark.parametrize(("shape", "types"), [("TrainingInstanceType", sagemaker.TYPES), ("ClusterInstanceType", hyperpod.TYPES)])
def test_instance_types_are_those_of_the_model(shape: str, types: tuple[str, ...]):
    """A type that SageMaker gains is one entry here."""
    enum = botocore.session.get_session().get_service_model("sagemaker").shape_for(shape).enum
    assert sorted(name.removeprefix("ml.") for name in enum if name.startswith("ml.trn")) == sorted(types)


def test_a_sagemaker_container_unpacks_the_files_and_runs_the_command(tmp_path: Path):
    """The entry point as the request has it, with other folders: what it writes is what other pods mount."""
    (document,) = documents("sagemaker", recipe="bert", command=[], args=["--data", "generated"], toolchain="jax-2.32")
    body = json.loads(document.text)
    (tmp_path / "h.json").write_text(json.dumps(body["HyperParameters"]))
    shell, option, script, name, first, second, source, path = body["AlgorithmSpecification"]["ContainerEntrypoint"]
    code = (
        (first + second)
        .replace("/opt/ml/input/config/hyperparameters.json", str(tmp_path / "h.json"))
        .replace("/trn", str(tmp_path / "trn"))
    )
    assert (source, path) == ("/opt/ml/input/data/fsx", "/fsx")
    script = script.replace("python3", shlex.quote(sys.executable))
    said = subprocess.run(
        [shell, option, script, name, code, "", str(tmp_path), str(tmp_path / "fsx"), "echo", "a b"], capture_output=True, text=True
    )
    assert (said.stdout, said.stderr) == ("a b\n", "")
    assert {item.name: item.read_text() for item in (tmp_path / "trn").iterdir()} == files("bert")
    assert (tmp_path / "fsx").resolve() == tmp_path.resolve()


FAKES = {
    "hostname": "echo 10.0.0.7 10.0.0.8",
    "sbcast": '[ "$1" = --force ] && exec cp "$2" "$3"',
    "srun": 'while [ "${1#--}" != "$1" ]; do shift; done; SLURM_NODEID=0 SLURM_STEP_NODELIST=trn1-0 SLURM_STEP_NUM_NODES=1 exec "$@"',
    "scontrol": 'echo "$@"',
}
"""Slurm's commands as one node would see them."""


@pytest.fixture
def slurm(tmp_path: Path):
    """Runs a job's script as Slurm would; gives its exit code and what it said."""
    for name, text in FAKES.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)

    def run(restarted: int = 0, **keys: Any) -> tuple[int, list[str]]:
        (document,) = documents("slurm", nodes=1, start="none", **keys)
        text = document.text.replace("files=/tmp/trn-", f"files={tmp_path}/trn-")
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_ID": "7", "SLURM_RESTART_COUNT": str(restarted)}
        done = subprocess.run(["bash"], input=text, capture_output=True, text=True, env=environment)
        assert done.stderr == ""
        return done.returncode, [line for line in done.stdout.splitlines() if not line.startswith('{"trn"')]

    return run


def test_a_slurm_job_runs_the_entry_script_with_its_command(slurm, tmp_path: Path):
    """The script brings its files, and the first node's address reaches the workers; its heartbeat is a file of the job's own."""
    assert slurm(command=["sh", "-c", 'echo "$MASTER_ADDR" "$0"', "it's me"]) == (0, ["10.0.0.7 it's me"])
    assert json.loads((tmp_path / "trn-7.heartbeat").read_text())["state"] == "ended"


@pytest.mark.parametrize(
    ("code", "restarted", "restarts", "again"),
    [
        (3, 0, {"max": 2}, True),
        (3, 2, {"max": 2}, False),
        (3, 0, {"max": 0}, False),
        (3, 0, {"max": 2, "exitCodes": [4]}, False),
        (75, 0, {"max": 2, "exitCodes": [4]}, True),
        (0, 0, {"max": 2}, False),
    ],
)
def test_a_slurm_job_is_queued_again_as_its_file_says(slurm, code: int, restarted: int, restarts: dict[str, Any], again: bool):
    """A checkpoint on request, and what the job names, as often as it says."""
    found = slurm(restarted, command=["sh", "-c", f"exit {code}"], restarts=restarts)
    assert found == (code, ["requeue 7"] if again else [])


def test_a_slurm_job_that_used_up_its_time_is_not_queued_again(slurm):
    """Slurm stops it before its limit: it would otherwise get the same time once more."""
    assert slurm(command=["sh", "-c", "exit 75"], timeLimit="1m") == (75, [])


def test_a_recipes_script_is_run_from_the_jobs_own_folder():
    """/trn is a pod's; on Slurm's nodes it may not be written."""
    (document,) = documents("slurm", recipe="bert", command=[], args=["--data", "generated"], toolchain="jax-2.32")
    assert '-- python3 "$files"/train.py' in document.text


def test_a_parallel_cluster_is_in_the_stacks_network():
    """Same subnet, same security groups, same file system, one placement group."""
    cluster, script = documents("parallelcluster")
    found = yaml.safe_load(cluster.text)
    (queue,) = found["Scheduling"]["SlurmQueues"]
    assert queue["Networking"]["SubnetIds"] == [ACCOUNT_KEYS["subnetId"]]
    assert queue["Networking"]["AdditionalSecurityGroups"] == ACCOUNT_KEYS["securityGroupIds"]
    assert queue["ComputeResources"][0]["Efa"] == {"Enabled": True}
    assert found["SharedStorage"][0]["FsxLustreSettings"] == {"FileSystemId": ACCOUNT_KEYS["fileSystemId"]}
    assert f"--partition={queue['Name']}\n" in script.text


def test_nodes_of_hyperpod_are_found_by_jobs_like_the_stacks_own():
    """Label and taint of the node group."""
    (document,) = documents("hyperpod")
    (instances,) = json.loads(document.text)["InstanceGroups"]
    assert instances["KubernetesConfig"]["Labels"] == {"trn/node-group": "trn1-32xl"}
    assert instances["KubernetesConfig"]["Taints"][0]["Key"] == "aws.amazon.com/neuron"


def test_batch_mounts_its_files_from_the_secret_that_is_made_for_it():
    """A pod of Batch's can mount no ConfigMap."""
    (secret,) = batch.LAUNCHER.render(job(nodes=1, launcher="batch"), OUTSIDE)
    definition = json.loads(documents("batch")[0].text)
    named = [volume["secret"]["secretName"] for volume in definition["eksProperties"]["podProperties"]["volumes"] if "secret" in volume]
    assert named == [secret["metadata"]["name"]]
    assert secret["stringData"] == files(None)


@pytest.mark.parametrize(
    ("name", "keys", "path"),
    [
        ("batch", {"nodes": 2}, "nodes"),
        ("batch", {"restarts": {"max": 10}}, "restarts.max"),
        ("batch", {"priority": "high"}, "priority"),
        ("slurm", {"image": "r.example/t:1"}, "image"),
        ("slurm", {"mounts": [{"path": "/data"}]}, "mounts[0]"),
        ("slurm", {"devices": 4}, "devices"),
        ("sagemaker", {"image": "r.example/t:1"}, "image"),
        ("sagemaker", {"mounts": [{"path": "/fsx", "claim": "mine"}]}, "mounts[0]"),
        ("sagemaker", {"args": ["x" * 300]}, "command"),
        ("parallelcluster", {"image": "r.example/t:1"}, "image"),
    ],
)
def test_what_a_launcher_cannot_do_is_refused(name: str, keys: dict[str, Any], path: str):
    """Each is sound with another launcher."""
    assert path in wrong(name, **keys)


@pytest.mark.parametrize("name", ["hyperpod", "parallelcluster", "sagemaker"])
def test_without_ids_of_the_network_nothing_is_printed(name: str):
    """A request with an id that is made up would be refused late, or reach another network."""
    assert "--account" in wrong(name, site(mirror=OUTSIDE.mirror))
    bare = parse_account({key: ACCOUNT_KEYS[key] for key in ("subnetId", "securityGroupIds")})
    missing = {path for path in wrong(name, site(mirror=OUTSIDE.mirror, account=bare)) if path.endswith("(of the account)")}
    assert missing


def test_an_account_file_is_read_like_any_other():
    """All mistakes at once, in its own keys."""
    with pytest.raises(JobFileError) as raised:
        parse_account({**ACCOUNT_KEYS, "subnetId": "vpc-1", "role": "x"})
    assert [problem.path for problem in raised.value.problems] == ["subnetId", "role"]


def test_slurm_and_batch_find_their_own_node_groups_only():
    """Slurm's nodes have no room for others, and Batch may use what its environment has."""
    both = site(
        node_groups={"a": group("a", "trn1.32xlarge"), "b": group("b", "trn1.32xlarge")},
        slurm_groups={"s": group("s", "trn1.32xlarge")},
        batch_groups=frozenset({"b"}),
    )
    assert list(both.seen_by("slurm").node_groups) == ["s"]
    assert list(both.seen_by("batch").node_groups) == ["b"]
    assert list(both.seen_by("volcano").node_groups) == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "status", "expected"),
    [
        ("slurm", {"job_state": ["RUNNING"]}, Phase.RUNNING),
        ("slurm", {"job_state": ["PENDING", "REQUEUED"]}, Phase.WAITING),
        ("slurm", {"job_state": ["NODE_FAIL"]}, Phase.FAILED),
        ("slurm", {"job_state": "COMPLETED"}, Phase.SUCCEEDED),
        ("sagemaker", {"TrainingJobStatus": "InProgress", "SecondaryStatus": "Pending"}, Phase.WAITING),
        ("sagemaker", {"TrainingJobStatus": "InProgress", "SecondaryStatus": "Training"}, Phase.RUNNING),
        ("sagemaker", {"TrainingJobStatus": "Completed"}, Phase.SUCCEEDED),
        ("batch", {"status": "RUNNABLE"}, Phase.WAITING),
        ("batch", {"status": "FAILED"}, Phase.FAILED),
        ("hyperpod", {"ClusterStatus": "InService"}, Phase.RUNNING),
    ],
)
def test_states_have_the_words_of_all_launchers(name: str, status: dict[str, Any], expected: Phase):
    """One table shows jobs of all kinds."""
    assert launchers.launcher(name).phase(status) == expected


def test_scripts_end_no_file_early():
    """A line of a recipe that looks like the end would be run by the shell."""
    assert not any(sbatch.END_OF_FILE in text for text in files("bert").values())
