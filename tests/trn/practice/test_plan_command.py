"""`trn plan` against a practice account, and with Pulumi's answers from files."""

from pathlib import Path

from tests.trn.practice.commands import trn


def test_with_a_job_that_runs_the_plan_names_it(up: Path):
    """In practice, as on AWS: the state, the plan, the nodes and the jobs are asked for."""
    assert trn("practice job dev bert")[0] == 0
    assert trn("--practice plan dev")[0] == 0
    stack = Path("Pulumi.dev.yaml")
    stack.write_text(stack.read_text().replace("size: 2\n", "size: 2\n      rootVolumeGib: 300\n", 1))
    code, out, _ = trn("--practice plan dev --markdown plan.md")
    assert code == 1
    assert "stops job jobs.batch.volcano.sh/bert of namespace training, queue training on " in out
    assert "stops job" in Path("plan.md").read_text()
    assert trn("--practice plan dev --allow restarts")[0] == 1
    assert trn("--practice plan dev --allow restarts,jobs")[0] == 0
    # Without a look at the cluster it is not known whether jobs run.
    code, out, _ = trn("--practice plan dev --no-cluster --allow restarts")
    assert (code, "not known" in out) == (1, True)


def test_what_the_program_refuses_is_refused_in_practice_too(up: Path):
    """As with the real CLI: nothing is made, changed or deleted, and the plan does not pass for one."""
    stack = Path("Pulumi.dev.yaml")
    stack.write_text(stack.read_text().replace("  trn:training:", "  trn:iam: {path: /teams/}\n  trn:training:", 1))
    code, _, err = trn("--practice plan dev")
    assert (code, "EKS keeps the role" in err) == (1, True)
    code, out, _ = trn("practice up dev --quiet")
    assert (code, "without `iam.path`" in out, "0 resources created or changed" in out) == (1, True, True)


def test_files_of_pulumis_answers_will_do(project: Path):
    """For a pipeline whose step with credentials is another one; one file alone is refused, and so is one that is not there."""
    Path("state.json").write_text('{"deployment": {}}')
    Path("preview.json").write_text('{"steps": []}')
    code, out, _ = trn("plan dev --no-cluster --state state.json --preview preview.json")
    assert (code, "nothing: no resource would be touched" in out) == (0, True)
    code, _, err = trn("plan dev --preview preview.json")
    assert (code, "belong together" in err) == (2, True)
    code, _, err = trn("plan dev --state nowhere.json --preview preview.json")
    assert (code, "cannot read nowhere.json: " in err) == (2, True)


def edit(old: str, new: str) -> None:
    """One edit of the stack file."""
    stack = Path("Pulumi.dev.yaml")
    text = stack.read_text()
    assert old in text
    stack.write_text(text.replace(old, new, 1))


def test_nodes_that_the_state_does_not_know_are_not_passed_over(up: Path):
    """`trn scale` gave a group of size 0 its nodes, and a job is on them: `pulumi up` replaces them all the same."""
    assert trn("--practice scale trn1-32xl 0 --yes")[0] == 0
    assert trn("--practice scale trn1n-32xl 1 --yes")[0] == 0
    assert trn("practice job dev bert")[0] == 0
    text = Path("Pulumi.dev.yaml").read_text()
    head, group, tail = text.partition("    trn1n-32xl:")
    Path("Pulumi.dev.yaml").write_text(head + group + tail.replace("size: 0\n", "size: 0\n      rootVolumeGib: 300\n", 1))
    code, out, _ = trn("--practice plan dev --allow restarts")
    said = " ".join(out.split())
    assert (code, "stops job jobs.batch.volcano.sh/bert of namespace training" in said) == (1, True), out
    assert "node group trn1n-32xl has 1 node that the state does not know" in said


def test_jobs_that_mount_a_claim_and_jobs_of_a_kind_that_goes_are_named(up: Path):
    """Their pods must end before the claim does; Volcano's objects go with its chart."""
    assert trn("practice job dev bert")[0] == 0
    before = Path("Pulumi.dev.yaml").read_text()
    for old, new in (
        ("    lustre:\n", "    lustre:\n      claimName: other\n"),
        ("    volcano:\n", "    volcano:\n      enabled: false\n"),
    ):
        edit(old, new)
        code, out, _ = trn("--practice plan dev --allow data,final,restarts")
        assert (code, "stops job jobs.batch.volcano.sh/bert of namespace training" in " ".join(out.split())) == (1, True), out
        Path("Pulumi.dev.yaml").write_text(before)
