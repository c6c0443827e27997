"""`trn data import-weights` and `export-weights`, against a simulated account, a hub and a cluster in memory; tests/frameworks/test_llama.py runs the script."""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from tests.documents import checked
from tests.trn.given import Given
from tests.trn.jobs.data.linked import BUCKET, Linked, reached, trn
from tests.trn.jobs.data.test_prepare import JOBS, of_kind, pod, request
from training.recipes.llama import hugging_face
from training.recipes.llama.llama_options import SHAPES
from training.recipes.llama.llama_weights import all_weights
from trn.jobs.data.hub import HUB

COMMIT, INTO = "c" * 40, "/fsx/models/m"
MODEL = "someone/tiny"


@dataclass
class Model:
    """A model on Hugging Face, as `urllib3.PoolManager` gives it."""

    config: dict[str, Any] = field(default_factory=lambda: hugging_face.config(SHAPES["tiny"]))
    tensors: dict[str, tuple[int, ...]] = field(
        default_factory=lambda: {path: weight.shape for path, weight in all_weights(SHAPES["tiny"])}
    )
    knows_ranges: bool = True
    read: list[str] = field(default_factory=list)

    @property
    def files(self) -> dict[str, bytes]:
        """Two files of weights: their headers alone, and nothing behind them."""
        names = list(self.tensors)
        parts = {}
        for number, part in enumerate((names[:5], names[5:]), 1):
            header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
            for name in part:
                header[name] = {"dtype": "BF16", "shape": self.tensors[name], "data_offsets": [0, 2 * math.prod(self.tensors[name])]}
            text = json.dumps(header).encode()
            parts[f"model-{number:05}-of-00002.safetensors"] = struct.pack("<Q", len(text)) + text
        other = {"original/consolidated.00.pth": b"x", "README.md": b"x", "tokenizer.json": b"{}"}
        return {**parts, "config.json": json.dumps(self.config).encode(), **other}

    def request(self, method: str, url: str, headers: dict[str, str]) -> Any:
        """One answer."""
        assert method == "GET"
        path = url.removeprefix(HUB)
        if path == f"/api/models/{MODEL}/revision/main":
            return self._answer(json.dumps({"sha": COMMIT}).encode())
        if path.startswith(f"/api/models/{MODEL}/tree/{COMMIT}"):
            return self._answer(
                json.dumps([{"type": "file", "path": name, "size": len(body)} for name, body in self.files.items()]).encode()
            )
        name = path.removeprefix(f"/{MODEL}/resolve/{COMMIT}/")
        body = self.files.get(name)
        self.read.append(name)
        if body is None:
            return SimpleNamespace(status=404, data=b"", headers={})
        first, last = map(int, headers["Range"].removeprefix("bytes=").split("-"))
        return self._answer(body[first : last + 1], 206) if self.knows_ranges else self._answer(body)

    def _answer(self, body: bytes, status: int = 200) -> Any:
        return SimpleNamespace(status=status, data=body, headers={})


@pytest.fixture
def model(given: Given) -> Model:
    """Commands reach it."""
    found = Model()
    given.pool = found
    return found


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch, given: Given) -> Linked:
    """Commands reach it."""
    made = reached(monkeypatch, Linked(), given)
    made.cluster.objects[JOBS] = []
    return made


STAGED = [
    {"stage": "begin", "files": 4},
    *({"stage": "file", "name": f"{number}", "by": "sha256"} for number in range(4)),
    {"stage": "done"},
]


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_the_shape_is_found_by_headers_and_only_weights_are_brought(linked: Linked, model: Model, knows_ranges: bool):
    """What lies beside them, such as the same weights in another form, is as large again."""
    model.knows_ranges = knows_ranges
    result = trn("import-weights", MODEL, INTO, "--yes", "--detach", "--json", "-")
    assert result.exit_code == 0, result.output
    said = checked(result.stdout)
    assert said["schema"] == "trn-data-import-weights"
    assert (said["size"], said["files"], said["started"]) == ("tiny", 4, True)
    names = {item["name"] for item in request(linked)}
    assert names == {"config.json", "tokenizer.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}
    assert "original/consolidated.00.pth" not in model.read


def refused(model: Model) -> str:
    """Why it is not brought."""
    result = trn("import-weights", MODEL, INTO, "--yes")
    assert result.exit_code == 2, result.output
    return result.stderr


def test_a_model_of_another_shape_is_refused_with_the_nearest(linked: Linked, model: Model):
    """Before a byte of its weights is copied."""
    model.tensors["model.norm.weight"] = (65,)
    text = refused(model)
    assert "is no model of the recipe llama" in text
    assert "the nearest is tiny: model.norm.weight is (65,), not (64,)" in text
    assert not of_kind(linked, "Job")


def test_a_model_with_other_positions_is_refused(linked: Linked, model: Model):
    model.config["rope_theta"] = 10_000.0
    assert "rope_theta of the rotary positions is 10000.0, not 500000.0" in refused(model)


def test_a_file_that_is_no_safetensors_file_is_refused(linked: Linked, model: Model, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Model, "files", {"model.safetensors": b"\xff" * 64, "config.json": b"{}"})
    assert "model.safetensors is no safetensors file" in refused(model)


def test_a_model_without_safetensors_is_refused(linked: Linked, model: Model, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Model, "files", {"pytorch_model.bin": b"x"})
    assert "has no .safetensors files" in refused(model)


def test_weights_in_a_bucket_are_brought_and_compared_by_the_training(linked: Linked):
    linked.store("llama/model.safetensors", 10)
    linked.store("llama/optimizer.pt", 10)
    result = trn("import-weights", f"s3://{BUCKET}/llama/", INTO, "--yes", "--detach", "--json", "-")
    assert (result.exit_code, checked(result.stdout)["size"]) == (0, None)
    assert [item["name"] for item in request(linked)] == ["model.safetensors"]


def test_what_would_be_brought_is_shown_without_a_cluster(linked: Linked, model: Model):
    result = trn("import-weights", MODEL, INTO, "--dry-run", "--json", "-")
    said = checked(result.stdout)
    assert (result.exit_code, said["schema"], said["size"]) == (0, "trn-data-import-weights-plan", "tiny")
    assert "of the shape tiny" in result.stderr
    assert not of_kind(linked, "Job")


DONE = {"export": "done", "to": INTO, "bytes": 1000, "step": 40}


def test_a_checkpoint_is_exported_by_a_pod_with_numpy(linked: Linked, given: Given):
    """An ordinary node, the recipe's own script, and pip where the image has no NumPy."""
    pod(linked, given, ("Running", [{"export": "file", "name": "model-00001-of-00002.safetensors", "of": 2}]), ("Succeeded", [DONE]))
    result = trn("export-weights", "/fsx/checkpoints/l", INTO, "--yes", "--json", "-")
    said = checked(result.stdout)
    assert said["schema"] == "trn-data-export-weights"
    assert (result.exit_code, said["step"], said["bytes"], said["why"]) == (0, 40, 1000, None)
    assert "model-00001-of-00002.safetensors, 1 of 2 files" in result.stderr
    (job,) = of_kind(linked, "Job")
    container = job["spec"]["template"]["spec"]["containers"][0]
    assert container["command"][-4:] == ["--checkpoint", "/fsx/checkpoints/l", "--to", INTO]
    assert "pip install" in container["command"][2]
    (files,) = of_kind(linked, "ConfigMap")
    assert {"export_weights.py", "tensor_files.py", "llama_options.py", "checkpoints.py"} <= set(files["data"])


@pytest.mark.parametrize(
    ("lines", "why"),
    [([{"export": "failed", "why": "it has no .safetensors files"}], "it has no .safetensors files"), ([], "its pod ended without a word")],
)
def test_an_export_that_failed_says_why(linked: Linked, given: Given, lines: list[Mapping[str, Any]], why: str):
    pod(linked, given, ("Failed", lines))
    result = trn("export-weights", "/fsx/checkpoints/l", INTO, "--yes", "--json", "-")
    assert result.exit_code == 1
    assert why in checked(result.stdout)["why"]


@pytest.mark.parametrize("words", [("/tmp/c", INTO), ("/fsx/c", "/models/m"), ("/fsx/c", "/fsx/../m"), ("/fsx/c", INTO, "--weights", "w")])
def test_folders_are_on_the_file_system(linked: Linked, words: tuple[str, ...]):
    result = trn("export-weights", *words, "--yes")
    assert result.exit_code == 2
    assert "a path below /fsx" in result.stderr


def test_what_would_be_exported_is_shown(linked: Linked):
    result = trn("export-weights", "/fsx/checkpoints/l", INTO, "--dry-run", "--json", "-")
    said = checked(result.stdout)
    assert (result.exit_code, said["schema"], said["path"]) == (0, "trn-data-export-weights-plan", INTO)
    assert not of_kind(linked, "Job")
