"""AWS Batch on the stack's node groups: a job of one node, since Batch runs none of several on nodes that it does not start itself.

Source: botocore's model of Batch; Batch user guide, mnp-ce (no multi-node parallel jobs on unmanaged environments, which the add-on's
is) and eks-jobs.
"""

import json
from collections.abc import Iterator
from typing import Any

from facts.problems import Problem, missing
from training.duration import seconds
from training.job import RESUME_EXIT_CODE, Job
from training.launchers.base import Document, Launcher
from training.launchers.parts import STAYS, labels, metadata, no_claims
from training.payload import job_files
from training.phase import Phase
from training.plan import Plan, nodes_of, plan
from training.pod import Object, files_name, job_pod, pod_spec
from training.site import Site

ATTEMPTS_MAX = 10
"""Of one job, the first among them (Batch API, RetryStrategy)."""
RULES_MAX = 5
"""Of a retry strategy (Batch API, evaluateOnExit)."""
_PHASES = {
    "SUBMITTED": Phase.WAITING, "PENDING": Phase.WAITING, "RUNNABLE": Phase.WAITING, "STARTING": Phase.WAITING, "RUNNING": Phase.RUNNING,
    "SUCCEEDED": Phase.SUCCEEDED, "FAILED": Phase.FAILED,
}  # fmt: skip


def render(job: Job, site: Site) -> list[Object]:
    """The files, as a Secret: a pod of Batch's can mount no ConfigMap. Nothing in it is secret."""
    found = plan(job, site)
    return [
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": metadata(found, files_name(job.name)),
            "stringData": dict(job_files(job.recipe, site.source)),
        }
    ]


def definition(plan: Plan) -> dict[str, Any]:
    """The body of RegisterJobDefinition: the pod of every launcher in Batch's words."""
    job = plan.job
    spec = pod_spec(job_pod(plan))
    container = spec["containers"][0]
    resources = container["resources"]
    pod = {
        # Batch's own default is the node's network, on which two jobs cannot open the same port.
        "hostNetwork": False,
        "containers": [
            {
                "name": container["name"],
                "image": container["image"],
                "command": container["command"],
                "env": container["env"],
                # It wants memory alike in both, in whole Mi.
                "resources": {kind: {**found, "memory": f"{plan.share.memory_mib // 1024 * 1024}Mi"} for kind, found in resources.items()},
                "volumeMounts": container["volumeMounts"],
            }
        ],
        "volumes": [_volume(volume) for volume in spec["volumes"]],
        "metadata": {"labels": labels(plan), "annotations": dict(STAYS)},
    }
    body: dict[str, Any] = {"jobDefinitionName": job.name, "type": "container", "eksProperties": {"podProperties": pod}}
    if job.restarts.max:
        body["retryStrategy"] = {"attempts": job.restarts.max + 1, **_rules(job)}
    if job.time_limit is not None:
        body["timeout"] = {"attemptDurationSeconds": seconds(job.time_limit)}
    return body


def _volume(volume: Object) -> Object:
    """One volume in Batch's words."""
    if "configMap" in volume:
        return {"name": volume["name"], "secret": {"secretName": volume["configMap"]["name"]}}
    return volume


def _rules(job: Job) -> dict[str, Any]:
    """Which exit codes are tried again."""
    codes = sorted({RESUME_EXIT_CODE, *job.restarts.exit_codes}) if job.restarts.exit_codes else []
    rules = [{"onExitCode": str(code), "action": "RETRY"} for code in codes]
    return {"evaluateOnExit": [*rules, {"onExitCode": "*", "action": "EXIT"}]} if rules else {}


def documents(job: Job, site: Site) -> list[Document]:
    """The job definition, and the job. The add-on's queue bears the cluster's name."""
    found = plan(job, site)
    submission = {"jobName": job.name, "jobQueue": site.cluster, "jobDefinition": job.name}
    return [
        _request(f"{job.name}.job-definition.json", definition(found), "register-job-definition", site.region),
        _request(f"{job.name}.job.json", submission, "submit-job", site.region),
    ]


def _request(name: str, body: dict[str, Any], command: str, region: str) -> Document:
    return Document(name, json.dumps(body, indent=2) + "\n", f"aws batch {command} --region {region} --cli-input-json file://{name}")


def problems(job: Job, site: Site) -> Iterator[Problem]:
    """One node, and what Batch's pods and retries can say."""
    yield from no_claims(site, "a pod of AWS Batch's has none (Batch API, EksPodProperties)")
    if nodes_of(job, site) is None:
        yield missing("launcher", "AWS Batch has no node group", hint="name one in `addons.batch.nodeGroups` of the stack file")
    if job.nodes > 1:
        hint = "set `nodes: 1`, or take another launcher for several"
        yield Problem("nodes", job.nodes, "AWS Batch runs jobs of several nodes only on nodes that it starts itself", "1", hint)
    if job.restarts.max >= ATTEMPTS_MAX:
        yield Problem(
            "restarts.max", job.restarts.max, "AWS Batch tries a job ten times in all", f"0 to {ATTEMPTS_MAX - 1}", "set a smaller number"
        )
    if len({RESUME_EXIT_CODE, *job.restarts.exit_codes}) >= RULES_MAX:
        hint = "leave `restarts.exitCodes` out, or name fewer"
        yield Problem("restarts.exitCodes", list(job.restarts.exit_codes), "AWS Batch has five rules, one of which ends the job", hint=hint)
    if job.priority is not None:
        yield Problem("priority", job.priority, "a job of AWS Batch's has no PriorityClass", hint="leave `priority` out")


def phase(status: Any) -> Phase:
    """State of a job as DescribeJobs has it."""
    return _PHASES.get((status or {}).get("status", ""), Phase.WAITING)


LAUNCHER = Launcher(
    name="batch",
    title="AWS Batch job",
    take_it="many jobs of one node each wait in a queue of AWS Batch's",
    lacks=(
        (
            "a documented way to Neuron devices: Batch's API names memory, cpu and nvidia.com/gpu as what a pod may ask for "
            "(EksContainerResourceRequirements); that it passes `aws.amazon.com/neuron` on is inferred, and was not run"
        ),
        "jobs of several nodes: Batch runs those only on nodes that it starts itself, which cannot be Neuron nodes of EKS here",
        "the node group: Batch places the pod on any of its nodes that has the devices",
        "priority, `ttl` and the grace for a checkpoint: a pod of Batch's gets Kubernetes' 30 seconds",
        "EFA between jobs: each has its node's interfaces, and no other node to talk to",
    ),
    restarts=(
        "Batch tries a job again, `restarts.max` times (`retryStrategy.attempts` counts the first start too): after any "
        "failure, or after the exit codes that the job names and 75."
    ),
    tried=(
        "Not run: AWS Batch is AWS's alone. Its request is valid against botocore's model, and the entry script reads its "
        "variables (`tests/training`)."
    ),
    status="`status` of DescribeJobs.",
    states=_PHASES,
    sources=(
        "Batch API, RegisterJobDefinition and DescribeJobs (botocore's model)",
        "Batch user guide, mnp-ce and eks-jobs",
    ),
    needs=("`addons.batch.nodeGroups` names a group: Batch shares its nodes with nothing else that it knows of",),
    render=render,
    phase=phase,
    addon="batch",
    documents=documents,
    problems=problems,
)
