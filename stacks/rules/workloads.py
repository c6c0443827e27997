"""Rules on storage, namespaces and tags."""

import re
from collections.abc import Iterator

from addons.registry import REGISTRY
from facts.names import RESERVED_TAG_PREFIXES, RESERVED_TAGS
from facts.problems import Problem
from stacks.settings import Settings

NOT_OURS = {"default", "kube-public", "kube-node-lease", *(name for declaration in REGISTRY for name in declaration.namespaces)}
"""Namespaces of Kubernetes and of the add-ons."""
TAG_LIMIT = 40
TAG_TEXT = re.compile(r"[A-Za-z0-9 _.:/=+@-]*")
"""What EC2, EKS, IAM, FSx, KMS and CloudWatch Logs all take in tags; FSx is the strictest."""


def file_system(settings: Settings) -> Iterator[Problem]:
    """Sizes that FSx for Lustre has, and no backups of what S3 holds anyway."""
    lustre = settings.storage.lustre
    size = lustre.capacity_gib
    if size != 1200 and size % 2400:
        larger = -(-size // 2400) * 2400
        yield Problem(
            "storage.lustre.capacityGib", size, "not a size of FSx for Lustre", "1200, or a multiple of 2400", f"set it to {larger}"
        )


def backups(settings: Settings) -> Iterator[Problem]:
    """FSx takes no backups of a file system linked to S3 (FSx for Lustre guide, using-backups-fsx)."""
    lustre = settings.storage.lustre
    if lustre.data_repository is None:
        return
    hint = "remove it: what the link exports is kept in S3"
    if lustre.final_backup:
        yield Problem("storage.lustre.finalBackup", True, "a file system linked to S3 has no backups", "false", hint)
    if lustre.backup_retention_days:
        path = "storage.lustre.backupRetentionDays"
        yield Problem(path, lustre.backup_retention_days, "a file system linked to S3 has no backups", "0", hint)


def training_namespace(settings: Settings) -> Iterator[Problem]:
    """The file system's claim does not fall into a namespace that Kubernetes owns."""
    if settings.training.namespace in NOT_OURS:
        hint = "take a name of your own: Volcano's webhooks exempt system namespaces, and the stack deletes this one"
        yield Problem("training.namespace", settings.training.namespace, "a namespace that is not the stack's to make", hint=hint)


def tags(settings: Settings) -> Iterator[Problem]:
    """No tag that AWS, EKS or the program itself owns, and none that one of the services refuses."""
    if len(settings.tags) > TAG_LIMIT:
        hint = "AWS takes 50 for each resource, and the program and EKS add their own"
        yield Problem("tags", f"{len(settings.tags)} tags", "too many tags", f"at most {TAG_LIMIT}", hint)
    spelt: dict[str, str] = {}
    for key, value in settings.tags.items():
        first = spelt.setdefault(key.lower(), key)
        if first != key:
            hint = "keep one of the two: IAM takes tag keys that differ only in case for the same, and refuses the second"
            yield Problem(f"tags.{key}", value, f"the same key as `{first}` but for case", hint=hint)
        if key.lower().startswith(RESERVED_TAG_PREFIXES) or key.lower() in RESERVED_TAGS:
            yield Problem(
                f"tags.{key}",
                value,
                "a reserved tag",
                f"keys other than {', '.join(f'{prefix}*' for prefix in RESERVED_TAG_PREFIXES)} and {', '.join(RESERVED_TAGS)}",
                "rename the tag",
            )
        elif not (TAG_TEXT.fullmatch(key) and 1 <= len(key) <= 128 and TAG_TEXT.fullmatch(value) and len(value) <= 256):
            hint = "letters, digits, spaces and _ . : / = + - @, which all services take"
            yield Problem(f"tags.{key}", value, "not a tag that every service takes", "keys to 128, values to 256 characters", hint)
