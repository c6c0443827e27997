"""SNS: topics and who is subscribed to them."""

from facts.resources.api_calls import ApiCall, creation, titled
from facts.resources.identity import by
from facts.resources.latency import Latencies, both
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage, Tagging
from facts.resources.resource_type import Changes, NameLimit, ResourceType, Without
from facts.resources.rights import IN_REGION, Grant, Rights, Scope

_TOPIC = (Scope("arn:{partition}:sns:{region}:*:{topic}"),)
_OF_CLUSTER = (Scope("arn:{partition}:sns:{region}:*:{cluster}-idle-guard"),)
_ABSENT = "NotFound"
_FREE = Without(
    "a topic bills by messages: a thousand e-mails in a month are free, and a guard sends some a week (SNS pricing page, 2026-11)"
)
_ONLY_TOPICS = {"ResourceTypeFilters": ["sns"]}
_TAGGED = Query("resourcegroupstaggingapi", "GetResources", "ResourceTagMappingList", "ResourceARN", filters="TagFilters")
# The tagging API shows what was deleted for a while; SNS does not.
_THERE = Detail(
    Query("sns", "GetTopicAttributes", "Attributes", "TopicArn", one=True, tags="", absent=_ABSENT, scopes=_OF_CLUSTER),
    {"TopicArn": "ResourceARN"},
)


def _make_topic(draw: Draw, inputs: Inputs) -> Answer:
    arn = draw.arn("sns", inputs["name"])
    return arn, {"arn": arn}


def _make_subscription(draw: Draw, inputs: Inputs) -> Answer:
    arn = f"{inputs['topic']}:{draw.uuid()}"
    # An address confirms by a link in a message, which nothing here waits for.
    return arn, {"arn": arn, "pendingConfirmation": inputs["protocol"] == "email"}


TOPIC = ResourceType(
    "aws:sns/topic:Topic",
    make=_make_topic,
    latencies=Latencies(both(1, 2, 10, "inferred: one call, and attributes that must read back")),
    changes=Changes(replacing=("name",), calls=("SetTopicAttributes",), name="name"),
    identity=by("name"),
    creation=creation(ApiCall("sns", "CreateTopic", {**titled("name"), "displayName": "Attributes.DisplayName"})),
    lookup=Lookup(
        _TAGGED, "owned", constants=_ONLY_TOPICS, agrees=lambda inputs, entry: entry["ResourceARN"].endswith(f":{inputs['name']}")
    ),
    tagging=Tagging("sns", "TagResource", "UntagResource", "ResourceArn", "Tags", read="ListTagsForResource"),
    deletion=Deletion("sns", "DeleteTopic", {"TopicArn": "ResourceARN"}),
    rights=Rights(
        (
            Grant(
                "sns",
                "CreateTopic GetTopicAttributes SetTopicAttributes DeleteTopic TagResource UntagResource ListTagsForResource",
                _TOPIC,
            ),
        ),
        lambda inputs: {"topic": (inputs["name"],)},
    ),
    costs=_FREE,
    leftover=Leftover("topic", Stage.OUTSIDE, _TAGGED, constants=_ONLY_TOPICS, detail=_THERE, scopes=_OF_CLUSTER),
    name_limit=NameLimit("name", 256, "SNS API, CreateTopic"),
    second="same",
)

SUBSCRIPTION = ResourceType(
    "aws:sns/topicSubscription:TopicSubscription",
    make=_make_subscription,
    # Neither the provider nor anything else waits for the confirmation of an address (terraform-provider-aws,
    # internal/service/sns/topic_subscription.go).
    latencies=Latencies(both(1, 2, 10, "inferred: one call, and attributes that must read back")),
    changes=Changes(replacing=("topic", "protocol", "endpoint"), calls=("SetSubscriptionAttributes",)),
    identity=by("topic", "protocol", "endpoint"),
    creation=creation(
        ApiCall("sns", "Subscribe", {"topic": "TopicArn", "protocol": "Protocol", "endpoint": "Endpoint"}, {"ReturnSubscriptionArn": True})
    ),
    lookup=Lookup(
        Query("sns", "ListSubscriptionsByTopic", "Subscriptions", "SubscriptionArn", tags="", absent=_ABSENT, scopes=_OF_CLUSTER),
        "part",
        parameters={"TopicArn": "topic"},
        matches={"Protocol": "protocol", "Endpoint": "endpoint"},
    ),
    tagging=Without("a subscription has no tags"),
    deletion=Deletion("sns", "Unsubscribe", {"SubscriptionArn": "SubscriptionArn"}),
    rights=Rights(
        (
            Grant("sns", "Subscribe ListSubscriptionsByTopic", _TOPIC),
            # IAM knows subscriptions by no ARN (Service Authorization Reference, Amazon SNS).
            Grant("sns", "GetSubscriptionAttributes SetSubscriptionAttributes Unsubscribe", IN_REGION),
        ),
        lambda inputs: {"topic": (inputs["topic"].rsplit(":", 1)[-1],)},
    ),
    costs=_FREE,
    leftover=Without("it is deleted with its topic; one that was never confirmed is deleted by SNS after two days"),
    second="same",
)

TYPES = (TOPIC, SUBSCRIPTION)
