"""The file system of a stack and its link to S3: one that others keep by its id; its own by the cluster's tags, and refused where another stack made it."""

from dataclasses import dataclass

from facts.names import CLUSTER_TAG, STACK_TAG, cluster_tags
from facts.typed import typed
from stacks.settings import Settings
from trn.aws.api import Api, tags_of
from trn.aws.repository import associations, own_file_systems
from trn.change.ownership import Ownership, refuse_other_stack
from trn.cli.errors import CommandError
from trn.jobs.data.safety import Link, link_of


@dataclass(frozen=True)
class Place:
    """A file system that is linked to S3."""

    file_system: str
    """Its id."""
    link: Link
    ownership: Ownership

    @property
    def tags(self) -> dict[str, str]:
        """Of what is made for it."""
        cluster, stack = self.ownership.subject.cluster, self.ownership.identity.stack
        return cluster_tags(cluster, stack) if stack else {CLUSTER_TAG: cluster}


def linked_file_system(api: Api, ownership: Ownership, settings: Settings) -> Place:
    """The file system of a stack. Reads only. Raises OwnershipError where it is another's, CommandError where there is none."""
    existing = settings.storage.lustre.existing
    if existing is not None:
        return Place(existing.file_system_id, link_of(associations(api, existing.file_system_id), settings.name, is_own=False), ownership)
    found = own_file_systems(api, settings.name)
    if len(found) != 1:
        what = "no file system" if not found else f"{len(found)} file systems"
        raise CommandError(
            f"the cluster {settings.name} has {what}",
            f"`{typed('trn status')}` shows what there is; `{typed('pulumi up')}` makes the stack's one",
        )
    refuse_other_stack(ownership.subject, tags_of(found[0]).get(STACK_TAG, ""), ownership.identity.stack)
    which = found[0]["FileSystemId"]
    return Place(which, link_of(associations(api, which), settings.name), ownership)
