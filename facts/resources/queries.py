"""How objects of a type are read, found again, tagged and deleted through AWS's API: operations, keys, filters and words.

Three sides read this: `trn recover` and `trn sweep` look by it, and the simulated account answers by it.
Sources: API references of the services; the "Import" section of each resource in the pulumi_aws 7 SDK.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

from facts.resources.outputs import Inputs
from facts.resources.rights import ANYTHING, TAGGED, Scope

Entry = Mapping[str, Any]
"""One object as a service describes it."""
Progress = Literal["ready", "making", "failed", "leaving"]


@dataclass(frozen=True)
class States:
    """Where an answer holds the state of an object, and the service's words for it."""

    key: str = ""
    """Place in an entry, with dots; empty where the service reports no state."""
    ready: str = ""
    making: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    leaving: tuple[str, ...] = ()
    stuck: str = ""
    """The word for what did not become ready in time; empty where the service still says the first of `making`."""

    def progress(self, word: str) -> Progress:
        """How far an object is by the service's word; a word that is not listed counts as ready. Case does not matter."""
        for progress in ("leaving", "making", "failed"):
            if word.lower() in (known.lower() for known in getattr(self, progress)):
                return progress
        return "ready"


NO_STATE = States()
"""For what is there or not."""


@dataclass(frozen=True)
class Query:
    """One call that answers with objects of a type: a list of them, or one."""

    service: str
    """As boto3 names it."""
    operation: str
    """As the API spells it."""
    entries: str
    """Place of the objects in the answer: `Vpcs`, or `RouteTables[].Routes` for what is listed within others, whose keys it
    then has too. Empty where the answer itself is the object."""
    id: str = ""
    """Key of the id in an entry; empty where an entry is the id itself."""
    one: bool = False
    """The answer holds one object, which the parameters name."""
    tags: str = "Tags"
    """Key of the tags in an entry; empty where the answer has none."""
    states: States = NO_STATE
    filters: str = ""
    """Parameter that takes filters; empty where there is none. `TagFilters` takes keys of tags, all others names of filters."""
    vpc: str = ""
    """Place of the VPC's id in an entry; empty for what is in no VPC."""
    vpc_filter: str = ""
    """Filter that narrows to a VPC."""
    absent: str = ""
    """Code for one that is not there."""
    absent_text: str = ""
    """What the service then says, with the parameters in braces; empty where its words are not known."""
    scopes: tuple[Scope, ...] = (ANYTHING,)
    """What IAM can narrow the call to."""
    account: str = ""
    """Parameter that takes the number of the account; entries then have it too."""
    arn: str = ""
    """The ARN of an entry as IAM writes it, where the service answers without one: `{partition}` and places of the entry in braces. Entries then have it as `Arn`."""


@dataclass(frozen=True)
class Detail:
    """A call that returns more about one object; its answer is added to the entry."""

    query: Query
    parameters: Mapping[str, str]
    """Parameter to place in the entry; `A[]` takes a list of one, or of as many as `at_once`."""
    into: str = ""
    """Key of the entry that takes the whole list which is answered; empty where what is answered are keys of the entry."""
    at_once: int = 1
    """Objects that one call can be asked about; what is answered names each by the query's `id`."""


VOLUME_TAGS = ("CSIVolumeName", "kubernetes.io/created-for/pv/name")
"""Tags by which the EBS and FSx drivers name the PersistentVolume that a volume or a file system stands for
(kubernetes-sigs/aws-ebs-csi-driver docs/tagging.md, aws-fsx-csi-driver pkg/driver/controller.go)."""


Mark = Literal["named", "owned", "part"]
"""What identifies a cluster's own object: the tags of the cluster and `Name`; the tag of the cluster; or nothing,
since it is a part of, or has the name of, what is the cluster's own."""


@dataclass(frozen=True)
class Lookup:
    """How one object is found by the inputs it was made from, when its id is not known."""

    query: Query
    mark: Mark
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Parameter to place in the inputs."""
    filters: Mapping[str, str] = field(default_factory=dict)
    """Filter to place in the inputs."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that are always the same."""
    matches: Mapping[str, str] = field(default_factory=dict)
    """Place in the entry to place in the inputs: both must be equal. `A[]` is the only entry of list A."""
    agrees: Callable[[Inputs, Entry], bool] = lambda inputs, entry: True
    """Whether an entry is the one that the inputs mean, where `matches` cannot say it."""
    detail: Detail | None = None
    import_id: str = ""
    """Id as `pulumi import` takes it, from inputs and entry; empty where it is the entry's id."""


@dataclass(frozen=True)
class Step:
    """A call that is made before a deletion."""

    operation: str
    parameters: Mapping[str, str]
    """Parameter to place in the entry, or in each of its parts. A parameter `A[]` takes a list of one."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    each: str = ""
    """List in the entry, or in the answer of `asks`, for each part of which the call is made; a part that is a text is its `id`."""
    asks: Detail | None = None
    """Call that lists the parts."""
    needs: tuple[str, Any] | None = None
    """Place in the entry and its value; `True` matches any value that is not empty. Otherwise the call is not made."""
    instead: bool = False
    """It is made in place of the deletion, which a later round makes."""


@dataclass(frozen=True)
class Deletion:
    """The call that deletes an object."""

    service: str
    operation: str
    parameters: Mapping[str, str]
    """Parameter to place in the entry; `A[]` takes a list of one."""
    constants: Mapping[str, Any] = field(default_factory=dict)
    steps: tuple[Step, ...] = ()
    """What must be deleted first, as the service does not do it by itself."""
    takes: tuple[str, ...] = ()
    """Operations whose rights the call takes beside its own: dependent actions of the Service Authorization Reference."""
    takes_scopes: tuple[Scope, ...] = ()
    """What those are narrowed to; empty where it is what the call itself is narrowed to."""
    waits: bool = False
    """The call only schedules it: for days the service shows the object as leaving, and then deletes it."""


@dataclass(frozen=True)
class Tagging:
    """Calls that set and remove tags."""

    service: str
    tag: str
    untag: str
    resource: str
    """Parameter that names the resource; `Resources[]` takes a list of one."""
    tags: str
    """Parameter that takes the tags."""
    by: Literal["arn", "id"] = "arn"
    """What `resource` takes."""
    shape: Literal["pairs", "mapping", "key pairs"] = "pairs"
    """How tags are spelt: `Key` and `Value`, a mapping, or KMS's `TagKey` and `TagValue`."""
    read: str = ""
    """Operation that lists the tags; empty where they are in the description."""


class Stage(IntEnum):
    """When a sweep deletes: an object is deleted before those that it blocks."""

    JOBS = 1
    NODES = 2
    BALANCERS = 3
    CONTROL_PLANE = 4
    IN_NETWORK = 5
    INTERFACES = 6
    NETWORK = 7
    VPC = 8
    OUTSIDE = 9


@dataclass(frozen=True)
class Origin:
    """What an object was copied from. A copy without tags is the cluster's where its original is, for as long as that is there."""

    query: Query
    """Lists the originals."""
    id: str
    """Place of the original's id in a copy."""
    filter: str
    """Filter that narrows copies to those of some originals."""


Belonging = Literal["tags", "tags or VPC", "exact name", "role name", "with the cluster"]
"""What makes an object the cluster's: its exact tags; those, or its VPC; a name that only this cluster's can have; the tag
together with the name of a role of this region; or that the EKS cluster, by its own tags, is."""


def free(entry: Entry) -> float | None:
    """USD an hour of what bills nothing."""
    return 0.0


@dataclass(frozen=True)
class Leftover:
    """How a sweep finds all objects of a type that are one cluster's."""

    kind: str
    """As users read it."""
    stage: Stage
    query: Query
    belongs: Belonging = "tags"
    constants: Mapping[str, Any] = field(default_factory=dict)
    """Parameters that are always the same."""
    only: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Filters that are always set."""
    cluster: str = ""
    """Parameter that takes the cluster's name: what it asks for is asked only where the EKS cluster itself is the cluster's."""
    prefix: str = ""
    """Parameter that takes the first part of a name: it only shortens the answer, the tags decide."""
    detail: Detail | None = None
    """Call that returns the tags, where the list does not."""
    origin: Origin | None = None
    """What it was copied from, where that makes it the cluster's too."""
    label: str | Callable[[Entry], str] = ""
    """What is shown beside the id, with places of the entry in braces; empty for the `Name` tag."""
    id: str = ""
    """Id as Pulumi's state has it, with places of the entry in braces; empty where it is the entry's id."""
    usd_per_hour: Callable[[Entry], float | None] = free
    """None where the price is not known."""
    leaves: Callable[[Entry], bool] = lambda entry: False
    """True for what is removed without a request, or cannot be deleted."""
    scopes: tuple[Scope, ...] = TAGGED
    """What its deletion is narrowed to."""
    is_data: bool = False
    """Made on purpose to be kept: deleted only when asked for by name."""
    data_tags: tuple[str, ...] = ()
    """Tags with any of which an object of this kind is a PersistentVolume's, and so data: its reclaim policy is known to the cluster
    only."""
