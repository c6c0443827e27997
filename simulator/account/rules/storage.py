"""What FSx for Lustre refuses."""

from simulator.account import kinds, view
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.recording import Registration

LUSTRE_PORT = 988


@rule("create", kinds.FILE_SYSTEM, source="FSx API, CreateFileSystem, StorageCapacity")
def lustre_size(state: AccountState, request: Registration) -> Refusal | None:
    """A file system has 1200 GiB, or a multiple of 2400."""
    size = int(request.inputs["storageCapacity"])
    if size == 1200 or (size and size % 2400 == 0):
        return None
    return Refusal(
        "BadRequest",
        f"Invalid storage capacity provided: {size}. Storage capacity must be 1200, 2400, or a multiple of 2400",
        f"{request.name} asks for {size} GiB",
        f"set `storage.lustre.capacityGib` to {max(1, -(-size // 2400)) * 2400}",
    )


@rule("create", kinds.FILE_SYSTEM, source="FSx for Lustre guide, limit-access-security-groups; FSx API, InvalidNetworkSettings")
def lustre_ports(state: AccountState, request: Registration) -> Refusal | None:
    """The file system's security group lets its own servers in on port 988, and out to each other."""
    for group_id in view.listed(request.inputs.get("securityGroupIds")):
        open_ways = [kind for kind in (kinds.INGRESS, kinds.EGRESS) if _lets_itself(state, kind, group_id)]
        if len(open_ways) < 2:
            return Refusal(
                "InvalidNetworkSettings",
                "The file system cannot be created because the provided security groups do not permit Lustre LNET network traffic on port 988",
                f"{group_id} does not allow port 988 {'from' if kinds.INGRESS not in open_ways else 'to'} itself",
                "add self-referencing rules for TCP 988 and 1018-1023, and let the file system depend on them",
            )
    return None


def _lets_itself(state: AccountState, kind: str, group_id: str) -> bool:
    for item in state.ready(kind):
        inputs = item.inputs
        if inputs["securityGroupId"] != group_id:
            continue
        everything = str(inputs["ipProtocol"]) == "-1"
        covers = everything or int(inputs.get("fromPort", -1)) <= LUSTRE_PORT <= int(inputs.get("toPort", -1))
        peer = inputs.get("referencedSecurityGroupId") == group_id or inputs.get("cidrIpv4") == "0.0.0.0/0"
        if covers and peer:
            return True
    return False


@rule("update", kinds.FILE_SYSTEM, source="FSx API, UpdateFileSystem, StorageCapacity: at least a tenth more, never less")
def lustre_grows(state: AccountState, request: Registration) -> Refusal | None:
    """A file system grows, to a size that there is, and never shrinks."""
    return lustre_size.check(state, request)
