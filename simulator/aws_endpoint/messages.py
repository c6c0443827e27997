"""SQS, EventBridge and AMP: what their parts hold, and lists by the beginning of a name."""

from collections.abc import Iterator

from simulator.aws_endpoint.entries import Entry, tag_list
from simulator.aws_endpoint.inventory import KINDS, Inventory
from simulator.aws_endpoint.wire import Handler, Refused


class Messages:
    """Answers of these services over one account."""

    def __init__(self, inventory: Inventory, *, ignores_filters: bool) -> None:
        self._inventory, self._ignores_filters = inventory, ignores_filters

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "sqs.GetQueueAttributes", self._queue_attributes
        yield "sqs.ListQueues", self._queues
        yield "sqs.ListQueueTags", lambda given: {"Tags": self._queue_at(given["QueueUrl"])["tags"]}
        yield "events.ListTagsForResource", lambda given: {"Tags": tag_list(self._rule(given["ResourceARN"].rsplit("/")[-1])["tags"])}
        yield "events.RemoveTargets", self._remove_targets
        yield "events.DeleteRule", self._delete_rule
        yield "events.ListTargetsByRule", self._targets
        yield "amp.ListWorkspaces", self._workspaces

    def _queue_attributes(self, given: Entry) -> Entry:
        url = given["QueueUrl"]
        self._queue_at(url)
        policy = self._inventory.look("sqs policy").get(url)
        return {"Attributes": {"Policy": policy["Policy"]} if policy else {}}

    def _rule(self, name: str) -> Entry:
        return self._inventory.one("rule", Name=name)[1]

    def _targets(self, given: Entry) -> Entry:
        self._rule(given["Rule"])
        found = list(self._targets_of(given["Rule"]).values())
        # The service's own model of its answer knows no empty list.
        return {"Targets": found} if found else {}

    def _targets_of(self, rule: str) -> dict[str, Entry]:
        """Targets of a rule, by their ids in the account."""
        entries = self._inventory.look("event target").items()
        found = {which: {"Id": each["Id"], "Arn": each["Arn"]} for which, each in entries if each["Rule"] == rule}
        return found | {each["Id"]: each for each in self._rule(rule).get("targets", ())}

    def _remove_targets(self, given: Entry) -> Entry:
        rule = self._rule(given["Rule"])
        for which, target in self._targets_of(given["Rule"]).items():
            if target["Id"] in given["Ids"] and target in rule.get("targets", ()):
                rule["targets"].remove(target)
            elif target["Id"] in given["Ids"]:
                self._inventory.delete("event target", which)
        return {"FailedEntryCount": 0, "FailedEntries": []}

    def _delete_rule(self, given: Entry) -> Entry:
        if self._targets_of(given["Name"]):
            raise Refused("ValidationException", "Rule can't be deleted since it has targets.")
        return self._inventory.delete("rule", given["Name"])

    def _queues(self, given: Entry) -> Entry:
        prefix = "" if self._ignores_filters else given.get("QueueNamePrefix", "")
        return {"QueueUrls": [url for url in self._inventory.look("sqs") if url.rsplit("/")[-1].startswith(prefix)]}

    def _queue_at(self, url: str) -> Entry:
        found = self._inventory.entries("sqs").get(url)
        if found is None:
            raise Refused(KINDS["sqs"].not_found, KINDS["sqs"].not_found_text)
        return found

    def _workspaces(self, given: Entry) -> Entry:
        alias = given.get("alias")
        entries = self._inventory.look("workspace").values()
        return {
            "workspaces": [each for each in entries if self._ignores_filters or alias is None or str(each.get("alias")).startswith(alias)]
        }
