"""What tests of commands share."""

from collections.abc import Iterator

import pytest

from tests.trn.given import Given
from trn.change.clients import using


@pytest.fixture
def given() -> Iterator[Given]:
    """The access of all commands that the test runs; it sets the parts that they use."""
    with using(Given()) as access:
        yield access
