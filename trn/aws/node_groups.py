"""The size of a managed node group."""

from typing import Any

from facts.resources.rights import part_of_cluster
from trn.aws.api import Api, Call
from trn.aws.control_plane import node_group

UPDATE = Call("eks", "UpdateNodegroupConfig", part_of_cluster("nodegroup"))
DESCRIBE_UPDATE = Call("eks", "DescribeUpdate", part_of_cluster("nodegroup"))

ROUNDS, PAUSE_S = 120, 15
"""Together 30 minutes: EKS itself gives up on a group without capacity after about 33 (public logs, 2022-2026)."""
OVERDUE = "EKS is still at it after 30 minutes"


def scaling(api: Api, cluster: str, group: str) -> dict[str, int]:
    """`minSize`, `maxSize` and `desiredSize` of a group."""
    return node_group(api, cluster, group)["scalingConfig"]


def sized(current: dict[str, int], count: int) -> dict[str, int]:
    """The limits moved as little as the count takes: EKS refuses a size outside them, and a largest size of 0."""
    least, most = min(current["minSize"], count), max(current["maxSize"], count, 1)
    return {"minSize": least, "maxSize": most, "desiredSize": count}


def begin_resize(api: Api, cluster: str, group: str, wanted: dict[str, int], token: str = "") -> dict[str, Any]:
    """Set the sizes; the update that EKS makes of it. `token`: requests with the same one are one request."""
    given = {"clientRequestToken": token} if token else {}
    return api.call(UPDATE, clusterName=cluster, nodegroupName=group, scalingConfig=wanted, **given)["update"]


def update_of(api: Api, cluster: str, group: str, update: dict[str, Any]) -> dict[str, Any]:
    """The same update as it is now."""
    return api.call(DESCRIBE_UPDATE, name=cluster, nodegroupName=group, updateId=update["id"])["update"]


def problems(update: dict[str, Any]) -> list[str] | None:
    """What EKS says went wrong with an update, empty where nothing did; None as long as it is under way."""
    if update["status"] == "InProgress":
        return None
    said = [f"{error.get('errorCode', '')}: {error.get('errorMessage', '')}" for error in update.get("errors", ())]
    return said if update["status"] == "Successful" else said or [f"the update is {update['status']}"]
