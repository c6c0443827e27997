"""EKS and Auto Scaling: clusters with their parts, and changes of a node group's size."""

from collections.abc import Iterator

from simulator.doors.wire import filters
from simulator.doors.wire.entries import Entry
from simulator.doors.wire.inventory import Inventory
from simulator.doors.wire.wire import Handler, Refused


class Eks:
    """Answers of EKS and Auto Scaling over one account."""

    def __init__(self, inventory: Inventory, *, ignores_filters: bool) -> None:
        self._inventory, self._ignores_filters = inventory, ignores_filters
        self._updates = 0

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "eks.ListClusters", lambda _: {"clusters": sorted(self._inventory.look("cluster"))}
        yield "eks.DescribeCluster", lambda given: {"cluster": self._cluster(given["name"])}
        yield "eks.DeleteCluster", self._delete_cluster
        yield "eks.ListNodegroups", lambda given: {"nodegroups": self._members("node group", "nodegroupName", given)}
        yield "eks.DescribeNodegroup", lambda given: {"nodegroup": self._node_group(given)[1]}
        yield "eks.DeleteNodegroup", lambda given: self._inventory.delete("node group", self._node_group(given)[0])
        yield "eks.UpdateNodegroupConfig", self._resize
        yield "eks.DescribeUpdate", lambda given: {"update": {"id": given["updateId"], "status": "Successful"}}
        yield "eks.DescribeAddon", lambda given: {"addon": self._addon(given)}
        yield "eks.ListAccessEntries", lambda given: {"accessEntries": self._members("access entry", "principalArn", given)}
        yield "eks.DescribeAccessEntry", lambda given: {"accessEntry": self._entry(given)[1]}
        yield "eks.DeleteAccessEntry", lambda given: self._inventory.delete("access entry", self._entry(given)[0])
        yield "eks.ListAssociatedAccessPolicies", self._policies
        yield "eks.ListPodIdentityAssociations", self._identities
        yield "autoscaling.DescribeTags", self._group_tags

    def _cluster(self, name: str) -> Entry:
        entry = self._inventory.look("cluster").get(name)
        if entry is None:
            raise Refused("ResourceNotFoundException", f"No cluster found for name: {name}.", 404)
        return entry

    def _delete_cluster(self, given: Entry) -> Entry:
        if self._members("node group", "nodegroupName", {"clusterName": given["name"]}):
            raise Refused("ResourceInUseException", "Cluster has nodegroups attached")
        return self._inventory.delete("cluster", given["name"])

    def _members(self, kind: str, key: str, given: Entry) -> list[str]:
        name = given["clusterName"]
        return sorted(entry[key] for entry in self._inventory.look(kind).values() if entry.get("clusterName", name) == name)

    def _node_group(self, given: Entry) -> tuple[str, Entry]:
        cluster, name = given["clusterName"], given["nodegroupName"]
        return self._inventory.one("node group", f"No node group found for name: {name}.", clusterName=cluster, nodegroupName=name)

    def _addon(self, given: Entry) -> Entry:
        cluster, name = given["clusterName"], given["addonName"]
        return self._inventory.one("addon", f"No addon: {name} found in cluster: {cluster}", clusterName=cluster, addonName=name)[1]

    def _entry(self, given: Entry) -> tuple[str, Entry]:
        cluster, principal = given["clusterName"], given["principalArn"]
        message = "The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'."
        return self._inventory.one("access entry", message, clusterName=cluster, principalArn=principal)

    def _policies(self, given: Entry) -> Entry:
        self._entry(given)
        wanted = {"clusterName": given["clusterName"], "principalArn": given["principalArn"]}
        found = [entry for entry in self._inventory.look("access policy").values() if wanted.items() <= entry.items()]
        shown = [{key: value for key, value in entry.items() if key not in wanted} for entry in found]
        return {**wanted, "associatedAccessPolicies": shown}

    def _identities(self, given: Entry) -> Entry:
        wanted = {key: given[key] for key in ("clusterName", "namespace", "serviceAccount") if key in given}
        entries = self._inventory.look("pod identity").values()
        return {"associations": [entry for entry in entries if self._ignores_filters or wanted.items() <= entry.items()]}

    def _resize(self, given: Entry) -> Entry:
        """Takes a new size, judged as every change of a node group; what EKS refuses later is refused at once here."""
        which, entry = self._node_group(given)
        if entry["status"] != "ACTIVE":
            raise Refused("ResourceInUseException", "Nodegroup cannot be updated as it is currently not in Active State")
        size = {**entry["scalingConfig"], **given.get("scalingConfig", {})}
        self._updates += 1
        update: Entry = {"id": f"update-{self._updates}", "status": "Successful", "type": "ConfigUpdate"}
        try:
            if not self._inventory.change("node group", which, scalingConfig=size):
                entry["scalingConfig"] = size
        except Refused as refusal:
            errors = [{"errorCode": "AsgInstanceLaunchFailures", "errorMessage": f"{refusal.code}: {refusal.message}"}]
            update |= {"status": "Failed", "errors": errors}
        return {"update": update}

    def _group_tags(self, given: Entry) -> Entry:
        return {"Tags": filters.listed(self._inventory.look("group tag"), given, ignored=self._ignores_filters)}
