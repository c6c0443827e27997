"""What is started, stopped and waited for, and how a pod ends: the whole life of pods on paper, by containers that end as a table says."""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.kubernetes.kubelet.backoff import BackOff
from tests.kubernetes.kubelet.lifecycle import Ending, deadline_ending, deadline_s, plan
from tests.kubernetes.kubelet.pods import restart_policy
from tests.kubernetes.kubelet.records import Running, Terminated, new_records
from tests.kubernetes.kubelet.status import Place, phase, pod_status

PLACE = Place("10.0.3.7", "100.64.0.2", 0.0)


def pod(policy="Never", init=(), **more: Any):
    """A pod with main containers `a` and `b` and these init containers; a name with `side` is a sidecar."""
    early = [{"name": name, "image": "i"} | ({"restartPolicy": "Always"} if "side" in name else {}) for name in init]
    main = [{"name": name, "image": "i"} for name in ("a", "b")]
    spec = {"restartPolicy": policy, "initContainers": early, "containers": main, **more}
    return {"metadata": {"name": "p", "namespace": "n", "uid": "u"}, "spec": spec}


@dataclass
class Life:
    """A pod whose containers end in turn, by exit codes of a table, each attempt after one second."""

    pod: dict[str, Any]
    codes: dict[str, list[int]] = field(default_factory=dict)
    """Exit codes of a container's attempts; one that has none left runs on."""
    now_s: float = 0.0
    ending: Ending | None = None
    started: list[str] = field(default_factory=list)
    phases: list[str] = field(default_factory=list)
    over: bool = False

    def __post_init__(self) -> None:
        self.records = new_records(self.pod)

    def step(self) -> None:
        """Look once, act, and let a second pass."""
        steps = plan(self.records, "p_n(u)", self.now_s, BackOff(), self.ending)
        self.over = steps.over
        for name, why in steps.wait.items():
            self.records[name] = self.records[name].waits(why.reason, why.message)
        for name in steps.start:
            self.started.append(name)
            record = self.records[name]
            self.records[name] = replace(
                record, state=Running(self.now_s), last=record.ended, restarts=self.started.count(name) - 1, started=True, ready=True
            )
        for name in steps.stop:
            self._end(name, 143)
        now = phase(self.records, restart_policy(self.pod), self.over)
        if not self.phases or self.phases[-1] != now:
            self.phases.append(now)
        if steps.start or steps.stop:
            return
        self.now_s += 1
        for name, record in self.records.items():
            if record.runs and self.codes.get(name):
                self._end(name, self.codes[name].pop(0))

    def _end(self, name: str, code: int) -> None:
        record = self.records[name]
        self.records[name] = replace(
            record, state=Terminated(code, self.now_s - 1, self.now_s), crashes=record.crashes + 1, started=False, ready=False
        )

    def run(self, steps: int = 60) -> "Life":
        """To its end, or for so many looks."""
        for _ in range(steps):
            if not self.over:
                self.step()
        return self


@pytest.mark.parametrize(
    ("policy", "codes", "phases"),
    [
        ("Never", {"a": [0], "b": [0]}, ["Running", "Succeeded"]),
        ("Never", {"a": [0], "b": [3]}, ["Running", "Failed"]),
        ("OnFailure", {"a": [0], "b": [3, 0]}, ["Running", "Succeeded"]),
        ("Always", {"a": [0], "b": [3]}, ["Running"]),
        ("Never", {"a": [0]}, ["Running"]),
    ],
)
def test_phases_by_restart_policy(policy, codes, phases):
    """Kubernetes documentation, Pod Lifecycle."""
    assert Life(pod(policy), codes).run().phases == phases


def test_init_containers_run_one_after_the_other_before_all_others():
    """The pod is Pending meanwhile."""
    life = Life(pod(init=("i", "j")), {"i": [0], "j": [0], "a": [0], "b": [0]}).run()
    assert life.started == ["i", "j", "a", "b"]
    assert life.phases == ["Pending", "Running", "Succeeded"]


def test_a_failed_init_container_ends_a_pod_that_never_restarts():
    """No main container is started."""
    life = Life(pod(init=("i",)), {"i": [1]}).run()
    assert (life.started, life.phases, life.over) == (["i"], ["Pending", "Failed"], True)


@pytest.mark.parametrize("policy", ["Always", "OnFailure"])
def test_a_failed_init_container_is_tried_again(policy):
    """Once it has succeeded it never runs again, also with policy Always."""
    life = Life(pod(policy, init=("i",)), {"i": [1, 1, 0], "a": [], "b": []}).run()
    assert life.started == ["i", "i", "i", "a", "b"]


def test_a_sidecar_runs_from_before_the_main_containers_until_after():
    """Started before, ended last, restarted meanwhile, and no part of success."""
    life = Life(pod(init=("side",)), {"side": [9], "a": [0], "b": [0]}).run()
    assert life.started[0] == "side"
    assert life.phases == ["Pending", "Running", "Succeeded"]
    assert life.over
    assert isinstance(life.records["side"].state, Terminated)


def test_sidecars_end_in_the_reverse_order():
    """After all others."""
    life = Life(pod(init=("side1", "side2")))
    life.run(6)
    life.ending = Ending(30)
    stops = []
    for _ in range(6):
        steps = plan(life.records, "", life.now_s, BackOff(), life.ending)
        stops += steps.stop
        life.step()
    assert stops == ["a", "b", "side2", "side1"]


def test_restarts_come_later_and_later():
    """At once, after 10 s, 20 s, 40 s (Kubernetes documentation, Pod Lifecycle, Container restarts)."""
    life = Life(pod("Always"), {"a": [1, 1, 1, 1]})
    times = []
    for _ in range(200):
        before = life.started.count("a")
        life.step()
        if life.started.count("a") > before:
            times.append(life.now_s)
    assert [round(after - before) for before, after in pairwise(times)] == [1, 11, 21, 41]


def test_a_container_that_backs_off_says_for_how_long():
    """CrashLoopBackOff, with the kubelet's message; what it waits for is a time."""
    life = Life(pod("Always"), {"a": [1, 1]})
    steps = plan(life.run(6).records, "p_n(u)", life.now_s, BackOff(), None)
    assert steps.wait["a"].reason == "CrashLoopBackOff"
    assert steps.wait["a"].message == "back-off 10s restarting failed container=a pod=p_n(u)"
    assert steps.wake_at_s is not None
    assert life.now_s < steps.wake_at_s <= life.now_s + 10


def test_back_off_has_a_limit_and_forgets():
    """Five minutes at most; a run of ten begins anew."""
    back_off = BackOff()
    assert [back_off.delay_s(crashes) for crashes in (0, 1, 2, 3, 7, 8, 1000)] == [0, 0, 10, 20, 300, 300, 300]
    assert back_off.crashes_after(5, 599) == 6
    assert back_off.crashes_after(5, 600) == 1


def test_a_deadline_counts_from_when_the_node_took_the_pod():
    """And gives a reason that Jobs and people look for."""
    assert deadline_s(pod(activeDeadlineSeconds=60), 100.0) == 160.0
    assert deadline_s(pod(), 100.0) is None
    life = Life(pod("Always"), ending=deadline_ending(30)).run()
    status = pod_status(life.pod, life.records, PLACE, 200.0, life.ending, over=True)
    assert (status["phase"], status["reason"]) == ("Failed", "DeadlineExceeded")


@given(
    st.sampled_from(["Never", "OnFailure"]),
    st.dictionaries(st.sampled_from(["i", "side", "a", "b"]), st.lists(st.integers(0, 2), min_size=1, max_size=4)),
)
def test_a_pod_whose_containers_all_end_with_0_at_last_ends(policy, codes):
    """Whatever came before: nothing runs then, and success is exactly that every init and main container ended with 0."""
    codes = {name: [*codes.get(name, []), 0] for name in ("i", "side", "a", "b")}
    life = Life(pod(policy, init=("i", "side")), codes).run(600)
    assert life.over
    assert not any(record.runs for record in life.records.values())
    ends = [record.ended for record in life.records.values() if record.kind != "sidecar"]
    clean = all(end is not None and end.exit_code == 0 for end in ends)
    assert life.phases[-1] == ("Succeeded" if clean else "Failed")
    assert policy == "Never" or clean


@given(st.integers(0, 12), st.sampled_from(["Always", "OnFailure", "Never"]))
def test_a_deleted_pod_comes_to_its_end_from_wherever_it_is(looks, policy):
    """Nothing new is started, everything is stopped once, and then it is over."""
    life = Life(pod(policy, init=("i", "side")), {"i": [0], "a": [1, 1], "b": [0]})
    life.run(looks)
    begun, life.ending = len(life.started), Ending(30)
    life.run(20)
    assert life.over
    assert len(life.started) == begun
