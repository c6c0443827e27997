"""Lines that recipes write are the lines that are read back."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import progress_lines
from training.metrics_line import Event, Step, parse


def written(monkeypatch, capsys, write, rank: str = "0", local: str = "0") -> str:
    """Standard output of a worker."""
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("LOCAL_RANK", local)
    write()
    return capsys.readouterr().out


def test_a_step_comes_back_as_it_was_written(monkeypatch, capsys):
    line = written(monkeypatch, capsys, lambda: progress_lines.step(12, 6.913212776184082, 812.3456, learning_rate=4e-4), rank="32")
    found = parse(line)
    assert isinstance(found, Step)
    assert (found.step, found.loss, found.rank, found.samples_per_s, found.more) == (
        12,
        6.913212776184082,
        32,
        812.346,
        {"learning_rate": 4e-4},
    )
    assert line.count("\n") == 1


def test_an_event_comes_back_as_it_was_written(monkeypatch, capsys):
    found = parse(written(monkeypatch, capsys, lambda: progress_lines.event("saved", step=10, path="/fsx/bert/10", seconds=1.5)))
    assert isinstance(found, Event)
    assert (found.event, found.step, found.rank, found.more) == ("saved", 10, 0, {"path": "/fsx/bert/10", "seconds": 1.5})


def test_only_the_first_worker_of_a_node_writes(monkeypatch, capsys):
    """64 workers that all write hide everything else in the log."""
    assert written(monkeypatch, capsys, lambda: progress_lines.step(1, 1.0), local="5") == ""


def test_words_before_the_line_do_not_matter():
    """torchrun --tee writes `[default0]:` before each line."""
    assert parse('[default0]:{"trn": "step", "step": 3, "time": 1.5, "rank": 0, "loss": 2.0}') == Step(3, 1.5, 0, 2.0)


def test_a_diverged_loss_is_seen():
    """Python writes NaN, which is no JSON by the book; a log without it would look as if training had stopped."""
    found = parse('{"trn": "step", "step": 3, "time": 1.5, "rank": 0, "loss": NaN}')
    assert isinstance(found, Step)
    assert math.isnan(found.loss)


def test_the_entry_scripts_lines_have_no_rank():
    found = parse('{"trn": "event", "event": "ended", "time": 2.5, "job": "bert", "node": 1, "code": 75, "step": 40}')
    assert found == Event("ended", 2.5, None, 40, {"job": "bert", "node": 1, "code": 75})


@pytest.mark.parametrize(
    "line",
    [
        "",
        "step 12 loss 6.9",
        '{"trn": "step", "step": 3, "time": 1.5, "ra',
        '{"trn": "step", "step": "3", "time": 1.5, "rank": 0, "loss": 2.0}',
        '{"trn": "step", "step": true, "time": 1.5, "rank": 0, "loss": 2.0}',
        '{"trn": "step", "step": 3, "time": 1.5, "rank": 0}',
        '{"trn": "event", "event": "coffee", "time": 1.5}',
        '{"trn": "other"}',
        '{"trn":',
    ],
)
def test_other_lines_are_not_taken_for_progress(line):
    assert parse(line) is None


@settings(max_examples=25)
@given(st.text())
def test_no_line_of_a_log_stops_the_reader(text):
    """A job prints what it likes."""
    parse(text)
    parse('{"trn":' + text)
