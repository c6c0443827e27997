"""What a kubelet does with files of pods that are gone."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from tests.kubernetes.kubelet.kubelet import Kubelet
from tests.kubernetes.kubelet.node import Machine
from tests.kubernetes.kubelet.store import PodFolder, Store


@pytest.fixture
def kubelet(tmp_path: Path) -> Iterator[Kubelet]:
    """One without an API server, whose folder has the files of two pods."""
    for uid in ("first", "second"):
        (tmp_path / "pods" / uid / "containers/main/0").mkdir(parents=True)
    none: Any = None
    made = Kubelet(Machine(none, Store(tmp_path), none, {}, life=0), none)
    yield made
    made._relays._loop.close()


def test_a_pod_that_its_worker_removes_at_the_same_moment_ends_no_watch(kubelet: Kubelet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The thread that follows all pods met a folder that had just gone, and ended: from then on no new pod was started."""
    look = PodFolder.attempts

    def attempts(folder: PodFolder, container: str) -> list[int]:
        if folder.path.name == "first":
            shutil.rmtree(folder.path)
            return list(cast(Any, (folder.path / "containers").iterdir()))
        return look(folder, container)

    monkeypatch.setattr(PodFolder, "attempts", attempts)
    kubelet._on_pods({})
    assert list((tmp_path / "pods").iterdir()) == []
