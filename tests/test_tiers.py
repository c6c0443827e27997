"""Which files a run of some tiers imports, as `conftest.py` decides it."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import SLOW_TIERS, pytest_ignore_collect
from tests.support import ROOT

DEFAULT = " and ".join(f"not {tier}" for tier in ("long", *SLOW_TIERS))
"""What `make test` asks for."""


def readers(file: str) -> set[str]:
    """Those of `-m ASKED` whose run imports a file."""
    asked = ("", DEFAULT, "long", "not browser", *SLOW_TIERS)
    configs: dict[str, Any] = {one: SimpleNamespace(option=SimpleNamespace(markexpr=one)) for one in asked}
    return {one for one, config in configs.items() if not pytest_ignore_collect(ROOT / "tests" / file, config)}


@pytest.mark.parametrize(
    ("file", "tier"),
    [("engine/test_walk.py", "engine"), ("engine/test_package.py", "engine"), ("kubernetes/kubelet/test_ends.py", "kubernetes")],
)
def test_a_file_of_one_tier_is_not_read_by_the_default_one(file: str, tier: str):
    """Each worker imported all of them, and threw their tests away."""
    assert readers(file) == {"", "long", "not browser", tier}


def test_a_mark_of_a_folder_counts():
    """The browser's tests have theirs from the conftest.py beside them."""
    assert readers("browser/test_page.py") == {"", "long", "browser"}


@pytest.mark.parametrize(("file", "tier"), [("tools/pages/test_readme.py", "engine"), ("local_kubernetes/test_crds.py", "kubernetes")])
def test_a_file_with_one_test_of_another_tier_is_read_by_both(file: str, tier: str):
    """All its other tests are the default tier's."""
    assert readers(file) == {"", DEFAULT, "long", "not browser", tier}
