"""`trn image`: the commands, against a simulated account and a registry of this process."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from facts import text_formats
from facts.names import CLUSTER_TAG, STACK_TAG
from facts.toolchains import TOOLCHAINS
from tests.documents import checked
from tests.support import ROOT, copy_project
from tests.trn.aws.cloud import ACCOUNT, STACK, tag_list
from tests.trn.change.owned import EMPTY, FakePulumi, stack_of
from tests.trn.given import Given
from tests.trn.jobs.image.images import files, put_base
from tests.trn.jobs.image.strict_registry import StrictRegistry, serving
from tests.trn.kubernetes.healthy_cluster import NAME, Healthy
from training.images import FOLDER, constraints, dockerfile
from trn.app import app
from trn.aws import ecr
from trn.before.iam.documents import operator_permissions, statements
from trn.jobs.image import change
from trn.jobs.image.manifest import DOCKER, Manifest

REPOSITORY = f"{NAME}/training"


@pytest.fixture
def registry() -> Iterator[StrictRegistry]:
    """The account's registry, with a base in it; as ECR it makes no repository on push."""
    with serving(StrictRegistry(password="simulated", makes_repositories=False, immutable=True)) as found:
        put_base(found, "mirror/base")
        yield found


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, registry: StrictRegistry, given: Given) -> Healthy:
    """The shipped stack, up, whose account has that registry."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    given.api = made.cloud.api
    given.engine = stack_of(NAME)
    monkeypatch.setattr("trn.aws.ecr.registry_host", lambda account, region: registry.host)
    made.cloud.put("repository", "mirror/base", {})
    real = ecr.make_repository

    def made_in_both(api, name, tags):
        registry.repositories.setdefault(name, type(registry.repositories["mirror/base"])())
        return real(api, name, tags)

    monkeypatch.setattr("trn.aws.ecr.make_repository", made_in_both)
    return made


def trn(*words: str) -> Result:
    """One command below `trn image`."""
    return CliRunner().invoke(app, ["image", *words], catch_exceptions=False)


def push(registry: StrictRegistry, folder: Path, *more: str) -> Result:
    """A push of a folder."""
    return trn("push", str(folder), "--base", f"{registry.host}/mirror/base:1", *more)


def test_a_push_prints_the_line_for_the_job_file(healthy: Healthy, registry: StrictRegistry, tmp_path: Path):
    """An image that job.yaml takes, and the digest that it has in the registry. The repository is the cluster's, and its tags stay."""
    result = push(registry, files(tmp_path, train="1"), "--yes")
    image, digest = (re.findall(rf"^{key}: (\S+)$", result.stdout, re.MULTILINE)[0] for key in ("image", "digest"))
    assert result.exit_code == 0, result.output
    assert text_formats.IMAGE.fits(image)
    assert image.startswith(f"{registry.host}/{REPOSITORY}:xla-2.30-")
    assert registry.repositories[REPOSITORY].tags[image.rpartition(":")[2]] == digest
    made = healthy.cloud.of("repository")[REPOSITORY]
    assert {tag["Key"]: tag["Value"] for tag in made["tags"]} == {CLUSTER_TAG: NAME, STACK_TAG: STACK}
    assert (made["imageTagMutability"], made["imageScanningConfiguration"]) == ("IMMUTABLE", {"scanOnPush": True})
    # The base is in the same registry: its layers are taken over, not sent.
    assert (registry.count("MOUNT"), registry.sent() < 3000) == (2, True)


def test_a_tag_that_is_another_image_is_not_moved(healthy: Healthy, registry: StrictRegistry, tmp_path: Path):
    """Nodes that have pulled it would run the old one beside the new one."""
    assert push(registry, files(tmp_path, train="1"), "--yes", "--tag", "1").exit_code == 0
    registry.asked.clear()
    refused = push(registry, files(tmp_path, train="2"), "--yes", "--tag", "1")
    assert (refused.exit_code, refused.stderr.count("sha256:"), "leave --tag out" in refused.stderr) == (1, 2, True), refused.stderr
    assert registry.count("P") == 0


@pytest.mark.parametrize("is_immutable", [True, False])
@pytest.mark.parametrize("at", ["PATCH", "GET manifest"])
def test_a_tag_that_was_set_while_the_layers_were_sent_is_not_moved(
    healthy: Healthy, registry: StrictRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_immutable: bool, at: str
):
    """It is looked at again right before it would be set; both images are named in the report."""
    registry.immutable = is_immutable
    theirs = list[str]()

    class Asked(list[str]):
        def append(self, line: str) -> None:
            super().append(line)
            # The last look before the name, or the layers before it.
            is_due = line.startswith(at) and (at == "PATCH" or sum(each.startswith(f"{at} {REPOSITORY} 1") for each in self) == 3)
            if is_due and not theirs:
                theirs.append(put_base(registry, REPOSITORY, "1"))

    registry.asked = Asked()
    result = push(registry, files(tmp_path, train="1"), "--yes", "--tag", "1", "--json", str(tmp_path / "report"))
    told = (tmp_path / "report").read_text()
    assert (result.exit_code, theirs[0] in told, json.loads(told)["digest"] in told, "not moved" in result.output) == (1, True, True, True)
    assert registry.repositories[REPOSITORY].tags == {"1": theirs[0]}
    assert registry.count("PUT manifest") == 0


def test_a_repository_that_others_made_meanwhile_gets_no_layer(
    healthy: Healthy, registry: StrictRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Whose it is, is looked at before anything is sent."""
    real = ecr.make_repository

    def late(api, name, tags):
        registry.repositories.setdefault(name, type(registry.repositories["mirror/base"])())
        healthy.cloud.put("repository", REPOSITORY, {"tags": tag_list({CLUSTER_TAG: "other"})})
        return real(api, name, tags)

    monkeypatch.setattr("trn.aws.ecr.make_repository", late)
    result = push(registry, files(tmp_path, train="1"), "--yes")
    assert (result.exit_code, f"its tag {CLUSTER_TAG} is other" in result.stderr) == (1, True), result.output
    assert [line for line in registry.asked if not line.startswith(("GET", "HEAD"))] == []


def test_an_image_is_pushed_before_the_cluster_is_there(healthy: Healthy, registry: StrictRegistry, tmp_path: Path, given: Given):
    """It is told so, and no name of a cluster is asked for; one that is there and that the state does not hold is named first."""
    given.engine = FakePulumi(EMPTY)
    refused = push(registry, files(tmp_path, train="1"), "--yes")
    assert (refused.exit_code, "--yes alone is not enough" in refused.stderr) == (1, True)
    healthy.cloud.of("cluster").clear()
    result = push(registry, tmp_path, "--yes")
    assert (result.exit_code, "it has no cluster yet" in result.stderr) == (0, True), result.output


def test_a_second_push_changes_nothing(healthy: Healthy, registry: StrictRegistry, tmp_path: Path):
    """And asks nothing: there is nothing to agree to."""
    first = push(registry, files(tmp_path, train="1"), "--yes")
    registry.asked.clear()
    again = push(registry, tmp_path, "--json", "-")
    said = checked(again.stdout)
    assert (again.exit_code, said["schema"], said["bytes"], said["image"] in first.stdout) == (0, "trn-image-push", 0, True)
    assert [line for line in registry.asked if not line.startswith(("GET", "HEAD"))] == []


def test_a_dry_run_makes_nothing(healthy: Healthy, registry: StrictRegistry, tmp_path: Path):
    """It says how much would be sent."""
    result = push(registry, files(tmp_path, train="1"), "--dry-run")
    assert (result.exit_code, "nothing was sent" in result.stdout, "is made" in result.stderr) == (0, True, True)
    assert REPOSITORY not in healthy.cloud.of("repository")
    assert [line for line in registry.asked if not line.startswith(("GET", "HEAD"))] == []


def test_without_consent_nothing_is_pushed(healthy: Healthy, registry: StrictRegistry, tmp_path: Path):
    """The question is on standard error."""
    result = CliRunner().invoke(
        app, ["image", "push", str(files(tmp_path, train="1")), "--base", f"{registry.host}/mirror/base:1"], input="n\n"
    )
    assert result.exit_code == 1
    assert REPOSITORY not in healthy.cloud.of("repository")


@pytest.mark.parametrize(
    ("tags", "says"),
    [
        ({}, f"it has no tag {CLUSTER_TAG}"),
        ({CLUSTER_TAG: "other"}, f"its tag {CLUSTER_TAG} is other"),
        ({CLUSTER_TAG: NAME, STACK_TAG: "organization/elsewhere/dev"}, "another stack made this"),
        ({CLUSTER_TAG: NAME, STACK_TAG: STACK.replace("organization", "acme")}, f"another stack made this than {STACK}"),
    ],
)
def test_a_repository_of_others_is_not_touched(healthy: Healthy, registry: StrictRegistry, tmp_path: Path, tags: dict[str, str], says: str):
    """Whatever its name."""
    healthy.cloud.put("repository", REPOSITORY, {"tags": tag_list(tags)})
    result = push(registry, files(tmp_path, train="1"), "--yes")
    assert (result.exit_code, says in result.stderr) == (1, True), result.stderr
    assert registry.asked == []


def test_a_cluster_of_another_stack_is_refused(healthy: Healthy, registry: StrictRegistry, tmp_path: Path):
    """The same check as before every other change."""
    healthy.control_plane["createdAt"] = "2020-01-01T00:00:00Z"
    result = push(registry, files(tmp_path, train="1"), "--yes")
    assert (result.exit_code, "this is not the cluster of stack" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--toolchain", "xla-9"], 2, "unknown toolchain `xla-9`"),
        (["--toolchain", "torch-2.33"], 2, "no published image of torch-2.33 is known"),
        (["--toolchain", "jax-2.32", "--base", "public.ecr.aws/neuron/pytorch-training-neuronx:2.9.0-neuronx-py312-sdk2.30.0-ubuntu24.04"], 2, "does not fit jax-2.32"),
        (["--base", "https://x/y"], 2, "is no image reference"),
        (["--into", "workspace"], 2, "--into `workspace` is no path"),
        (["--exclude", "*"], 2, "no file that is not excluded"),
    ],
)  # fmt: skip
def test_misuse_is_refused_before_aws_is_asked(healthy: Healthy, tmp_path: Path, words: list[str], code: int, says: str):
    """What is wrong, what is allowed, what to do."""
    result = trn("push", str(files(tmp_path, train="1")), *words)
    assert (result.exit_code, says in result.stderr, "hint: " in result.stderr) == (code, True, True), result.stderr
    assert healthy.cloud.wire.calls == []


def test_requirements_are_not_left_out_in_silence(healthy: Healthy, registry: StrictRegistry, tmp_path: Path):
    """A push installs nothing: the job would end at its first import."""
    (files(tmp_path, train="1") / "requirements.txt").write_text("einops\n")
    refused = push(registry, tmp_path, "--yes")
    assert (refused.exit_code, "`trn image build` installs" in refused.stderr) == (2, True)
    assert push(registry, tmp_path, "--yes", "--exclude", "requirements.txt").exit_code == 0


def test_a_practice_account_has_no_registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """It says so, and reaches for no network."""
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["--practice", "image", "push", str(files(tmp_path, train="1"))])
    assert (result.exit_code, "a practice account has no registry" in result.stderr) == (2, True)


def test_the_documents_hold_every_right_of_a_push():
    """Those of the registry's own protocol among them, narrowed to the cluster's repositories."""
    rights = {action for actions in operator_permissions().values() for action in actions}
    needed = {"GetAuthorizationToken", "CreateRepository", "TagResource", "BatchCheckLayerAvailability", "InitiateLayerUpload", "UploadLayerPart",
              "CompleteLayerUpload", "PutImage", "BatchGetImage", "GetDownloadUrlForLayer"}  # fmt: skip
    assert {f"ecr:{name}" for name in needed} <= rights
    for statement in statements(operator_permissions(), NAME, "us-west-2"):
        if any(action.startswith(("ecr:Put", "ecr:Init", "ecr:Upload", "ecr:Create")) for action in statement["Action"]):
            assert statement["Condition"]["StringEquals"].popitem()[1] == NAME


def test_the_repository_of_others_is_pushed_to_and_never_made(
    healthy: Healthy, registry: StrictRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """It has no tag of the cluster, and gets none; where it is absent, its owner makes it."""
    folder = tmp_path / "project"
    folder.mkdir()
    path = copy_project(folder) / "Pulumi.dev.yaml"
    path.write_text(
        path.read_text().replace("    namespace: training\n", "    namespace: training\n    imageRepository: company/images\n", 1)
    )
    monkeypatch.chdir(folder)
    program = tmp_path / "program"
    program.mkdir()
    files(program, train="1")
    refused = push(registry, program, "--yes")
    assert (refused.exit_code, "there is no repository company/images in account" in refused.stderr) == (1, True)
    assert "`training.imageRepository`" in refused.stderr
    healthy.cloud.put("repository", "company/images", {})
    registry.repositories["company/images"] = type(registry.repositories["mirror/base"])()
    result = push(registry, program, "--yes")
    assert result.exit_code == 0, result.output
    assert f"image: {registry.host}/company/images:xla-2.30-" in result.stdout
    assert healthy.cloud.of("repository").keys() == {"mirror/base", "company/images"}
    assert not healthy.cloud.of("repository")["company/images"].get("tags")


def test_the_right_to_push_to_the_repository_of_others_is_for_it_alone():
    """No other is made or written to."""
    found = statements(operator_permissions(image_repository="company/images"), NAME, "us-west-2")
    written = [item for item in found if "ecr:PutImage" in item["Action"]]
    assert [item["Resource"] for item in written] == ["arn:aws:ecr:us-west-2:*:repository/company/images"]
    assert not any({"ecr:CreateRepository", "ecr:TagResource"} & set(item["Action"]) for item in found)


# Dockerfiles and builds


@pytest.mark.parametrize("name", TOOLCHAINS)
def test_each_toolchain_has_a_dockerfile_of_its_own_image(name: str):
    """Base by its exact tag, as the toolchain has it; where none is published, from what the toolchain says."""
    text, toolchain = dockerfile(name), TOOLCHAINS[name]
    (base,) = re.findall(r"^ARG BASE=(\S+)$", text, re.MULTILINE)
    if toolchain.image is not None:
        assert base == toolchain.image
    else:
        system, python = re.findall(r"(Ubuntu [0-9.]+) with Python ([0-9.]+)", toolchain.build_from)[0]
        assert base.endswith(f"ubuntu:{system.split()[1]}")
        assert (python in text, f"RUNTIME={'.'.join(map(str, toolchain.sdk.runtime))}" in text) == (True, True)
        assert " torch-neuronx" in text
    assert re.search(r":[\w.-]+$", base)
    assert "-c /tmp/constraints.txt -r" in text
    assert f"torch=={toolchain.versions['torch']}\n" in constraints(toolchain) if "torch" in toolchain.versions else True


def test_no_dockerfile_is_of_no_toolchain():
    """One that stays behind would be built by someone."""
    assert {path.parent.name for path in FOLDER.glob("*/Dockerfile")} == set(TOOLCHAINS)


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a docker that keeps what it was asked for, and the context."""
    found = tmp_path / "bin"
    found.mkdir()
    script = found / "docker"
    script.write_text(
        '#!/bin/sh\necho "$*" >> "$(dirname "$0")/asked"\n'
        'case $1 in build) for last; do :; done; cp -r "$last" "$(dirname "$0")/context";;\n'
        'login) cat > "$(dirname "$0")/password";; push) exit ${PUSH_CODE:-0};; image) echo "$IMAGE_ID";; esac\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{found}:{os.environ['PATH']}")
    return found


def test_a_build_gives_the_tool_dockerfile_files_and_pins(healthy: Healthy, docker: Path, tmp_path: Path):
    """And no AWS call."""
    result = trn(
        "build", str(files(tmp_path / "src", train="1", lib__a="2")), "--toolchain", "jax-2.32", "--tag", "1.0", "--tool", "docker"
    )
    assert (result.exit_code, "on this machine only" in result.stdout) == (0, True), result.output
    context = docker / "context"
    assert sorted(path.relative_to(context).as_posix() for path in context.rglob("*") if path.is_file()) == [
        "Dockerfile", "constraints.txt", "files/lib/a.py", "files/train.py",
    ]  # fmt: skip
    assert (context / "Dockerfile").read_text() == dockerfile("jax-2.32")
    assert "jax==0.10.0\n" in (context / "constraints.txt").read_text()
    asked = (docker / "asked").read_text()
    assert asked.startswith(f"build --platform linux/amd64 --build-arg INTO=/workspace --tag {REPOSITORY}:1.0 ")
    assert healthy.cloud.wire.calls == []


def test_a_built_image_is_pushed_by_its_tool(
    healthy: Healthy, registry: StrictRegistry, docker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """To the cluster's repository, with a password that no list of processes shows; its digest is the registry's."""
    real = change.run

    def run(words, *given):
        real(words, *given)
        if words[1] == "push":
            put_base(registry, REPOSITORY, "1.0")

    monkeypatch.setattr(change, "run", run)
    words = ["build", str(files(tmp_path / "src", train="1")), "--tag", "1.0", "--push", "--yes"]
    result = trn(*words, "--json", str(tmp_path / "report"))
    assert result.exit_code == 0, result.output
    assert f"image: {registry.host}/{REPOSITORY}:1.0\ndigest: sha256:" in result.stdout
    said = checked((tmp_path / "report").read_text())
    assert (said["schema"], said["digest"] in result.stdout, said["pushed"]) == ("trn-image-build-push", True, True)
    asked = (docker / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked] == ["build", "login", "tag", "push"]
    assert (docker / "password").read_text() == "simulated"
    assert "simulated" not in (docker / "asked").read_text()
    again = trn(*words)
    assert (again.exit_code, "is there already" in again.stderr) == (1, True)


def test_a_built_image_moves_no_tag_that_was_set_since_the_question(
    healthy: Healthy, registry: StrictRegistry, docker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The tool would move it without a word where tags may be moved."""
    real = change.run

    def run(words, *given):
        real(words, *given)
        if words[1] == "login":
            put_base(registry, REPOSITORY, "1.0")

    monkeypatch.setattr(change, "run", run)
    result = trn("build", str(files(tmp_path / "src", train="1")), "--tag", "1.0", "--push", "--yes")
    assert (result.exit_code, "and was not moved" in result.output) == (1, True), result.output
    assert [line.split()[0] for line in (docker / "asked").read_text().splitlines()] == ["build", "login", "tag"]


def test_a_built_image_that_is_there_already_is_not_pushed_again(
    healthy: Healthy, registry: StrictRegistry, docker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The tool says which image it built: by the digest of its configuration, as docker and podman do, or of its manifest."""
    healthy.cloud.put("repository", REPOSITORY, {"tags": tag_list({CLUSTER_TAG: NAME, STACK_TAG: STACK})})
    digest = put_base(registry, REPOSITORY, "1.0")
    config = Manifest(registry.repositories[REPOSITORY].manifests[digest][1], DOCKER).config.digest
    words = ["build", str(files(tmp_path / "src", train="1")), "--tag", "1.0", "--push", "--yes"]
    for own in (config, config.removeprefix("sha256:"), digest):
        monkeypatch.setenv("IMAGE_ID", own)
        result = trn(*words)
        assert (result.exit_code, f"digest: {digest}" in result.stdout) == (0, True), result.output
    monkeypatch.setenv("IMAGE_ID", "sha256:another")
    assert trn(*words).exit_code == 1
    assert "push" not in [line.split()[0] for line in (docker / "asked").read_text().splitlines()]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--tool", "buildah"], 2, "unknown container tool `buildah`"),
        (["--tool", "finch"], 1, "finch is not on PATH"),
        (["--push"], 2, "needs a tag of its own"),
    ],
)
def test_a_build_that_cannot_begin_says_what_to_do(healthy: Healthy, tmp_path: Path, words: list[str], code: int, says: str):
    """Before anything is made."""
    result = trn("build", str(files(tmp_path, train="1")), *words)
    assert (result.exit_code, says in result.stderr, "hint: " in result.stderr) == (code, True, True), result.stderr


def test_without_a_tool_the_way_without_one_is_named(healthy: Healthy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where files are all that is added, none is needed."""
    monkeypatch.setattr("shutil.which", lambda name: None)
    result = trn("build", str(files(tmp_path, train="1")))
    assert (result.exit_code, "none of docker, podman, finch is on PATH" in result.stderr, "trn image push" in result.stderr) == (
        1,
        True,
        True,
    )
    assert trn("build", str(tmp_path), "--dry-run").exit_code == 0


def test_a_tool_that_fails_is_an_error(healthy: Healthy, docker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """With its exit code; its own words stand above."""
    monkeypatch.setenv("PUSH_CODE", "3")
    result = trn("build", str(files(tmp_path / "src", train="1")), "--tag", "2.0", "--push", "--yes")
    assert (result.exit_code, "`docker push` ended with exit code 3" in result.stderr) == (1, True)
    assert ACCOUNT not in result.stdout
