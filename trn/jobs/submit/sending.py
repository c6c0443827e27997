"""A job and its own files before they are sent: the site as its pods find it, and the image that is pushed first."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from stacks.settings import Settings
from training.job import Job
from training.payload import SOURCE
from training.plan import base_image_of, launcher_of, toolchain_of
from training.site import Site
from trn.cli.errors import MISUSE, CommandError
from trn.engine.stack_file import StackFile
from trn.jobs.rendering import Rendered, rendered
from trn.jobs.source import OwnFiles, of_job, seen_with

if TYPE_CHECKING:
    from trn.aws.api import Api
    from trn.jobs.image.change import Push

ANY_ACCOUNT = "ACCOUNT"
"""In the name of an image before anyone was asked whose credentials there are."""


@dataclass(frozen=True)
class Sending:
    """A job on a cluster, with its own files."""

    stack_file: StackFile
    settings: Settings
    job: Job
    site: Site
    own: OwnFiles | None
    where: str
    """The name of its file."""

    @property
    def lines(self) -> list[str]:
        """What goes along, for a person."""
        return [self.own.line, *self.own.notes] if self.own is not None else []

    @property
    def _base(self) -> tuple[str, str]:
        """Toolchain and image that the files are put on."""
        toolchain = toolchain_of(self.job, self.site)
        base = base_image_of(self.job, self.site.seen_by(launcher_of(self.job, self.site)), toolchain)
        return toolchain.name if toolchain is not None else "own", base or ""

    @property
    def _is_pushed(self) -> bool:
        return self.own is not None and self.own.way == "image"

    def site_in(self, account: str = ANY_ACCOUNT) -> Site:
        """The site as the pods find it, with the account's registry."""
        if self.own is None or not self._is_pushed:
            return seen_with(self.site, self.own, "")
        # A dry run of a job file without files of its own loads no client.
        from trn.aws.ecr import registry_host
        from trn.jobs.image.place import repository_name

        repository = f"{registry_host(account, self.settings.region)}/{repository_name(self.settings, None)}"
        return seen_with(self.site, self.own, f"{repository}:{self.own.tag(*self._base)}")

    def rendered(self, api: "Api | None" = None) -> Rendered:
        """Its objects. Without `api`, the image's name lacks the account. Raises as `rendering.rendered`."""
        account = ANY_ACCOUNT
        if api is not None and self._is_pushed:
            from trn.aws.identity import caller

            account = caller(api).account
        return rendered(self.job, self.site_in(account), self.where)

    def push(self) -> "Push | None":
        """The image with the files; None where they need none."""
        if self.own is None or self.own.way != "image":
            return None
        from trn.jobs.image.change import Push

        toolchain, base = self._base
        return Push(self.stack_file, self.settings, toolchain, base, self.own.layer, SOURCE, None, self.own.tag(toolchain, base))

    def refuse_documents(self, found: Rendered) -> None:
        """Raises CommandError for what is submitted by another tool."""
        if not found.documents:
            return
        commands = "; ".join(document.command for document in found.documents)
        first = "push the files by `trn image push`, and name that image in place of `source`; then " if self._is_pushed else ""
        hint = f"{first}print it with `--dry-run`, then run {commands}"
        raise CommandError(f"a {found.launcher.title} is submitted by its own tool; nothing was submitted", hint, code=MISUSE)


def sending(stack_file: StackFile, settings: Settings, job: Job, site: Site, where: Path) -> Sending:
    """`where`: the job's file, beside which its `source` begins. Raises CommandError for files that cannot be sent."""
    return Sending(stack_file, settings, job, site, of_job(job, site, where.parent), str(where))
