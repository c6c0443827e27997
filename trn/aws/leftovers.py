"""What a cluster left, or may have left, in an account: how it is found, and how it is deleted."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from botocore.exceptions import ClientError

from facts.names import CLUSTER_TAG, STACK_TAG, log_group_names, role_name
from facts.resources.eks import CLUSTER_TYPE
from facts.resources.queries import Deletion, Entry, Leftover, Origin, Query, Step
from facts.resources.table import SWEPT
from trn.aws.api import Api, Call, tags_of
from trn.aws.cluster_identity import moment
from trn.aws.objects import asked, at, detailed, filled, text
from trn.aws.owner_tags import NAME_TAGS, other_owner, owned_key, reason

HOURS_PER_DAY = 24
FILTER_VALUES = 200
"""Most values of one filter (EC2 API, Filter)."""


@dataclass(frozen=True)
class Found:
    """One object that is the cluster's."""

    kind: str
    id: str
    """As Pulumi's state names it."""
    because: str
    """The exact tag, VPC or name that makes it the cluster's."""
    name: str = ""
    usd_per_day: float | None = 0.0
    """None where the price is not known."""
    going: bool = False
    """It is being deleted already."""
    tags: Mapping[str, str] = field(default_factory=dict)
    vpc_id: str = ""
    """Empty for what is in no VPC."""
    entry: Entry = field(default_factory=dict)
    """As the service describes it: its deletion reads the parameters from there."""
    is_by_name: bool = False
    """The exact name, or the EKS cluster that it is a part of, makes it the cluster's: AWS makes some of these itself, without a tag."""

    @property
    def key(self) -> str:
        """The same for one object for as long as it lives: one of its name that was made later is another object.

        What AWS makes again by itself has a name for its identity, and no time.
        """
        return f"{self.kind} {self.id} {'' if self.is_by_name else born(self.entry)}"


@dataclass(frozen=True)
class Place:
    """Where objects are looked for."""

    cluster: str
    vpc_ids: Collection[str] = ()
    """VPCs that carry the cluster's exact tag."""
    originals: dict[str, Mapping[str, str]] = field(default_factory=dict, compare=False)
    """Tags of the cluster's volumes that were seen here, by id: copies of them are still its own when the volume is gone."""

    def reason(self, tags: Mapping[str, str], vpc_id: str = "") -> str:
        """Why an object is the cluster's; empty where it is not."""
        return reason(self.cluster, tags, vpc_id, self.vpc_ids)


@dataclass(frozen=True)
class Kind:
    """One kind of object: how it is found, and how one is deleted."""

    leftover: Leftover
    deletion: Deletion

    @property
    def name(self) -> str:
        """As users read it."""
        return self.leftover.kind

    def find(self, api: Api, place: Place) -> Iterator[Found]:
        """All that are the cluster's."""
        owner = ""
        if self.leftover.cluster and self.name != CLUSTERS.name:
            cluster = next(CLUSTERS.find(api, place), None)
            if cluster is None:
                return
            owner = cluster.because
        for entry, because in _owned(api, place, self.leftover, owner):
            if not self.leftover.leaves(entry):
                yield self._found(entry, because)

    def delete(self, api: Api, found: Found, more: Mapping[str, Any] | None = None) -> None:
        """Delete one, or take the step that must come first. Raises what botocore raises.

        `more`: parameters of this deletion, by place.
        """
        for step in self.deletion.steps:
            if _make(api, self, step, found.entry) and step.instead:
                return
        call = Call(self.deletion.service, self.deletion.operation, self.leftover.scopes)
        answer = api.call(
            call, **filled(self.deletion.parameters, lambda place: at(found.entry, place), {**self.deletion.constants, **(more or {})})
        )
        # DeleteVpcEndpoints alone answers with its refusals instead of raising them.
        for refused in (answer or {}).get("Unsuccessful", ()):
            raise ClientError({"Error": {"Code": refused["Error"]["Code"], "Message": refused["Error"]["Message"]}}, call.operation)

    def in_vpcs(self, api: Api, place: Place) -> Iterator[Found]:
        """All that lie in the place's VPCs, whoever owns them; none where the service cannot be asked by VPC."""
        query = self.leftover.query
        if not query.vpc_filter or not place.vpc_ids:
            return
        for entry in asked(api, query, _in_vpcs(place, self.leftover)):
            if at(entry, query.vpc) in place.vpc_ids and not self.leftover.leaves(entry):
                yield self._found(entry, f"in {at(entry, query.vpc)}")

    def _found(self, entry: Entry, because: str) -> Found:
        leftover, detail = self.leftover, self.leftover.detail
        tags = _tags(leftover, entry)
        last = detail.query if detail and detail.query.id and detail.at_once == 1 else leftover.query
        states = last.states if last.states.key else leftover.query.states
        usd, word = leftover.usd_per_hour(entry), str(at(entry, states.key) or "") if states.key else ""
        label = leftover.label(entry) if callable(leftover.label) else text(leftover.label or "{Name}", {"Name": tags.get("Name"), **entry})
        return Found(
            leftover.kind,
            text(leftover.id, entry) if leftover.id else str(entry[last.id]),
            because,
            label,
            None if usd is None else round(usd * HOURS_PER_DAY, 4),
            states.progress(word) == "leaving",
            tags,
            next((str(vpc) for key in _VPC_KEYS if (vpc := at(entry, key))), ""),
            entry,
            leftover.belongs in ("exact name", "with the cluster"),
        )


_VPC_KEYS = ("VpcId", "VPCId", "Attachments[].VpcId", "resourcesVpcConfig.vpcId")
_BIRTH_KEYS = (
    "CreateDate", "CreateTime", "createdAt", "CreationTime", "creationTime", "CreationDate", "CreationTimestamp", "CreatedTime", "LaunchTime",
    "StartTime",
)  # fmt: skip
"""Where descriptions have the time at which an object was made (EC2, EKS, ELB, FSx, IAM, KMS, Logs and AMP API references)."""
MILLISECONDS = 1e11
"""A number of seconds since 1970 is less, one of milliseconds more, from 1973 to the year 5138."""


def born(entry: Entry) -> str:
    """When an object was made, as its service writes it; empty where it does not."""
    return next((str(entry[key]) for key in _BIRTH_KEYS if entry.get(key)), "")


def birth(entry: Entry) -> str:
    """When an object was made, UTC, to the second, so that two can be compared; empty where its service does not say."""
    value: Any = next((entry[key] for key in _BIRTH_KEYS if entry.get(key)), "")
    if isinstance(value, int | float):
        value = datetime.fromtimestamp(value / 1000 if value > MILLISECONDS else value, UTC)
    return moment(value)


def _kinds() -> Iterator[Kind]:
    for item in SWEPT:
        assert isinstance(item.leftover, Leftover)
        assert isinstance(item.deletion, Deletion)
        yield Kind(item.leftover, item.deletion)


KINDS: tuple[Kind, ...] = tuple(_kinds())
"""All kinds, in the order in which they can be deleted: an object before those that it blocks."""
_BY_NAME = {kind.name: kind for kind in KINDS}


def kind_named(name: str) -> Kind:
    """The kind that users read this name for. Raises KeyError."""
    return _BY_NAME[name]


assert isinstance(CLUSTER_TYPE.leftover, Leftover)
CLUSTERS = kind_named(CLUSTER_TYPE.leftover.kind)


def _owned(api: Api, place: Place, leftover: Leftover, owner: str) -> Iterator[tuple[Entry, str]]:
    """Entries that are the cluster's, each with the reason. What filters and prefixes let pass is judged again."""
    if leftover.belongs == "exact name":
        yield from _by_exact_name(api, place, leftover)
        return
    if leftover.origin is not None:
        yield from _copies(api, place, leftover, leftover.origin)
        return
    key, start = leftover.query.id, role_name(place.cluster, api.region, "") if leftover.belongs == "role name" else ""
    entries = (entry for entry in _listed(api, place, leftover) if not start or entry[key].startswith(start))
    told_early = bool(leftover.query.tags)
    if told_early:
        # The further call is made for the cluster's own objects only.
        entries = (entry for entry in entries if _reason(place, leftover, entry, owner))
    for entry in detailed(api, entries, leftover.detail):
        because = _reason(place, leftover, entry, owner)
        if because:
            yield entry, because


def _reason(place: Place, leftover: Leftover, entry: Entry, owner: str) -> str:
    tags = _tags(leftover, entry)
    if leftover.belongs == "with the cluster":
        return owner
    if leftover.belongs == "role name":
        # Roles are the account's, not the region's: the name must be this region's, and the tag the cluster's.
        return place.reason(tags) if tags.get(CLUSTER_TAG) == place.cluster else ""
    vpc = str(at(entry, leftover.query.vpc) or "") if leftover.query.vpc and leftover.belongs == "tags or VPC" else ""
    return place.reason(tags, vpc)


def _tags(leftover: Leftover, entry: Entry) -> dict[str, str]:
    key = leftover.query.tags or (leftover.detail.into or leftover.detail.query.tags if leftover.detail else "")
    return tags_of(entry, key) if key else {}


def _by_exact_name(api: Api, place: Place, leftover: Leftover) -> Iterator[tuple[Entry, str]]:
    """Log groups: those that AWS makes itself carry no tag. The prefix only shortens the answer; the whole name decides.

    Their tags are read as well: they may name another owner.
    """
    for name in log_group_names(place.cluster):
        entries = (entry for entry in asked(api, leftover.query, {leftover.prefix: name}) if entry[leftover.query.id] == name)
        for entry in detailed(api, entries, leftover.detail):
            yield entry, f"named {name}"


def _copies(api: Api, place: Place, leftover: Leftover, origin: Origin) -> Iterator[tuple[Entry, str]]:
    """Copies with the cluster's tags, and those without any mark of an owner whose original has them: these count as its tags too."""
    for way in _by_tag_keys(place, origin.query):
        for entry in asked(api, origin.query, way):
            tags = tags_of(entry, origin.query.tags)
            if place.reason(tags):
                place.originals[entry[origin.query.id]] = {key: tags[key] for key in (CLUSTER_TAG, STACK_TAG) if key in tags}
    names = iter(sorted(place.originals))
    ways = list(_ways(place, leftover))
    while batch := list(islice(names, FILTER_VALUES)):
        ways.append({**leftover.constants, leftover.query.filters: [{"Name": origin.filter, "Values": batch}]})
    seen = set[str]()
    for entry in (entry for way in ways for entry in asked(api, leftover.query, way)):
        which, original = str(entry[leftover.query.id]), str(at(entry, origin.id) or "")
        if which in seen:
            continue
        seen.add(which)
        own, because = _tags(leftover, entry), _reason(place, leftover, entry, "")
        if because:
            yield entry, because
        elif original in place.originals and not other_owner(place.cluster, own):
            tags = {**place.originals[original], **own}
            yield {**entry, leftover.query.tags: [{"Key": key, "Value": value} for key, value in tags.items()]}, f"of {original}"


def _listed(api: Api, place: Place, leftover: Leftover) -> Iterator[Entry]:
    """Everything that may be the cluster's, each once.

    EC2 joins filters by "and", so each way of belonging is asked for by itself.
    """
    query, seen = leftover.query, set[str]()
    for parameters in _ways(place, leftover):
        for entry in asked(api, query, parameters):
            which = str(entry.get(query.id or "id"))
            if which not in seen:
                seen.add(which)
                yield {**entry, "clusterName": place.cluster} if leftover.cluster else entry


def _ways(place: Place, leftover: Leftover) -> Iterator[dict[str, Any]]:
    parameters: dict[str, Any] = dict(leftover.constants)
    for parameter in (leftover.cluster, leftover.prefix):
        if parameter:
            parameters[parameter] = place.cluster
    query = leftover.query
    if query.filters == "TagFilters":
        yield {**parameters, "TagFilters": [{"Key": CLUSTER_TAG, "Values": [place.cluster]}]}
        return
    if not query.filters:
        yield parameters
        return
    for way in _by_tag_keys(place, query):
        yield {**parameters, query.filters: [*_always(leftover), *way[query.filters]]}
    if query.vpc_filter and place.vpc_ids:
        yield {**parameters, **_in_vpcs(place, leftover)}


def _by_tag_keys(place: Place, query: Query) -> Iterator[dict[str, Any]]:
    """What carries any tag that may name the cluster."""
    yield {query.filters: [{"Name": "tag-key", "Values": [*NAME_TAGS, owned_key(place.cluster)]}]}


def _always(leftover: Leftover) -> list[dict[str, Any]]:
    return [{"Name": name, "Values": list(values)} for name, values in leftover.only.items()]


def _in_vpcs(place: Place, leftover: Leftover) -> dict[str, Any]:
    query = leftover.query
    return {**leftover.constants, query.filters: [*_always(leftover), {"Name": query.vpc_filter, "Values": sorted(place.vpc_ids)}]}


def _make(api: Api, kind: Kind, step: Step, entry: Entry) -> bool:
    """Take a step of a deletion; whether a call was made."""
    if step.needs is not None:
        value = at(entry, step.needs[0])
        if not (value if step.needs[1] is True else value == step.needs[1]):
            return False
    call = Call(kind.deletion.service, step.operation, kind.leftover.scopes)
    parts = list(_parts(api, step, entry))
    for part in parts:
        api.call(call, **filled(step.parameters, lambda place, part=part: at(part, place), step.constants))
    return bool(parts)


def _parts(api: Api, step: Step, entry: Entry) -> Iterator[Entry]:
    parts: Iterable[Any] = [{}]
    if step.asks is not None:
        parts = list(asked(api, step.asks.query, filled(step.asks.parameters, lambda place: at(entry, place))))
    elif step.each:
        parts = entry.get(step.each, ())
    for part in parts:
        yield {**entry, **part}
