"""TFJob of the training operator 1.9: TensorFlow's roles as pods. The operator writes TF_CONFIG.

Without parameter servers all pods are workers of MultiWorkerMirroredStrategy, which trains by all-reduce, in step. With them there are
a chief, workers and servers of ParameterServerStrategy, in which workers train each at its own pace.
"""

from collections.abc import Iterator

from facts.kubernetes_kinds import Resource
from facts.problems import Problem, missing
from training.job import NO_TOOLCHAIN, Job
from training.launchers.base import Launcher
from training.launchers.kubeflow import CONDITIONS, groups_itself, kubeflow_phase, no_exit_codes, operator_template, run_policy
from training.launchers.parts import metadata, own_objects, pod_group
from training.plan import plan, toolchain_of
from training.pod import Object
from training.site import Site

ADDON = "trainingOperator"
CONTAINER = "tensorflow"
"""The name by which the operator finds the container to give TF_CONFIG to."""


def roles(job: Job) -> dict[str, int]:
    """Pods by role. A chief only where there are servers: without one, worker 0 is it."""
    if not job.parameter_servers:
        return {"Worker": job.nodes}
    return {"Chief": 1, "Worker": job.nodes - 1 - job.parameter_servers, "PS": job.parameter_servers}


def render(job: Job, site: Site) -> list[Object]:
    """The files, the gang unless the operator makes it, and the TFJob."""
    found = plan(job, site)
    replica: Object = operator_template(found, container=CONTAINER, gang=groups_itself(found, ADDON))
    spec: Object = {
        # With a chief, it decides; without one all workers must end well.
        "successPolicy": "" if job.parameter_servers else "AllWorkers",
        "runPolicy": run_policy(found),
        "tfReplicaSpecs": {role: {"replicas": count, **replica} for role, count in roles(job).items()},
    }
    made = {"apiVersion": "kubeflow.org/v1", "kind": "TFJob", "metadata": metadata(found), "spec": spec}
    return [*own_objects(found), *([pod_group(found)] if groups_itself(found, ADDON) else []), made]


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """A pod is one task of TensorFlow, and no toolchain brings TensorFlow."""
    yield from no_exit_codes(job, "TFJob")
    if job.start != "tensorflow":
        yield missing("start", "a TFJob is started as TensorFlow expects it", hint="set `start: tensorflow`, or take another launcher")
    if toolchain_of(job, site) is not None:
        wrong = "a TFJob runs TensorFlow, which no toolchain brings"
        yield missing("toolchain", wrong, hint=f"set `toolchain: {NO_TOOLCHAIN}`, and `image` to one with TensorFlow")
    if (job.workers_per_node or 1) != 1:
        hint = "leave `workersPerNode` out: TensorFlow uses all devices of its node from one process"
        yield Problem("workersPerNode", job.workers_per_node, "a pod of a TFJob is one task of TensorFlow", "1", hint)


LAUNCHER = Launcher(
    name="tfjob",
    title="TFJob",
    take_it="a script of TensorFlow's is to be run as it is, with parameter servers or in step",
    lacks=(
        "Neuron: AWS publishes no TensorFlow for Trainium that is kept up, the image is yours",
        "exit codes that end the job",
        "parameter servers on smaller nodes: each takes one of the job's nodes",
        "more than one process for a node",
    ),
    restarts=(
        "`restartPolicy: OnFailure`: kubelet starts a container that fails again in its pod, and the workers of the other pods "
        "notice, fail and start again too. The operator adds up the restarts of all containers and ends the job when the sum "
        "reaches `backoffLimit`, which is `restarts.max` times the nodes, and one more."
    ),
    tried=(
        "Run in the tests by the training operator on fake Trainium nodes whose pods are processes: it trains, loses a worker "
        "and a node, and ends with the same loss as by the others (`tests/kubernetes/test_launchers.py`)."
    ),
    status="`status.conditions`, of which the first of the table that is `True` decides.",
    states=CONDITIONS,
    sources=("kubeflow/training-operator v1.9 pkg/core/job.go, pkg/controller.v1/common, pkg/controller.v1/tensorflow",),
    needs=("an image with TensorFlow",),
    render=render,
    phase=kubeflow_phase,
    resource=Resource("TFJob", "/apis/kubeflow.org/v1", "tfjobs"),
    addon=ADDON,
    problems=problems,
)
