"""Kubeflow Trainer's runtimes: for each toolchain the pod of training, which a TrainJob completes with its command, nodes and devices."""

from facts.names import VOLCANO_SCHEDULER
from facts.toolchains import Framework, Toolchain
from training.environment import neuron_environment
from training.job import SHARED_PATH
from training.plan import Mounted
from training.pod import SHARED_MEMORY_GIB_MAX, Object, Pod, pod_spec

CONTAINER = "node"
"""Name by which Trainer's controller finds the container, and the job of the set that trains."""
ANCESTOR = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
FRAMEWORKS: dict[Framework, str] = {"torch-xla": "torch", "torch": "torch", "jax": "jax"}
"""Trainer's word, which is also the key of the policy that sets what the processes find each other by."""
GRACE_S = 300
"""For a checkpoint, when a pod is asked to stop."""


def runtime_name(toolchain: str) -> str:
    """Name of the ClusterTrainingRuntime of a toolchain."""
    return f"neuron-{toolchain}"


def runtime_labels(toolchain: Toolchain) -> dict[str, str]:
    """Trainer's SDK shows runtimes by the first."""
    return {"trainer.kubeflow.org/framework": FRAMEWORKS[toolchain.framework], "trn/toolchain": toolchain.name}


def runtime_spec(toolchain: Toolchain, image: str, claim: str | None, *, gang: bool) -> Object:
    """`spec` of the ClusterTrainingRuntime.

    `gang`: Volcano starts all pods of a TrainJob together, or none; without it, two jobs that each get half of the nodes wait for each
    other for ever. A TrainJob says nodes, command, the devices of each node, and `numProcPerNode`: without it Trainer counts CPUs.
    """
    cache = f"{SHARED_PATH}/neuron-compile-cache/{toolchain.name}" if claim is not None else None
    pod = Pod(
        image=image,
        # JAX is not started by torchrun: its TrainJobs name their own command.
        command=("torchrun",) if toolchain.start == "torchrun" else (),
        environment=neuron_environment(toolchain.start, efa=True, cache=cache),
        cpu=None,
        memory=None,
        mounts=(Mounted(claim, SHARED_PATH),) if claim is not None else (),
        shared_memory_gib=SHARED_MEMORY_GIB_MAX,
        grace_s=GRACE_S,
        container=CONTAINER,
    )
    spec = pod_spec(pod)
    if gang:
        # The policy below makes the PodGroup and marks the pods with it, and leaves their scheduler as it is
        # (kubeflow/trainer v2.3.0 pkg/runtime/framework/plugins/volcano/volcano.go, EnforcePodGroupPolicy).
        spec["schedulerName"] = VOLCANO_SCHEDULER
    job = {
        "name": CONTAINER,
        "template": {"metadata": {"labels": ANCESTOR}, "spec": {"backoffLimit": 0, "template": {"spec": spec}}},
    }
    return {
        "mlPolicy": {"numNodes": 1, FRAMEWORKS[toolchain.framework]: {}},
        **({"podGroupPolicy": {"volcano": {}}} if gang else {}),
        "template": {"spec": {"network": {"publishNotReadyAddresses": True}, "replicatedJobs": [job]}},
    }
