"""The size of one node group of a stack's cluster: whose it is, the lock, the change."""

from collections.abc import Callable
from pathlib import Path

from operations.aws.api import Api
from operations.aws.node_groups import resize, scaling, sized
from operations.lock import locked, this_run
from operations.ownership import Consent, StackCluster, agreed, read_ownership, refuse_change
from operations.pulumi import Pulumi
from operations.watching import Watching


def scale_group(
    api: Api,
    pulumi: Pulumi,
    subject: StackCluster,
    group: str,
    count: int,
    consent: Consent,
    watching: Watching,
    before_loss: Callable[[], None],
    *,
    state_file: Path | None = None,
    break_lock: bool = False,
) -> tuple[dict[str, int], list[str]]:
    """Set the size of a node group; the sizes, and what EKS says went wrong.

    `before_loss`: called before the group loses nodes; says and asks what that interrupts, and raises where the answer is no.
    Raises CommandError where it is not this stack's cluster, or another operator is at it; what botocore raises where there is none.
    """
    ownership = read_ownership(api, pulumi, subject, state_file)
    agreed(ownership, consent, watching.tell)
    current = scaling(api, subject.cluster, group)
    wanted = sized(current, count)
    watching.tell(f"{group}: {current['desiredSize']} nodes, wanted {count}")
    if wanted == current:
        return wanted, []
    if wanted["desiredSize"] < current["desiredSize"]:
        before_loss()
    holder = this_run(ownership.caller, f"scale {subject.stack} {group} {count}")
    with locked(api, subject.cluster, holder, watching.tell, break_lock=break_lock):
        refuse_change(api, ownership)
        return wanted, resize(api, subject.cluster, group, wanted, watching.pause, watching.show)
