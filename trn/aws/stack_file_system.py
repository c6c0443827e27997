"""The file systems that a stack's pods use: by the cluster's tag where the stack makes them, by id where others keep the one."""

from collections.abc import Mapping
from typing import Any

from facts.names import CLUSTER_TAG
from stacks.settings import Settings
from trn.aws.api import Api, tags_of
from trn.aws.external_services import file_system_entry
from trn.aws.fsx import DESCRIBE_FILE_SYSTEMS


def file_systems(api: Api, settings: Settings) -> list[Mapping[str, Any]]:
    """As FSx describes them: a user may have grown one."""
    existing = settings.storage.lustre.existing
    if existing is not None:
        entry = file_system_entry(api, existing.file_system_id)
        return [entry] if entry is not None else []
    return [entry for entry in api.pages(DESCRIBE_FILE_SYSTEMS, "FileSystems") if tags_of(entry).get(CLUSTER_TAG) == settings.name]
