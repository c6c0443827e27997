"""SQS: queues and their policies."""

from facts.resources.api_calls import ApiCall, as_text, creation
from facts.resources.identity import by
from facts.resources.latency import Latencies, Latency, Lifetime, both
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage, Tagging
from facts.resources.resource_type import Changes, NameLimit, ResourceType, Without
from facts.resources.rights import Grant, Rights, Scope

_QUEUE = (Scope("arn:{partition}:sqs:{region}:*:{queue}"),)
_FREE = Without("a queue bills by requests, not by the hour")
_ABSENT = "AWS.SimpleQueueService.NonExistentQueue"


def _make_queue(draw: Draw, inputs: Inputs) -> Answer:
    name = inputs["name"]
    url = f"https://sqs.{draw.region}.{draw.dns_suffix}/{draw.account}/{name}"
    return url, {"url": url, "arn": draw.arn("sqs", name)}


QUEUE = ResourceType(
    "aws:sqs/queue:Queue",
    make=_make_queue,
    latencies=Latencies(
        Lifetime(
            Latency(2, 26, 60, "inferred: attributes must read back, which takes up to a minute (provider, internal/service/sqs)"),
            Latency(1, 3, 60, "inferred: waits until the queue is gone"),
        )
    ),
    changes=Changes(replacing=("name",), calls=("SetQueueAttributes",), name="name"),
    identity=by("name"),
    creation=creation(
        ApiCall(
            "sqs",
            "CreateQueue",
            {
                "name": "QueueName",
                "messageRetentionSeconds": ("Attributes.MessageRetentionPeriod", as_text),
                "sqsManagedSseEnabled": ("Attributes.SqsManagedSseEnabled", as_text),
            },
        )
    ),
    lookup=Lookup(
        Query(
            "sqs", "GetQueueUrl", "", "QueueUrl", one=True, tags="", absent=_ABSENT,
            absent_text="The specified queue does not exist.",
        ),
        "part",
        parameters={"QueueName": "name"},
    ),
    tagging=Tagging("sqs", "TagQueue", "UntagQueue", "QueueUrl", "Tags", by="id", shape="mapping", read="ListQueueTags"),
    deletion=Deletion("sqs", "DeleteQueue", {"QueueUrl": "id"}),
    rights=Rights(
        (
            Grant(
                "sqs",
                "CreateQueue GetQueueAttributes GetQueueUrl SetQueueAttributes DeleteQueue TagQueue UntagQueue ListQueueTags",
                _QUEUE,
            ),
        ),
        lambda inputs: {"queue": (inputs["name"],)},
    ),
    costs=_FREE,
    leftover=Leftover(
        "queue",
        Stage.OUTSIDE,
        Query("sqs", "ListQueues", "QueueUrls", "id", tags=""),
        prefix="QueueNamePrefix",
        detail=Detail(Query("sqs", "ListQueueTags", "", one=True, absent=_ABSENT), {"QueueUrl": "id"}),
    ),
    name_limit=NameLimit("name", 80, "SQS API, CreateQueue"),
)  # fmt: skip

QUEUE_POLICY = ResourceType(
    "aws:sqs/queuePolicy:QueuePolicy",
    make=lambda draw, inputs: (inputs["queueUrl"], {}),
    latencies=Latencies(both(2, 26, 60, "inferred: as the queue's own attributes")),
    changes=Changes(replacing=("queueUrl",), calls=("SetQueueAttributes",)),
    identity=by("queueUrl"),
    creation=creation(ApiCall("sqs", "SetQueueAttributes", {"queueUrl": "QueueUrl", "policy": "Attributes.Policy"})),
    lookup=Lookup(
        Query("sqs", "GetQueueAttributes", "Attributes", "", one=True, tags="", absent=_ABSENT),
        "part",
        parameters={"QueueUrl": "queueUrl"},
        constants={"AttributeNames": ["Policy"]},
        agrees=lambda inputs, entry: bool(entry.get("Policy")),
        import_id="{queueUrl}",
    ),
    tagging=Without("it is an attribute of its queue"),
    deletion=Deletion("sqs", "SetQueueAttributes", {"QueueUrl": "id"}, {"Attributes.Policy": ""}),
    rights=Rights(
        (Grant("sqs", "GetQueueAttributes SetQueueAttributes", _QUEUE),),
        lambda inputs: {"queue": (inputs["queueUrl"].rsplit("/", 1)[-1],)},
    ),
    costs=_FREE,
    leftover=Without("it is deleted with its queue"),
    second="same",
)

TYPES = (QUEUE, QUEUE_POLICY)
