"""AWS Batch's queue, compute environment and job definitions, as a run makes them and as a cluster may leave them.

They cost nothing, but hold their names: the next stack of the name is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from operations.aws.api import Api, Call, tags_of
from operations.aws.found import Found, Kind, Place
from operations.aws.sighting import Finder, Inputs, Sighting, sighted
from operations.cluster.iam.scopes import TAGGED

DESCRIBE_QUEUES = Call("batch", "DescribeJobQueues")
UPDATE_QUEUE = Call("batch", "UpdateJobQueue", TAGGED)
DELETE_QUEUE = Call("batch", "DeleteJobQueue", TAGGED)
DESCRIBE_ENVIRONMENTS = Call("batch", "DescribeComputeEnvironments")
UPDATE_ENVIRONMENT = Call("batch", "UpdateComputeEnvironment", TAGGED)
DELETE_ENVIRONMENT = Call("batch", "DeleteComputeEnvironment", TAGGED)
DESCRIBE_DEFINITIONS = Call("batch", "DescribeJobDefinitions")
DEREGISTER_DEFINITION = Call("batch", "DeregisterJobDefinition", TAGGED)


def _queues(api: Api, place: Place) -> Iterator[Found]:
    yield from _owned(place, "Batch queue", api.pages(DESCRIBE_QUEUES, "jobQueues"), "jobQueueArn", "jobQueueName")


def _environments(api: Api, place: Place) -> Iterator[Found]:
    entries = api.pages(DESCRIBE_ENVIRONMENTS, "computeEnvironments")
    yield from _owned(place, "Batch environment", entries, "computeEnvironmentName", "computeEnvironmentName")


def _definitions(api: Api, place: Place) -> Iterator[Found]:
    entries = api.pages(DESCRIBE_DEFINITIONS, "jobDefinitions", status="ACTIVE")
    yield from _owned(place, "Batch job definition", entries, "jobDefinitionArn", "jobDefinitionName")


def _owned(place: Place, kind: str, entries: Iterator[dict[str, Any]], id_key: str, name_key: str) -> Iterator[Found]:
    for entry in entries:
        tags = tags_of(entry, "tags")
        because = place.reason(tags)
        if because:
            going, rest = entry["status"] in ("DELETING", "DELETED"), {"state": entry.get("state")}
            yield Found(kind, entry[id_key], because, entry[name_key], going=going, tags=tags, rest=rest)


def _delete_queue(api: Api, found: Found) -> None:
    """Batch deletes no queue that takes jobs: the first round disables it, the next deletes it."""
    if found.rest["state"] == "ENABLED":
        api.call(UPDATE_QUEUE, jobQueue=found.id, state="DISABLED")
    else:
        api.call(DELETE_QUEUE, jobQueue=found.id)


def _delete_environment(api: Api, found: Found) -> None:
    """As a queue; refused, until a later round, while a queue names it."""
    if found.rest["state"] == "ENABLED":
        api.call(UPDATE_ENVIRONMENT, computeEnvironment=found.id, state="DISABLED")
    else:
        api.call(DELETE_ENVIRONMENT, computeEnvironment=found.id)


def _deregister(api: Api, found: Found) -> None:
    api.call(DEREGISTER_DEFINITION, jobDefinition=found.id)


JOB_QUEUES = Kind("Batch queue", _queues, _delete_queue)
COMPUTE_ENVIRONMENTS = Kind("Batch environment", _environments, _delete_environment)
JOB_DEFINITIONS = Kind("Batch job definition", _definitions, _deregister)


def _made(kind: Kind) -> Finder:
    """Finds what a run made by the name it gave; another's of that name lacks the tag."""

    def find(api: Api, cluster: str, inputs: Inputs) -> Iterator[Sighting]:
        for found in kind.find(api, Place(cluster)):
            if found.name == inputs["name"] and not found.going:
                yield from sighted(found.id)

    return find


FINDERS: Mapping[str, Finder] = {
    "aws:batch/computeEnvironment:ComputeEnvironment": _made(COMPUTE_ENVIRONMENTS),
    "aws:batch/jobQueue:JobQueue": _made(JOB_QUEUES),
    "aws:batch/jobDefinition:JobDefinition": _made(JOB_DEFINITIONS),
}
