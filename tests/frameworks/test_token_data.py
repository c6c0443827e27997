"""Packed shards: their reader, which JAX and PyTorch recipes share."""

import subprocess
from pathlib import Path

import pytest

from training import payload

pytestmark = pytest.mark.frameworks


def test_the_laws_of_the_reader_hold(python, tmp_path):
    """NumPy is in the frameworks' environments alone."""
    laws = Path(__file__).with_name("token_laws.py")
    command = [python("jax"), laws, payload.SHARED, payload.ENTRY, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "laws hold\n", done.stderr
