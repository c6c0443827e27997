"""All-reduce across all nodes of a group with nccom-test: right, and how fast."""

from collections.abc import Iterator
from dataclasses import dataclass

from facts.catalogue import InstanceType
from facts.typed import typed
from training.environment import neuron_environment
from training.pod import Pod
from trn.cli.findings import Finding, failed, passed, skipped, warned
from trn.kubernetes.client import Object
from trn.running.subject import core_count, efa_count, hardware
from trn.running.verify.jobs import volcano_job
from trn.running.verify.stage import Nodes, Stage, Trial, hindrance, last_lines, phase, queue, state, states, whole_nodes

CHECK, TEST = "collectives", "trn-verify-collectives"
LIMIT_S, LIFE_S = 1800, 2100
"""An image of more than 10 GB comes first."""
RUN_S = 600
"""Of each of the two runs of nccom-test."""
SCRIPT = """
hosts=(${VC_WORKER_HOSTS//,/ })
nodes=${#hosts[@]}
options=(-r $RANKS -d fp32 --non-interactive)
if [ "$nodes" -gt 1 ]; then
  mkdir -p /run/sshd
  ssh-keygen -A
  # A session of sshd knows nothing of the container's environment.
  passed=$(env | grep -E '^(PATH|LD_LIBRARY_PATH|FI_|CCOM_|NEURON_)' | tr '\\n' ' ')
  "$(command -v sshd)" -o "SetEnv=$passed" || exit 1
  if [ "$VC_TASK_INDEX" != 0 ]; then
    exec sleep infinity
  fi
  addresses=()
  for host in "${hosts[@]}"; do
    until ssh -o ConnectTimeout=5 -o BatchMode=yes "$host" true; do sleep 2; done
    addresses+=($(getent hosts "$host" | awk '{print $1; exit}'))
  done
  export NEURON_RT_ROOT_COMM_ID=${addresses[0]}:63182
  options+=(-N $nodes --data-collector-host ${addresses[0]} --hosts ${addresses[@]})
fi
echo "runtime $(dpkg-query -W -f '${Version}' aws-neuronx-runtime-lib)"
timeout $RUN_S nccom-test allr -b 32MB -e 32MB -n 5 -w 1 "${options[@]}" --check &&
timeout $RUN_S nccom-test allr -b 1GB -e 1GB -n 20 -w 5 "${options[@]}"
"""
"""The first pod asks mpirun to start ranks on all; the others wait for it. First 32 MB with their sums checked, then 1 GiB for the time.

Hosts and ssh keys are those of Volcano's plug-ins `svc`, `env` and `ssh`; nccom-test's options as in aws/aws-k8s-tester
test/cases/neuron/manifests/multi-node-test-neuron.yaml.
"""
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
GIB = 2**30
GB_PER_GIB = 2**30 / 10**9
EXAMPLES_GB_PER_S = {"trn1.32xlarge": 23.92 * GB_PER_GIB}
"""Algorithm bandwidth of an all-reduce of 1 GiB by AWS's own example, two instances of 32 ranks, which prints 23.92 GiB/s for 41,806 us
(aws-neuron/aws-neuron-sdk tools/neuron-sys-tools/nccom-test.rst, 2026-08-21). The page names no instance type (inferred from the ranks) and warns that its figures
are not kept up to date, so nothing is judged by it. None is published for the other types."""
FRACTION = 0.15
"""Below this share of the bound it warns. AWS's example reaches 26 % of its own; one of the eight interfaces of a trn1.32xlarge alone would
carry 12.5 %."""
PLUGINS = {"svc": ["--publish-not-ready-addresses"], "env": [], "ssh": []}


def check(stage: Stage) -> Iterator[Finding | Trial]:
    """Group by group: instances of two types form no ring."""
    if hindered := list(hindrance(stage, CHECK)):
        yield from hindered
        return
    image = stage.training_image
    if image is None:
        do = "set `training.toolchain` to one with an image, or name one with --image that has nccom-test, Open MPI and sshd"
        yield failed(CHECK, "could not check: no image with nccom-test is known for this stack", do)
        return
    for number, nodes in enumerate(whole_nodes(stage.subject)):
        yield from _of_group(stage, f"{TEST}-{number}", nodes, image)


def _of_group(stage: Stage, test: str, nodes: Nodes, image: str) -> Iterator[Finding | Trial]:
    efa = efa_count(nodes.settings) > 0
    if nodes.count > 1 and not efa:
        yield skipped(CHECK, f"{nodes.group} has no EFA: only within one of its nodes")
    count = nodes.count if efa else 1
    what = f"{nodes.group}, {count} x {nodes.settings.instance_type}, {count * core_count(nodes.settings)} ranks"

    def shown(pods: list[Object]) -> Iterator[Finding]:
        first = first_ended(pods, test)
        if first is not None:
            yield judged(what, nodes, count, first, stage.log(first))
            return
        said = f"; the first said: {last_lines(stage.log(pods[0]))}" if pods and phase(pods[0]) == "Running" else ""
        do = f"`kubectl -n {stage.namespace} describe pods -l trn/verify-test={test}` while it runs again"
        yield failed(CHECK, f"{what}: no end within {LIMIT_S} s: {states(pods)}{said}", do)

    body, over = job(stage, test, nodes, count, image), lambda pods: first_ended(pods, test) is not None
    templates = nodes.templates(test, stage.namespace, body["metadata"]["labels"])
    yield Trial(CHECK, body, LIMIT_S, over, shown, lambda: hindrance(stage, CHECK), templates)


def first_ended(pods: list[Object], test: str) -> Object | None:
    """The pod that measures, when it has ended; or any that failed, for then no ring comes about."""
    ends = [pod for pod in pods if phase(pod) == "Failed" or (phase(pod) == "Succeeded" and pod["metadata"]["name"] == f"{test}-worker-0")]
    return ends[0] if ends else None


def job(stage: Stage, test: str, nodes: Nodes, count: int, image: str) -> Object:
    """The Volcano Job: one pod for each node, with all its devices."""
    efa, size = efa_count(nodes.settings) > 0, nodes.settings.logical_core_size
    pod = Pod(
        image=image,
        command=("bash", "-c", SCRIPT),
        life_s=LIFE_S,
        groups=(nodes.group,),
        devices=nodes.devices,
        claim=nodes.claim(test),
        # Small enough for the smallest type; there is no limit.
        cpu="1",
        memory="4Gi",
        environment={
            **neuron_environment("none", efa=efa, logical_core_size=size),
            **AS_ROOT,
            "RANKS": str(count * core_count(nodes.settings)),
            "RUN_S": str(RUN_S),
        },
        shared_memory_gib=0,
    )
    return volcano_job(test, stage.namespace, stage.cluster, queue(stage.subject.settings), {"worker": (count, pod)}, PLUGINS)


def judged(what: str, nodes: Nodes, count: int, pod: Object, log: str) -> Finding:
    """What nccom-test said, beside what is expected."""
    reached = next((row.algorithm_gb_per_s for row in rows(log) if row.size == GIB), None)
    if phase(pod) != "Succeeded" or reached is None:
        do = f"the driver and EFA findings above first; then nccom-test by hand in `{typed('trn shell --neuron')}`"
        return failed(CHECK, f"{what}: nccom-test failed: {state(pod)}: {last_lines(log)}", do)
    text = f"{what}: all-reduce of 1 GiB at {reached:.1f} GB/s (algorithm bandwidth)"
    if count == 1:
        return passed(CHECK, f"{text}, within one node; no figure is published to compare with")
    bound = bound_gb_per_s(hardware(nodes.settings), count)
    beside = f"the interfaces carry {bound:.0f} at most (a bound, not a promise)"
    example = EXAMPLES_GB_PER_S.get(nodes.settings.instance_type)
    if example is not None:
        beside = f"AWS's example of two such nodes shows {example:.1f}, {beside}"
    if reached < FRACTION * bound:
        do = "look for a node with fewer EFA interfaces, nodes in different places (a placement group), or another job on the wire"
        return warned(CHECK, f"{text}; {beside}: less than {FRACTION:.0%} of it", do)
    return passed(CHECK, f"{text}; {beside}")


@dataclass(frozen=True)
class Row:
    """One line of nccom-test's table."""

    size: int
    """Bytes."""
    algorithm_gb_per_s: float
    """Size by time, 10^9 bytes."""


def bound_gb_per_s(instance: InstanceType, node_count: int) -> float:
    """Most that the interfaces let through: every node sends and receives 2 (n - 1) / n of the data.

    The factor is that of nccom-test's guide for All-Reduce among ranks, taken for nodes (inferred).
    """
    return instance.network_gbps / 8 / (2 * (node_count - 1) / node_count)


def rows(text: str) -> Iterator[Row]:
    """Lines of the table in what nccom-test prints. Columns differ between releases and are found by their heads.

    Its head says GB/s, and its guide and the times beside the figures say that they are GiB/s.
    """
    heads: list[str] = []
    for line in text.splitlines():
        words = line.split()
        if "algbw(GB/s)" in words:
            heads = words
        elif heads and len(words) == len(heads) and words[0].isdigit():
            cells = dict(zip(heads, words, strict=True))
            yield Row(int(cells["size(B)"]), float(cells["algbw(GB/s)"]) * GB_PER_GIB)
