"""`trn why`: one cause for each thing that can be wrong, from objects and texts as Kubernetes 1.35 and Volcano 1.15 write them."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.training.sites import group, site
from tests.trn.jobs.situations import ALLOCATABLE, TAINT, event, item, node, pod, pod_group, situation
from trn.kubernetes.causes.rules import WAITING, cause
from trn.kubernetes.situation import Situation, is_event_of, untolerated

NO_ROOM = "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 2 Insufficient aws.amazon.com/neuron."
"""kube-scheduler 1.35: pkg/scheduler/framework/types.go, FitError; plugins noderesources and nodeaffinity."""
GANG = "2/2 tasks in gang unschedulable: pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 Unschedulable"
"""volcano v1.15 pkg/scheduler/api/job_info.go, FitError."""


def unplaced(message: str = NO_ROOM, **keys: Any) -> tuple[Any, tuple[Any, ...]]:
    """A job with its pods, none of which has a node."""
    made = item(**keys)
    return made, tuple(pod(made, number, message=message) for number in range(keys.get("nodes", 2)))


def placed(status: dict[str, Any], phase: str = "Pending", **keys: Any) -> tuple[Any, tuple[Any, ...]]:
    """A job whose pods have nodes; what the first one's container says."""
    made = item(phase=phase, **keys)
    return made, (pod(made, 0, at="node-1", status=status), pod(made, 1, at="node-2", status={"state": {"running": {}}}))


def waiting(reason: str, message: str) -> dict[str, Any]:
    """A container that waits."""
    return {"state": {"waiting": {"reason": reason, "message": message}}}


def ended(code: int, reason: str = "Error", **more: str) -> dict[str, Any]:
    """A container that has ended."""
    return {"state": {"terminated": {"exitCode": code, "reason": reason, "finishedAt": "2026-11-22T10:02:00Z", **more}}}


def queue(state: str = "Open", **more: Any) -> dict[str, Any]:
    """The job's queue."""
    return {"training": {"spec": more.get("spec", {}), "status": {"state": state, **more.get("status", {})}}}


PENDING: dict[str, Any] = {"fsx-claim": {"status": {"phase": "Pending"}}}
# kubernetes pkg/scheduler/framework/plugins/volumebinding/volume_binding.go
UNBOUND = "0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
NO_EFA = {**ALLOCATABLE, "vpc.amazonaws.com/efa": "0"}
NO_CHIPS = {**ALLOCATABLE, "aws.amazon.com/neuron": "0"}
DEDICATED = {"key": "dedicated", "value": "other", "effect": "NoSchedule"}
# kubernetes staging/src/k8s.io/apiserver/pkg/server/httplog, webhook dispatcher: an InternalError that wraps ErrCallingWebhook.
SILENT = (
    'failed to create pod bert-worker-0, err: Internal error occurred: failed calling webhook "mutatepod.volcano.sh": failed to call webhook: '
    'Post "https://volcano-admission-service.volcano-system.svc:443/pods/mutate?timeout=10s": no endpoints available for service'
)
DENIED = 'Error creating: admission webhook "validatepod.volcano.sh" denied the request: queue `x` is not open'
# kubernetes plugin/pkg/admission/resourcequota/controller.go
QUOTA = (
    'Error creating: pods "bert-0-x" is forbidden: exceeded quota: small, requested: requests.aws.amazon.com/neuron=16, '
    "used: requests.aws.amazon.com/neuron=0, limited: requests.aws.amazon.com/neuron=8"
)
# containerd, by kubelet's events (kubernetes pkg/kubelet/images/image_manager.go)
NOT_FOUND = 'Failed to pull image "registry.example/bert:1": rpc error: code = NotFound desc = failed to pull and unpack image: not found'
OLD = group("trn1-32xl", "trn1.32xlarge", release_version="1.35.4-20260714")

CAUSES: dict[str, tuple[Callable[[], Situation], str, str, str]] = {
    "webhook does not answer": (
        lambda: situation(events=(event("FailedCreate", SILENT),)),
        "webhook", "the webhook mutatepod.volcano.sh does not answer, so no pods can be made", "trn addons dev",
    ),
    "webhook refuses": (lambda: situation(events=(event("FailedCreate", DENIED),)), "webhook", "refuses its pods: queue `x` is not open", "trn cancel dev bert"),
    "quota of the namespace": (
        lambda: situation(events=(event("FailedCreate", QUOTA),)), "quota", "the quota small of the namespace training leaves no room",
        "kubectl -n training describe resourcequota small",
    ),
    "refused otherwise": (lambda: situation(events=(event("FailedCreate", "Error creating: no"),)), "refused", "its pods cannot be made: Error creating: no", "kubectl"),
    "suspended": (lambda: situation(_suspended()), "suspended", "`spec.suspend` is true", "kubectl -n training patch jobs.batch.volcano.sh bert"),
    "not admitted by Kueue": (lambda: situation(_suspended("training")), "quota", "Kueue has not admitted it: the queue training", "describe workloads"),
    "gang too large for the group": (
        lambda: situation(*unplaced(nodes=5)), "gang", "it wants 5 nodes at once, and trn1-32xl may have 4", "`nodeGroups.trn1-32xl.maxSize`",
    ),
    "queue closed": (lambda: situation(group=pod_group(), queues=queue("Closed")), "queue", "the queue training is Closed", "vcctl queue operate -a open -n training"),
    "queue gone": (lambda: situation(group=pod_group(), queues={}), "queue", "there is no Volcano queue training", "kubectl get queues"),
    "quota of the queue": (
        lambda: situation(group=pod_group(), queues=queue(spec={"capability": {"aws.amazon.com/neuron": 16}})),
        "quota", "it asks for 32 aws.amazon.com/neuron, and the queue training may have 16 in all", "addons.volcano.queues.training.capability",
    ),
    "queue full": (
        lambda: situation(
            group=pod_group(),
            queues=queue(spec={"capability": {"aws.amazon.com/neuron": 32}}, status={"allocated": {"aws.amazon.com/neuron": "16"}}),
        ),
        "quota", "the queue training has 16 of 32 left", "trn jobs dev",
    ),
    "queue full by its own word": (
        # volcano v1.15 pkg/scheduler/plugins/capacity/capacity.go
        lambda: situation(group=pod_group(), events=(event("Unschedulable", "queue resource quota insufficient: insufficient cpu", "bert-uid-bert"),)),
        "quota", "the queue training has no room for it: queue resource quota insufficient: insufficient cpu", "trn jobs",
    ),
    "claim not there": (lambda: situation(*unplaced(UNBOUND), claims={}), "claim", "there is no claim fsx-claim in training", "pulumi up"),
    "claim unbound": (lambda: situation(*unplaced(UNBOUND), claims=PENDING), "claim", "the claim fsx-claim is Pending", "kubectl -n training describe pvc fsx-claim"),
    "no such labels": (
        lambda: situation(*unplaced(), site=site(node_groups={}), nodes=(node(1, labels={}),)), "selector",
        "no node has the labels trn/node-group=trn1-32xl", "kubectl get nodes",
    ),
    "no EFA": (
        lambda: situation(*unplaced(), nodes=(node(1, allocatable=NO_EFA), node(2, allocatable=NO_EFA))),
        "EFA", "its 2 nodes offer no EFA interfaces (vpc.amazonaws.com/efa)", "trn status dev",
    ),
    "EFA that the group lacks": (
        lambda: situation(
            *unplaced(), nodes=(node(1, allocatable=NO_EFA), node(2, allocatable=NO_EFA)),
            site=site(node_groups={"trn1-32xl": group("trn1-32xl", "trn1.32xlarge", uses_efa=False)}),
        ),
        "EFA", "offer no EFA interfaces", "`efa: false`",
    ),
    "no chips": (
        lambda: situation(*unplaced(), nodes=(node(1, allocatable=NO_CHIPS), node(2, allocatable=NO_CHIPS))),
        "devices", "offer no Neuron chips", "trn status dev",
    ),
    "pod larger than a node": (
        lambda: situation(*unplaced(), nodes=(node(1, allocatable={**ALLOCATABLE, "cpu": "96"}),)), "gang", "each pod asks for 125 cpu, and no node has more than 96", "ask for less",
    ),
    "taint": (
        lambda: situation(*unplaced(), nodes=(node(1), node(2, taints=[TAINT, DEDICATED]))), "taint",
        "the node node-2 has the taint dedicated=other:NoSchedule", "kubectl taint nodes node-2 dedicated=other:NoSchedule-",
    ),
    "cordoned": (lambda: situation(*unplaced(), nodes=(node(1), node(2, unschedulable=True))), "taint", "node-2 is closed to new pods", "kubectl uncordon node-2"),
    "group too small": (
        lambda: situation(*unplaced(nodes=3)), "capacity", "it wants 3 nodes, and 2 of trn1-32xl are ready: the stack asks for 2", "trn scale dev trn1-32xl 3",
    ),
    "no capacity": (lambda: situation(*unplaced(), nodes=(node(1),)), "capacity", "AWS has not given the 1 others", "trn status dev"),
    "node not ready": (lambda: situation(*unplaced(), nodes=(node(1), node(2, ready=False))), "capacity", "1 of trn1-32xl are ready", "trn status dev"),
    "nodes of a pool": (
        lambda: situation(
            _of_pool(), site=site(pools={"big": group("big", "trn1.32xlarge", size=0, is_pool=True)}), nodes=(),
        ),
        "capacity", "0 of big are ready; Karpenter makes the others", "kubectl get nodeclaims",
    ),
    "too few nodes that are in no group": (
        lambda: situation(*unplaced(GANG), site=None, nodes=(node(1),)), "gang", "it wants 2 nodes, and 1 would take its pods", "trn scale",
    ),
    "nodes in use": (
        lambda: situation(*unplaced(), others=(pod(item(), 7, at="node-2"),)), "busy", "1 of the 2 nodes that it wants are free", "trn jobs dev",
    ),
    "anything else": (lambda: situation(*unplaced("0/3 nodes are available: 3 node(s) had volume node affinity conflict.")), "scheduler", "volume node affinity conflict", "kubectl get nodes"),
    "image": (
        lambda: situation(*placed(waiting("ErrImagePull", "not found"))), "image", "bert-worker-0 cannot pull the image registry.example/bert:1: not found", "`image`",
    ),
    "image, backing off": (
        lambda: situation(*placed(waiting("ImagePullBackOff", "Back-off pulling image")), events=(event("Failed", NOT_FOUND, "bert-worker-0"),)),
        "image", "code = NotFound", "trn cancel dev bert",
    ),
    "mount": (
        lambda: situation(*placed(waiting("ContainerCreating", "")), events=(event("FailedMount", "MountVolume.SetUp failed", "bert-worker-0"),)),
        "mount", "a volume cannot be mounted: MountVolume.SetUp failed", "trn status dev",
    ),
    "container": (
        lambda: situation(*placed(waiting("CreateContainerConfigError", 'secret "x" not found'))), "container", 'bert-worker-0 cannot start: secret "x" not found', "describe pod bert-worker-0",
    ),
    "driver": (
        lambda: situation(*placed(ended(1), "Restarting"), site=site(node_groups={"trn1-32xl": OLD})),
        "driver", "xla-2.30 does not start on the driver", "`nodeGroups.trn1-32xl.releaseVersion`",
    ),
    "failed": (lambda: situation(*placed(ended(3), "Failed")), "failed", "bert-worker-0 ended with exit code 3", "trn logs dev bert"),
    "out of memory": (lambda: situation(*placed(ended(137, "OOMKilled"), "Failed")), "failed", "ended for want of memory", "smaller batches"),
    "a file that is not there": (
        lambda: situation(*placed(ended(127, message="there is no file train.py in the pod"), "Failed")),
        "failed", "ended with exit code 127: there is no file train.py in the pod", "`trn run`",
    ),
    "hung": (lambda: situation(*placed(ended(124), "Restarting")), "failed", "made no step", "trn logs"),
    "failed without pods": (lambda: situation(item(phase="Failed")), "failed", "it has failed, and its pods are gone", "trn logs"),
    "stopped": (lambda: situation(item(phase="Aborted")), "stopped", "it holds nothing", "trn cancel dev bert"),
}  # fmt: skip


def _suspended(kueue: str = "") -> Any:
    made = item()
    made["spec"]["suspend"] = True
    made["metadata"]["labels"] |= {"kueue.x-k8s.io/queue-name": kueue} if kueue else {}
    return made


def _of_pool() -> Any:
    return item(site(pools={"big": group("big", "trn1.32xlarge", size=0, is_pool=True)}), pool="big")


@pytest.mark.parametrize("case", CAUSES)
def test_each_thing_that_is_wrong_has_one_cause_and_a_next_command(case: str):
    """The name, the sentence and the command."""
    make, name, what, do = CAUSES[case]
    found = cause(make())
    assert found is not None
    assert (found.name, what in found.what, do in found.do) == (name, True, True), found


def test_every_rule_has_a_case():
    """Each rule yields something for at least one of the cases above."""
    made = [make() for make, *_ in CAUSES.values()]
    assert [rule.__name__ for rule in WAITING if not any(list(rule(each)) for each in made)] == []


@pytest.mark.parametrize("phase", ["Running", "Completed", "Terminating"])
def test_a_job_that_runs_or_has_succeeded_has_no_cause(phase: str):
    """Whatever its old events say."""
    assert cause(situation(item(phase=phase), events=(event("FailedCreate", SILENT),))) is None


def test_a_job_of_which_nothing_is_known_yet_has_no_cause():
    """It was submitted a moment ago."""
    assert cause(situation()) is None


def test_what_must_be_fixed_first_comes_first():
    """A closed queue, a claim that is not there and a wrong image: the queue, then the claim."""
    made, pods = placed(waiting("ErrImagePull", "no"))
    unplaced_pod = pod(made, 1, message=UNBOUND)
    wrong: dict[str, Any] = {"claims": {}, "group": pod_group(), "queues": queue("Closed")}
    assert getattr(cause(situation(made, (pods[0], unplaced_pod), **wrong)), "name", "") == "queue"
    assert getattr(cause(situation(made, (pods[0], unplaced_pod), **wrong | {"queues": queue()})), "name", "") == "claim"
    assert getattr(cause(situation(made, pods)), "name", "") == "image"


def test_old_refusals_do_not_count_once_the_pods_are_there():
    """Events stay for an hour."""
    found = cause(situation(*unplaced(), nodes=(node(1),), events=(event("FailedCreate", SILENT),)))
    assert found is not None
    assert found.name == "capacity"


def test_a_claim_that_waits_for_its_first_pod_is_no_cause():
    """Its class binds it when the pod is placed, so the scheduler does not complain of it."""
    assert cause(situation(item(), (pod(item(), 0, at="node-1"),), claims=PENDING, nodes=(node(1), node(2)))) is None


def test_a_pod_that_has_ended_holds_no_node():
    """Nor does it say that nodes are in use."""
    over = pod(item(), 7, at="node-2", status=ended(0))
    found = cause(situation(*unplaced(), others=(over,)))
    assert found is None or found.name != "busy"


def test_events_belong_to_the_job_with_the_longest_name_that_fits():
    """`bert-2-worker-0` is a pod of bert-2, where there is one."""
    about = event("Failed", "x", "bert-2-worker-0")
    assert is_event_of(about, "bert-2", ["bert", "bert-2"])
    assert not is_event_of(about, "bert", ["bert", "bert-2"])
    assert is_event_of(about, "bert", ["bert"])
    assert not is_event_of(event("Failed", "x", "bertha"), "bert", ["bert"])


@pytest.mark.parametrize(
    ("toleration", "holds"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "dedicated", "operator": "Exists"}, True),
        ({"key": "dedicated", "value": "other"}, True),
        ({"key": "dedicated", "operator": "Equal", "value": "mine"}, False),
        ({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "another", "operator": "Exists"}, False),
    ],
)
def test_tolerations_are_read_as_kubernetes_reads_them(toleration: dict[str, Any], holds: bool):
    """Kubernetes, core/v1 Toleration.ToleratesTaint."""
    assert (untolerated({"tolerations": [toleration]}, node(1, taints=[DEDICATED])) is None) == holds
