"""The file that `pulumi import --file` reads: components by their place, objects by their id.

Sources: pulumi/pulumi pkg/cmd/pulumi/operations/import.go, importFile and parseImportFile, and preview.go, buildImportFile; tried with
CLI 3.260. A name of the file is unique in it, and another than the logical name where two resources share one. A component
is `component`, without an id: it exists in the state alone. `remote` stays out, since with it the state names a provider
that the component of a package has none of. No provider is named: an explicit one that the stack has not made yet cannot be
imported with, so the default one reads the objects, and the next `pulumi up` hands each to the stack's own of the same region.
"""

import importlib.metadata
from collections.abc import Iterable
from typing import Any

from simulator.recording import Recording, Registration
from trn.before.import_cluster.matching import Match, parents_of

_VERSION_OF = {"aws": "pulumi-aws"}
"""Package to the distribution whose version its provider has."""


def import_file(recording: Recording, matches: Iterable[Match]) -> dict[str, Any]:
    """The content of the file."""
    names: dict[str, str] = {}
    resources: list[dict[str, Any]] = []
    for match in sorted(matches, key=lambda each: each.recorded.urn):
        for parent in parents_of(recording, match.recorded.urn):
            if parent.urn not in names:
                resources.append({**_named(parent, names), "component": True})
        resources.append({**_named(match.recorded, names), "id": match.id, "version": _version(match.recorded)})
    return {"nameTable": {}, "resources": resources}


def _named(item: Registration, names: dict[str, str]) -> dict[str, Any]:
    taken = set(names.values())
    unique = next(
        name for number in range(1, len(taken) + 2) if (name := item.name if number == 1 else f"{item.name}-{number}") not in taken
    )
    names[item.urn] = unique
    made = {"type": item.type, "name": unique}
    if unique != item.name:
        made["logicalName"] = item.name
    if item.parent in names:
        made["parent"] = names[item.parent]
    return made


def _version(item: Registration) -> str:
    return importlib.metadata.version(_VERSION_OF[item.type.split(":")[0]])
