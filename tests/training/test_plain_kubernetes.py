"""Indexed Job and JobSet: names, gangs, restarts, limits, and what their states mean."""

from typing import Any

import pytest

from tests.training.objects import templates
from tests.training.sites import job, site
from training.launchers import indexed_job, jobset
from training.launchers.base import Launcher
from training.phase import Phase
from training.site import Site

BOTH = pytest.mark.parametrize("launcher", [indexed_job.LAUNCHER, jobset.LAUNCHER], ids=lambda launcher: launcher.name)


def spec(launcher: Launcher, on: Site | None = None, **keys: Any) -> dict[str, Any]:
    """`spec` of the job's own object."""
    return launcher.render(job(**keys), on or site())[-1]["spec"]


def child(**keys: Any) -> dict[str, Any]:
    """`spec` of the one Job of a JobSet."""
    return spec(jobset.LAUNCHER, **keys)["replicatedJobs"][0]["template"]["spec"]


@BOTH
def test_volcano_places_all_pods_or_none(launcher: Launcher):
    """The group, and pods that point at it; the group asks for what all of them ask for."""
    objects = {item["kind"]: item for item in launcher.render(job(nodes=3), site())}
    group = objects["PodGroup"]
    assert group["spec"]["minMember"] == 3
    assert group["spec"]["minResources"] == {"aws.amazon.com/neuron": "48", "vpc.amazonaws.com/efa": "24"}
    (template,) = [item for item in _templates(objects) if "containers" in item["spec"]]
    assert template["metadata"]["annotations"]["scheduling.k8s.io/group-name"] == group["metadata"]["name"]
    assert template["spec"]["schedulerName"] == "volcano"


@BOTH
def test_without_volcano_nothing_speaks_of_it(launcher: Launcher):
    """A pod for a scheduler that is not there waits for ever."""
    objects = {item["kind"]: item for item in launcher.render(job(), site(gang=False, queues={}))}
    assert "PodGroup" not in objects
    (template,) = [item for item in _templates(objects) if "containers" in item["spec"]]
    assert "scheduling.k8s.io/group-name" not in template["metadata"]["annotations"]
    assert "schedulerName" not in template["spec"]


def _templates(objects: dict[str, Any]) -> list[dict[str, Any]]:
    return [template for body in objects.values() for template in templates(body)]


def test_pods_of_an_indexed_job_have_names():
    """The first is where the others meet: JOB-0.JOB."""
    _, service, *_, made = indexed_job.render(job(), site())
    assert service["spec"] == {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": {"batch.kubernetes.io/job-name": "bert"},
    }
    assert made["spec"]["template"]["spec"]["subdomain"] == service["metadata"]["name"] == made["metadata"]["name"]


def test_a_jobset_starts_all_pods_again():
    """The first failed pod ends the Job, and the set makes it anew."""
    assert child()["backoffLimit"] == 0
    assert spec(jobset.LAUNCHER, restarts={"max": 7})["failurePolicy"] == {"maxRestarts": 7}


def test_an_indexed_job_counts_pods_where_others_count_starts():
    """Each start that fails is one failure of each pod."""
    assert spec(indexed_job.LAUNCHER, nodes=4, restarts={"max": 3})["backoffLimit"] == 12
    assert spec(indexed_job.LAUNCHER, nodes=4, restarts={"max": 0})["backoffLimit"] == 0


def test_exit_codes_that_are_not_named_end_the_job():
    """75 is a checkpoint on request."""
    restarts = {"max": 3, "exitCodes": [134]}
    fail = {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [75, 134]}}
    assert child(restarts=restarts)["podFailurePolicy"]["rules"][-1] == fail
    assert spec(indexed_job.LAUNCHER, restarts=restarts)["podFailurePolicy"]["rules"][-1] == fail
    (rule,) = spec(jobset.LAUNCHER, restarts=restarts)["failurePolicy"]["rules"]
    assert (rule["action"], rule["onJobFailureReasons"]) == ("FailJobSet", ["PodFailurePolicy"])


@BOTH
def test_an_eviction_is_judged_before_the_exit_code_that_it_causes(launcher: Launcher):
    """A pod that is asked to leave ends with 143, which no job file names."""
    restarts = {"max": 3, "exitCodes": [134]}
    made = child(restarts=restarts) if launcher.name == "jobset" else spec(launcher, restarts=restarts)
    rules = made["podFailurePolicy"]["rules"]
    assert rules[0]["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]
    assert rules[0]["action"] == ("Count" if launcher.name == "jobset" else "Ignore")


def test_a_time_limit_is_the_jobs_and_no_start_follows_it():
    """The pod itself has none: it would end, and be made again."""
    assert spec(indexed_job.LAUNCHER, timeLimit="2h")["activeDeadlineSeconds"] == child(timeLimit="2h")["activeDeadlineSeconds"] == 7200
    assert "activeDeadlineSeconds" not in child(timeLimit="2h")["template"]["spec"]
    (rule,) = spec(jobset.LAUNCHER, timeLimit="2h")["failurePolicy"]["rules"]
    assert rule["onJobFailureReasons"] == ["DeadlineExceeded"]


def _met(*kinds: str) -> dict[str, Any]:
    return {"conditions": [{"type": kind, "status": "True"} for kind in kinds]}


@pytest.mark.parametrize(
    ("launcher", "status", "phase"),
    [
        (indexed_job.LAUNCHER, {"active": 2, "ready": 2}, Phase.RUNNING),
        (indexed_job.LAUNCHER, {"active": 2, "ready": 1}, Phase.WAITING),
        (indexed_job.LAUNCHER, {"active": 2, "ready": 1, "failed": 1}, Phase.RESTARTING),
        (indexed_job.LAUNCHER, _met("SuccessCriteriaMet", "Complete"), Phase.SUCCEEDED),
        (indexed_job.LAUNCHER, _met("FailureTarget"), Phase.STOPPING),
        (indexed_job.LAUNCHER, _met("FailureTarget", "Failed"), Phase.FAILED),
        (indexed_job.LAUNCHER, _met("Suspended"), Phase.STOPPED),
        (indexed_job.LAUNCHER, {"conditions": [{"type": "Suspended", "status": "False"}], "active": 1, "ready": 1}, Phase.RUNNING),
        (jobset.LAUNCHER, {"replicatedJobsStatus": [{"name": "workers", "ready": 1}]}, Phase.RUNNING),
        (jobset.LAUNCHER, {"replicatedJobsStatus": [{"name": "workers", "ready": 0}], "restarts": 1}, Phase.RESTARTING),
        (jobset.LAUNCHER, {"replicatedJobsStatus": [{"name": "workers", "ready": 0}]}, Phase.WAITING),
        (jobset.LAUNCHER, _met("Completed"), Phase.SUCCEEDED),
        (jobset.LAUNCHER, _met("Failed"), Phase.FAILED),
        (jobset.LAUNCHER, _met("Suspended"), Phase.STOPPED),
    ],
)
def test_states_have_the_words_of_all_launchers(launcher: Launcher, status: dict[str, Any], phase: Phase):
    """One table shows jobs of all kinds."""
    assert launcher.phase(status) == phase
