"""`trn watch`: figures, curves and a page of a training, from the lines of its log alone."""

import io
import json
import math
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.console import Console
from typer.testing import CliRunner

from addons import volcano
from facts.catalogue import NEURON_TYPES
from tests.support import ROOT
from tests.trn.change.owned import stack_of
from tests.trn.given import Given
from tests.trn.jobs.situations import item, pod
from tests.trn.kubernetes.healthy_cluster import Healthy
from trn.app import app
from trn.jobs.watch.page import page, plot
from trn.jobs.watch.progress import hardware, read
from trn.jobs.watch.view import HEIGHT, LEVELS, curve, figures, losses, shown
from trn.kubernetes.job_pods import PODS

FLOPS = 1.0e12
ON = hardware(NEURON_TYPES["trn1.32xlarge"], 2)


def line(kind: str, time: float, **more: Any) -> str:
    """One line of a worker, behind words of torchrun's."""
    return f"[default0]:{json.dumps({'trn': kind, 'time': time, **more})}"


def step(number: int, time: float, loss: float = 6.0, rank: int = 0, rate: float | None = 100.0) -> str:
    """One step."""
    return line("step", time, step=number, rank=rank, loss=loss, **({} if rate is None else {"samples_per_s": rate}))


STARTED = line("event", 1000, event="started", rank=0, steps=100, flops_per_sample=FLOPS)
LOG = [
    line("event", 990, event="starting", node=0, nodes=2),
    STARTED,
    "compiling",
    step(1, 1100, 9.0, rate=None),
    *(step(number, 1100 + 10 * (number - 1), 9.0 - number / 10) for number in range(2, 11)),
]
"""Ten steps of 10 s, after 100 s of compiling."""


def test_figures_follow_from_the_lines():
    """3,040 TFLOPS on each node; 1 sample of 1 TFLOP takes 1/6080 of the two for a second."""
    found = read(LOG)
    assert found.last is not None
    assert (found.last.step, found.last.loss, found.total, found.starts) == (10, 8.0, 100, 1)
    assert (found.samples_per_s, found.step_s, found.eta_s) == (100.0, 10.0, 900.0)
    assert found.peak_share(ON) == pytest.approx(100 / 6080)
    assert found.goodput == pytest.approx(100 / 200)
    assert found.cost_usd(ON) == pytest.approx(2 * 21.5 * 200 / 3600)


def test_what_the_log_does_not_say_is_not_made_up():
    """Neither the share of the peak nor the time left."""
    found = read([step(1, 1), step(2, 2)])
    assert (found.peak_share(ON), found.eta_s, read([]).goodput, read([]).last) == (None, None, None, None)
    assert read(LOG).peak_share(None) is None
    assert found.cost_usd(hardware(NEURON_TYPES["trn2.3xlarge"], 1)) is None or NEURON_TYPES["trn2.3xlarge"].price_usd_per_hour is not None


def test_steps_that_are_done_again_count_once():
    """After a restart from step 8: goodput falls, and the gap is no step's time."""
    again = [line("event", 1400, event="started", rank=0), step(9, 1500), step(10, 1510), step(11, 1520)]
    found = read([*LOG, *again])
    assert ([entry.step for entry in found.steps], found.starts, found.step_s) == (list(range(1, 12)), 2, 10.0)
    assert found.goodput == pytest.approx(11 * 10 / 530)


def test_what_restarts_cost_is_counted():
    """From step 10 at 1190 to step 11 at 1520, less the 10 s of a step."""
    again = [line("event", 1400, event="started", rank=0), step(9, 1500), step(10, 1510), step(11, 1520)]
    found = read([*LOG, *again])
    assert (found.lost, found.restart_s) == (2, 320.0)
    assert dict(figures(found, ON))["starts"] == "2 (restarts took 0:05:20, 2 steps were done again)"
    assert dict(figures(read(LOG), ON))["starts"] == "1"


HISTORY = line(
    "event", 1400, event="history", step=10, node=0, nodes=2, starts=1, began=990, until=1190, steps_done=10, step_s=10.0, lost=0, restart_s=0,
    points=[[1, 1100, 9.0, None], [10, 1190, 8.0, 100.0]],
)  # fmt: skip
AFTER = [HISTORY, line("event", 1410, event="started", rank=0), step(9, 1500), step(10, 1510), step(11, 1520)]


@pytest.mark.parametrize("before", [[], LOG], ids=["the log before is gone", "it was seen"])
def test_a_gang_that_was_made_anew_counts_what_was_before(before: list[str]):
    """Volcano makes the pods anew under the same names: starts, cost and goodput are those of the whole job, and nothing counts twice."""
    found, whole = read([*before, *AFTER]), read([*LOG, *AFTER[1:]])
    assert (found.starts, found.lost, found.restart_s, found.began) == (2, 2, 320.0, 990.0)
    assert (found.goodput, found.cost_usd(ON)) == (whole.goodput, whole.cost_usd(ON))
    assert [entry.step for entry in found.steps][-3:] == [9, 10, 11]
    assert found.steps[0].loss == 9.0


@pytest.mark.parametrize("wrong", [{"starts": -1}, {"began": "x"}, {"steps_done": None}, {"restart_s": math.inf}, {"step": "ten"}])
def test_a_history_that_no_training_wrote_is_left_out(wrong: dict[str, Any]):
    """Its points as well."""
    told = {**json.loads(HISTORY.partition(":")[2]), **wrong}
    assert read([*LOG, json.dumps(told)]).starts == 1
    assert read([*LOG, json.dumps({**json.loads(HISTORY.partition(":")[2]), "points": [3, [1], ["x", 1, 2, 3]]})]).steps[0].step == 1


def test_the_lowest_rank_tells_the_story():
    """Every node's first worker writes the same steps."""
    found = read([*LOG, *(step(number, 1100 + 10 * number, 1.0, rank=32) for number in range(1, 11))])
    assert found.last is not None
    assert (found.last.loss, found.step_s) == (8.0, 10.0)


def test_every_chip_of_a_type_that_trains_has_a_peak():
    """A type without one would have no share."""
    assert all(kind.chip is not None and kind.chip.peak_bf16_tflops for kind in NEURON_TYPES.values())


def test_a_curve_is_as_high_as_it_is_asked_to_be():
    """The highest value fills its column, the lowest has a sign; what is no number is left out."""
    rows = curve([1.0, float("nan"), 2.0, 3.0], height=3)
    assert [row[13:] for row in rows] == ["  █", " ▅█", "▁██"]
    assert curve([1.0]) == []
    flat = curve([2.0, 2.0], height=2)
    assert set("".join(row[13:] for row in flat)) <= set(LEVELS)


def test_a_long_curve_fits_the_terminal():
    """Ten thousand steps in 72 columns, with both ends."""
    rows = curve([float(value) for value in range(10_000)])
    assert {len(row) for row in rows} == {13 + 72}
    assert rows[-1].startswith(f"{0:>12.2f}")


def test_the_page_stands_alone_and_escapes_names():
    """No script, nothing from elsewhere, and a name is never markup."""
    text = page("<script>alert(1)</script>&\"'", read(LOG), ON)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;&amp;" in text
    assert "default-src 'none'" in text
    assert ("http://" in text, "https://" in text, text.count("<polyline")) == (False, False, 2)


def test_curves_have_a_point_for_each_step():
    """No more than can be told apart; a sentence where there is nothing to draw."""
    assert plot("x", [(1, 9.0), (2, float("nan")), (3, 7.0)])["points"] == [(0.0, 0.0), (1000.0, 100.0)]
    assert len(plot("x", [(n, float(n)) for n in range(5000)])["points"]) == 1000
    main = re.search("<main>.*</main>", page("x", read(LOG), ON), flags=re.DOTALL)
    assert main is not None
    assert len(list(ElementTree.fromstring(main[0]).iter("polyline"))) == 2
    assert page("x", read(LOG[:3]), ON).count("Not enough steps were measured") == 2


def test_the_live_view_has_figures_and_curves():
    """Both curves, under their names."""
    console = Console(width=120, record=True, file=io.StringIO())
    console.print(shown("bert", read(LOG), ON))
    text = console.export_text()
    assert "10 of 100" in text
    assert "samples/s" in text
    assert "█" in text


def trn(*arguments: str) -> Any:
    """Run it."""
    return CliRunner().invoke(app, ["watch", *arguments], catch_exceptions=False)


def test_a_log_on_disk_needs_no_cluster(tmp_path: Path):
    """Figures on standard output, the page in its file, data where it was asked for."""
    log, made = tmp_path / "bert.log", tmp_path / "out/bert.html"
    log.write_text("\n".join(LOG))
    result = trn("--log", str(log), "--instance", "trn1.32xlarge", "--html", str(made), "--json", str(tmp_path / "out.json"))
    assert result.exit_code == 0
    assert "share of peak: 1.6% (samples per second x FLOPs per sample / (chips x peak BF16 FLOPS of a chip))" in result.stdout
    assert "time left: 0:15:00" in result.stdout
    assert "cost so far: 2.39 USD" in result.stdout
    assert json.loads((tmp_path / "out.json").read_text())["goodputShare"] == pytest.approx(0.5)
    assert made.read_text().startswith("<!doctype html>")
    log.write_text("nothing of it")
    assert trn("--log", str(log)).exit_code == 1
    assert trn("--log", str(log), "--instance", "p5.48xlarge").exit_code == 2
    assert trn("--log", str(tmp_path / "none")).exit_code == 2


def test_a_loss_that_is_no_number_is_data_all_the_same(tmp_path: Path):
    """JSON has no NaN."""
    log = tmp_path / "bert.log"
    log.write_text(step(1, 1, float("nan")))
    assert json.loads(trn("--log", str(log), "--json", "-").stdout)["loss"] is None


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch, given: Given) -> Healthy:
    """bert runs on two nodes; at the second look it has done more."""
    monkeypatch.chdir(ROOT)
    made = Healthy()
    bert = item(phase="Running")
    made.cluster.objects[volcano.JOBS] = [bert]
    for number in range(2):
        each = pod(bert, number, at=f"node-{number}")
        each["status"] = {"phase": "Running"}
        made.cluster.objects[PODS].append(each)
    given.api = made.cloud.api
    given.cluster = made.cluster
    given.engine = stack_of("trainium-dev")
    path = "/api/v1/namespaces/training/pods/bert-worker-0/log?container=work"
    made.cluster.texts[path] = "\n".join(LOG)
    made.cluster.texts[f"{path}&sinceSeconds=60"] = "\n".join(
        [LOG[-1], step(11, 1200), line("event", 1201, event="finished", rank=0, step=11)]
    )
    return made


def test_in_a_pipe_each_step_is_a_line(healthy: Healthy, given: Given):
    """Once, also where a look reads it again; it ends with the training, and needs no terminal."""
    waited = list[float]()
    given.on_pause = lambda seconds: waited.append(seconds)
    result = trn("bert")
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert (lines[0], lines[1], lines[10]) == (
        "step 1/100 loss 9.0000", "step 2/100 loss 8.8000 100.0 samples/s", "step 11/100 loss 6.0000 100.0 samples/s",
    )  # fmt: skip
    assert "time left: none: it has finished" in lines
    assert any(text.startswith("cost so far: ") and text.endswith(" USD") for text in lines)
    assert waited == [5]


def test_ctrl_c_ends_it_with_the_figures(healthy: Healthy, given: Given):
    """It is the way to end it."""

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    given.on_pause = interrupt
    result = trn("bert")
    assert (result.exit_code, "step: 10 of 100" in result.stdout) == (0, True)


def test_a_job_must_be_named(healthy: Healthy):
    """And be there."""
    assert (trn().exit_code, trn("bertha").exit_code) == (2, 2)


HOSTILE = {
    "a negative step": {"step": -1},
    "a step beyond counting": {"step": 10**400},
    "a step in quotes": {"step": "1"},
    "a negative rank": {"rank": -1},
    "no time": {"time": math.nan},
    "the end of time": {"time": math.inf},
    "a time before 1970": {"time": -1},
    "a loss beyond every float": {"loss": "9" * 400},
    "an endless rate": {"samples_per_s": math.inf},
    "a rate that is no number": {"samples_per_s": math.nan},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_line_that_no_training_writes_is_left_out(what: str):
    """Each would stop the command with a traceback, or hide the steps that were done: the lowest rank counts, and the newest time."""
    wrong = {"step": 11, "time": 1300, "rank": 0, "loss": 1.0, **HOSTILE[what]}
    assert read([*LOG, f"[default0]:{json.dumps({'trn': 'step', **wrong})}"]) == read(LOG)


def test_a_line_of_brackets_is_left_out():
    """The JSON reader calls itself for each of them."""
    assert read([*LOG, '{"trn":' + "[" * 100_000]) == read(LOG)
    assert read([*LOG, '{"trn": "step", "step": 11, "time": 1300, "rank": 0, "loss": ' + "9" * 400 + "}"]).report(ON).loss is None


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf, 1.7e308, -1.7e308])
def test_a_diverged_loss_is_shown_and_not_drawn(loss: float):
    """Curves and page have the steps before it; JSON has no word for it."""
    found = read([*LOG, step(11, 1210, loss), step(12, 1220, -loss)])
    assert json.loads(found.report(ON).as_json())["loss"] is None
    assert dict(figures(found, ON))["loss"] in ("nan", "inf", "-inf")
    assert "nan" not in page("x", found, ON).partition("Loss</h2>")[2]
    assert len(curve([value for _, value in losses(found)])) == HEIGHT


@pytest.mark.parametrize(
    ("key", "value"), [("steps", 10**400), ("flops_per_sample", 10**400), ("flops_per_sample", math.nan), ("nodes", 10**400)]
)
def test_what_a_line_says_of_the_whole_job_has_bounds(key: str, value: Any):
    """Else a product of it is beyond every float."""
    found = read([*LOG, line("event", 1300, event="saved", rank=0, **{key: value})])
    assert json.dumps(found.report(ON).model_dump(), allow_nan=False)
    assert figures(found, hardware(NEURON_TYPES["trn1.32xlarge"], found.node_count))


@pytest.mark.parametrize("columns", [20, 40, 200])
def test_a_curve_is_not_wrapped(columns: int):
    """On a narrow terminal its lines would be torn apart."""
    long = read([step(number, 1000 + number, loss=9 - number / 10) for number in range(1, 81)])
    screen = Console(file=io.StringIO(), force_terminal=True, width=columns)
    screen.print(shown("bert", long, None, screen.width))
    assert isinstance(screen.file, io.StringIO)
    drawn = [text for text in screen.file.getvalue().splitlines() if set(text) & set(LEVELS[1:])]
    assert len(drawn) <= 2 * HEIGHT
    assert max(map(len, drawn)) == min(columns, 13 + 72)


def test_a_training_of_ages_is_not_counted():
    """Days beyond a thousand million have no text."""
    found = read([line("event", 1000, event="started", rank=0, steps=10**12), *(step(number, 1e9 * number) for number in (1, 2, 3))])
    assert dict(figures(found, None))["time left"] == "more than 100 years"
