"""PyTorchJob of the training operator 1.9: a master and workers, each with a name of its own. For jobs and tools that expect it."""

from collections.abc import Iterator

from facts.kubernetes_kinds import Resource
from facts.problems import Problem
from training.job import Job
from training.launchers.base import Launcher
from training.launchers.kubeflow import CONDITIONS, groups_itself, kubeflow_phase, no_exit_codes, operator_template, run_policy
from training.launchers.parts import metadata, own_objects, pod_group
from training.plan import plan
from training.pod import Object
from training.site import Site

ADDON = "trainingOperator"
CONTAINER = "pytorch"
"""The name by which the operator finds the container to give variables to."""


def render(job: Job, site: Site) -> list[Object]:
    """The files, the gang unless the operator makes it, and the PyTorchJob."""
    found = plan(job, site)
    replica: Object = operator_template(found, container=CONTAINER, gang=groups_itself(found, ADDON))
    replicas: Object = {"Master": {"replicas": 1, **replica}}
    if job.nodes > 1:
        replicas["Worker"] = {"replicas": job.nodes - 1, **replica}
    spec: Object = {
        # Of torchrun where the operator's own variables start it; the entry script takes its own.
        "nprocPerNode": str(found.workers_per_node),
        "runPolicy": run_policy(found),
        "pytorchReplicaSpecs": replicas,
    }
    made = {"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": metadata(found), "spec": spec}
    return [*own_objects(found), *([pod_group(found)] if groups_itself(found, ADDON) else []), made]


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """What the operator does not offer."""
    yield from no_exit_codes(job, "PyTorchJob")


LAUNCHER = Launcher(
    name="pytorchjob",
    title="PyTorchJob",
    take_it="tools or habits of yours expect PyTorchJobs; their operator is frozen, new jobs are better TrainJobs",
    lacks=(
        "exit codes that end the job",
        "restarts of the whole gang: a container that fails is started again in its pod, and the others must notice and fail too",
        "a job that fails when its master succeeds and another pod does not: the master decides",
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
    sources=("kubeflow/training-operator v1.9 pkg/core/job.go, pkg/controller.v1/common, pkg/controller.v1/pytorch",),
    render=render,
    phase=kubeflow_phase,
    resource=Resource("PyTorchJob", "/apis/kubeflow.org/v1", "pytorchjobs"),
    addon=ADDON,
    problems=problems,
)
