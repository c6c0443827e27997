"""TorchX's component of this program: the pod that every launcher makes, in TorchX's words, for its Kubernetes scheduler, which makes a Volcano Job."""

import base64
import gzip
import json
from pathlib import Path

import torchx.specs as specs  # pyright: ignore[reportMissingImports] - is in an extra
import yaml
from torchx.specs.overlays import set_overlay  # pyright: ignore[reportMissingImports]

from facts.catalogue import NEURON_TYPES
from facts.names import EFA_RESOURCE
from training.job import Job, parse_job
from training.payload import job_files
from training.plan import Plan, plan
from training.pod import job_pod, pod_spec
from training.site import Nodes, Site
from training.torchx.resources import neuron_resource

FILES = "TRN_FILES"
UNPACK = (
    "python3 -c \"import base64,gzip,json,os;os.makedirs('/trn',exist_ok=True);"
    f"[open('/trn/'+n,'w').write(t) for n,t in json.loads(gzip.decompress(base64.b64decode(os.environ.pop('{FILES}')))).items()]\"; "
    f'unset {FILES}; exec "$@"'
)
"""TorchX makes a Volcano Job and nothing beside it: the scripts, elsewhere in a ConfigMap, come as a variable."""


def trn_ddp(
    *command: str,
    name: str,
    image: str = "",
    toolchain: str = "xla-2.30",
    instance: str = "trn1.32xlarge",
    node_group: str = "trn1-32xl",
    nodes: int = 2,
    workers: int = 0,
    efa: bool = True,
    claim: str = "fsx-claim",
    mount: str = "/fsx",
    checkpoints: str = "",
    rendezvous: str = "c10d",
    etcd: str = "etcd-client:2379",
    retries: int = 3,
) -> specs.AppDef:
    """Data-parallel training on whole Neuron nodes.

    Args:
        command: what each worker runs, word by word
        name: name of the job, of its compile cache, and the beginning of what TorchX calls the Volcano Job
        image: image with a tag or a digest; the toolchain's own without it
        toolchain: what the image brings, a name of docs/toolchains.md or none
        instance: type of the nodes
        node_group: node group of the stack
        nodes: how many
        workers: processes on each node; as many as the toolchain takes without it
        efa: ask for all EFA interfaces of the node
        claim: claim of the shared file system; empty for none
        mount: where it is mounted
        checkpoints: folder of checkpoints on it
        rendezvous: how torchrun's agents meet, c10d at the first node or etcd by its v2 API
        etcd: HOST:PORT of etcd
        retries: how often all pods start again when one fails
    """
    keys = {
        "name": name, "command": list(command), "toolchain": toolchain, "nodes": nodes, "rendezvous": rendezvous, "restarts": {"max": retries},
        **({"image": image} if image else {}),
        **({"workersPerNode": workers} if workers else {}),
        **({"checkpoints": {"path": checkpoints}} if checkpoints else {}),
        "mounts": [{"path": mount}] if claim else [],
    }  # fmt: skip
    group = Nodes(node_group, NEURON_TYPES[instance], nodes, nodes, uses_efa=efa and NEURON_TYPES[instance].has_efa)
    # TorchX's scheduler names cluster, namespace and queue.
    site = Site("", "", "", "", claim or None, {node_group: group}, etcd=etcd)
    return app_def(parse_job(keys), site)


def trn_job(
    *,
    job: str,
    instance: str,
    node_group: str = "",
    pool: str = "",
    efa: bool = True,
    logical_core_size: int = 0,
    toolchain: str = "",
    image: str = "",
    claim: str = "",
    etcd: str = "",
) -> specs.AppDef:
    """A job file as the other launchers take it, on one node group or pool of a stack.

    Args:
        job: path of the job file, or the job as JSON
        instance: type of the nodes
        node_group: node group of the stack, where it is no pool
        pool: Karpenter pool of the stack
        efa: whether the nodes have EFA interfaces
        logical_core_size: physical cores of a logical one where the stack sets it; 0 for the chip's own
        toolchain: the stack's, for a job that names none
        image: in place of the job's and of the toolchain's, such as a copy of it
        claim: claim of the shared file system; empty for none
        etcd: HOST:PORT of the stack's etcd; empty for none
    """
    text = job if job.lstrip().startswith("{") else Path(job).read_text()
    made = parse_job(yaml.safe_load(text), "the job" if text is job else job)
    nodes = Nodes(
        pool or node_group, NEURON_TYPES[instance], made.nodes, made.nodes,
        uses_efa=efa and NEURON_TYPES[instance].has_efa, logical_core_size=logical_core_size or None, is_pool=bool(pool),
    )  # fmt: skip
    groups, pools = ({}, {pool: nodes}) if pool else ({node_group: nodes}, {})
    # TorchX's scheduler names cluster, namespace and queue.
    site = Site("", "", "", "", claim or None, groups, pools, toolchain=toolchain or None, etcd=etcd or None)
    return app_def(made.model_copy(update={"image": image}) if image else made, site)


def app_def(job: Job, site: Site) -> specs.AppDef:
    """One role with a replica for each node. Raises ValueError for a job that the site cannot run."""
    found = plan(job, site)
    pod = job_pod(found)
    packed = base64.b64encode(gzip.compress(json.dumps(job_files(job.recipe, site.source)).encode(), mtime=0)).decode()
    role = specs.Role(
        name="worker",
        image=found.image,
        entrypoint="bash",
        # A dollar of ours is no macro of TorchX's.
        args=[word.replace("$", "$$") for word in ("-ec", UNPACK, "trn", *pod.command)],
        env={**{key: value.replace("$", "$$") for key, value in pod.environment.items()}, FILES: packed},
        num_replicas=job.nodes,
        max_retries=job.restarts.max,
        retry_policy=specs.RetryPolicy.APPLICATION,
        resource=_resource(found),
        mounts=[specs.VolumeMount(src=each.claim, dst_path=each.path, read_only=each.read_only) for each in found.mounts],
    )
    spec = pod_spec(pod)
    # What a Role cannot say.
    kept = (
        "nodeSelector",
        "tolerations",
        "terminationGracePeriodSeconds",
        "automountServiceAccountToken",
        "activeDeadlineSeconds",
        "priorityClassName",
    )
    set_overlay(role, "kubernetes", "V1Pod", {"spec": {key: spec[key] for key in kept if key in spec}})
    return specs.AppDef(name=job.name, roles=[role])


def _resource(found: Plan) -> specs.Resource:
    resource = neuron_resource(found.nodes.instance.name, efa=found.nodes.uses_efa, chip_count=found.chip_count)
    if not found.interface_count:
        resource.devices.pop(EFA_RESOURCE, None)
    return resource
