"""A push: what is in the registry already, what it can take over from another repository, and what must be sent; then exactly that."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from urllib3.exceptions import HTTPError

from trn.cli.errors import CommandError
from trn.jobs.image.layer import Layer, size_text
from trn.jobs.image.manifest import INDEXES, Blob, Manifest, chosen, with_layer
from trn.jobs.image.registry import Read, Reference, Registry, parsed

Way = Literal["there", "mount", "copy", "send"]
"""`copy`: read from the base's registry and sent on, in one stream that is kept nowhere; `send`: made here."""
BROKEN_READS = 5
"""How often a layer of the base is read on where its registry broke off."""


@dataclass(frozen=True)
class Made:
    """An image before it is in a registry."""

    base: str
    """Name of the base."""
    manifest: Manifest
    config: bytes
    layer: Layer

    def tag(self, toolchain: str) -> str:
        """A tag that only the same files on the same base have."""
        return f"{toolchain}-{self.manifest.digest.removeprefix('sha256:')[:12]}"


@dataclass(frozen=True)
class Step:
    """One blob of the image."""

    blob: Blob
    way: Way
    source: str = ""
    """Repository that it is mounted from."""


@dataclass(frozen=True)
class PushPlan:
    """Everything that a push does."""

    repository: str
    tag: str
    made: Made
    steps: tuple[Step, ...]
    there: str
    """Digest of what the tag names; empty where it names nothing."""

    @property
    def is_named(self) -> bool:
        """Whether the tag names this very image already: then nothing is done."""
        return self.there == self.made.manifest.digest

    @property
    def missing(self) -> list[Step]:
        """What the repository has not yet."""
        return [step for step in self.steps if step.way != "there"]

    def size(self, *ways: Way) -> int:
        """Bytes of what goes these ways."""
        return sum(step.blob.size for step in self.steps if step.way in ways)

    @property
    def said(self) -> dict[str, Any]:
        """Digest, blobs by their way, and bytes that are sent, for `--json`."""
        sent = {step.blob.digest: step.way for step in self.steps}
        return {"digest": self.made.manifest.digest, "blobs": sent, "bytes": self.size("copy", "send")}

    @property
    def lines(self) -> list[str]:
        """What will be done, for a person."""
        layer = self.made.layer
        head = f"{len(layer.paths)} files, {size_text(layer.size)} packed, on {self.made.base}"
        if self.is_named:
            return [head, f"{self.repository}:{self.tag} is this image already: nothing is sent"]
        said: dict[Way, str] = {
            "there": "are there already",
            "mount": "are mounted from another repository, if the registry does so",
            "copy": "of the base are read from its registry and sent on",
            "send": "are sent from here",
        }
        found = [
            f"{len([step for step in self.steps if step.way == way])} blobs, {size_text(self.size(way))}, {words}"
            for way, words in said.items()
            if any(step.way == way for step in self.steps)
        ]
        return [head, *found]


def base_of(image: str, registry: Registry) -> tuple[Manifest, bytes, Reference]:
    """Manifest and configuration of a base for our nodes. Raises CommandError where there is none."""
    reference = parsed(image)
    found = registry.manifest(reference.repository, reference.version)
    if found is not None and found.media_type in INDEXES:
        found = registry.manifest(reference.repository, chosen(found, image))
    if found is None:
        raise CommandError(f"there is no image {image}", "name another base with --base; docs/toolchains.md has those of AWS")
    return found, registry.small_blob(reference.repository, found.config.digest), reference


def made_of(image: str, registry: Registry, layer: Layer, into: str) -> Made:
    """The base with the layer on top. Raises CommandError where there is no such base."""
    manifest, config, _ = base_of(image, registry)
    made, body = with_layer(manifest, config, image, Blob(layer.digest, layer.size), layer.diff_id, into)
    return Made(image, made, body, layer)


def plan_push(made: Made, target: Registry, repository: str, tag: str, sources: Iterable[str], *, exists: bool) -> PushPlan:
    """What is to be done. Reads only.

    `sources`: repositories of the same registry that may have a layer; `exists`: whether the repository is there.
    """
    named = target.manifest(repository, tag) if exists else None
    there = named.digest if named is not None else ""
    own = {made.layer.digest, made.manifest.config.digest}
    steps = list[Step]()
    for blob in {blob.digest: blob for blob in (*made.manifest.layers, made.manifest.config)}.values():
        if there == made.manifest.digest or (exists and target.has_blob(repository, blob.digest)):
            steps.append(Step(blob, "there"))
        elif blob.digest in own:
            steps.append(Step(blob, "send"))
        else:
            source = next((name for name in sources if name != repository and _may_read(target, name, blob)), "")
            steps.append(Step(blob, "mount" if source else "copy", source))
    return PushPlan(repository, tag, made, tuple(steps), there)


def send_layers(plan: PushPlan, target: Registry, base: Registry, tell: Callable[[str], None]) -> None:
    """Bring the blobs into the repository. Without a name they are no image yet. Raises CommandError."""
    made, refused_mounts = plan.made, 0
    origin = parsed(made.base)
    for step in plan.missing:
        blob = step.blob
        if step.way == "mount":
            if _mounted(target, plan.repository, step):
                tell(f"mounted {blob.digest[:19]}, {size_text(blob.size)}, from {step.source}")
                continue
            refused_mounts += 1
        tell(f"sending {blob.digest[:19]}, {size_text(blob.size)}")
        target.send(plan.repository, blob.digest, blob.size, _reader(made, blob, base, origin))
    if refused_mounts:
        tell(
            f"{refused_mounts} layers were sent though another repository has them: `aws ecr put-account-setting --name BLOB_MOUNTING"
            " --value ENABLED` lets ECR mount them"
        )


def _may_read(target: Registry, repository: str, blob: Blob) -> bool:
    """Whether a repository is known to have a blob; one that may not be looked at is not."""
    try:
        return target.has_blob(repository, blob.digest)
    except CommandError:
        return False


def _mounted(target: Registry, repository: str, step: Step) -> bool:
    """Whether a blob was taken over; it is sent where that is refused."""
    try:
        return target.mount(repository, step.blob.digest, step.source)
    except CommandError:
        return False


def _reader(made: Made, blob: Blob, base: Registry, origin: Reference) -> Read:
    if blob.digest == made.layer.digest:
        return made.layer.read
    if blob.digest == made.manifest.config.digest:
        return lambda start: iter([made.config[start:]])
    return lambda start: _read_on(base, origin.repository, blob, start)


def _read_on(base: Registry, repository: str, blob: Blob, start: int) -> Iterator[bytes]:
    """A blob from a position on, taken up again where its registry breaks off."""
    for attempt in range(BROKEN_READS):
        try:
            for chunk in base.blob(repository, blob.digest, start):
                start += len(chunk)
                yield chunk
            if start >= blob.size:
                return
            wrong = f"it ended after {start} of {blob.size} bytes"
        except HTTPError as error:
            wrong = str(error)
        if attempt == BROKEN_READS - 1:
            raise CommandError(f"{base.host} broke off {BROKEN_READS} times while {blob.digest} was read: {wrong}", "run it again")
