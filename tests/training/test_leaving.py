"""A worker whose script fails ends at once, whatever its framework would wait for at the end."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "training" / "entry"


def left(body: str) -> tuple[int, str, str]:
    """Exit code, output and errors of a script whose framework waits for ever at its end, as jax.distributed does for the others."""
    script = f"import atexit, sys, threading\nimport leaving\n{waits}\ndef main(arguments):\n{textwrap.indent(body, '    ')}\nleaving.run(main)\n"
    done = subprocess.run(
        [sys.executable, "-S", "-c", script], env={"PYTHONPATH": str(FOLDER)}, capture_output=True, text=True, timeout=20, check=False
    )
    return done.returncode, done.stdout, done.stderr


waits = "atexit.register(lambda: print('waited'))"
"""Stands for the barrier: what is registered is what would wait."""


@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("raise ValueError('a NaN')", 1, "ValueError: a NaN"),
        ("sys.exit('of another training')", 1, "of another training"),
        ("return 3", 3, ""),
        ("sys.exit(2)", 2, ""),
    ],
)
def test_a_failure_waits_for_nobody(body: str, code: int, says: str):
    ended, output, errors = left(f"print('step')\n{body}")
    assert (ended, output) == (code, "step\n")
    assert says in errors


@pytest.mark.parametrize("code", [0, 75])
def test_an_end_in_order_waits_for_the_others(code: int):
    """They come as well: the framework leaves cleanly."""
    assert left(f"return {code}")[:2] == (code, "waited\n")
