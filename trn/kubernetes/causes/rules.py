"""Why a job does not work: the first cause that holds, in the order in which they must be fixed. Pure."""

from collections.abc import Callable, Iterator

from facts.typed import typed
from training.phase import Phase
from trn.kubernetes.causes import admission, placement, start
from trn.kubernetes.situation import Cause, Situation

Rule = Callable[[Situation], Iterator[Cause]]
WAITING: tuple[Rule, ...] = (
    admission.webhook,
    admission.namespace_quota,
    admission.not_created,
    admission.held,
    placement.gang_too_large,
    admission.queue,
    placement.claim,
    placement.no_nodes_of_group,
    placement.devices,
    placement.taint,
    placement.capacity,
    placement.too_few_nodes,
    placement.busy,
    placement.unschedulable,
    start.image,
    start.mount,
    start.container,
    start.driver,
    start.failure,
)
"""What a job passes on its way to its first step: a later cause shows itself when the earlier ones are gone."""
FAILED: tuple[Rule, ...] = (start.image, start.driver, start.failure)
_WELL = (Phase.RUNNING, Phase.SUCCEEDED, Phase.STOPPING)


def cause(situation: Situation) -> Cause | None:
    """The one cause; None for a job that runs, has succeeded or is being ended, and for one of which nothing is known yet."""
    phase = situation.job.phase
    if phase in _WELL:
        return None
    if phase == Phase.STOPPED and not list(admission.held(situation)):
        return Cause(
            "stopped", "it was stopped: it holds nothing", f"`{typed(f'trn cancel {situation.stack} {situation.job.name}')}` deletes it"
        )
    rules = FAILED if phase == Phase.FAILED else WAITING
    return next((found for rule in rules for found in rule(situation)), None)
