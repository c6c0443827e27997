"""AWS Batch: queues, compute environments and job definitions. They cost nothing, but hold their names: the next stack of the
name is refused."""

from facts.names import BATCH_ROLE
from facts.resources.api_calls import ApiCall, Members, creation, same
from facts.resources.identity import by
from facts.resources.latency import INSTANT, Latencies, Latency, Lifetime
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Leftover, Lookup, Query, Stage, States, Step, Tagging
from facts.resources.resource_type import Changes, ResourceType, Without
from facts.resources.rights import BEING_TAGGED, CLUSTER, TAGGED, Grant, Rights, Scope, linked_role, part_of_cluster

_TAGGING = Tagging("batch", "TagResource", "UntagResource", "resourceArn", "tags", shape="mapping", read="ListTagsForResource")
_FREE = Without("Batch is free of charge; what it places runs on nodes that bill themselves")
_STATES = States("status", "VALID", ("CREATING", "UPDATING"), ("INVALID",), ("DELETING", "DELETED"), stuck="INVALID")
_BATCH_ROLE = f"arn:{{partition}}:iam::*:role/aws-service-role/batch.amazonaws.com/{BATCH_ROLE}"


def _listed(operation: str, entries: str, key: str, *, states: States = _STATES) -> Query:
    return Query("batch", operation, entries, key, tags="tags", states=states)


def _disabled_first(operation: str, parameter: str, key: str) -> Step:
    """Batch deletes nothing that takes jobs: one round disables it, the next deletes it."""
    return Step(operation, {parameter: key}, {"state": "DISABLED"}, needs=("state", "ENABLED"), instead=True)


def _make_environment(draw: Draw, inputs: Inputs) -> Answer:
    name = inputs["name"]
    healthy = {"status": "VALID", "statusReason": "ComputeEnvironment Healthy"}
    return name, {"arn": draw.arn("batch", f"compute-environment/{name}"), "ecsClusterArn": "", **healthy}


def _make_queue(draw: Draw, inputs: Inputs) -> Answer:
    arn = draw.arn("batch", f"job-queue/{inputs['name']}")
    return arn, {"arn": arn}


def _make_definition(draw: Draw, inputs: Inputs) -> Answer:
    prefix = draw.arn("batch", f"job-definition/{inputs['name']}")
    return f"{prefix}:1", {"arn": f"{prefix}:1", "arnPrefix": prefix, "revision": 1}


_QUEUES = _listed("DescribeJobQueues", "jobQueues", "jobQueueArn")
JOB_QUEUE = ResourceType(
    "aws:batch/jobQueue:JobQueue",
    make=_make_queue,
    latencies=Latencies(
        Lifetime(
            Latency(30, 35, 60, "inferred: the provider first looks after 30 s (internal/service/batch/job_queue.go)"),
            Latency(60, 90, 180, "inferred: disabled, then deleted, 30 s before each first look"),
        )
    ),
    changes=Changes(replacing=("name",), calls=("UpdateJobQueue",), name="name"),
    identity=by("name"),
    creation=creation(
        ApiCall(
            "batch",
            "CreateJobQueue",
            {
                **same("state", "priority"),
                "name": "jobQueueName",
                "computeEnvironmentOrders": ("computeEnvironmentOrder", [same("order", "computeEnvironment")]),
            },
        )
    ),
    lookup=Lookup(_QUEUES, "owned", matches={"jobQueueName": "name"}),
    tagging=_TAGGING,
    deletion=Deletion(
        "batch", "DeleteJobQueue", {"jobQueue": "jobQueueArn"}, steps=(_disabled_first("UpdateJobQueue", "jobQueue", "jobQueueArn"),)
    ),
    rights=Rights(
        (
            Grant("batch", "DescribeJobQueues ListTagsForResource"),
            Grant("batch", "CreateJobQueue TagResource", BEING_TAGGED),
            Grant("batch", "UpdateJobQueue DeleteJobQueue UntagResource", TAGGED),
        )
    ),
    costs=_FREE,
    leftover=Leftover("Batch queue", Stage.JOBS, _QUEUES, label="{jobQueueName}"),
)

_ENVIRONMENTS = _listed("DescribeComputeEnvironments", "computeEnvironments", "computeEnvironmentName")
COMPUTE_ENVIRONMENT = ResourceType(
    "aws:batch/computeEnvironment:ComputeEnvironment",
    make=_make_environment,
    latencies=Latencies(
        Lifetime(
            Latency(10, 30, 90, "inferred: until VALID"),
            Latency(120, 180, 240, "published: one to two minutes to be disabled, as much to be deleted (Batch user guide, getting-started-eks)"),
        )
    ),
    # Of an environment that launches no instances; the provider's own list, eksConfiguration without accessEntry.
    changes=Changes(replacing=("name", "type", "eksConfiguration"), calls=("UpdateComputeEnvironment",), name="name"),
    identity=by("name"),
    creation=creation(
        ApiCall(
            "batch",
            "CreateComputeEnvironment",
            {
                **same("type", "serviceRole"),
                "name": "computeEnvironmentName",
                "eksConfiguration": ("eksConfiguration", same("eksClusterArn", "kubernetesNamespace")),
            },
        )
    ),
    lookup=Lookup(_ENVIRONMENTS, "owned", matches={"computeEnvironmentName": "name"}),
    tagging=_TAGGING,
    # Refused, until a later round, while a queue names it.
    deletion=Deletion(
        "batch",
        "DeleteComputeEnvironment",
        {"computeEnvironment": "computeEnvironmentName"},
        steps=(_disabled_first("UpdateComputeEnvironment", "computeEnvironment", "computeEnvironmentName"),),
    ),
    rights=Rights(
        (
            Grant("batch", "DescribeComputeEnvironments ListTagsForResource"),
            Grant("batch", "CreateComputeEnvironment TagResource", BEING_TAGGED),
            Grant("batch", "UpdateComputeEnvironment DeleteComputeEnvironment UntagResource", TAGGED),
            # Batch makes its way into the cluster in the caller's name (Batch user guide, eks-access-entries, required permissions).
            Grant("eks", "DescribeCluster CreateAccessEntry", CLUSTER),
            Grant("eks", "DescribeAccessEntry AssociateAccessPolicy DeleteAccessEntry", part_of_cluster("access-entry")),
            Grant("iam", "PassRole", (Scope(_BATCH_ROLE, (("StringEquals", "iam:PassedToService", "batch.amazonaws.com"),)),)),
            linked_role("batch.amazonaws.com"),
        )
    ),
    costs=_FREE,
    leftover=Leftover("Batch environment", Stage.JOBS, _ENVIRONMENTS, label="{computeEnvironmentName}"),
)  # fmt: skip

_POD: Members = {
    **same("hostNetwork"),
    "containers": (
        "containers",
        [
            {
                **same("name", "image"),
                "resources": ("resources", same("limits", "requests")),
                "volumeMounts": ("volumeMounts", [same("name", "mountPath")]),
            }
        ],
    ),
    "volumes": ("volumes", [{**same("name"), "emptyDir": ("emptyDir", same("medium", "sizeLimit"))}]),
}
_DEFINITIONS = _listed(
    "DescribeJobDefinitions", "jobDefinitions", "jobDefinitionArn", states=States("status", "ACTIVE", leaving=("INACTIVE", "DELETING", "DELETED"))
)  # fmt: skip
JOB_DEFINITION = ResourceType(
    "aws:batch/jobDefinition:JobDefinition",
    make=_make_definition,
    latencies=Latencies(INSTANT),
    # A change registers a new revision and takes the old one back.
    changes=Changes(replacing=("name", "type"), calls=("RegisterJobDefinition",), name="name"),
    identity=by("name"),
    creation=creation(
        ApiCall(
            "batch",
            "RegisterJobDefinition",
            {**same("type"), "name": "jobDefinitionName", "eksProperties": ("eksProperties", {"podProperties": ("podProperties", _POD)})},
        )
    ),
    lookup=Lookup(_DEFINITIONS, "owned", constants={"status": "ACTIVE"}, matches={"jobDefinitionName": "name"}),
    tagging=_TAGGING,
    deletion=Deletion("batch", "DeregisterJobDefinition", {"jobDefinition": "jobDefinitionArn"}),
    rights=Rights(
        (
            Grant("batch", "DescribeJobDefinitions ListTagsForResource"),
            Grant("batch", "RegisterJobDefinition TagResource", BEING_TAGGED),
            Grant("batch", "DeregisterJobDefinition UntagResource", TAGGED),
        )
    ),
    costs=_FREE,
    leftover=Leftover("Batch job definition", Stage.JOBS, _DEFINITIONS, constants={"status": "ACTIVE"}, label="{jobDefinitionName}"),
)

TYPES = (JOB_QUEUE, COMPUTE_ENVIRONMENT, JOB_DEFINITION)
