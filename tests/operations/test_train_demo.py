"""What `make train-demo` takes for a success."""

import pytest

from operations.train_demo.__main__ import differences
from operations.train_demo.runs import KILLED_AFTER, STEPS, Run, lay_out

LOSSES = {step: 7.0 - step / 100 for step in range(1, STEPS + 1)}
WHOLE = Run(LOSSES, None, 0)
BROKEN = Run({step: loss for step, loss in LOSSES.items() if step <= KILLED_AFTER}, None, 137)
RESUMED = Run({step: loss for step, loss in LOSSES.items() if step > 20}, 20, 0)


def changed(run: Run, step: int, loss: float) -> Run:
    """The run with another loss at a step."""
    return Run({**run.losses, step: loss}, run.resumed_from, run.code)


def test_a_run_that_resumes_as_if_unbroken_is_a_success():
    assert differences(WHOLE, BROKEN, RESUMED) == []


@pytest.mark.parametrize(
    ("runs", "fault"),
    [
        ((WHOLE, BROKEN, changed(RESUMED, 40, 6.6000000001)), "step 40: loss 6.6000000001, unbroken 6.6"),
        ((WHOLE, Run(BROKEN.losses, None, 0), RESUMED), "the run whose worker was killed ended as if nothing had happened"),
        ((WHOLE, BROKEN, Run(LOSSES, None, 0)), "resumed from step None, the last checkpoint was at 20"),
        ((WHOLE, BROKEN, Run({21: LOSSES[21]}, 20, 0)), "a step is missing"),
        ((WHOLE, BROKEN, Run({}, 20, 1)), "a run failed with exit code 1; its errors are in build/train-demo"),
        ((changed(WHOLE, STEPS, 7.5), BROKEN, changed(RESUMED, STEPS, 7.5)), "the loss did not fall: 6.99 to 7.5"),
    ],
)
def test_anything_else_is_none(runs, fault):
    """The last bit counts: a resume that is nearly right has lost data or randomness."""
    assert fault in differences(*runs)


def test_the_demonstration_lies_as_in_a_pod(tmp_path):
    lay_out(tmp_path)
    assert {"entry.py", "train.py", "train_jax.py", "checkpoints.py"} <= {path.name for path in tmp_path.iterdir()}
