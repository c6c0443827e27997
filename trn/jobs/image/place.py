"""Where an image goes: a repository of the account that is the cluster's, made if it is missing; or the one that the stack file names and others keep."""

from dataclasses import dataclass, field

from facts import text_formats
from facts.names import CLUSTER_TAG, STACK_TAG, cluster_tags
from facts.toolchains import TOOLCHAINS, Toolchain, image_conflict
from stacks.settings import Settings
from training.job import PATH
from trn.aws import ecr
from trn.aws.api import Api
from trn.change.clients import access
from trn.change.ownership import Ownership, refuse_other_stack
from trn.cli.errors import MISUSE, CommandError, OwnershipError
from trn.jobs.image.registry import Registry, parsed

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
    if not text_formats.IMAGE.fits(image):
        raise CommandError(
            f"--base `{image}` is no image reference\n  allowed: {text_formats.IMAGE.allowed}", text_formats.IMAGE.hint, code=MISUSE
        )
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


@dataclass(frozen=True)
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
    _known: dict[str, bool] = field(default_factory=dict)

    @property
    def lines(self) -> list[str]:
        """What happens to the repository, for a person."""
        return [] if self.repository is not None else [f"the repository {self.name} is made, with tags that stay with their images"]

    @property
    def arn(self) -> str:
        """The repository's."""
        return _arn(self.api, self.account, self.name)

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


def repository_name(settings: Settings, named: str | None) -> str:
    """The one that is named, the one of the stack file, or the cluster's usual one."""
    return named or settings.training.image_repository or usual_repository(settings.name)


def image_place(api: Api, ownership: Ownership, settings: Settings, named: str | None) -> ImagePlace:
    """The repository of a stack's images. Reads only. Raises OwnershipError where it is not the cluster's, CommandError where others' is not there."""
    kept = settings.training.image_repository
    name, account, stack = repository_name(settings, named), ownership.seen.account, ownership.identity.stack
    found = ecr.repository(api, name)
    if name == kept and found is None:
        hint = "`training.imageRepository`: its owner makes it; `aws ecr describe-repositories` lists those of the account"
        raise CommandError(f"there is no repository {name} in account {account}, {settings.region}", hint)
    if found is not None and name != kept:
        whose = found.tags.get(CLUSTER_TAG)
        if whose != settings.name:
            mark = f"its tag {CLUSTER_TAG} is {whose}" if whose else f"it has no tag {CLUSTER_TAG}"
            hint = f"name another with --repository; if it is yours, tag it: aws ecr tag-resource --resource-arn {_arn(api, account, name)} --tags Key={CLUSTER_TAG},Value={settings.name}"
            raise OwnershipError(f"the repository {name} is not of the cluster {settings.name}: {mark}", hint)
        refuse_other_stack(ownership.subject, found.tags.get(STACK_TAG, ""), stack)
    tags = cluster_tags(settings.name, stack) if stack else {CLUSTER_TAG: settings.name}
    usual = usual_repository(settings.name)
    return ImagePlace(api, account, name, usual, found, tags)


def _arn(api: Api, account: str, name: str) -> str:
    return f"arn:aws:ecr:{api.region}:{account}:repository/{name}"


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
    access().registries()
