"""S3: where a bucket of others is. What is in one is answered by `repository_tasks`."""

from collections.abc import Iterator

from simulator.aws_endpoint.entries import Entry
from simulator.aws_endpoint.inventory import Inventory
from simulator.aws_endpoint.wire import Handler, Refused

KIND = "bucket"
_OLD_NAMES = {"us-east-1": None, "eu-west-1": "EU"}
"""Regions that S3 writes in another way; it leaves out the first (S3 API, GetBucketLocation: LocationConstraint)."""


class Buckets:
    """Answers over one account. No resource of the program is a bucket: all are others'."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "s3.GetBucketLocation", self._location

    def _location(self, given: Entry) -> Entry:
        entry = self._inventory.world.state.others.get(KIND, {}).get(given["Bucket"])
        if entry is None:
            raise Refused("NoSuchBucket", "The specified bucket does not exist", 404)
        place = _OLD_NAMES.get(entry["region"], entry["region"])
        return {"LocationConstraint": place} if place is not None else {}
