"""The shared file system as the rest of the stack sees it, whoever made it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi

from facts.lustre import dns_name


@dataclass(frozen=True)
class SharedFileSystem:
    """What a volume needs to mount it."""

    file_system_id: pulumi.Output[str]
    dns_name: pulumi.Output[str]
    mount_name: pulumi.Output[str]
    ready: Sequence[pulumi.Resource] = ()
    """What mounts wait for."""


def existing_file_system(region: str, file_system_id: str, mount_name: str) -> SharedFileSystem:
    """One that others keep: names only, and nothing to wait for."""
    made = pulumi.Output.from_input
    return SharedFileSystem(made(file_system_id), made(dns_name(file_system_id, region)), made(mount_name))
