"""A SageMaker training job: AWS's own instances in the stack's network, with the stack's file system, the same image and entry script.

The request brings the scripts along as hyperparameters, which SageMaker writes into a file of the container; source of limits and
places: botocore's model of SageMaker, and the SageMaker guide, how SageMaker provides training information.
"""

import base64
import gzip
import json
from collections.abc import Iterator
from typing import Any

from facts.problems import Problem
from training.account import Account, needed
from training.duration import seconds
from training.environment import environment
from training.job import Job
from training.launchers.base import Document, Launcher, no_objects
from training.launchers.parallelcluster import own_file_system
from training.launchers.slurm import whole_nodes
from training.payload import files
from training.phase import Phase
from training.plan import image_of, nodes_of, plan, toolchain_of
from training.pod import job_pod
from training.site import Site

TYPES = ("trn1.2xlarge", "trn1.32xlarge", "trn1n.32xlarge", "trn2.48xlarge")
"""Instance types of training jobs (botocore, TrainingInstanceType); a test compares them."""
WORD_MAX, WORDS_MAX, PARAMETER_MAX, RETRIES_MAX = 256, 100, 2500, 30
DEFAULT_LIMIT_S = 5 * 24 * 3600
"""Where the job has no limit: SageMaker wants one, and this is the quota of an account that asked for no more."""
VOLUME_GIB = 200
"""For the image and /tmp; instances with disks of their own use those (SageMaker API, ResourceConfig)."""
CHANNEL = "fsx"
PREFIX = "trn-files-"
UNPACK = (
    "import base64 as b,gzip,json,os;h=json.load(open('/opt/ml/input/config/hyperparameters.json'));"
    f"t=''.join(h[k] for k in sorted(h) if k[:10]=='{PREFIX}');os.makedirs('/trn',exist_ok=True);"
    "[open('/trn/'+n,'w').write(s) for n,s in json.loads(gzip.decompress(b.b64decode(t))).items()]"
)
START = 'python3 -c "$1$2"; [ -z "$3" ] || ln -sfn "$3" "$4"; shift 4; exec "$@"'
"""Writes the scripts to /trn, makes the file system appear where the job expects it, and becomes the entry script."""


def parameters(recipe: str | None) -> dict[str, str]:
    """The files as hyperparameters, in pieces of which each may have 2,500 letters."""
    packed = base64.b64encode(gzip.compress(json.dumps(files(recipe)).encode(), mtime=0)).decode()
    pieces = (packed[start : start + PARAMETER_MAX] for start in range(0, len(packed), PARAMETER_MAX))
    return {f"{PREFIX}{index:03}": piece for index, piece in enumerate(pieces)}


def request(job: Job, site: Site) -> dict[str, Any]:
    """The body of CreateTrainingJob."""
    found = plan(job, site)
    account = found.site.account
    assert account is not None
    path = found.mounts[0].path if found.mounts and account.file_system_id is not None else ""
    source = f"/opt/ml/input/data/{CHANNEL}" if path else ""
    body: dict[str, Any] = {
        "TrainingJobName": job.name,
        "RoleArn": account.role_arn,
        "AlgorithmSpecification": {
            "TrainingImage": found.image,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["bash", "-ec", START, "trn", UNPACK[:WORD_MAX], UNPACK[WORD_MAX:], source, path],
            "ContainerArguments": list(job_pod(found).command),
        },
        "Environment": environment(found),
        "HyperParameters": parameters(job.recipe),
        "ResourceConfig": {"InstanceType": f"ml.{found.nodes.instance.name}", "InstanceCount": job.nodes, "VolumeSizeInGB": VOLUME_GIB},
        "VpcConfig": {"Subnets": [account.subnet_id], "SecurityGroupIds": list(account.security_group_ids)},
        "OutputDataConfig": {"S3OutputPath": account.s3_uri},
        "StoppingCondition": {"MaxRuntimeInSeconds": seconds(job.time_limit) if job.time_limit is not None else DEFAULT_LIMIT_S},
    }
    if path:
        body["InputDataConfig"] = [{"ChannelName": CHANNEL, "DataSource": {"FileSystemDataSource": _file_system(account)}}]
    if job.restarts.max:
        body["RetryStrategy"] = {"MaximumRetryAttempts": min(job.restarts.max, RETRIES_MAX)}
    return body


def _file_system(account: Account) -> dict[str, str]:
    return {
        "FileSystemId": account.file_system_id or "",
        "FileSystemType": "FSxLustre",
        "DirectoryPath": f"/{account.file_system_mount_name}",
        "FileSystemAccessMode": "rw",
    }


def documents(job: Job, site: Site) -> list[Document]:
    """The request."""
    name = f"{job.name}.training-job.json"
    command = f"aws sagemaker create-training-job --region {site.region} --cli-input-json file://{name}"
    return [Document(name, json.dumps(request(job, site), indent=2) + "\n", command)]


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """Ids, instance types, images, and the limits of the request."""
    keys = ["roleArn", "s3Uri"]
    if site.account is not None and site.account.file_system_id is not None:
        keys.append("fileSystemMountName")
    yield from needed(site, "SageMaker", *keys)
    yield from whole_nodes(job, "SageMaker gives a job its instances as a whole")
    yield from own_file_system(job, "SageMaker")
    nodes = nodes_of(job, site)
    if nodes is not None and nodes.instance.name not in TYPES:
        hint = "name a node group of one of these types"
        yield Problem("nodeGroup", nodes.name, f"SageMaker trains on no {nodes.instance.name}", ", ".join(TYPES), hint)
    image = image_of(job, site, toolchain_of(job, site))
    if image is not None and ".dkr.ecr." not in image:
        hint = "push the image to ECR, and name it under `image`, or set `addons.mirror` to a registry of ECR's with copies of the images"
        yield Problem(
            "image",
            image,
            "SageMaker takes images from ECR's private registries only",
            "ACCOUNT.dkr.ecr.REGION.amazonaws.com/NAME:TAG",
            hint,
        )
    words = (*job.command, *job.args)
    if len(words) > WORDS_MAX - 3 or any(len(word) > WORD_MAX for word in words):
        allowed = f"{WORDS_MAX - 3} words of {WORD_MAX} letters"
        yield missing_room("command", allowed)
    if any(len(value) > 512 for value in job.environment.values()):
        yield missing_room("environment", "values of 512 letters")


def missing_room(path: str, allowed: str) -> Problem:
    """What is too long for the request."""
    return Problem(path, "...", "too long for a request of SageMaker's", allowed, "put it into a script on the file system")


_PHASES = {
    "InProgress": Phase.RUNNING,
    "Completed": Phase.SUCCEEDED,
    "Failed": Phase.FAILED,
    "Stopping": Phase.STOPPING,
    "Stopped": Phase.STOPPED,
}
_WAITING = frozenset({"Starting", "Pending", "LaunchingMLInstances", "PreparingTrainingStack", "Downloading", "DownloadingTrainingImage"})


def phase(status: Any) -> Phase:
    """State of a job as DescribeTrainingJob has it: `InProgress` also before there is an instance."""
    status = status or {}
    found = _PHASES.get(status.get("TrainingJobStatus", ""), Phase.WAITING)
    if found is not Phase.RUNNING:
        return found
    second = status.get("SecondaryStatus")
    return Phase.RESTARTING if second == "Restarting" else Phase.WAITING if second in _WAITING else Phase.RUNNING


LAUNCHER = Launcher(
    name="sagemaker",
    title="SageMaker training job",
    takes_source=("image",),
    take_it="nodes are to exist for one job only, and to be AWS's to start, to watch and to end",
    lacks=(
        "the stack's nodes: it has instances of its own, at its own price and quota",
        "the driver: SageMaker's hosts bring theirs, and nothing here checks the toolchain against it",
        "restarts after a failure of the script: `restarts.max` holds for errors of SageMaker's only",
        "more than one mount: the stack's file system, on its first path",
        "a second job of the name in the account and region, also when the first has ended",
    ),
    restarts=(
        "SageMaker starts a job again after errors of its own only, `restarts.max` times and at most 30 (`RetryStrategy`). A "
        "script that fails ends the job: submit it again under another name, and it resumes from its checkpoints."
    ),
    tried=(
        "Not run: SageMaker is AWS's alone. Its request is valid against botocore's model, and the entry script reads its "
        "variables (`tests/training`)."
    ),
    status="`TrainingJobStatus` of DescribeTrainingJob; `InProgress` is `waiting` or `restarting` where `SecondaryStatus` says so.",
    states=_PHASES,
    sources=(
        "SageMaker API, CreateTrainingJob and DescribeTrainingJob (botocore's model)",
        "SageMaker guide, how SageMaker provides training information",
    ),
    needs=(
        "`--account FILE` with `roleArn`, `s3Uri` and the network's ids",
        "an image in a private registry of ECR's",
    ),
    render=no_objects,
    phase=phase,
    documents=documents,
    problems=problems,
)
