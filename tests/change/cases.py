"""Every changing command, one row each: how it is called, what agrees to it, and what may happen between question and act."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from addons import volcano
from operations.cluster.roll.plan import is_of
from operations.cluster.roll.stopping import STOPPED_BY_ROLL
from operations.cluster.status.subject import NODES
from simulator.account import kinds
from tests.change.stage import CLUSTER, STACK, Call, Stage

GROUP, OTHER = "trn1-32xl", "trn1n-32xl"
Act = Callable[[Stage], object]


@dataclass(frozen=True)
class Case:
    """One command."""

    words: tuple[str, ...]
    """The command line, without `--yes` and `--json`."""
    agreed: tuple[str, ...]
    """What a person types to agree."""
    acted: Callable[[Stage, Call], tuple[str, str]]
    """Verb and object of a changing call, as the report names what was confirmed."""
    differ: Mapping[str, Act]
    """What makes the second look differ from what was shown, so that it is asked again."""
    is_own: Callable[[str], bool]
    """Whether the command may change the object of a key of `Stage.everything`."""
    prepare: Act = lambda stage: None
    """What is so before the command is called."""
    is_long: bool = False
    """Whether it is walked with the mark `long` only: another way through a command that has a row."""
    draws: int = 120
    """How many of its calls are tried in a column of the long tier, beside those that change something."""

    def stage(self, *answers: str) -> Stage:
        """As the command finds it."""
        stage = Stage(answers)
        self.prepare(stage)
        return stage


def _resized(stage: Stage, call: Call) -> tuple[str, str]:
    group = stage.found(kinds.NODE_GROUP, f"{call.given['clusterName']}:{call.given['nodegroupName']}").registration
    return f"set to {call.given['scalingConfig']['desiredSize']} nodes", f"{group.outputs['arn']} of 2026-01-01T00:00:00Z"


def set_size(stage: Stage, count: int, name: str = GROUP) -> None:
    """As a colleague does in the console."""
    group = stage.found(kinds.NODE_GROUP, f"{CLUSTER}:{name}").registration
    sizes = {**group.inputs["scalingConfig"], "desiredSize": count}
    stage.engine.world.state.put(replace(group, inputs={**group.inputs, "scalingConfig": sizes}))


def _edited(stage: Stage) -> None:
    stage.edit("size: 2\n", "size: 2\n      rootVolumeGib: 300\n")


def _is_rolled(key: str) -> bool:
    inside = ("kubernetes:core/v1:Node ", "kubernetes:batch.volcano.sh/v1alpha1:Job training/")
    return key in ("state", f"{kinds.NODE_GROUP} {CLUSTER}:{GROUP}") or key.startswith((kinds.LAUNCH_TEMPLATE, *inside))


def _rolled(stage: Stage, call: Call) -> tuple[str, str]:
    group = f"{stage.found(kinds.NODE_GROUP, f'{CLUSTER}:{GROUP}').registration.outputs['arn']} of 2026-01-01T00:00:00Z"
    if call.way == "pulumi":
        return "pulumi up", call.given["serial"]
    last = call.name.rpartition("/")[2]
    if "/nodes/" in call.name:
        assert all(is_of(each, GROUP) for each in stage.colleague().list(NODES) or () if each["metadata"]["name"] == last)
        return ("close" if call.given["spec"]["unschedulable"] else "open"), group
    if call.name.endswith("/commands"):
        return ("stop" if call.given["action"] == "AbortJob" else "start"), call.given["target"]["uid"]
    if "/jobs/" in call.name:
        (job,) = [item for item in stage.colleague().list(volcano.JOBS) or () if item["metadata"]["name"] == last]
        return ("stop" if call.given["metadata"]["annotations"][STOPPED_BY_ROLL] else "start"), job["metadata"]["uid"]
    return "set to 0 nodes", group


def _moved(stage: Stage, call: Call) -> tuple[str, str]:
    """Nodes are opened only where their closing is taken back."""
    verb, which = _rolled(stage, call)
    return ("close" if verb == "open" else verb), which


CASES: Mapping[str, Case] = {
    "scale": Case(
        words=("scale", STACK, GROUP, "0"),
        agreed=("y",),
        acted=_resized,
        differ={
            "a job started": lambda stage: stage.start("late"),
            "another run set the size": lambda stage: set_size(stage, 1),
            "the group was made again": lambda stage: stage.make_again(kinds.NODE_GROUP, f"{CLUSTER}:{GROUP}", arn="arn:again"),
        },
        is_own=lambda key: key == f"{kinds.NODE_GROUP} {CLUSTER}:{GROUP}",
    ),
    "roll": Case(
        words=("roll", STACK, GROUP, "--checkpoint"),
        agreed=("y",),
        acted=_rolled,
        differ={
            "a job started": lambda stage: stage.start("late"),
            "the stack file was edited": lambda stage: stage.edit("rootVolumeGib: 300", "rootVolumeGib: 400"),
            "another run of Pulumi": lambda stage: stage.engine.state.held.popitem(),
        },
        is_own=_is_rolled,
        draws=30,
        prepare=_edited,
    ),
    "roll --to": Case(
        words=("roll", STACK, GROUP, "--to", OTHER),
        agreed=("y",),
        acted=_moved,
        differ={"a job started": lambda stage: stage.start("late")},
        is_own=_is_rolled,
        draws=30,
        prepare=lambda stage: set_size(stage, 2, OTHER),
        is_long=True,
    ),
}
NOT_YET = {
    "cancel", "capacity buy", "data export", "data stage", "destroy", "drain", "image build", "image push", "import", "precompile",
    "recover", "shell", "submit", "sweep", "upgrade", "verify",
}  # fmt: skip
"""Commands that change a cluster or an account and are not carried out by the executor yet. A command that moves leaves this set."""
READS = {
    "addons", "bundle", "capacity calendar", "capacity find", "check", "cost", "data status", "iam", "images", "init", "jobs", "kubeconfig",
    "lint", "logs", "network describe", "plan", "status", "top", "watch", "why",
    "rehearse", "rehearse calendar", "rehearse change", "rehearse chaos", "rehearse crash", "rehearse rules", "rehearse upgrade",
}  # fmt: skip
"""Commands that read, or write files of the caller only."""
PRACTICE = {"engine", "practice down", "practice event", "practice export", "practice job", "practice up"}
"""Commands that act on practice accounts only."""
