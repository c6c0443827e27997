"""AWS Budgets, Cost Explorer and SNS: tags of budgets, tags that Billing counts by, and topics."""

from collections.abc import Iterator

from simulator.aws_endpoint.entries import Entry, tag_list
from simulator.aws_endpoint.inventory import Inventory
from simulator.aws_endpoint.wire import Handler, Refused


class Billing:
    """Answers of these services over one account."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "budgets.ListTagsForResource", self._budget_tags
        yield "ce.ListCostAllocationTags", self._cost_tags
        yield "sns.GetTopicAttributes", self._topic

    def _budget_tags(self, given: Entry) -> Entry:
        account, name = given["ResourceARN"].split(":")[4], given["ResourceARN"].rpartition("/")[2]
        return {"ResourceTags": tag_list(self._inventory.one("budget", AccountId=account, BudgetName=name)[1]["tags"])}

    def _cost_tags(self, given: Entry) -> Entry:
        """Tags that Billing knows; a member of an organization is refused (hashicorp/terraform-provider-aws#37636)."""
        known = self._inventory.world.state.others.get("cost tag", {})
        if "linked account" in known:
            text = "Failed to list Cost Allocation Tags: Linked account doesn't have access to cost allocation tags."
            raise Refused("AccessDeniedException", text)
        found = [{"TagKey": key, "Type": "UserDefined", "Status": entry["Status"]} for key, entry in known.items()]
        return {"CostAllocationTags": [tag for tag in found if tag["TagKey"] in given["TagKeys"]]}

    def _topic(self, given: Entry) -> Entry:
        found = self._inventory.entries("topic").get(given["TopicArn"])
        if found is None:
            raise Refused("NotFound", "Topic does not exist", 404)
        return {"Attributes": {"TopicArn": given["TopicArn"], **found.get("attributes", {})}}
