"""The lint of scripts: each rule finds its line in a script for GPUs, and nothing in the same script for Neuron."""

from textwrap import dedent

import pytest

from tests.support import ROOT
from training.lint.scripts import findings_of, framework_of

HEAD = "import torch\nimport torch.distributed as dist\n"


def found(text: str, framework: str | None = "torch") -> list[tuple[str, int]]:
    """Rules and lines."""
    return [(each.rule, each.line) for each in findings_of(dedent(text), framework)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("model.cuda()", ["cuda"]),
        ("x = torch.device('cuda:0')", ["cuda"]),
        ("x = y.to('cuda')", ["cuda"]),
        ("torch.cuda.set_device(1)", ["cuda"]),
        ("d = 'cuda' if x else 'cpu'", ["cuda"]),
        ("d = {'cuda': 1}", []),
        ("if device == 'cuda': pass", []),
        ("x = torch.device('neuron')", []),
        ("dist.init_process_group('nccl')", ["nccl"]),
        ("dist.init_process_group(backend='cpu:gloo,cuda:nccl')", ["nccl"]),
        ("dist.init_process_group('neuron')", []),
        ("dist.all_reduce(torch.ones(3))", ["cpu-collective"]),
        ("dist.all_reduce(torch.ones(3, device=device))", []),
        ("dist.all_reduce(torch.ones(3).to(device))", []),
        ("dist.broadcast(x.cpu(), 0)", ["cpu-collective"]),
        ("reduce(torch.ones(3))", []),
        ("i = torch.nonzero(x)", ["dynamic-shape"]),
        ("i = x.masked_select(m)", ["dynamic-shape"]),
        ("y = x[x > 0]", ["dynamic-shape"]),
        ("y = torch.where(x > 0, x, z)", []),
        ("t = tokenizer(a, padding=True)", ["dynamic-shape"]),
        ("t = tokenizer(a, padding='max_length')", []),
        ("l = DataLoader(d, batch_size=8)", ["dynamic-shape"]),
        ("l = DataLoader(d, batch_size=8, drop_last=True)", []),
        ("l = DataLoader(d, **options)", []),
        ("m = torch.compile(m)", ["compiler"]),
        ("m = torch.compile(m, backend='neuron')", []),
        ("m = torch.compile(m, backend=backend)", []),
        ("s = torch.amp.GradScaler()", ["float16"]),
        ("import flash_attn", ["cuda-package"]),
        ("from apex.optimizers import FusedAdam", ["cuda-package"]),
        ("m = load(attn_implementation='flash_attention_2')", ["cuda-package"]),
        ("from . import apex", []),
    ],
)
def test_a_line_and_its_rules(line: str, rules: list[str]):
    """Both ways: what must be found, and what must not."""
    assert found(HEAD + line) == [(rule, 3) for rule in rules]


def test_a_tensor_is_followed_to_where_it_was_made():
    """In the function: the last value of the name counts."""
    text = """
    import torch
    import torch.distributed as dist
    def log(loss, device):
        total = torch.tensor(0.0)
        dist.all_reduce(total)
        total = torch.tensor(0.0, device=device)
        dist.all_reduce(total)
        dist.all_reduce(loss)
    """
    assert found(text) == [("cpu-collective", 6)]


def test_a_value_that_leaves_the_device_in_each_step():
    """Only in a loop that trains, and not where it is asked for every so many steps."""
    text = """
    import torch
    names = [x.tolist() for x in y]
    for batch in data:
        loss = model(batch)
        loss.backward()
        total += loss.item()
        print(loss)
        if step % 100 == 0:
            print(loss.item())
        if rank == 0:
            print(float(loss))
    for batch in data:
        batch.cpu()
    """
    assert found(text) == [("each-step", 7), ("each-step", 8), ("each-step", 12)]


def test_a_step_of_xla_is_marked():
    """By one of several calls, or by its own loader."""
    text = "import torch_xla\nfor x in y:\n    loss.backward()\n    optimizer.step()\n"
    assert found(text, "torch-xla") == [("no-step-mark", 3)]
    assert found(text, "torch") == []
    assert found(text + "    torch_xla.sync()\n", "torch-xla") == []


def test_the_fix_is_of_the_framework():
    """The same line has another one on each."""
    fixes = {name: findings_of("x.cuda()", name)[0].fix for name in ("torch-xla", "torch", "jax")}  # type: ignore[arg-type]
    assert len(set(fixes.values())) == 3
    assert found("import jax\njax.numpy.nonzero(x, size=4)", None) == []


@pytest.mark.parametrize(
    ("text", "framework"),
    [
        ("import torch", "torch"),
        ("import torch\nimport torch_xla.core", "torch-xla"),
        ("from jax import numpy", "jax"),
        ("import os", None),
        ("x = (", None),
    ],
)
def test_the_framework_by_imports(text: str, framework: str | None):
    """The surest of them."""
    assert framework_of(text) == framework


@pytest.mark.parametrize("text", ["x = (", "def", "\0", "(" * 500])
def test_what_is_no_python_is_one_finding(text: str):
    """Whatever a person names: never a traceback."""
    assert [each.rule for each in findings_of(text)] == ["syntax"]


def test_the_page_shows_a_script_before_and_after():
    """What is found in the first is nowhere in the second, and its line of progress is read."""
    before, after = ((ROOT / "docs/samples/scripts" / name).read_text() for name in ("gpu.py", "neuron.py"))
    assert {rule for rule, _ in found(before)} == {"cuda", "nccl", "cpu-collective", "each-step", "dynamic-shape", "compiler"}
    assert found(after) == []
    assert all(f'"{key}": ' in after for key in ("trn", "step", "time", "rank", "loss"))
