"""What of a training script for GPUs does not work on Neuron, or slows it down: by its text alone, each with its line and fix. Pure.

It follows names within one function and calls nothing, so what is hidden in other modules is not seen.
Sources: aws-neuron/aws-neuron-sdk, developer guide for training with PyTorch NeuronX, and native PyTorch (device and backend `neuron`),
2.33; pytorch/xla docs, troubleshooting (what leaves the device, shapes that change); jax docs, jnp.nonzero (`size`).
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from facts.toolchains import Framework

_IMPORTED: Mapping[str, Framework] = {"torch_xla": "torch-xla", "jax": "jax", "flax": "jax", "torch": "torch"}
"""By what a script imports, the surest first: a script of torch-xla imports torch too."""
DEVICE: Mapping[Framework, str] = {
    "torch-xla": "`device = torch_xla.device()`, and `.to(device)`",
    "torch": '`device = torch.device("neuron", int(os.environ["LOCAL_RANK"]))`, and `.to(device)`',
    "jax": "leave it out: JAX puts arrays on NeuronCores by itself",
}
BACKEND: Mapping[Framework, str] = {
    "torch-xla": '`import torch_xla.distributed.xla_backend`, then `dist.init_process_group("xla")`',
    "torch": '`dist.init_process_group("neuron")`',
    "jax": "`jax.distributed.initialize()`",
}
COMPILER: Mapping[Framework, str] = {
    "torch-xla": 'leave it out, or `backend="openxla"`',
    "torch": '`backend="neuron"`',
    "jax": "`jax.jit`",
}
COLLECTIVES = frozenset(
    [
        "all_reduce",
        "all_gather",
        "all_gather_into_tensor",
        "all_to_all",
        "all_to_all_single",
        "broadcast",
        "gather",
        "reduce",
        "reduce_scatter",
        "reduce_scatter_tensor",
        "scatter",
    ]
)
_MAKERS = frozenset(
    [
        "tensor",
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "rand",
        "randn",
        "randint",
        "as_tensor",
        "from_numpy",
        "Tensor",
        "FloatTensor",
        "LongTensor",
    ]
)
_OFF_DEVICE = frozenset(("item", "tolist", "cpu", "numpy"))
_STEPS = frozenset(["backward", "step", "optimizer_step", "train_step", "update_step", "mark_step", "apply_gradients", "apply_updates"])
"""Calls by which a loop is one of training."""
_DYNAMIC = frozenset(("nonzero", "masked_select", "unique", "unique_consecutive", "argwhere", "pad_sequence"))
_CUDA_ONLY = frozenset(("apex", "bitsandbytes", "cupy", "deepspeed", "flash_attn", "pynvml", "transformer_engine", "triton", "xformers"))
_SYNCS = ("mark_step", "optimizer_step", "MpDeviceLoader", "ParallelLoader", "sync")


@dataclass(frozen=True)
class ScriptFinding:
    """One line that does not work, or slows training down."""

    rule: str
    line: int
    wrong: str
    why: str
    fix: str


@dataclass(frozen=True)
class _Script:
    tree: ast.Module
    names: Mapping[str, str]
    """What imported names stand for."""
    framework: Framework
    parents: Mapping[ast.AST, ast.AST]

    def dotted(self, node: ast.AST) -> str:
        """`torch.distributed.all_reduce` of `dist.all_reduce`; empty for what is no name."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute) and (before := self.dotted(node.value)):
            return f"{before}.{node.attr}"
        return ""

    def calls(self) -> Iterator[ast.Call]:
        """In no order."""
        return (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, the nearest first."""
        while (node := self.parents.get(node)) is not None:  # type: ignore[assignment]
            yield node


Rule = Callable[[_Script], Iterator[ScriptFinding]]


def framework_of(text: str) -> Framework | None:
    """What a script trains with, by its imports; None where it imports none of them, or is no Python."""
    try:
        imported = {name.partition(".")[0] for name in _imports(ast.parse(text)).values()}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return next((framework for module, framework in _IMPORTED.items() if module in imported), None)


def findings_of(text: str, framework: Framework | None = None) -> list[ScriptFinding]:
    """All findings by line. `framework`: of the toolchain that it is to run on; without it, by what it imports."""
    try:
        tree = ast.parse(text)
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        script = _Script(tree, _imports(tree), framework or framework_of(text) or "torch", parents)
        found = {(each.line, each.rule): each for rule in RULES for each in rule(script)}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line, said = getattr(error, "lineno", None) or 1, getattr(error, "msg", None) or str(error) or "nested too deep"
        return [
            ScriptFinding("syntax", line, f"it is no Python that can be read: {said}", "every worker would stop at it", "correct the line")
        ]
    return [found[key] for key in sorted(found)]


def _imports(tree: ast.Module) -> dict[str, str]:
    found = dict[str, str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    return found


def cuda(script: _Script) -> Iterator[ScriptFinding]:
    """Devices by the name of NVIDIA's."""
    why, fix = "there is no CUDA on a Trainium node: the call fails", DEVICE[script.framework]
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Attribute) and script.dotted(node).startswith("torch.cuda."):
            yield ScriptFinding("cuda", node.lineno, f"`{script.dotted(node)}`", why, fix)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "cuda":
            yield ScriptFinding("cuda", node.lineno, "`.cuda()`", why, fix)
        elif isinstance(node, ast.Constant) and str(node.value).partition(":")[0] == "cuda" and _is_passed_on(script, node):
            yield ScriptFinding("cuda", node.lineno, f'the device "{node.value}"', why, fix)


def _is_passed_on(script: _Script, node: ast.Constant) -> bool:
    """A dictionary's key or a comparison does no harm."""
    return isinstance(script.parents.get(node), (ast.Call, ast.keyword, ast.Assign, ast.IfExp))


def cuda_packages(script: _Script) -> Iterator[ScriptFinding]:
    """Packages that have kernels for NVIDIA's GPUs alone."""
    why = "its kernels are for other devices"
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _modules(node) & _CUDA_ONLY:
                fix = "use what the framework has: attention, optimizers and sharding of its own"
                yield ScriptFinding("cuda-package", node.lineno, f"the package {name}", why, fix)
        if isinstance(node, ast.Constant) and node.value in ("flash_attention_2", "flash_attention_3"):
            yield ScriptFinding("cuda-package", node.lineno, f'attention "{node.value}"', why, '`attn_implementation="sdpa"` or "eager"')


def _modules(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Packages that a line imports."""
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [] if node.level else [node.module or ""]
    return {name.partition(".")[0] for name in names}


def nccl(script: _Script) -> Iterator[ScriptFinding]:
    """The process group of NVIDIA's collectives."""
    for call in script.calls():
        if script.dotted(call.func).endswith(("init_process_group", "new_group", "init_device_mesh")):
            words = [*call.args, *(keyword.value for keyword in call.keywords)]
            texts = [word.value for word in words if isinstance(word, ast.Constant) and isinstance(word.value, str)]
            if any("nccl" in text for text in texts):
                yield ScriptFinding("nccl", call.lineno, "the backend nccl", "it is for NVIDIA's GPUs", BACKEND[script.framework])


def cpu_collectives(script: _Script) -> Iterator[ScriptFinding]:
    """Collectives over tensors that were made on the CPU."""
    for call in script.calls():
        name = script.dotted(call.func)
        if name.startswith("torch.distributed.") and name.rpartition(".")[2] in COLLECTIVES:
            tensors = [
                *call.args,
                *(each.value for each in call.keywords if each.arg in ("tensor", "tensor_list", "input_tensor", "output_tensor")),
            ]
            if any(_is_on_cpu(script, tensor) for tensor in tensors):
                yield ScriptFinding(
                    "cpu-collective", call.lineno, f"`{name.rpartition('.')[2]}` of a tensor on the CPU", "Neuron's collectives take tensors on the device: the job stops here",
                    "make it there, with `device=device`, or `.to(device)` before",
                )  # fmt: skip


def _is_on_cpu(script: _Script, node: ast.expr) -> bool:
    """Whether a value was made on the CPU, as far as the function says it."""
    if isinstance(node, ast.Name):
        scope = next(
            (each for each in script.above(node) if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module))), script.tree
        )
        made = [
            each.value
            for each in ast.walk(scope)
            if isinstance(each, ast.Assign)
            and each.lineno < node.lineno
            and any(isinstance(to, ast.Name) and to.id == node.id for to in each.targets)
        ]
        return bool(made) and not isinstance(made[-1], ast.Name) and _is_on_cpu(script, max(made, key=lambda value: value.lineno))
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "cpu":
        return True
    module, _, maker = script.dotted(node.func).rpartition(".")
    return module == "torch" and maker in _MAKERS and not any(each.arg == "device" for each in node.keywords)


def each_step(script: _Script) -> Iterator[ScriptFinding]:
    """Values that leave the device in each step of a training loop."""
    fix = "keep it on the device, and read it every so many steps: `if step % 100 == 0:`"
    for loop in (node for node in ast.walk(script.tree) if isinstance(node, (ast.For, ast.While)) and _trains(node)):
        for call in (node for node in ast.walk(loop) if isinstance(node, ast.Call)):
            taken = _taken_off(script, call)
            if taken and not any(_is_now_and_then(each) for each in _within(script, call, loop)):
                yield ScriptFinding(
                    "each-step",
                    call.lineno,
                    f"`{taken}` in each step",
                    "the processor waits for the device, and the device then for it",
                    fix,
                )


def _trains(loop: ast.For | ast.While) -> bool:
    calls = (node.func for node in ast.walk(loop) if isinstance(node, ast.Call))
    return any(
        (func.attr if isinstance(func, ast.Attribute) else func.id if isinstance(func, ast.Name) else "") in _STEPS for func in calls
    )


def _taken_off(script: _Script, call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute) and call.func.attr in _OFF_DEVICE:
        return f".{call.func.attr}()"
    if script.dotted(call.func) == "jax.device_get":
        return "jax.device_get"
    is_cast = isinstance(call.func, ast.Name) and call.func.id in ("float", "int", "print") and bool(call.args)
    loss = next((each.id for each in call.args if isinstance(each, ast.Name) and "loss" in each.id), "") if is_cast else ""
    return f"{call.func.id}({loss})" if loss and isinstance(call.func, ast.Name) else ""


def _within(script: _Script, node: ast.AST, loop: ast.AST) -> Iterator[ast.AST]:
    for each in script.above(node):
        if each is loop:
            return
        yield each


def _is_now_and_then(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and any(isinstance(each, ast.Mod) for each in ast.walk(node.test))


def dynamic_shapes(script: _Script) -> Iterator[ScriptFinding]:
    """Shapes that follow from values, or differ from batch to batch: each one is compiled anew."""
    why = "the compiler makes a program for each shape, which takes minutes"
    for node in ast.walk(script.tree):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Compare):
            yield ScriptFinding(
                "dynamic-shape", node.lineno, "an index by a condition", why, "`torch.where` with both values, or multiply by the mask"
            )
        if not isinstance(node, ast.Call):
            continue
        name, words = script.dotted(node.func).rpartition(".")[2], {each.arg: each.value for each in node.keywords}
        name = node.func.attr if isinstance(node.func, ast.Attribute) else name
        if name in _DYNAMIC and "size" not in words:
            fix = "give `size=`" if script.framework == "jax" else "pad to one length, or multiply by a mask of the full shape"
            yield ScriptFinding("dynamic-shape", node.lineno, f"`{name}`: its shape follows from values", why, fix)
        elif name == "DataLoader" and not _is_true(words.get("drop_last")) and not _is_none(words.get("batch_size")) and None not in words:
            yield ScriptFinding("dynamic-shape", node.lineno, "a DataLoader whose last batch is smaller", why, "`drop_last=True`")
        elif "padding" in words and (_is_true(words["padding"]) or getattr(words["padding"], "value", None) == "longest"):
            yield ScriptFinding(
                "dynamic-shape", node.lineno, "batches padded to their longest text", why, '`padding="max_length"`, with a `max_length`'
            )


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def compilers(script: _Script) -> Iterator[ScriptFinding]:
    """`torch.compile` for other devices."""
    for call in script.calls():
        backend = next((each.value for each in call.keywords if each.arg == "backend"), None)
        if script.dotted(call.func) == "torch.compile" and getattr(backend, "value", "inductor" if backend is None else "") == "inductor":
            yield ScriptFinding(
                "compiler",
                call.lineno,
                "`torch.compile` with inductor, its default",
                "inductor writes kernels for GPUs",
                COMPILER[script.framework],
            )


def half_precision(script: _Script) -> Iterator[ScriptFinding]:
    """Scaled gradients of float16."""
    for call in script.calls():
        if script.dotted(call.func).rpartition(".")[2] == "GradScaler":
            yield ScriptFinding(
                "float16",
                call.lineno,
                "a GradScaler",
                "it is for float16 on CUDA; Neuron trains in bfloat16",
                "leave it out, with `dtype=torch.bfloat16`",
            )


def unmarked_steps(script: _Script) -> Iterator[ScriptFinding]:
    """PyTorch/XLA collects operations until a step is marked."""
    if script.framework != "torch-xla" or any(script.dotted(call.func).rpartition(".")[2] in _SYNCS for call in script.calls()):
        return
    for call in script.calls():
        if isinstance(call.func, ast.Attribute) and call.func.attr == "backward":
            yield ScriptFinding(
                "no-step-mark", call.lineno, "no step is marked", "operations of all steps pile up in one graph",
                "`torch_xla.sync()` at the end of each step, or `xm.optimizer_step(optimizer)`",
            )  # fmt: skip
            return


RULES: tuple[Rule, ...] = (
    cuda,
    cuda_packages,
    nccl,
    cpu_collectives,
    each_step,
    dynamic_shapes,
    compilers,
    half_precision,
    unmarked_steps,
)
