"""EventBridge Scheduler: groups of schedules, and schedules that call AWS at a time."""

from facts.policies.schedules import PRINCIPAL
from facts.resources.api_calls import ApiCall, Members, creation, titled
from facts.resources.identity import by
from facts.resources.latency import INSTANT, Latencies, Latency, Lifetime
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage, States, Tagging
from facts.resources.resource_type import Changes, Conflict, NameLimit, ResourceType, Without
from facts.resources.rights import Grant, Rights, Scope, passed_role, passes_role

_FREE = Without("the first 14 million calls of a month are free of charge (EventBridge pricing page)")
_ABSENT = "ResourceNotFoundException"
_STATES = States("State", "ACTIVE", (), (), ("DELETING",))

GROUP = ResourceType(
    "aws:scheduler/scheduleGroup:ScheduleGroup",
    make=lambda draw, inputs: (
        inputs["name"],
        {"arn": draw.arn("scheduler", f"schedule-group/{inputs['name']}"), "state": "ACTIVE", "creationDate": draw.created_at},
    ),
    latencies=Latencies(
        Lifetime(
            Latency(1, 2, 5, "inferred: one call"),
            Latency(2, 10, 30, "inferred: the provider waits while it is DELETING, with its schedules (internal/service/scheduler)"),
        )
    ),
    changes=Changes(replacing=("name",), name="name"),
    identity=by("name"),
    creation=creation(ApiCall("scheduler", "CreateScheduleGroup", titled("name"))),
    lookup=Lookup(
        Query(
            "scheduler", "GetScheduleGroup", "", "Name", one=True, tags="", states=_STATES, absent=_ABSENT,
            absent_text="Schedule group {Name} does not exist.",
        ),
        "part",
        parameters={"Name": "name"},
    ),
    tagging=Tagging("scheduler", "TagResource", "UntagResource", "ResourceArn", "Tags", read="ListTagsForResource"),
    # Its schedules are deleted with it (EventBridge Scheduler API, DeleteScheduleGroup), in the caller's name: a dependent action
    # (Service Authorization Reference, Amazon EventBridge Scheduler).
    deletion=Deletion(
        "scheduler",
        "DeleteScheduleGroup",
        {"Name": "Name"},
        takes=("DeleteSchedule",),
        # Schedules take no tags.
        takes_scopes=(Scope("arn:{partition}:scheduler:{region}:*:schedule/{cluster}/*"),),
    ),
    rights=Rights(
        (
            Grant(
                "scheduler",
                "CreateScheduleGroup GetScheduleGroup DeleteScheduleGroup TagResource UntagResource ListTagsForResource",
                (Scope("arn:{partition}:scheduler:{region}:*:schedule-group/{name}"),),
            ),
        )
    ),
    costs=_FREE,
    # Before nodes: a schedule would give a group new ones in the middle of a sweep.
    leftover=Leftover(
        "schedule group",
        Stage.JOBS,
        Query("scheduler", "ListScheduleGroups", "ScheduleGroups", "Name", tags="", states=_STATES),
        prefix="NamePrefix",
        detail=Detail(Query("scheduler", "ListTagsForResource", "", one=True, absent=_ABSENT), {"ResourceArn": "Arn"}),
    ),
    conflict=Conflict(("name",), "ConflictException", "Schedule group {name} already exists."),
    name_limit=NameLimit("name", 64, "EventBridge Scheduler API, CreateScheduleGroup"),
)  # fmt: skip


def _make_schedule(draw: Draw, inputs: Inputs) -> Answer:
    place = f"{inputs['groupName']}/{inputs['name']}"
    return place, {"arn": draw.arn("scheduler", f"schedule/{place}"), "state": "ENABLED"}


_TARGET: Members = {
    **titled("arn", "roleArn", "input"),
    "retryPolicy": ("RetryPolicy", titled("maximumEventAgeInSeconds", "maximumRetryAttempts")),
}
SCHEDULE = ResourceType(
    "aws:scheduler/schedule:Schedule",
    make=_make_schedule,
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("name", "groupName"), calls=("UpdateSchedule",), name="name"),
    identity=by("groupName", "name"),
    creation=creation(
        ApiCall(
            "scheduler",
            "CreateSchedule",
            {
                **titled("name", "groupName", "description", "scheduleExpression", "scheduleExpressionTimezone"),
                "flexibleTimeWindow": ("FlexibleTimeWindow", titled("mode")),
                "target": ("Target", _TARGET),
            },
        )
    ),
    lookup=Lookup(
        Query(
            "scheduler", "GetSchedule", "", "Name", one=True, tags="", absent=_ABSENT, absent_text="Schedule {Name} does not exist.",
        ),
        "part",
        parameters={"Name": "name", "GroupName": "groupName"},
        import_id="{groupName}/{name}",
    ),
    tagging=Without("only its group takes tags (EventBridge Scheduler API, TagResource)"),
    deletion=Deletion("scheduler", "DeleteSchedule", {"Name": "Name", "GroupName": "GroupName"}),
    rights=Rights(
        (
            Grant(
                "scheduler",
                "CreateSchedule GetSchedule UpdateSchedule DeleteSchedule",
                (Scope("arn:{partition}:scheduler:{region}:*:schedule/{groupName}/{name}"),),
            ),
            passes_role(PRINCIPAL),
        ),
        lambda inputs: {
            "groupName": (inputs["groupName"],), "name": (inputs["name"],), "role": (passed_role(inputs["target"]["roleArn"]),),
        },
    ),
    costs=_FREE,
    leftover=Without("it is deleted with its group"),
    conflict=Conflict(("groupName", "name"), "ConflictException", "Schedule {name} already exists."),
    name_limit=NameLimit("name", 64, "EventBridge Scheduler API, CreateSchedule"),
)  # fmt: skip

TYPES = (GROUP, SCHEDULE)
