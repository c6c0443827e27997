"""The one check before the first change: whose the cluster is, by Pulumi's state and by the account, and what a person must say to it."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from facts.names import CLUSTER_TAG, STACK_TAG
from facts.typed import typed
from trn.aws.api import Api, tags_of
from trn.aws.cluster_identity import ClusterIdentity, differences, of_account
from trn.aws.eks import described
from trn.aws.identity import caller
from trn.aws.leftovers import Found
from trn.aws.network import cluster_vpcs
from trn.aws.owner_tags import Owner
from trn.cli.errors import MISUSE, OwnershipError
from trn.engine.pulumi import Pulumi
from trn.engine.stack_state import StackState, ask_state, file_state

DELETING, FAILED = "DELETING", "FAILED"
NO_ORGANIZATION = "organization"
"""What Pulumi calls the organization in backends that are a folder or a bucket (pulumi/pulumi pkg/backend/diy/backend.go)."""
UNMARKED = "none"
"""What `--identity` takes for objects without the tag `trn:stack`."""


@dataclass(frozen=True)
class StackCluster:
    """The cluster that a command is about, by its stack file."""

    project: str
    stack: str
    cluster: str
    """Its name."""
    existing_vpc: str = ""
    """The VPC that the stack file names and others keep; empty where the stack makes its own."""
    existing_ids: frozenset[str] = frozenset()
    """All that the stack file names and others keep."""
    may_be_absent: bool = False
    """Whether the command is about the account and the stack, and may come before the cluster."""
    may_be_unfinished: bool = False
    """Whether the command ends what a killed run began, the cluster's creation among it: the state need not know the end of that."""
    is_from_others: bool = False
    """Whether another program made the cluster, so that no tag of ours is on it: the stack is to take it over."""


@dataclass(frozen=True)
class Consent:
    """What the caller has said in advance, and how the rest is asked."""

    yes: bool = False
    """Do what is shown, without a question."""
    name: str = ""
    """The cluster's name, where the state does not prove whose it is."""
    identity: str = ""
    """The stack whose objects are meant, where there are several."""
    confirm: Callable[[str], None] = lambda question: None
    """Asks a question; raises where the answer is no."""
    ask: Callable[[str], bool] = lambda question: False
    """Asks a question in the middle of a command; a no leaves out what was asked about."""
    prompt: Callable[[str], str] = lambda question: ""
    """Asks for a text."""

    def agree(self, question: str) -> None:
        """Ask, unless it was said in advance. Raises what `confirm` raises."""
        if not self.yes:
            self.confirm(question)

    def agree_apart(self, wrong: str, hint: str) -> None:
        """Ask about what was not meant by the plan: `--yes` does not cover it. Raises OwnershipError, and what `confirm` raises."""
        if self.yes:
            raise OwnershipError(f"{wrong}; --yes does not cover that", hint)
        self.confirm(f"{wrong} ({hint}). Go on without?")

    def type_name(self, cluster: str, why: str) -> None:
        """The cluster's name, typed or given: `--yes` alone is not enough here. Raises OwnershipError."""
        if not self.name and self.yes:
            raise OwnershipError(f"--yes alone is not enough: {why}", f"look at what is shown; if it is yours, add --name {cluster}")
        typed = self.name or self.prompt(f"{why}; type the cluster's name to go on")
        if typed != cluster:
            raise OwnershipError(f"`{typed}` is not the cluster's name, {cluster}; nothing was changed", code=MISUSE)


@dataclass(frozen=True)
class Ownership:
    """What is known of a cluster before anything is changed."""

    subject: StackCluster
    state: StackState
    seen: ClusterIdentity
    caller: str
    """ARN of who asks."""
    status: str = ""
    """EKS's word; empty where there is no cluster."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The cluster's own."""
    is_protected: bool = False
    vpcs: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Tags of the VPCs with the cluster's tag, by id."""

    @property
    def identity(self) -> ClusterIdentity:
        """As the state holds it; as the account shows it, where the state is gone or does not know the cluster yet."""
        own = self.state.identity
        return self.seen if own is None or (self.seen.cluster_arn and not own.cluster_arn) else own

    def owner(self, stack: str) -> Owner:
        """Whose objects may be deleted. `stack`: as in the tag `trn:stack`."""
        used = {self.subject.existing_vpc} - {""}
        # What the stack file says counts for more than the tags: the stack may have made it once, and given it away.
        own = {which for which, tags in self.vpcs.items() if tags.get(STACK_TAG, "") == stack} - used
        if self.identity.vpc_id and self.identity.stack == stack and self.identity.vpc_id not in used:
            # A VPC that the stack did not make has neither the cluster's tag nor a place in the state: others keep it.
            made = self.identity.vpc_id in self.vpcs or self.identity.vpc_id in self.state.vpc_ids
            (own if made else used).add(self.identity.vpc_id)
        has_name = not self.status or self.tags.get(STACK_TAG, "") == stack
        given, seen = self.subject.existing_ids, self.seen
        since = self.identity.created_at if self.identity.stack == stack else ""
        return Owner(
            self.subject.cluster, seen.account, seen.region, stack, frozenset(own), has_name, frozenset(used - own), given,
            since or self.state.created_at,
        )  # fmt: skip

    def lines(self) -> list[str]:
        """The identity as users read it."""
        how = "by Pulumi's state and by the account" if self.is_proven else "as the account shows it: Pulumi's state does not hold it"
        return [f"cluster {self.subject.cluster}, {how}", *(f"  {line}" for line in self.identity.lines())]

    @property
    def is_proven(self) -> bool:
        """Whether the state says whose it is."""
        return self.state.identity is not None


def read_ownership(api: Api, pulumi: Pulumi, subject: StackCluster, state_file: Path | None = None) -> Ownership:
    """Read state and account. Reads only. Raises OwnershipError where the state cannot be read, or is another stack's."""
    if state_file is None:
        state = ask_state(pulumi, subject.stack, subject.cluster)
    else:
        state = file_state(state_file, subject.project, subject.stack, subject.cluster)
    return with_account(api, subject, state)


def with_account(api: Api, subject: StackCluster, state: StackState) -> Ownership:
    """What the account shows now, beside a state that was read before."""
    who, entry, vpcs = caller(api), described(api, subject.cluster), cluster_vpcs(api, subject.cluster)
    return Ownership(
        subject,
        state,
        of_account(who.account, api.region, entry, vpcs, state.identity),
        who.arn,
        *_described(entry),
        vpcs,
    )


def _described(entry: Mapping[str, Any] | None) -> tuple[str, Mapping[str, str], bool]:
    return (entry["status"], tags_of(entry, "tags"), bool(entry.get("deletionProtection"))) if entry is not None else ("", {}, False)


def refuse_mismatch(ownership: Ownership, *, unfinished: bool = False) -> None:
    """Raises OwnershipError, with both sides, where the account's cluster is not the one that the state holds.

    `unfinished`: a cluster whose creation the state does not know the end of is accepted by its VPC and stack.
    """
    subject, own, seen = ownership.subject, ownership.state.identity, ownership.seen
    refuse_another_name(subject, ownership.state, seen.region)
    if ownership.status and ownership.tags.get(CLUSTER_TAG) != subject.cluster and not subject.is_from_others:
        wrong = f"there is an EKS cluster `{subject.cluster}` in {seen.region} that lacks the tag {CLUSTER_TAG}={subject.cluster}"
        raise OwnershipError(f"{wrong}: it is not this program's", "nothing was changed; give the stack another `trn:name`")
    if own is None:
        if ownership.status and not ownership.state.is_gone and not (unfinished and seen.stack):
            wrong = f"Pulumi's state of stack `{subject.stack}` does not hold the cluster `{subject.cluster}` that is in the account"
            raise OwnershipError(_told(wrong, seen.lines()), "is this the stack that made it, and `pulumi whoami --verbose` its backend?")
        if not subject.is_from_others:
            refuse_other_stack(subject, seen.stack)
        return
    wrong = differences(own, seen, unfinished=unfinished)
    if wrong:
        hint = "check credentials, `trn:region`, `trn:name` and Pulumi's backend; nothing was changed"
        if ownership.state.is_unfinished and not own.cluster_arn and own.account == seen.account:
            hint = f"a run was killed while it made the cluster: `{typed(f'trn recover {subject.stack}')}` imports it; nothing was changed"
        raise OwnershipError(_told(f"this is not the cluster of stack `{subject.stack}`", wrong), hint)


def refuse_another_name(subject: StackCluster, state: StackState, region: str) -> None:
    """Raises OwnershipError where the state holds something, and not the cluster that the stack file names.

    The file says what is wanted, the state what is there. A state without a cluster, of a run that was killed before it made one or
    of a destroy that was stopped near its end, is this cluster's where the tags of what it holds, or its component, name it.
    """
    if state.is_gone or subject.cluster in state.clusters or not (state.count or state.clusters):
        return
    wrong = f"Pulumi's state of stack `{subject.stack}` does not hold the cluster `{subject.cluster}` of the stack file"
    lines = [f"the stack file: {subject.cluster} in {region}"]
    lines += [f"Pulumi's state: {name}: {identity.words()}" for name, identity in state.clusters.items()]
    if not state.clusters:
        lines.append(f"Pulumi's state: {state.count} resources, and none of them names a cluster")
        raise OwnershipError(
            _told(wrong, lines),
            f"is this the stack that made it? `{typed('pulumi stack export')}` shows what it holds; nothing was changed",
        )
    names = " or ".join(f"`{name}`" for name in state.clusters)
    raise OwnershipError(_told(wrong, lines), f"set `trn:name` back to {names}, and `trn:region` to its region; nothing was changed")


def refuse_other_stack(subject: StackCluster, stack: str, known: str = "") -> None:
    """Raises OwnershipError where what was found was made by another stack than the one that the command was given.

    `known`: that one in full; where nothing tells its organization, project and name are compared.
    """
    is_same = stack == known if known else stack.split("/")[1:] == [subject.project, subject.stack]
    if stack and not is_same:
        wrong = f"{STACK_TAG}={stack}: another stack made this than {known or f'{subject.project}/{subject.stack}'}"
        raise OwnershipError(wrong, f"run the command in that stack; if it has another name by now, add --identity {stack}")


def _told(wrong: str, lines: Iterable[str]) -> str:
    return "\n".join([wrong, *(f"  {line}" for line in lines)])


def chosen_stack(ownership: Ownership, found: Iterable[Found], named: str) -> str:
    """The stack whose objects are meant, as in `trn:stack`: the state's own, else the only one that the objects carry.

    `named`: the one that the caller chose, `none` for objects without the tag. Raises OwnershipError where there are several.
    """
    wanted = "" if named == UNMARKED else named
    if ownership.state.identity is not None:
        stack = ownership.state.identity.stack
        if named and wanted != stack:
            raise OwnershipError(
                f"stack `{ownership.subject.stack}` is {stack or UNMARKED}, not {named}", "leave --identity out", code=MISUSE
            )
        return stack
    counts = Counter(item.tags[STACK_TAG] for item in found if STACK_TAG in item.tags)
    if named:
        return wanted
    if len(counts) > 1:
        listed = [f"{stack}: {count} objects" for stack, count in sorted(counts.items())]
        hint = "name one with --identity; the objects of the others are kept"
        raise OwnershipError(
            _told("objects of several stacks carry the cluster's name, and the state does not say which is meant", listed), hint
        )
    stack, subject = next(iter(counts), ownership.seen.stack), ownership.subject
    # An organization that the state does not tell is taken for the caller's only where the caller names it.
    refuse_other_stack(subject, stack, f"{NO_ORGANIZATION}/{subject.project}/{subject.stack}")
    return stack


def agreed(ownership: Ownership, consent: Consent, tell: Callable[[str], None]) -> ClusterIdentity:
    """The check of a command that changes a living cluster: refused, shown, and named where the state does not prove it.

    Raises OwnershipError where the cluster is another one, and where the name is not given.
    """
    refuse_mismatch(ownership)
    for line in ownership.lines():
        tell(line)
    if not ownership.is_proven:
        consent.type_name(ownership.subject.cluster, "Pulumi's state does not say whose this cluster is")
    return ownership.identity


def refuse_change(api: Api, before: Ownership) -> None:
    """Read the cluster again: raises OwnershipError where it is another one than when the command was confirmed.

    One that is gone meanwhile is no other.
    """
    seen = with_account(api, before.subject, before.state).seen
    changed = seen.account != before.seen.account or (
        bool(seen.cluster_arn)
        and (seen.cluster_arn, seen.created_at, seen.stack) != (before.seen.cluster_arn, before.seen.created_at, before.seen.stack)
    )
    if changed:
        told = ["confirmed:", *(f"  {line}" for line in before.seen.lines()), "now:", *(f"  {line}" for line in seen.lines())]
        raise OwnershipError(
            _told("the cluster has become another one since it was confirmed", told), "nothing more was changed; look again"
        )
