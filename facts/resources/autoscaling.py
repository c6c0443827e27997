"""Auto Scaling: tags of the groups that EKS makes for node groups."""

from facts.resources.api_calls import ApiCall, Members, creation, titled
from facts.resources.latency import INSTANT, Latencies
from facts.resources.queries import Deletion, Lookup, Query
from facts.resources.resource_type import Changes, ResourceType, Without
from facts.resources.rights import Grant, Rights, Scope

_GROUP_TAG: Members = {
    "autoscalingGroupName": "Tags[].ResourceId",
    "tag": ("Tags[]", titled("key", "value", "propagateAtLaunch")),
}
_GROUPS = (Scope("*", (("StringEquals", "aws:ResourceTag/eks:cluster-name", "{cluster}"),)),)
GROUP_TAG = ResourceType(
    "aws:autoscaling/tag:Tag",
    make=lambda draw, inputs: (f"{inputs['autoscalingGroupName']},{inputs['tag']['key']}", {}),
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("autoscalingGroupName", "tag.key"), calls=("CreateOrUpdateTags",)),
    identity=lambda inputs: f"{inputs['autoscalingGroupName']} {inputs['tag']['key']}",
    creation=creation(ApiCall("autoscaling", "CreateOrUpdateTags", _GROUP_TAG, {"Tags[].ResourceType": "auto-scaling-group"})),
    lookup=Lookup(
        Query("autoscaling", "DescribeTags", "Tags", "Key", tags="", filters="Filters"),
        "part",
        filters={"auto-scaling-group": "autoscalingGroupName", "key": "tag.key"},
        matches={"ResourceId": "autoscalingGroupName", "Key": "tag.key"},
        import_id="{autoscalingGroupName},{tag[key]}",
    ),
    tagging=Without("it is a tag itself"),
    deletion=Deletion(
        "autoscaling",
        "DeleteTags",
        {"Tags[].ResourceId": "ResourceId", "Tags[].Key": "Key"},
        {"Tags[].ResourceType": "auto-scaling-group"},
    ),
    rights=Rights(
        (
            Grant("autoscaling", "DescribeTags"),
            Grant("autoscaling", "CreateOrUpdateTags DeleteTags", _GROUPS),
        )
    ),
    costs=Without("a tag has no price"),
    leftover=Without("it is deleted with the group, and that with its node group"),
    second="same",
)
TYPES = (GROUP_TAG,)
