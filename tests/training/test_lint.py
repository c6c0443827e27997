"""`trn lint`: each thing that will not work in a manifest is named with its line, and a manifest of ours has none."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from facts.catalogue import NEURON_TYPES
from tests.training.sites import BLOCK, EVERYTHING, SITE, site_of_type
from training.job import parse_job
from training.launchers import launcher, names
from training.lint import lint
from training.lint.finding import Document, Finding
from training.site import Nodes, Site
from trn.app import app
from trn.cli.errors import CommandError
from trn.jobs.lint.reader import read_manifest
from trn.jobs.rendering import as_yaml

FOREIGN = Path(__file__).with_name("foreign.yaml")


def found(text: str, site: Site | None = None) -> list[Finding]:
    """Findings of a manifest."""
    return lint(read_manifest(text, "job.yaml").documents, site)


def pod(resources: str, *, image: str = "registry.example/bert:1", more: str = "", container: str = "") -> str:
    """A Pod with these limits, and nothing else to find."""
    return f"""
kind: Pod
metadata: {{name: bert}}
spec:
  tolerations: [{{operator: Exists}}]
  {more}
  containers:
    - name: work
      image: {image}
      env: [{{name: FI_PROVIDER, value: efa}}]
      volumeMounts: [{{name: memory, mountPath: /dev/shm}}]
      resources: {{limits: {resources}}}
      {container}
"""


def job(spec: str) -> str:
    """A Job of Kubernetes on one chip that reads its pods' index."""
    template = "template: {spec: {containers: [{name: a, image: 'b:1', args: [--rank=$JOB_COMPLETION_INDEX], resources: {limits: {aws.amazon.com/neuron: 1}}}]}}"
    return f"apiVersion: batch/v1\nkind: Job\nspec: {{{spec}, {template}}}\n"


def groups(template: str, replicas: int) -> str:
    """A LeaderWorkerSet on whole nodes of 16 chips, without EFA."""
    worker = "workerTemplate: {spec: {containers: [{name: a, image: 'b:1', resources: {limits: {aws.amazon.com/neuron: 16}}}]}}"
    return f"apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec: {{replicas: {replicas}, leaderWorkerTemplate: {{{template}, {worker}}}}}\n"


def test_every_comment_of_the_sample_is_a_finding_on_its_line_and_there_is_no_other():
    """The rule behind each `#`, and the line it stands on."""
    text = FOREIGN.read_text()
    manifest = read_manifest(text, str(FOREIGN))
    expected = sorted(
        (number, rule)
        for number, line in enumerate(text.splitlines(), 1)
        if "  # " in line
        for rule in re.split(", ?", line.rpartition("# ")[2])
    )
    assert sorted((manifest.line(item.document, item.path), item.rule) for item in lint(manifest.documents)) == expected


@pytest.mark.parametrize(("grace", "rules"), [(1800, []), (1801, ["grace-beyond-block"])])
def test_a_pod_saves_before_its_block_takes_its_node(grace: int, rules: list[str]):
    """EC2 waits for no pod."""
    more = f"nodeSelector: {{trn/node-group: g}}\n  terminationGracePeriodSeconds: {grace}"
    text = pod("{aws.amazon.com/neuron: 16, vpc.amazonaws.com/efa: 8}", more=more)
    assert [item.rule for item in found(text, site_of_type("trn1.32xlarge", block=BLOCK))] == rules
    assert not found(text, site_of_type("trn1.32xlarge"))


@pytest.mark.parametrize("name", [name for name in names() if launcher(name).resource is not None])
def test_what_is_rendered_here_has_no_finding(name: str):
    """For every launcher, on the cluster it is rendered for: the one says what the other checks."""
    chosen = launcher(name)
    values = {"name": "bert", "command": ["python3", "train.py"], "nodes": 2, "launcher": name, "toolchain": "xla-2.30"}
    objects = chosen.render(parse_job(values), EVERYTHING)
    documents = [Document(index, value) for index, value in enumerate(objects)]
    assert lint(documents, EVERYTHING) == []


def test_the_driver_is_that_of_the_nodes_where_a_cluster_is_named():
    """An image that the newest driver refuses runs on a group that pins an older one."""
    image = "public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04"
    text = pod("{aws.amazon.com/neuron: 1}", image=image, more="nodeSelector: {trn/node-group: train}")
    instance = NEURON_TYPES["trn1.2xlarge"]

    def site(release: str) -> Site:
        return Site(
            "c", "dev", "us-west-2", "training", None, {"train": Nodes("train", instance, 1, 1, uses_efa=False, release_version=release)}
        )

    (without,) = found(text)
    assert (without.rule, without.wrong) == (
        "image-and-driver",
        "the image of SDK 2.30 does not start on AMI releases from 20260714 on: driver 2.29.0.0",
    )
    assert (
        "an AMI release from 20260409 on and before 20260714, such as `releaseVersion: 1.34.7-20260505`, `1.35.4-20260505`" in without.fix
    )
    assert "`--stack NAME` looks at the nodes of a stack" in without.fix
    assert found(text, site("1.35.4-20260505")) == []
    (on_nodes,) = found(text, site("1.35.4-20260714"))
    assert ("nodes of train" in on_nodes.wrong, "--stack" in on_nodes.fix) == (True, False)


JAX = "public.ecr.aws/neuron/jax-training-neuronx:0.10.0-neuronx-py313-sdk2.32.0-ubuntu24.04"
INFLIGHT = "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS"


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (
            pod("{aws.amazon.com/neuron: 3}", more="nodeSelector: {node.kubernetes.io/instance-type: trn1.32xlarge}"),
            ["chips-not-connected"],
        ),
        (pod("{aws.amazon.com/neuron: 2}", more="nodeSelector: {node.kubernetes.io/instance-type: trn1.2xlarge}"), ["more-than-a-node"]),
        (pod("{aws.amazon.com/neuron: 1}", container="args: [export, XLA_USE_BF16=1, NCCL_DEBUG=INFO]"), []),
        (pod("{aws.amazon.com/neuron: 1}", container="args: [export, XLA_USE_BF16=1]", image=JAX), ["dead-variable"]),
        (
            pod(
                "{aws.amazon.com/neuron: 1}",
                container=f"args: [export, {INFLIGHT}=3]",
                image=JAX.replace("jax", "pytorch").replace("2.32", "2.30"),
            ),
            ["image-and-driver"],
        ),
        (pod("{aws.amazon.com/neuron: 1}", container=f"args: [export, {INFLIGHT}=3]", image=JAX), ["dead-variable"]),
        (pod("{aws.amazon.com/neuron: 1}", container='args: ["--cache_dir=/a"]'), []),
        (pod('{aws.amazon.com/neuron: "1"}'), []),
        (pod("{aws.amazon.com/neuron: 16k}"), ["no-whole-number"]),
        (pod("{aws.amazon.com/neuroncore: 3.7, vpc.amazonaws.com/efa: []}"), ["no-whole-number", "no-whole-number"]),
        (pod("{nvidia.com/gpu: 8}", image="latest"), []),
        (pod("{aws.amazon.com/neuron: 16, vpc.amazonaws.com/efa: 8}").replace("env:", "was:"), []),
        (pod("{aws.amazon.com/neuroncore: 2}").replace("tolerations", "were"), []),
        ("kind: ConfigMap\ndata: {a: b}\n", []),
        ("[1, 2]\n---\n---\njust text\n", []),
        ("spec: {containers: [{name: x, resources: {limits: [1]}, env: [1, {name: 3}], command: {a: b}}, 7]}\n", []),
        ("spec: {replicas: -1, template: {spec: {containers: 5}}}\n", []),
        ("kind: TrainJob\nspec: {trainer: [1]}\n", []),
        ("kind: Job\napiVersion: batch.volcano.sh/v1alpha1\nspec: []\n", []),
        (job("completions: 2, parallelism: 2"), ["no-completion-index"]),
        (job("completionMode: Indexed, parallelism: 2"), []),
        (job("completionMode: Indexed, parallelism: 0"), ["no-pods"]),
        (groups("size: 2", replicas=1), ["missing-efa"]),
        (groups("size: 1", replicas=4), []),
        (groups("size: 2", replicas=0), ["no-pods"]),
        ("kind: LeaderWorkerSet\nspec: {replicas: x, leaderWorkerTemplate: 5}\n", []),
    ],
)
def test_a_pod_is_judged_by_what_it_asks_for(text: str, rules: list[str]):
    """What is no manifest has nothing to find, whatever its shape."""
    assert [item.rule for item in found(text)] == rules


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: {{ .Values.image }}: b", "not valid YAML"),
        ("a: [1", "not valid YAML"),
        ("[" * 3000 + "]" * 3000, "nested"),
        ("a: &a [x, x, x, x, x, x, x, x]\n" + "".join(f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 8)}]\n" for n in range(8)), "more than"),
        ("a: \x00", "not valid YAML"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_one_sentence(text: str, says: str):
    """Templates, broken files, and files written to hurt."""
    with pytest.raises(CommandError, match=says):
        read_manifest(text, "job.yaml")


def test_the_command_says_line_reason_and_fix_and_exits_with_1(tmp_path: Path):
    """As lines, and as JSON alone on standard output."""
    result = CliRunner().invoke(app, ["lint", str(FOREIGN), "--json", "-"])
    findings = json.loads(result.stdout)["findings"]
    assert (result.exit_code, findings[0]["line"], findings[0]["object"]) == (1, 20, "PyTorchJob llama")
    assert all(item["why"] and item["fix"] for item in findings)
    assert f"{FOREIGN}:32: no node offers" in CliRunner().invoke(app, ["lint", str(FOREIGN)]).stdout
    missing = CliRunner().invoke(app, ["lint", str(tmp_path / "none.yaml")])
    assert (missing.exit_code, missing.stderr.startswith("error: cannot read")) == (2, True)


def test_a_manifest_of_ours_passes_through_a_pipe():
    """`trn submit --dry-run | trn lint dev -`."""
    job = parse_job({"name": "bert", "command": ["true"], "launcher": "volcano"})
    text = as_yaml(launcher("volcano").render(job, SITE))
    result = CliRunner().invoke(app, ["lint", "-", "--stack", "dev"], input=text)
    assert (result.exit_code, result.stdout) == (0, "standard input: no findings, 1 pod with Neuron chips\n")
