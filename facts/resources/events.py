"""EventBridge: rules and their targets, on the default bus."""

from facts.resources.api_calls import ApiCall, creation, titled
from facts.resources.identity import by
from facts.resources.latency import INSTANT, Latencies
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage, Step, Tagging
from facts.resources.resource_type import Changes, NameLimit, ResourceType, Without
from facts.resources.rights import Grant, Rights, Scope

_FREE = Without("rules on events of AWS services are free of charge (EventBridge pricing page)")
_ABSENT = "ResourceNotFoundException"
_TARGETS = Query("events", "ListTargetsByRule", "Targets", "Id", tags="", absent=_ABSENT)

RULE = ResourceType(
    "aws:cloudwatch/eventRule:EventRule",
    make=lambda draw, inputs: (
        inputs["name"],
        {"arn": draw.arn("events", f"rule/{inputs['name']}"), "eventBusName": "default", "state": "ENABLED"},
    ),
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("name",), calls=("PutRule",), name="name"),
    identity=by("name"),
    creation=creation(ApiCall("events", "PutRule", titled("name", "eventPattern"))),
    lookup=Lookup(
        Query(
            "events",
            "DescribeRule",
            "",
            "Name",
            one=True,
            tags="",
            absent=_ABSENT,
            absent_text="Rule {Name} does not exist on EventBus default.",
        ),
        "part",
        parameters={"Name": "name"},
    ),
    tagging=Tagging("events", "TagResource", "UntagResource", "ResourceARN", "Tags", read="ListTagsForResource"),
    # A rule with targets is not deleted (EventBridge API, DeleteRule).
    deletion=Deletion(
        "events",
        "DeleteRule",
        {"Name": "Name"},
        steps=(Step("RemoveTargets", {"Rule": "Name", "Ids[]": "Id"}, each="Targets", asks=Detail(_TARGETS, {"Rule": "Name"})),),
    ),
    rights=Rights(
        (
            Grant(
                "events",
                "PutRule DescribeRule DeleteRule TagResource UntagResource ListTagsForResource",
                (Scope("arn:{partition}:events:{region}:*:rule/{name}"),),
            ),
        )
    ),
    costs=_FREE,
    leftover=Leftover(
        "event rule",
        Stage.JOBS,
        Query("events", "ListRules", "Rules", "Name", tags=""),
        prefix="NamePrefix",
        detail=Detail(Query("events", "ListTagsForResource", "", one=True, absent=_ABSENT), {"ResourceARN": "Arn"}),
    ),
    name_limit=NameLimit("name", 64, "EventBridge API, PutRule"),
)

TARGET = ResourceType(
    "aws:cloudwatch/eventTarget:EventTarget",
    make=lambda draw, inputs: (f"{inputs['rule']}-{inputs['targetId']}", {"eventBusName": "default"}),
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("rule", "targetId"), calls=("PutTargets",), name="targetId"),
    identity=by("rule", "arn"),
    creation=creation(ApiCall("events", "PutTargets", {"rule": "Rule", "targetId": "Targets[].Id", "arn": "Targets[].Arn"})),
    lookup=Lookup(_TARGETS, "part", parameters={"Rule": "rule"}, matches={"Id": "targetId"}, import_id="{rule}/{targetId}"),
    tagging=Without("it is a part of its rule"),
    deletion=Deletion("events", "RemoveTargets", {"Rule": "Rule", "Ids[]": "Id"}),
    rights=Rights(
        (Grant("events", "PutTargets RemoveTargets ListTargetsByRule", (Scope("arn:{partition}:events:{region}:*:rule/{rule}"),)),)
    ),
    costs=_FREE,
    leftover=Without("a sweep removes it before it deletes the rule"),
    second="same",
)

TYPES = (RULE, TARGET)
