"""`trn submit --dry-run`: objects on standard output, everything else on standard error, and no cluster."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from stacks.config import parse_settings
from tests.support import ROOT, dev_configuration, merged
from trn.app import app
from trn.engine.job_site import site_of

GOOD = "name: bert\ncommand: [python3, /fsx/train.py]\nnodes: 2\n"


@pytest.fixture
def job_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sound job file, with the repository as the working folder."""
    monkeypatch.chdir(ROOT)
    path = tmp_path / "job.yaml"
    path.write_text(GOOD)
    return path


def test_a_dry_run_prints_objects_and_nothing_else(job_file: Path):
    """`trn submit job.yaml --dry-run | kubectl apply -f -` must work."""
    result = CliRunner().invoke(app, ["submit", str(job_file), "--dry-run"])
    assert result.exit_code == 0
    assert [item["kind"] for item in yaml.safe_load_all(result.stdout)] == ["ConfigMap", "Job"]
    assert result.stderr == "bert: 64 workers on 2 x trn1.32xlarge (trn1-32xl) of trainium-dev, xla-2.30, by Volcano Job\n"


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("name: bert\nnodes: 2\n", [], "neither `command` nor `recipe` is there"),
        (GOOD.replace("2", "9"), [], "more nodes than trn1-32xl may have, `nodes` is `9`"),
        (GOOD, ["--on", "vulcano"], "did you mean `volcano`?"),
        (GOOD, ["--stack", "nope"], "there is no Pulumi.nope.yaml"),
        ("name: bert\nname: bert\n", [], "the key `name` is there twice"),
        ("a: &a [*a]\n", [], "is inside what `&a` names"),
        (b"\xff\xfe", [], "is not UTF-8 text"),
    ],
)
def test_what_is_wrong_is_refused_as_misuse(job_file: Path, text: str | bytes, options: list[str], says: str):
    """Nothing is printed that could be applied."""
    job_file.write_bytes(text if isinstance(text, bytes) else text.encode())
    result = CliRunner().invoke(app, ["submit", str(job_file), "--dry-run", *options])
    assert (result.exit_code, result.stdout) == (2, "")
    assert says in result.stderr
    assert "hint: " in result.stderr


def test_a_job_file_that_is_not_there_is_named(job_file: Path):
    """The commonest slip."""
    result = CliRunner().invoke(app, ["submit", f"{job_file}.yml", "--dry-run"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"cannot read {job_file}.yml" in result.stderr


def test_the_site_is_what_the_stack_says():
    """Nothing of a cluster is in the job file: it must all be here."""
    settings = parse_settings(dev_configuration(), "dev", rehearsal=True)
    found = site_of(settings, "dev")
    assert list(found.node_groups) == ["trn1-32xl", "trn1n-32xl"]
    assert (found.claim, found.etcd, found.toolchain) == ("fsx-claim", "etcd-client:2379", "xla-2.30")
    assert [queue.name for queue in found.queues.values() if queue.takes_jobs] == ["training", "test"]
    assert {"volcano", "etcd"} <= found.addons
    assert found.node_groups["trn1-32xl"].interface_count == 8


def test_a_queue_with_queues_below_takes_no_jobs():
    """Volcano's webhook would refuse the job."""
    queues = {"all": {}, "a": {"parent": "all"}}
    configuration = merged(dev_configuration(), addons={"volcano": {"queues": queues}})
    configuration["addons"]["volcano"]["queues"] = queues
    found = site_of(parse_settings(configuration, "dev", rehearsal=True), "dev")
    assert [name for name, queue in found.queues.items() if not queue.takes_jobs] == ["all"]


def test_karpenters_pools_are_places_for_jobs():
    """A job may ask for nodes that are not there yet."""
    karpenter = {"enabled": True, "neuronPools": {"big": {"instanceType": "trn1.32xlarge", "maxNodes": 4}}}
    configuration = merged(dev_configuration(), addons={"karpenter": karpenter, "clusterAutoscaler": {"enabled": False}})
    found = site_of(parse_settings(configuration, "dev", rehearsal=True), "dev")
    pool = found.pools["big"]
    assert (pool.largest_size, pool.selector, pool.release_version) == (4, {"trn/node-pool": "big"}, "1.35.0-20260505")


def test_operators_that_make_gangs_are_known_by_their_settings():
    """A second PodGroup beside the operator's would be refused, or would hold room for no pod."""
    addons = {"kubeRay": {"enabled": True, "batchScheduler": "volcano"}, "mpiOperator": {"enabled": True}}
    found = site_of(parse_settings(merged(dev_configuration(), addons=addons), "dev", rehearsal=True), "dev")
    assert found.own_gangs == {"kubeRay"}


def test_a_dry_run_loads_no_client_and_no_simulator():
    """It takes at most half a second more than the help and the Kubernetes client's import, which it does not need; `make bench` prints it."""
    script = (
        "import sys\nfrom trn.app import app\n"
        "try: app(['submit', 'docs/samples/jobs/bert.yaml', '--dry-run'])\nexcept SystemExit: pass\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & set(sys.argv[1:])), file=sys.stderr)"
    )
    heavy = ["boto3", "botocore", "kubernetes", "pulumi_aws", "pulumi_eks", "pulumi_kubernetes", "simulator"]
    done = subprocess.run([sys.executable, "-c", script, *heavy], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"
    assert done.stdout.startswith("apiVersion: v1")


IDS = "subnetId: subnet-0123456789abcdef0\nsecurityGroupIds: [sg-0123456789abcdef0]\namiId: ami-0123456789abcdef0\n"


def test_a_document_is_printed_in_its_own_form(job_file: Path):
    """Several stand one below the other, each with what submits it."""
    (job_file.parent / "account.yaml").write_text(IDS)
    options = ["--dry-run", "--on", "parallelcluster", "--account", str(job_file.parent / "account.yaml")]
    result = CliRunner().invoke(app, ["submit", str(job_file), *options])
    assert result.exit_code == 0
    heads = [
        line for line in result.stdout.splitlines() if line.startswith("# trainium-dev-slurm.yaml: pcluster create-cluster") or "#!" in line
    ]
    assert len(heads) == 2


def test_a_launcher_outside_of_the_cluster_says_what_submits_its_job(job_file: Path):
    """`trn` writes nothing to AWS by itself here, and does not look for the cluster."""
    (job_file.parent / "account.yaml").write_text(IDS)
    options = ["--on", "parallelcluster", "--account", str(job_file.parent / "account.yaml")]
    result = CliRunner().invoke(app, ["submit", str(job_file), *options])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "run pcluster create-cluster" in result.stderr
    assert "nothing was submitted" in result.stderr


def test_an_account_file_that_is_wrong_is_misuse(job_file: Path):
    """Before anything is rendered."""
    (job_file.parent / "account.yaml").write_text("subnetId: vpc-1\n")
    result = CliRunner().invoke(app, ["submit", str(job_file), "--dry-run", "--account", str(job_file.parent / "account.yaml")])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "2 mistakes in" in result.stderr
