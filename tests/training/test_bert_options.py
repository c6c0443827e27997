"""Options of BERT pretraining, and its learning rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.training.recipe_files import module

bert = module("bert", "bert_options")


def test_64_workers_train_the_batch_of_the_original():
    """Two nodes of 32 workers, 16 sequences, 32 micro batches: 32,768 sequences in a step."""
    options = bert.parse(["--size", "large"], 64, "")
    assert options.fingerprint(64, "x")["sequences_per_step"] == 32_768


def test_the_learning_rate_of_that_batch_is_the_papers():
    """You et al., LAMB, 2019: 5e-3 with 20 % warm-up at 32,768."""
    assert bert.paper_rate(32_768) == (5e-3, 0.2)


@given(st.integers(1, 65_536))
def test_a_smaller_batch_learns_slower(batch):
    rate, warmup = bert.paper_rate(batch)
    assert rate <= bert.paper_rate(batch + 1)[0]
    assert 0 < warmup <= 0.2


def test_twenty_of_128_tokens_are_masked():
    assert bert.parse([], 64, "").predictions == 20


def test_the_learning_rate_rises_and_falls_to_zero():
    options = bert.parse(["--size", "tiny"], 2, "")
    rates = [bert.learning_rate(options, step) for step in range(1, options.steps + 1)]
    top = rates.index(max(rates))
    assert max(rates) == options.learning_rate
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)
    assert rates[-1] == 0


def test_other_options_are_another_training():
    """A checkpoint of one must not be resumed by the other."""
    first, second = (bert.parse(["--size", "tiny", "--seed", seed], 2, "").fingerprint(2, "x") for seed in ("1", "2"))
    assert first != second


def test_more_devices_with_fewer_micro_batches_are_the_same_training():
    one = bert.parse(["--size", "tiny", "--accumulate", "4"], 2, "").fingerprint(2, "x")
    assert one == bert.parse(["--size", "tiny", "--accumulate", "2"], 4, "").fingerprint(4, "x")


def test_a_sequence_longer_than_the_model_is_refused(capsys):
    with pytest.raises(SystemExit):
        bert.parse(["--size", "tiny", "--sequence", "128"], 2, "")
    assert "the model has 64 positions" in capsys.readouterr().err


def test_another_text_is_another_training():
    """Wherever it lies: a copy of the folder is the same."""
    options = bert.parse(["--size", "tiny", "--data", "/fsx/a"], 2, "")
    assert options.fingerprint(2, "one text") != options.fingerprint(2, "another")
    assert "/fsx/a" not in str(options.fingerprint(2, "one text"))


def test_the_second_phase_is_that_of_the_paper():
    """Devlin et al., 2018, A.2: the last 10 % at 512 tokens; as many sequences in a step as before."""
    options = bert.parse(["--phase", "2", "--from", "/fsx/first"], 64, "")
    assert (options.sequence, options.predictions, options.steps, options.first) == (512, 77, 782, "/fsx/first")
    assert options.fingerprint(64, "x")["sequences_per_step"] == 32_768
    assert options.fingerprint(64, "x") != bert.parse([], 64, "").fingerprint(64, "x")


@pytest.mark.parametrize("arguments", [["--phase", "2"], ["--from", "/fsx/first"]])
def test_a_second_phase_needs_the_weights_of_the_first(arguments, capsys):
    with pytest.raises(SystemExit):
        bert.parse(arguments, 64, "")
    assert "--phase 2 --from FOLDER" in capsys.readouterr().err


def test_a_second_phase_without_a_first_is_said():
    options = bert.parse(["--phase", "2", "--from", "/fsx/first"], 64, "")
    with pytest.raises(SystemExit, match="--from /fsx/first has no checkpoint of phase 1"):
        bert.first_checkpoint(options, None)
