"""EKS: what holds a cluster, and changes of a node group's size, which take their time."""

from collections.abc import Iterator
from uuid import NAMESPACE_URL, uuid5

from simulator.account import kinds
from simulator.account.insights import Insight, upgrade_insights
from simulator.account.one_cluster import seen_by
from simulator.aws_endpoint.entries import Entry
from simulator.aws_endpoint.inventory import Inventory
from simulator.aws_endpoint.wire import Handler, Refused
from simulator.outputs import CREATED_AT


class Eks:
    """Answers of EKS over one account."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory
        self._updates: dict[str, tuple[str, Entry]] = {}

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "eks.ListClusters", lambda _: {"clusters": sorted(self._inventory.look("cluster"))}
        yield "eks.ListAddons", self._addons
        yield "eks.ListFargateProfiles", self._fargate_profiles
        yield "eks.DeleteCluster", self._delete_cluster
        yield "eks.UpdateNodegroupConfig", self._resize
        yield "eks.DescribeUpdate", self._update
        yield "eks.ListAssociatedAccessPolicies", self._policies
        yield "eks.DescribePodIdentityAssociation", self._pod_identity
        yield "eks.ListInsights", self._insights
        yield "eks.DescribeInsight", self._insight

    def _addons(self, given: Entry) -> Entry:
        found = self._inventory.look("addon").values()
        return {"addons": sorted(entry["addonName"] for entry in found if entry["clusterName"] == given["clusterName"])}

    def _fargate_profiles(self, given: Entry) -> Entry:
        """Profiles of others: the program makes none."""
        found = self._inventory.world.state.others.get("fargate profile", {}).values()
        return {"fargateProfileNames": sorted(each["fargateProfileName"] for each in found if each["clusterName"] == given["clusterName"])}

    def _delete_cluster(self, given: Entry) -> Entry:
        groups = self._inventory.look("node group").values()
        if any(entry.get("clusterName", given["name"]) == given["name"] for entry in groups):
            raise Refused("ResourceInUseException", "Cluster has nodegroups attached")
        return self._inventory.delete("cluster", given["name"])

    def _policies(self, given: Entry) -> Entry:
        wanted = {"clusterName": given["clusterName"], "principalArn": given["principalArn"]}
        self._inventory.one("access entry", **wanted)
        found = [entry for entry in self._inventory.look("access policy").values() if wanted.items() <= entry.items()]
        shown = [{key: value for key, value in entry.items() if key not in wanted} for entry in found]
        return {**wanted, "associatedAccessPolicies": shown}

    def _pod_identity(self, given: Entry) -> Entry:
        wanted = {"clusterName": given["clusterName"], "associationId": given["associationId"]}
        return {"association": self._inventory.one("pod identity", **wanted)[1]}

    def _insights(self, given: Entry) -> Entry:
        wanted = given.get("filter") or {}
        found = [_shown(item) for item in self._insights_of(given)]
        return {"insights": [item for item in found if _meant(item, wanted)]}

    def _insights_of(self, given: Entry) -> list[Insight]:
        """Of a cluster that others made nothing is known."""
        name, _ = self._inventory.one("cluster", name=given["clusterName"])
        state = self._inventory.world.state
        found = state.find(kinds.CLUSTER, name)
        return upgrade_insights(seen_by(state, found.registration)) if found is not None else []

    def _insight(self, given: Entry) -> Entry:
        for item in self._insights_of(given):
            if _shown(item)["id"] == given["id"]:
                return {"insight": {**_shown(item), "recommendation": item.recommendation, "resources": [], "additionalInfo": {}}}
        raise Refused("ResourceNotFoundException", f"No insight found for ID: {given['id']}", 404)

    def _resize(self, given: Entry) -> Entry:
        """Takes a new size, judged as every change of a node group; it is shown, and its refusal told, when the update ends.

        A size that EC2 does not give is taken back: no group of the account has fewer nodes than it asks for.
        """
        which, entry = self._inventory.one("node group", clusterName=given["clusterName"], nodegroupName=given["nodegroupName"])
        if entry["status"] != "ACTIVE":
            raise Refused("ResourceInUseException", "Nodegroup cannot be updated as it is currently not in Active State")
        size = {**entry["scalingConfig"], **given["scalingConfig"]}
        for low, high in (("minSize", "desiredSize"), ("desiredSize", "maxSize")):
            if size[low] > size[high]:
                raise Refused("InvalidParameterException", f"{low} {size[low]} can't be greater than {high} {size[high]}")
        update: Entry = {"id": f"update-{len(self._updates) + 1}", "status": "Successful", "type": "ConfigUpdate"}
        try:
            self._inventory.change("node group", which, meanwhile={"status": "UPDATING"}, scalingConfig=size)
        except Refused as refusal:
            errors = [{"errorCode": "AsgInstanceLaunchFailures", "errorMessage": f"{refusal.code}: {refusal.message}"}]
            update |= {"status": "Failed", "errors": errors}
        self._updates[update["id"]] = (which, update)
        return {"update": self._as_it_is(which, update)}

    def _update(self, given: Entry) -> Entry:
        if given["updateId"] not in self._updates:
            raise Refused("ResourceNotFoundException", f"No update found for ID: {given['updateId']}", 404)
        which, update = self._updates[given["updateId"]]
        self._inventory.look("node group")
        return {"update": self._as_it_is(which, update)}

    def _as_it_is(self, which: str, update: Entry) -> Entry:
        """How far an update is: its end is not reported before the group shows it."""
        if self._inventory.is_changing("node group", which):
            return {"id": update["id"], "type": update["type"], "status": "InProgress"}
        return update


def _shown(item: Insight) -> Entry:
    """As `ListInsights` shows it. The id of a check stays the same from look to look."""
    return {
        "id": str(uuid5(NAMESPACE_URL, f"{item.name}/{item.minor}")),
        "name": item.name,
        "category": "UPGRADE_READINESS",
        "kubernetesVersion": item.minor,
        "lastRefreshTime": CREATED_AT,
        "lastTransitionTime": CREATED_AT,
        "description": item.description,
        "insightStatus": {"status": item.status, "reason": item.reason},
    }


def _meant(item: Entry, wanted: Entry) -> bool:
    chosen = {"categories": item["category"], "kubernetesVersions": item["kubernetesVersion"], "statuses": item["insightStatus"]["status"]}
    return all(not wanted.get(key) or value in wanted[key] for key, value in chosen.items())
