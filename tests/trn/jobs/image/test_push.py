"""A push of files: one layer on a base, against a registry that refuses what the specification lets it refuse."""

import gzip
import io
import json
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.trn.jobs.image.images import DOCKER, OCI, files, push, put_base
from tests.trn.jobs.image.strict_registry import StrictRegistry, digest_of, serving
from trn.cli.errors import CommandError
from trn.jobs.image.layer import make_layer, selected
from trn.jobs.image.push import Made, PushPlan, made_of, plan_push
from trn.jobs.image.registry import Registry, parsed

INTO, REPOSITORY = "/workspace", "trainium-dev/training"


@pytest.fixture
def base() -> Iterator[StrictRegistry]:
    """Where the base is: public, by tokens, as AWS's gallery."""
    with serving(StrictRegistry(tokens=True)) as found:
        put_base(found)
        yield found


@pytest.fixture
def target() -> Iterator[StrictRegistry]:
    """Where the image goes, with a login."""
    with serving(StrictRegistry(password="secret", immutable=True)) as found:
        yield found


def client(registry: StrictRegistry) -> Registry:
    """A client that does not wait."""
    login = (lambda: ("AWS", "secret")) if registry.password else None
    return Registry(registry.host, login, pause=lambda _: None)


def made(base: StrictRegistry, folder: Path, image: str = "neuron/base:1") -> Made:
    """An image of a folder."""
    return made_of(f"{base.host}/{image}", client(base), make_layer(folder, INTO, selected(folder)), INTO)


def planned(base: StrictRegistry, target: StrictRegistry, folder: Path, tag: str = "1", *sources: str) -> PushPlan:
    """The plan of a push."""
    return plan_push(made(base, folder), client(target), REPOSITORY, tag, sources, exists=REPOSITORY in target.repositories)


def pushed(base: StrictRegistry, target: StrictRegistry, folder: Path, tag: str = "1", *sources: str) -> list[str]:
    """A push; what it said."""
    said = list[str]()
    push(planned(base, target, folder, tag, *sources), client(target), client(base), said.append)
    return said


@pytest.mark.parametrize("kind", [OCI, DOCKER])
@pytest.mark.parametrize("index", [False, True])
def test_an_image_is_the_base_with_one_layer_more(base: StrictRegistry, target: StrictRegistry, tmp_path: Path, kind: str, index: bool):
    """Of the base's own kind, for our nodes where the base is for several platforms, and work begins where the files are."""
    put_base(base, kind=kind, index=index, tag="2")
    image = made(base, files(tmp_path, train="print(1)", lib__data="x = 1"), "neuron/base:2")
    push(plan_push(image, client(target), REPOSITORY, "v1", (), exists=False), client(target), client(base), lambda _: None)
    media_type, body = target.repositories[REPOSITORY].manifests[target.repositories[REPOSITORY].tags["v1"]]
    manifest, blobs = json.loads(body), target.repositories[REPOSITORY].blobs
    config = json.loads(blobs[manifest["config"]["digest"]])
    assert (media_type, len(manifest["layers"])) == (kind, 3)
    packed = blobs[manifest["layers"][-1]["digest"]]
    plain = gzip.decompress(packed)
    assert (config["rootfs"]["diff_ids"][-1], len(config["rootfs"]["diff_ids"]), len(config["history"])) == (digest_of(plain), 3, 2)
    assert (config["config"]["WorkingDir"], config["config"]["Env"]) == (INTO, ["PATH=/usr/bin"])
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        assert archive.getnames() == ["workspace", "workspace/lib", "workspace/lib/data.py", "workspace/train.py"]
        assert {(entry.uid, entry.gid, entry.mtime) for entry in archive} == {(0, 0, 0)}


def test_the_same_files_are_the_same_image(base: StrictRegistry, tmp_path: Path):
    """Whoever makes it, and whenever: then a second push has nothing to send. Another right to execute is another image."""
    first, second = files(tmp_path / "a", train="1", data="2"), files(tmp_path / "b", data="2", train="1")
    os.utime(second / "train.py", (1, 1))
    one, other = made(base, first), made(base, second)
    assert (one.manifest.digest, one.tag("xla-2.30")) == (other.manifest.digest, other.tag("xla-2.30"))
    (second / "train.py").chmod(0o755)
    assert made(base, second).manifest.digest != one.manifest.digest


def test_nothing_is_sent_twice(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """A second push of the same files asks only; one of other files sends its layer and its configuration."""
    pushed(base, target, files(tmp_path, train="1"))
    first = target.sent()
    assert first > 500_000
    target.asked.clear()
    assert planned(base, target, tmp_path).is_named
    pushed(base, target, tmp_path)
    assert [line for line in target.asked if not line.startswith(("GET", "HEAD"))] == []
    base.asked.clear()
    plan = planned(base, target, files(tmp_path, train="2"), "2")
    pushed(base, target, tmp_path, "2")
    assert target.sent() == plan.size("send") < 5_000
    # Its manifest and its configuration alone.
    assert base.count("GET blob") == 2


def test_layers_of_another_repository_are_mounted(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """The base's gigabytes are neither read nor sent."""
    put_base(target, "other/images")
    base.asked.clear()
    plan = planned(base, target, files(tmp_path, train="1"), "1", "nothing/here", "other/images")
    assert [step.way for step in plan.steps] == ["mount", "mount", "send", "send"]
    said = pushed(base, target, tmp_path, "1", "other/images")
    assert (target.count("MOUNT"), target.sent(), any("mounted" in line for line in said)) == (2, plan.size("send"), True)
    assert plan.size("mount") > 500_000
    assert not any("layer" in line for line in base.asked)


def test_a_registry_that_does_not_mount_is_sent_the_layers(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """ECR does so only where it is switched on; the upload that it began in place of it is given up."""
    target.mounts = False
    put_base(target, "other/images")
    said = pushed(base, target, files(tmp_path, train="1"), "1", "other/images")
    assert target.sent() > 500_000
    assert any("BLOB_MOUNTING" in line for line in said)
    assert target.uploads == {}


@pytest.mark.parametrize("status_works", [True, False])
def test_an_upload_that_breaks_is_taken_up(base: StrictRegistry, target: StrictRegistry, tmp_path: Path, status_works: bool):
    """Where the registry says how far it is, from there; else the blob begins again. What it keeps is whole."""
    target.breaks, target.status_works = [100_000, 50_000], status_works
    pushed(base, target, files(tmp_path, train="1"))
    assert target.repositories[REPOSITORY].tags.keys() == {"1"}
    patches = [int(line.split()[-1]) for line in target.asked if line.startswith("PATCH")]
    size = len(next(blob for blob in target.repositories[REPOSITORY].blobs.values() if len(blob) > 100_000))
    if status_works:
        assert patches[:3] == [100_000, 50_000, size - 150_000]
        assert target.count("STATUS") == 2
    else:
        assert patches[:3] == [100_000, 50_000, size]


def test_a_registry_that_is_behind_is_asked_again(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """It writes down what arrived a moment after the connection broke, and refuses what begins before that."""
    target.breaks, target.lags = [100_000], 2
    pushed(base, target, files(tmp_path, train="1"))
    assert target.count("STATUS") == 3
    assert target.repositories[REPOSITORY].tags.keys() == {"1"}


def test_a_push_that_ended_in_the_middle_goes_on(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """Nothing names a half image, and what arrived is not sent again."""
    target.breaks = [300_000_000, 100, 100, 100, 100, 100]
    target.status_works = False
    with pytest.raises(CommandError, match="broke off 5 times") as broken:
        pushed(base, target, files(tmp_path, train="1"))
    assert "run it again" in broken.value.hint
    assert (target.repositories[REPOSITORY].tags, len(target.repositories[REPOSITORY].blobs)) == ({}, 1)
    assert [step.way for step in planned(base, target, tmp_path).steps] == ["there", "copy", "send", "send"]
    pushed(base, target, tmp_path)
    assert target.repositories[REPOSITORY].tags.keys() == {"1"}


def test_a_base_that_breaks_off_is_read_on(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """From where it was; what arrives has the digest that was asked for."""
    image = made(base, files(tmp_path, train="1"))
    base.breaks_reads = [1000, 2000]
    push(plan_push(image, client(target), REPOSITORY, "1", (), exists=False), client(target), client(base), lambda _: None)
    assert base.breaks_reads == []
    assert len(target.repositories[REPOSITORY].blobs) == 4


def test_a_base_that_never_ends_is_an_error(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """With what to do."""
    image = made(base, files(tmp_path, train="1"))
    base.breaks_reads = [10] * 30
    with pytest.raises(CommandError, match=r"while sha256:\w+ was read"):
        push(plan_push(image, client(target), REPOSITORY, "1", (), exists=False), client(target), client(base), lambda _: None)
    assert target.repositories[REPOSITORY].tags == {}


def test_what_arrives_damaged_is_refused(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """By the registry, in its own words; the image is not named."""
    image = made(base, files(tmp_path, train="1"))
    digest = image.manifest.layers[0].digest
    body = base.repositories["neuron/base"].blobs[digest]
    base.repositories["neuron/base"].blobs[digest] = body[:-1] + bytes([body[-1] ^ 1])
    with pytest.raises(CommandError, match="DIGEST_INVALID"):
        push(plan_push(image, client(target), REPOSITORY, "1", (), exists=False), client(target), client(base), lambda _: None)


def test_tokens_that_end_are_renewed(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """A token of AWS's gallery holds for minutes, a base of gigabytes takes longer."""
    base.token_life = 1
    target.password, target.tokens, target.token_life = None, True, 3
    pushed(base, target, files(tmp_path, train="1"))
    assert len(target.issued) > 2
    assert target.repositories[REPOSITORY].tags.keys() == {"1"}


def test_a_registry_that_has_too_much_to_do_is_asked_again(base: StrictRegistry, tmp_path: Path):
    """Public registries put callers off who have no login."""
    base.throttles = 2
    assert made(base, files(tmp_path, train="1")).manifest.layers


def test_refusals_are_told_in_the_registrys_words(base: StrictRegistry, target: StrictRegistry, tmp_path: Path):
    """No base, a wrong password, no login, no such repository, no registry."""
    with pytest.raises(CommandError, match="there is no image"):
        made(base, files(tmp_path, train="1"), "neuron/base:9")
    wrong = Registry(target.host, lambda: ("AWS", "old"), pause=lambda _: None)
    with pytest.raises(CommandError, match="UNAUTHORIZED: refused"):
        wrong.manifest(REPOSITORY, "1")
    with pytest.raises(CommandError, match="wants a login"):
        Registry(target.host).manifest(REPOSITORY, "1")
    target.makes_repositories = False
    with pytest.raises(CommandError, match="NAME_UNKNOWN"):
        pushed(base, target, tmp_path)
    with pytest.raises(CommandError, match="does not answer"):
        Registry("127.0.0.1:1").manifest("a", "1")


def test_an_index_without_our_platform_has_no_image_for_us(base: StrictRegistry, tmp_path: Path):
    """An image for ARM alone would end on each node with `exec format error`."""
    body = b'{"schemaVersion": 2, "manifests": [{"digest": "sha256:0", "platform": {"os": "linux", "architecture": "arm64"}}]}'
    base.put("neuron/base", "arm", body, "application/vnd.oci.image.index.v1+json")
    with pytest.raises(CommandError, match="has no image for linux/amd64"):
        made(base, files(tmp_path, train="1"), "neuron/base:arm")


@pytest.mark.parametrize(
    ("image", "host", "repository", "version"),
    [
        ("public.ecr.aws/neuron/a-b:1.0", "public.ecr.aws", "neuron/a-b", "1.0"),
        ("localhost:5000/a@sha256:00", "localhost:5000", "a", "sha256:00"),
        ("ubuntu", "registry-1.docker.io", "library/ubuntu", "latest"),
        ("team/a:2", "registry-1.docker.io", "team/a", "2"),
        ("host.io/a:1@sha256:00", "host.io", "a", "sha256:00"),
    ],
)
def test_an_image_is_read_as_container_tools_read_it(image: str, host: str, repository: str, version: str):
    """The digest counts where both are there."""
    assert vars(parsed(image)) == {"host": host, "repository": repository, "version": version}


def test_files_that_are_no_part_of_a_program_stay_out(tmp_path: Path):
    """By name at any depth, or by path."""
    files(tmp_path, train="1", lib__a="1", lib__b="1")
    files(tmp_path / "__pycache__", x="1")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("x")
    (tmp_path / "link.py").symlink_to("train.py")
    found = [path.relative_to(tmp_path).as_posix() for path in selected(tmp_path, ["lib/b*"])]
    assert found == ["lib/a.py", "link.py", "train.py"]


@pytest.mark.parametrize("case", ["link out", "link by path", "pipe", "empty", "no folder"])
def test_what_cannot_be_in_a_layer_is_named(tmp_path: Path, case: str):
    """Before anything is sent."""
    says = {
        "link out": "out of the folder",
        "link by path": "out of the folder",
        "pipe": "neither a file",
        "empty": "no file",
        "no folder": "no folder",
    }
    folder = tmp_path / "in"
    if case != "no folder":
        folder.mkdir()
    match case:
        case "link out":
            (folder / "a").symlink_to("../../etc/passwd")
        case "link by path":
            (folder / "a").symlink_to("/etc/passwd")
        case "pipe":
            os.mkfifo(folder / "a")
    with pytest.raises(CommandError, match=says[case]):
        selected(folder)
