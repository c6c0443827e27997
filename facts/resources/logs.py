"""CloudWatch Logs: log groups."""

from facts.prices import hourly
from facts.resources.api_calls import ApiCall, creation, same
from facts.resources.identity import by
from facts.resources.latency import INSTANT, Latencies
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage, Tagging
from facts.resources.resource_type import Changes, Conflict, NameLimit, ResourceType, Without
from facts.resources.rights import LOG_GROUPS_OF_CLUSTER, Grant, Rights, Scope

_GROUPS = Query("logs", "DescribeLogGroups", "logGroups", "logGroupName", tags="", absent="ResourceNotFoundException")
LOG_GROUP = ResourceType(
    "aws:cloudwatch/logGroup:LogGroup",
    make=lambda draw, inputs: (inputs["name"], {"arn": draw.arn("logs", f"log-group:{inputs['name']}")}),
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("name",), calls=("PutRetentionPolicy", "DeleteRetentionPolicy"), name="name"),
    identity=by("name"),
    creation=creation(
        ApiCall("logs", "CreateLogGroup", {"name": "logGroupName"}),
        ApiCall("logs", "PutRetentionPolicy", same("retentionInDays"), id_member="logGroupName", needs="retentionInDays"),
    ),
    # The parameter takes the beginning of a name: the whole name decides.
    lookup=Lookup(_GROUPS, "part", parameters={"logGroupNamePrefix": "name"}, matches={"logGroupName": "name"}),
    tagging=Tagging("logs", "TagResource", "UntagResource", "resourceArn", "tags", shape="mapping", read="ListTagsForResource"),
    deletion=Deletion("logs", "DeleteLogGroup", {"logGroupName": "logGroupName"}),
    # Some operations name a log group with `:*` at its end and some without.
    rights=Rights(
        (
            Grant("logs", "DescribeLogGroups"),
            Grant(
                "logs",
                "CreateLogGroup PutRetentionPolicy DeleteRetentionPolicy DeleteLogGroup TagResource UntagResource ListTagsForResource",
                tuple(Scope(f"arn:{{partition}}:logs:{{region}}:*:log-group:{{name}}{end}") for end in ("", ":*")),
            ),
        )
    ),
    costs=Without("it bills by what is written and kept, not by the hour"),
    leftover=Leftover(
        "log group",
        Stage.OUTSIDE,
        _GROUPS,
        "exact name",
        prefix="logGroupNamePrefix",
        usd_per_hour=lambda entry: hourly("log storage") * entry.get("storedBytes", 0) / 1e9,
        scopes=LOG_GROUPS_OF_CLUSTER,
        # A name says no owner: those that this program makes carry its tags, and may carry another stack's.
        detail=Detail(
            Query(
                "logs", "ListTagsForResource", "", one=True, tags="tags", absent="ResourceNotFoundException", scopes=LOG_GROUPS_OF_CLUSTER
            ),
            {"resourceArn": "logGroupArn"},
        ),
    ),
    # CloudWatch Logs API, CreateLogGroup
    conflict=Conflict(("name",), "ResourceAlreadyExistsException", "The specified log group already exists"),
    name_limit=NameLimit("name", 512, "CloudWatch Logs API, CreateLogGroup"),
)
TYPES = (LOG_GROUP,)
