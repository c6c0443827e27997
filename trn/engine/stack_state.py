"""What Pulumi holds of a stack: read from its backend, or from a file that `pulumi stack export` wrote."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from facts.resources.ec2_network import VPC
from facts.resources.eks import CLUSTER_TYPE
from facts.resources.fsx import FILE_SYSTEM as LUSTRE
from facts.typed import typed
from trn.aws.cluster_identity import ClusterIdentity, clusters_of, doomed_clusters, moment, of_state
from trn.cli.errors import MISUSE, CommandError
from trn.cli.text_files import read_text
from trn.engine.pulumi import NO_STACK, Pulumi, says
from trn.engine.stack_export import MAKING, UNKNOWN, StateStamp, read_export

MAX_BYTES = 256_000_000
"""Largest state that is read: that of a cluster has some hundred kilobytes, one of 10,000 resources some tens of megabytes."""


@dataclass(frozen=True)
class StackState:
    """As much of a stack as commands need before they change something."""

    exists: bool
    """Whether the backend has a stack of this name."""
    ids: frozenset[str] = frozenset()
    """Ids and ARNs of everything that the state holds."""
    count: int = 0
    """Resources that have an object outside the engine."""
    root: str = ""
    """URN of the stack itself; empty where nothing was ever made."""
    identity: ClusterIdentity | None = None
    """None where nothing in the state is this cluster's."""
    under_way: int = 0
    """Operations of which no end is known."""
    is_unfinished: bool = False
    """A run that made the cluster ended before it knew how."""
    vpc_ids: frozenset[str] = frozenset()
    """VPCs that the stack made."""
    id: StateStamp = UNKNOWN
    """Which state of which stack it is."""
    created_at: str = ""
    """When the stack's first run began, UTC, to the second; empty where the state does not say."""

    clusters: Mapping[str, ClusterIdentity] = field(default_factory=dict)
    """Every cluster that the state holds, by name; see `clusters_of`."""
    doomed: frozenset[str] = frozenset()
    """Names of clusters that were replaced, and that the next run of Pulumi deletes."""
    held: frozenset[tuple[str, ...]] = frozenset()
    """URN, id and creation time of all that the state holds outside the engine, and of what is being made: what a run of Pulumi may delete."""
    unsaved: frozenset[str] = frozenset()
    """Ids of the file systems that Pulumi deletes without a final backup: it goes by the state, not by the stack file."""
    is_empty: bool = True
    """It holds nothing at all, no component either."""

    @property
    def is_gone(self) -> bool:
        """Shown to be gone: there is no such stack, or it holds nothing and nothing of it is under way."""
        return not self.exists or not (self.count or self.under_way)


NO_SUCH_STACK = StackState(exists=False)


def parse_state(export: Any, cluster: str) -> StackState:
    """What `pulumi stack export` printed. Raises ValueError where it is something else."""
    found = read_export(export)
    arns = {each["outputs"]["arn"] for each in found.outside if (each.get("outputs") or {}).get("arn")}
    return StackState(
        exists=True,
        ids=frozenset({each["id"] for each in found.outside} | arns),
        count=len(found.outside),
        root=found.root.get("urn", ""),
        created_at=moment(found.root.get("created")),
        identity=of_state(found.resources, cluster),
        under_way=len(found.pending),
        clusters=clusters_of(found.resources, found.pending),
        doomed=doomed_clusters(found.resources),
        held=frozenset(map(_identity, found.outside))
        | {(str(each["resource"].get("urn", "")), "") for each in found.pending if each.get("type") in MAKING},
        unsaved=frozenset(each["id"] for each in found.outside if each.get("type") == LUSTRE.token and not _is_saved(each)),
        vpc_ids=frozenset(each["id"] for each in found.outside if each.get("type") == VPC.token),
        is_unfinished=any(each["resource"]["type"] == CLUSTER_TYPE.token for each in found.pending if each.get("type") == "creating"),
        id=found.id,
        is_empty=not (found.resources or found.pending),
    )


def _identity(resource: Mapping[str, Any]) -> tuple[str, ...]:
    """A cluster of the same name that was made again has the same URN and id; of other types the engine writes down when it made them."""
    return resource["urn"], resource["id"], moment((resource.get("outputs") or {}).get("createdAt") or resource.get("created"))


def _is_saved(file_system: Mapping[str, Any]) -> bool:
    """Whether the provider takes a backup before it deletes the file system: only where it was told so at the last `pulumi up`."""
    told = {**(file_system.get("inputs") or {}), **(file_system.get("outputs") or {})}.get("skipFinalBackup")
    return told is False or told == "false"


def ask_state(pulumi: Pulumi, stack: str, cluster: str) -> StackState:
    """The state as the backend has it. Raises CommandError where it cannot be read: that is not the same as gone."""
    command = ("pulumi", "stack", "export", "--stack", stack)
    code, printed = pulumi.ask(command)
    if code:
        if says(printed, NO_STACK):
            return NO_SUCH_STACK
        hint = f"what it printed says why; or give the state: `{' '.join(command)} > state.json`, then --state state.json"
        raise CommandError(f"`{' '.join(command)}` failed, so that it is not known whose the cluster is", hint)
    try:
        return parse_state(json.loads(printed), cluster)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"`{typed('pulumi stack export')}` gave no state: {error!r}", "install the Pulumi CLI 3.260 or later") from error


def file_state(path: Path, project: str, stack: str, cluster: str) -> StackState:
    """The state in a file, which must be this stack's own. Raises CommandError.

    An empty state does not say whose it is, so it is refused: that a stack is gone is asked of the backend.
    """
    hint = f"write it with `{typed('pulumi stack export --stack NAME > state.json')}`"
    try:
        export = json.loads(read_text(path, MAX_BYTES, hint, too_large=hint))
        state, resources = parse_state(export, cluster), read_export(export).resources
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CommandError(f"`{path}` is no Pulumi state: {error}", hint, code=MISUSE) from error
    whose = {tuple(resource["urn"].split("::")[:2]) for resource in resources}
    expected = (f"urn:pulumi:{stack}", project)
    if whose - {expected}:
        other = "::".join(sorted(whose - {expected})[0]).removeprefix("urn:pulumi:")
        raise CommandError(f"`{path}` is the state of another stack: it holds {other}, this is {stack}::{project}", hint, code=MISUSE)
    if not whose:
        wrong = f"`{path}` holds no resource, so it does not say whose state it is"
        raise CommandError(wrong, "leave --state out: the stack is then read from its backend", code=MISUSE)
    return state
