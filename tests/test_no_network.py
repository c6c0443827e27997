"""The guard of `conftest.py` itself."""

import socket

import pytest


def test_a_connection_to_the_outside_is_refused():
    """Rehearsals and tests promise to touch nothing but the package registry, at set-up."""
    with socket.socket() as outside, pytest.raises(AssertionError, match="reached for the network"):
        outside.connect(("192.0.2.1", 80))
