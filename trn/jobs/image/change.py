"""An image of a job in the account's registry, as a change: its layers are sent first, and a tag that names nothing then names it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from botocore.exceptions import ClientError

from stacks.settings import Settings
from trn.aws import ecr
from trn.aws.errors import code_of
from trn.change.action import Action, Difference, Hold, Outcome, Pace, Question, Refusal
from trn.change.hold import part_lock
from trn.change.identity import Aws, Tag
from trn.change.report import ChangeDocument, Report
from trn.change.whose import Site, Whose
from trn.engine.stack_file import StackFile
from trn.jobs.image.build import image_id, run
from trn.jobs.image.layer import Layer
from trn.jobs.image.place import ImagePlace, image_place, registries, repository_name
from trn.jobs.image.push import PushPlan, Way, made_of, plan_push, send_layers
from trn.jobs.image.registry import Registry

_MADE_MEANWHILE = "RepositoryAlreadyExistsException"


def make_repository(place: ImagePlace) -> Action:
    """Where it is missing; with tags that stay with their images."""

    def do(site: Site, _: Aws) -> Outcome:
        try:
            ecr.make_repository(site.api, place.name, place.tags)
        except ClientError as error:
            if code_of(error) != _MADE_MEANWHILE:
                raise
            return Outcome("moved", ("it was made meanwhile",))
        return Outcome("done")

    return Action("make", Aws("repository", place.name, place.arn, ""), "it is not there", do)


def moved_tag(target: Registry, repository: str, tag: Tag, own: str = "") -> Outcome | None:
    """What became of a tag that names another image than it did; None where it may be set. `own`: digest of ours.

    No registry takes a name on a condition: it is looked at right before, and only a repository with immutable tags refuses by itself.
    """
    now = target.manifest(repository, tag.tag)
    if now is None or now.digest in (tag.digest, own):
        return None
    return Outcome("moved", (f"it names {now.digest} by now, and was not moved: look who else pushes there",))


class ImagePushReport(ChangeDocument, frozen=True):
    """What `trn image push` did."""

    schema_: Literal["trn-image-push"] = "trn-image-push"
    image: str | None = None
    base: str | None = None
    toolchain: str | None = None
    digest: str | None = None
    blobs: dict[str, Way] | None = None
    """How each gets there, by its digest."""
    bytes: int | None = None
    """Those that are sent."""
    pushed: bool | None = None


class ImageBuildPushReport(ChangeDocument, frozen=True):
    """What `trn image build --push` did."""

    schema_: Literal["trn-image-build-push"] = "trn-image-build-push"
    image: str | None = None
    digest: str | None = None
    toolchain: str | None = None
    pushed: bool | None = None


@dataclass(frozen=True)
class Image:
    """Where it goes, and what is there of it."""

    place: ImagePlace
    target: Registry
    source: Registry
    """Of the base."""
    plan: PushPlan

    @property
    def tag(self) -> Tag:
        """What it is named by."""
        return Tag(f"{self.target.host}/{self.place.name}", self.plan.tag, self.plan.there)


@dataclass(frozen=True)
class Push:
    """Send a folder as one more layer on a base, and name it."""

    stack_file: StackFile
    settings: Settings
    toolchain: str
    base: str
    layer: Layer
    into: str
    repository: str | None
    tag: str | None
    """Else it follows from the files."""
    first: list[PushPlan] = field(default_factory=list[PushPlan])
    """What the first look planned. Its image is the one that is pushed: the base's name may be another image's at the next look."""
    document = ImagePushReport
    pace = Pace(rounds=3, pause_s=0)
    """The repository, the layers, the name: before each of them lock and account are looked at, after what may have been hours."""

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"image push {self.stack_file.stack}"

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The tag's."""
        where = repository_name(self.settings, self.repository)
        return part_lock(self.name, site, whose, "image", f"{where}:{self.first[0].tag}")

    def look(self, site: Site, whose: Whose) -> Image:
        """Repository, tag and layers."""
        place = image_place(site.api, whose.ownership, self.settings, self.repository)
        target, source = registries(place, self.base)
        made = self.first[0].made if self.first else made_of(self.base, source, self.layer, self.into)
        tag, others = self.tag or made.tag(self.toolchain), place.others(self.base, target)
        plan = plan_push(made, target, place.name, tag, others, exists=place.repository is not None)
        if not self.first:
            self.first.append(plan)
        return Image(place, target, source, plan)

    def refusals(self, seen: Image) -> Iterator[Refusal]:
        """Another image has the name: jobs that run with it would start with this one on their other nodes."""
        if seen.plan.there and not seen.plan.is_named:
            hint = "give it another --tag, or leave --tag out: then it follows from the files"
            own = seen.plan.made.manifest.digest
            yield Refusal(
                f"{seen.place.name}:{seen.plan.tag} is another image already, {seen.plan.there}; this one is {own}; the tag was not moved",
                hint,
            )

    def actions(self, seen: Image) -> list[Action]:
        """The name comes last, so that a push that breaks off leaves no image."""
        plan, place = seen.plan, seen.place

        def send(site: Site, _: Tag) -> Outcome:
            if place.repository is None:
                return Outcome("held", ("whose the repository is, is looked at first",))
            send_layers(plan, seen.target, seen.source, site.tell)
            return Outcome("done")

        def put(_: Site, which: Tag) -> Outcome:
            if plan.missing:
                return Outcome("held", ("its layers are sent first",))
            own = plan.made.manifest
            if moved := moved_tag(seen.target, place.name, which, own.digest):
                return moved
            seen.target.put_manifest(place.name, plan.tag, own)
            kept = seen.target.manifest(place.name, plan.tag)
            if kept is None or kept.digest != own.digest:
                return Outcome(
                    "unsure", (f"{place.name}:{plan.tag} is not the image that was pushed, {own.digest}: look who else pushes there",)
                )
            return Outcome("done")

        if plan.is_named:
            return []
        made = [make_repository(place)] if place.repository is None else []
        sent = [Action("send the layers of", seen.tag, f"{len(plan.missing)} are not there", send)] if plan.missing else []
        return [*made, *sent, Action("name", seen.tag, "it names nothing", put)]

    def question(self, seen: Image) -> Question:
        """Whether it is pushed."""
        return Question(f"Push {seen.tag.name}?")

    def shown(self, seen: Image) -> Iterator[str]:
        """How much is sent, and from where."""
        yield from seen.plan.lines
        yield from seen.place.lines

    def differences(self, *_: Image) -> Iterator[Difference]:
        """What is sent follows from the image; which part of it is there already is no matter."""
        yield from ()

    def result(self, seen: Image, report: Report) -> Iterator[str]:
        """The line for the job file."""
        if report.end == "shown":
            yield f"nothing was sent; it would be {seen.tag.name}"
        elif not report.left:
            yield f"image: {seen.tag.name}"
            yield f"digest: {seen.plan.made.manifest.digest}"
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)

    def data(self, seen: Image, report: Report) -> dict[str, Any]:
        """For `--json`."""
        is_pushed = report.end in ("done", "nothing")
        return {"image": seen.tag.name, "base": self.base, "toolchain": self.toolchain, **self.first[0].said, "pushed": is_pushed}


@dataclass(frozen=True)
class Built:
    """Where an image of this machine goes."""

    place: ImagePlace
    target: Registry
    tag: Tag
    is_this: bool
    """Whether the tag names this very image already."""


@dataclass(frozen=True)
class PushBuilt:
    """Push an image of this machine with the tool that built it."""

    stack_file: StackFile
    settings: Settings
    toolchain: str
    tool: str
    local: str
    """Its name on this machine."""
    repository: str | None
    tag: str
    digests: list[str] = field(default_factory=list[str])
    """Of the image in the registry, which its tool makes."""
    document = ImageBuildPushReport
    pace = Pace(rounds=2, pause_s=0)

    @property
    def name(self) -> str:
        """As it is typed."""
        return f"image build {self.stack_file.stack}"

    def hold(self, site: Site, whose: Whose) -> Hold:
        """The tag's."""
        return part_lock(self.name, site, whose, "image", f"{repository_name(self.settings, self.repository)}:{self.tag}")

    def look(self, site: Site, whose: Whose) -> Built:
        """Repository and tag."""
        place = image_place(site.api, whose.ownership, self.settings, self.repository)
        target, _ = registries(place, self.local)
        there = target.manifest(place.name, self.tag) if place.repository is not None else None
        is_this = there is not None and image_id(self.tool, self.local) in (there.digest, there.config.digest)
        if there is not None and is_this:
            self.digests[:] = [there.digest]
        return Built(place, target, Tag(f"{target.host}/{place.name}", self.tag, there.digest if there else ""), is_this)

    def refusals(self, seen: Built) -> Iterator[Refusal]:
        """Another image has the name."""
        if seen.tag.digest and not seen.is_this:
            yield Refusal(f"{seen.tag.name} is there already, as {seen.tag.digest}; the tag was not moved", "give this one another --tag")

    def actions(self, seen: Built) -> list[Action]:
        """The tool sends layers and name in one."""
        place, target = seen.place, seen.target

        def push(site: Site, which: Tag) -> Outcome:
            if place.repository is None:
                return Outcome("held", ("whose the repository is, is looked at first",))
            user, password = ecr.login(site.api)
            # By standard input: a password among the words would be in the list of processes.
            run([self.tool, "login", "--username", user, "--password-stdin", target.host], password)
            run([self.tool, "tag", self.local, which.name])
            if moved := moved_tag(target, place.name, which):
                return moved
            run([self.tool, "push", which.name])
            made = target.manifest(place.name, self.tag)
            if made is None:
                return Outcome("unsure", (f"it is not in the registry, though {self.tool} says that it was pushed",))
            self.digests[:] = [made.digest]
            return Outcome("done")

        if seen.is_this:
            return []
        made = [make_repository(place)] if place.repository is None else []
        return [*made, Action("push", seen.tag, "it names nothing", push)]

    def question(self, seen: Built) -> Question:
        """Whether it is pushed."""
        return Question(f"Push {seen.tag.name}?")

    def shown(self, seen: Built) -> Iterator[str]:
        """What happens to the repository."""
        yield from seen.place.lines

    def differences(self, *_: Built) -> Iterator[Difference]:
        """None beside the tag."""
        yield from ()

    def result(self, seen: Built, report: Report) -> Iterator[str]:
        """The line for the job file."""
        if not report.left:
            yield f"image: {seen.tag.name}"
            yield from (f"digest: {digest}" for digest in self.digests)
        yield from (f"{action}: {text}" for action, outcome in report.left for text in outcome.said)

    def data(self, seen: Built, report: Report) -> dict[str, Any]:
        """For `--json`."""
        is_pushed = report.end in ("done", "nothing")
        digest = self.digests[0] if self.digests else None
        return {"image": seen.tag.name, "digest": digest, "toolchain": self.toolchain, "pushed": is_pushed}
