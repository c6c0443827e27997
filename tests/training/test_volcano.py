"""The Volcano Job: a gang of all nodes, restarts, and what its states mean."""

from typing import Any

import pytest

from tests.training.sites import job, site
from training.launchers.volcano import phase, render
from training.phase import Phase
from training.site import JobQueue, Site


def spec(on: Site | None = None, **keys: Any) -> dict[str, Any]:
    """`spec` of the Volcano Job."""
    return render(job(**keys), on or site())[-1]["spec"]


def test_no_pod_starts_before_all_can():
    """One node of a gang that waits for the others bills and trains nothing."""
    assert (spec(nodes=3)["minAvailable"], spec(nodes=3)["tasks"][0]["replicas"]) == (3, 3)


def test_a_job_restarts_as_often_as_it_says():
    """Volcano fails the job at the restart with which its count reaches maxRetry (state/restarting.go)."""
    assert [spec(restarts={"max": count})["maxRetry"] for count in (0, 1, 3)] == [1, 2, 4]


def test_a_failed_pod_starts_the_whole_gang_again():
    """No worker trains on without the others."""
    assert spec()["policies"] == [{"events": ["PodEvicted", "PodFailed"], "action": "RestartJob"}]


def test_exit_codes_that_are_not_named_end_the_job():
    """A mistake in the script would fail in the same way as often as it is tried. 75 is a checkpoint on request."""
    policies = spec(restarts={"max": 3, "exitCodes": [134]})["policies"]
    assert [policy.get("exitCode") for policy in policies if policy["action"] == "RestartJob"] == [None, 75, 134]
    assert policies[-1] == {"event": "PodFailed", "action": "TerminateJob"}


def test_the_queue_is_the_jobs_or_one_without_a_limit():
    """A job that names none must not wait behind a quota while another queue is free."""
    assert (spec()["queue"], spec(queue="test")["queue"]) == ("training", "test")
    limited = site(queues={"small": JobQueue("small", capability={"cpu": 1}), "all": JobQueue("all")})
    assert spec(limited)["queue"] == "all"


def test_a_gang_stays_on_one_network_where_the_stack_knows_which_it_is():
    """Without HyperNodes Volcano would refuse the key's meaning, and a job of one node needs no network."""
    on = site(hyper_nodes=True)
    assert spec(on)["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}
    assert "networkTopology" not in spec(on, nodes=1)
    assert "networkTopology" not in spec()


@pytest.mark.parametrize(
    ("volcanos", "ours"),
    [
        ("Pending", Phase.WAITING),
        ("Running", Phase.RUNNING),
        ("Restarting", Phase.RESTARTING),
        ("Aborted", Phase.STOPPED),
        ("Terminating", Phase.STOPPING),
        ("Completed", Phase.SUCCEEDED),
        ("Terminated", Phase.FAILED),
        ("Failed", Phase.FAILED),
    ],
)
def test_states_have_the_words_of_all_launchers(volcanos: str, ours: Phase):
    """One table shows jobs of all kinds."""
    assert phase({"state": {"phase": volcanos}}) == ours
