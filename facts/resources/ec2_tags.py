"""EC2: single tags on what others keep. Tags of the stack's own resources are parts of those."""

from facts.resources.api_calls import ApiCall, Members, creation, titled
from facts.resources.latency import INSTANT, Latencies
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Lookup, Query
from facts.resources.resource_type import Changes, ResourceType, Without
from facts.resources.rights import Grant, Rights, Scope

_TAG: Members = {"resourceId": "Resources[]", **{key: f"Tags[].{place}" for key, place in titled("key", "value").items()}}
_TAGGED = (Scope("arn:{partition}:ec2:{region}:*:subnet/{resourceId}"),)
"""By its id: nothing of the stack marks what others keep, and nothing else of theirs may be tagged."""


def _make_tag(draw: Draw, inputs: Inputs) -> Answer:
    return f"{inputs['resourceId']},{inputs['key']}", {}


TAG = ResourceType(
    "aws:ec2/tag:Tag",
    make=_make_tag,
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("resourceId", "key")),
    identity=lambda inputs: f"{inputs['resourceId']} {inputs['key']}",
    creation=creation(ApiCall("ec2", "CreateTags", _TAG)),
    lookup=Lookup(
        Query("ec2", "DescribeTags", "Tags", "Key", tags="", filters="Filters"),
        "part",
        filters={"resource-id": "resourceId", "key": "key"},
        matches={"ResourceId": "resourceId", "Key": "key", "Value": "value"},
        import_id="{resourceId},{key}",
    ),
    tagging=Without("it is a tag itself"),
    deletion=Deletion("ec2", "DeleteTags", {"Resources[]": "ResourceId", "Tags[].Key": "Key"}),
    rights=Rights((Grant("ec2", "DescribeTags"), Grant("ec2", "CreateTags DeleteTags", _TAGGED))),
    costs=Without("a tag has no price"),
    leftover=Without("a sweep changes nothing that others keep, and a tag bills nothing"),
    # CreateTags overwrites a tag of the key without a word (EC2 API, CreateTags).
    second="same",
)
TYPES = (TAG,)
