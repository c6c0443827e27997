"""CloudWatch Logs: lists with the ARN by which a log group is asked for its tags, and the tags."""

from collections.abc import Iterator

from facts.regions import partition
from facts.resources.logs import LOG_GROUP
from simulator.aws_endpoint.declared import shown
from simulator.aws_endpoint.entries import Entry
from simulator.aws_endpoint.inventory import KINDS, Inventory
from simulator.aws_endpoint.wire import Handler, Refused
from simulator.outputs import ACCOUNT

KIND = next(kind for kind in KINDS.values() if kind.fact is LOG_GROUP)


class LogGroups:
    """Answers over one account."""

    def __init__(self, inventory: Inventory, *, ignores_filters: bool) -> None:
        self._inventory, self._ignores_filters = inventory, ignores_filters

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "logs.DescribeLogGroups", self._groups
        yield "logs.ListTagsForResource", self._tags

    def _groups(self, given: Entry) -> Entry:
        start = "" if self._ignores_filters else given.get("logGroupNamePrefix", "")
        found = [self._listed(name, entry) for name, entry in self._inventory.look(KIND.name).items() if name.startswith(start)]
        return {"logGroups": found}

    def _listed(self, name: str, entry: Entry) -> Entry:
        """`arn` ends with `:*`, `logGroupArn` does not (CloudWatch Logs API, LogGroup)."""
        region = self._inventory.region
        arn = f"arn:{partition(region)}:logs:{region}:{ACCOUNT}:log-group:{name}"
        return {**shown(KIND, KIND.queries[0], entry), "arn": f"{arn}:*", "logGroupArn": arn}

    def _tags(self, given: Entry) -> Entry:
        entry = self._inventory.entries(KIND.name).get(given["resourceArn"].partition(":log-group:")[2])
        if entry is None:
            raise Refused(KIND.not_found, KIND.not_found_text)
        return {"tags": entry.get("tags", {})}
