"""Where an image goes: a repository of the account that is the cluster's, made if it is missing; or the one that the stack file names and others keep."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from facts import forms
from facts.names import CLUSTER_TAG, STACK_TAG, cluster_tags
from facts.toolchains import TOOLCHAINS, Toolchain, image_conflict
from operations.access import access
from operations.asking import consent
from operations.aws import ecr
from operations.aws.api import Api
from operations.errors import MISUSE, CommandError, OwnershipError
from operations.jobs.image.build import run
from operations.jobs.image.push import refuse_named
from operations.jobs.image.registry import Registry, parsed
from operations.ownership import StackCluster, read_ownership, refuse_change, refuse_mismatch, refuse_other_stack
from operations.stack_file import StackFile
from stacks.settings import Settings
from training.job import PATH

UNNAMED = "latest-build"
"""Tag of an image that is built without one: for this machine alone."""


def usual_repository(cluster: str) -> str:
    """Repository of a cluster's images where none is named."""
    return f"{cluster}/training"


def need_toolchain(settings: Settings, named: str | None) -> Toolchain:
    """The toolchain that is named, or the stack's. Raises CommandError where there is none."""
    name = named or settings.training.toolchain
    if name is None or name not in TOOLCHAINS:
        wrong = f"unknown toolchain `{name}`" if name is not None else "no toolchain: the stack file has no `training.toolchain`"
        raise CommandError(wrong, f"--toolchain takes {', '.join(TOOLCHAINS)}", code=MISUSE)
    return TOOLCHAINS[name]


def need_base(settings: Settings, named: str | None, base: str | None) -> tuple[Toolchain, str]:
    """Toolchain and image to start from: the one that is named, or the toolchain's, from the mirror where there is one.

    Raises CommandError where there is none, and where its name says that it is of another toolchain.
    """
    toolchain = need_toolchain(settings, named)
    image = base or toolchain.image
    if image is None:
        hint = f"build one by `trn image build --toolchain {toolchain.name}`, or name one with --base; it needs {toolchain.build_from}"
        raise CommandError(f"no published image of {toolchain.name} is known", hint, code=MISUSE)
    if not forms.IMAGE.fits(image):
        raise CommandError(f"--base `{image}` is no image reference\n  allowed: {forms.IMAGE.allowed}", forms.IMAGE.hint, code=MISUSE)
    if wrong := image_conflict(toolchain, image):
        raise CommandError(
            f"`{image}` does not fit {toolchain.name}: {wrong}", "name the toolchain of the image with --toolchain", code=MISUSE
        )
    mirror = settings.addons.mirror
    return toolchain, f"{mirror}/{image.partition('/')[2]}" if base is None and mirror else image


def need_into(into: str) -> None:
    """Raises CommandError for a folder that no image can have."""
    if not PATH.fits(into):
        raise CommandError(f"--into `{into}` is no {PATH.what}\n  allowed: {PATH.allowed}", "write such as /workspace", code=MISUSE)


@dataclass
class ImagePlace:
    """A repository, and whose it is."""

    api: Api
    account: str
    name: str
    usual: str
    """The cluster's usual repository, which may have layers of the base."""
    repository: ecr.Repository | None
    """None where it is to be made."""
    tags: dict[str, str]
    """That it gets when it is made."""
    refuse_change: Callable[[], None]
    """Raises OwnershipError where the cluster has become another one."""
    _known: dict[str, bool] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """What happens to the repository, for a person."""
        return [] if self.repository is not None else [f"the repository {self.name} is made, with tags that stay with their images"]

    def has(self, name: str) -> bool:
        """Whether the registry has a repository."""
        if name not in self._known:
            self._known[name] = ecr.repository(self.api, name) is not None
        return self._known[name]

    def others(self, base: str, target: Registry) -> list[str]:
        """Repositories of the registry that may have layers: the base's own, where it is there too, and the cluster's usual one."""
        start = parsed(base)
        names = (start.repository if start.host == target.host else "", self.usual)
        return [name for name in dict.fromkeys(names) if name and self.has(name)]

    def make(self) -> None:
        """Make the repository where it is missing."""
        if self.repository is None:
            self.repository = ecr.make_repository(self.api, self.name, self.tags)


def image_place(api: Api, stack_file: StackFile, settings: Settings, state: Path | None, named: str | None) -> ImagePlace:
    """The repository of a stack's images. Reads only. Raises OwnershipError where it is not the cluster's, CommandError where others' is not there."""
    subject = StackCluster(stack_file.project, stack_file.stack, settings.name)
    ownership = read_ownership(api, access().pulumi(stack_file.stack), subject, state)
    refuse_mismatch(ownership)
    kept = settings.training.image_repository
    name, account, stack = named or kept or usual_repository(settings.name), ownership.seen.account, ownership.identity.stack
    found = ecr.repository(api, name)
    if name == kept and found is None:
        hint = "`training.imageRepository`: its owner makes it; `aws ecr describe-repositories` lists those of the account"
        raise CommandError(f"there is no repository {name} in account {account}, {settings.region}", hint)
    if found is not None and name != kept:
        whose = found.tags.get(CLUSTER_TAG)
        if whose != settings.name:
            mark = f"its tag {CLUSTER_TAG} is {whose}" if whose else f"it has no tag {CLUSTER_TAG}"
            arn = f"arn:aws:ecr:{settings.region}:{account}:repository/{name}"
            hint = f"name another with --repository; if it is yours, tag it: aws ecr tag-resource --resource-arn {arn} --tags Key={CLUSTER_TAG},Value={settings.name}"
            raise OwnershipError(f"the repository {name} is not of the cluster {settings.name}: {mark}", hint)
        refuse_other_stack(subject, found.tags.get(STACK_TAG, ""), stack)
    tags = cluster_tags(settings.name, stack) if stack else {CLUSTER_TAG: settings.name}
    usual = usual_repository(settings.name)
    return ImagePlace(api, account, name, usual, found, tags, lambda: refuse_change(api, ownership))


def registries(place: ImagePlace, base: str) -> tuple[Registry, Registry]:
    """The account's registry, and the one that has the base, which may be the same."""
    host, pause = ecr.registry_host(place.account, place.api.region), access().pause
    target = Registry(host, lambda: ecr.login(place.api), pause)
    start = parsed(base).host
    return target, target if start == host else Registry(start, pause=pause)


def need_push(tag: str) -> None:
    """Raises CommandError where an image that is built cannot be pushed."""
    if tag == UNNAMED:
        raise CommandError(
            "a pushed image needs a tag of its own: ECR keeps each tag with its image", "add --tag 1.0, or another", code=MISUSE
        )
    if access().is_practice:
        raise CommandError("a practice account has no registry that takes images", "leave --push out", code=MISUSE)


def push_built(
    stack_file: StackFile, settings: Settings, state: Path | None, named: str | None, tool: str, local: str, tag: str, *, yes: bool
) -> tuple[str, str]:
    """Push an image of this machine with its own tool. Returns its name in the registry and its digest."""
    api = access().aws(stack_file.stack, settings.region)
    place = image_place(api, stack_file, settings, state, named)
    host = ecr.registry_host(place.account, settings.region)
    image = f"{host}/{place.name}:{tag}"
    registry = Registry(host, lambda: ecr.login(api), access().pause)
    if place.repository is not None and registry.manifest(place.name, tag) is not None:
        raise CommandError(f"{image} is there already, and ECR keeps each tag with its image", "give this one another --tag")
    consent(yes).agree(f"Push {image}?")
    place.refuse_change()
    place.make()
    user, password = ecr.login(api)
    # By standard input: a password among the words would be in the list of processes.
    run([tool, "login", "--username", user, "--password-stdin", host], password)
    run([tool, "tag", local, image])
    refuse_named(registry, place.name, tag)
    run([tool, "push", image])
    made = registry.manifest(place.name, tag)
    if made is None:
        raise CommandError(f"{image} is not in the registry, though {tool} says that it was pushed")
    return image, made.digest
