"""Every changing command, one row each: how it is called, what agrees to it, and what may happen between question and act."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from facts.names import cluster_tags, stack_path
from simulator.account import kinds
from tests.change.stage import CLUSTER, JOB, STACK, Call, Stage
from tests.operations.aws.cloud import tag_list
from tests.support import ROOT

GROUP, JOBS = "trn1-32xl", "kubernetes:batch.volcano.sh/v1alpha1:Job"
Act = Callable[[Stage], None]


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
    """What is there beside the stack before it begins."""
    goes_on: bool = False
    """Whether what was confirmed is done though the second look differs: what is new stays, and is reported."""
    lease: str = ""
    """The Lease that it holds; empty: the cluster's lock."""
    yes: tuple[str, ...] = ("--yes",)
    """What agrees in advance; nothing for a command that has no question."""
    refused: Mapping[str, Act] = field(default_factory=dict)
    """What makes the second look refuse."""
    again: int = 0
    """Exit code of another run after one that has done it all."""


def _resized(stage: Stage, call: Call) -> tuple[str, str]:
    group = stage.found(kinds.NODE_GROUP, f"{call.given['clusterName']}:{call.given['nodegroupName']}").registration
    return f"set to {call.given['scalingConfig']['desiredSize']} nodes", f"{group.outputs['arn']} of 2026-01-01T00:00:00Z"


def _drained(stage: Stage, call: Call) -> tuple[str, str]:
    if call.name.startswith("DELETE"):
        return "delete", call.given["preconditions"]["uid"]
    return ("close", call.given["target"]["uid"]) if call.name.startswith("POST") else ("empty", call.given["metadata"]["uid"])


def _cancelled(stage: Stage, call: Call) -> tuple[str, str]:
    return "delete", str(call.given["preconditions"]["uid"])


def _submitted(command: str, name: str) -> Case:
    """What is beside the job is confirmed with it: all of it is made, or nothing."""
    path = f"/apis/batch.volcano.sh/v1alpha1/namespaces/training/jobs/{name}"
    uid = f"uid-{JOBS}-training/{name}"

    def acted(stage: Stage, call: Call) -> tuple[str, str]:
        assert name in call.name or name in call.given["metadata"]["name"]
        # A submission that was cut off has a job.
        is_rest = call.name.startswith("PATCH") and not any(each.name.startswith("POST") for _, each in stage.changes)
        return ("complete", uid) if is_rest else ("submit", path)

    return Case(
        words=(command, STACK, str(ROOT / "training/recipes/bert/job.yaml")),
        agreed=(),
        acted=acted,
        differ={},
        is_own=lambda key: key in (f"{JOBS} training/{name}", f"kubernetes:core/v1:ConfigMap training/{name}-entry"),
        lease=f"trn-{name}",
        yes=(),
        refused={"another made it": lambda stage: stage.start(name)},
        again=1,
    )


def set_size(stage: Stage, count: int) -> None:
    """As a colleague does in the console."""
    group = stage.found(kinds.NODE_GROUP, f"{CLUSTER}:{GROUP}").registration
    sizes = {**group.inputs["scalingConfig"], "desiredSize": count}
    stage.engine.world.state.put(replace(group, inputs={**group.inputs, "scalingConfig": sizes}))


def leave(stage: Stage, mark: str) -> None:
    """What a run of the stack that was killed made, and no state holds: a network and an address."""
    tags = {"Tags": tag_list(cluster_tags(CLUSTER, stack_path("organization", "trn", STACK)))}
    vpc = {"VpcId": f"vpc-{mark}", **tags}
    for kind, key, entry in (("vpc", "VpcId", vpc), ("subnet", "SubnetId", vpc), ("address", "AllocationId", tags)):
        which = f"{kind}-{mark}"
        stage.engine.world.state.others.setdefault(kind, {})[which] = {**entry, key: which}


def _swept(_: Stage, call: Call) -> tuple[str, str]:
    return "delete", next(call.given[key] for key in ("SubnetId", "VpcId", "AllocationId") if key in call.given)


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
    "drain": Case(
        words=("drain", STACK),
        agreed=("y",),
        acted=_drained,
        differ={"a job started": lambda stage: stage.start("late")},
        is_own=lambda key: key.startswith("kubernetes:") and (":Job " in key or ":Queue " in key),
        goes_on=True,
    ),
    "sweep": Case(
        words=("sweep", STACK, "--delete"),
        agreed=("y",),
        acted=_swept,
        differ={"more is left over": lambda stage: leave(stage, "late")},
        is_own=lambda key: key.endswith(("-old", "-late")),
        prepare=lambda stage: leave(stage, "old"),
        goes_on=True,
    ),
    "cancel": Case(
        words=("cancel", STACK, JOB, "--now"),
        agreed=("y",),
        acted=_cancelled,
        differ={"the job was made again": lambda stage: stage.make_again(JOBS, f"training/{JOB}", metadata={"uid": "another"})},
        is_own=lambda key: key == f"{JOBS} training/{JOB}",
        lease=f"trn-{JOB}",
        refused={"the job has ended": lambda stage: stage.engine.world.state.remove(stage.found(JOBS, f"training/{JOB}").registration)},
        again=2,
    ),
    **{command: _submitted(command, name) for command, name in (("submit", "bert-large"), ("precompile", "bert-large-precompile"))},
}
NOT_YET = {
    "capacity buy", "data export", "data stage", "destroy", "image build", "image push", "import", "recover", "roll", "shell", "upgrade", "verify",
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
