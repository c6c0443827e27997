"""EventBridge Scheduler: tags of schedule groups, and schedules that are deleted with their group."""

from collections.abc import Iterator

from simulator.aws_endpoint.entries import Entry, tag_list
from simulator.aws_endpoint.inventory import Inventory
from simulator.aws_endpoint.wire import Handler


class Schedules:
    """Answers of the scheduler over one account."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "scheduler.ListTagsForResource", self._tags
        yield "scheduler.DeleteScheduleGroup", self._delete_group

    def _tags(self, given: Entry) -> Entry:
        _, group = self._inventory.one("schedule group", Name=given["ResourceArn"].rsplit("/")[-1])
        return {"Tags": tag_list(group["tags"])}

    def _delete_group(self, given: Entry) -> Entry:
        """With all its schedules (EventBridge Scheduler API, DeleteScheduleGroup)."""
        for which, schedule in self._inventory.look("schedule").items():
            if schedule["GroupName"] == given["Name"]:
                self._inventory.delete("schedule", which)
        return self._inventory.delete("schedule group", given["Name"])
