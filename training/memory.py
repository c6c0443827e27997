"""Memory of one logical core in a training of the `llama` recipe: a sum of parts, each with its formula. Pure.

What is summed is what the recipe keeps: float32 master weights, gradients and two moments, sharded over tensor x fsdp; the layer at hand and
the embeddings gathered in bfloat16; one hidden state for each layer, the rest computed again on the way back; logits in chunks.
With `--keep-activations` all of what every layer computes stays. AWS publishes no memory of a training by parts: the sum is ours (inferred).
"""

from dataclasses import dataclass, replace

from facts.catalogue import InstanceType
from training.recipes.llama.llama_options import Mesh, Options, Shape, conflicts

GIB = 2**30
FREE = 0.1
"""Share of a core's memory that stays free for runtime, collectives and the compiler's scratch space: AWS publishes no figure (inferred)."""
QUERIES = 1024
"""Queries whose attention exists at a time; in the recipe's models too."""


@dataclass(frozen=True)
class Memory:
    """Bytes on one logical core."""

    parameters: float
    """Master weights, and what of them is gathered at a time."""
    gradients: float
    optimizer: float
    activations: float
    logits: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.parameters + self.gradients + self.optimizer + self.activations + self.logits

    def __str__(self) -> str:
        named = ("parameters", "gradients", "optimizer", "activations", "logits")
        return " + ".join(f"{name} {getattr(self, name) / GIB:.1f}" for name in named) + f" = {self.total / GIB:.1f} GiB"


def of_llama(options: Options, mesh: Mesh) -> Memory:
    """What one core holds at the fullest moment of a step."""
    shape, half = options.shape, 2 if options.precision == "bfloat16" else 4
    embeddings = (1 if shape.tied else 2) * shape.vocabulary * shape.hidden
    # The layer at hand and the next one, which is gathered meanwhile.
    gathered = half * (2 * shape.block_parameters + embeddings) / mesh.tensor
    trained = _lora(options.lora, shape) if options.lora else shape.parameters
    # Gradients of the layer at hand and of the embeddings are whole until they are summed up.
    unsummed = 0 if options.lora else 4 * (shape.block_parameters + embeddings) / mesh.tensor
    tokens = options.micro * options.sequence
    return Memory(
        parameters=4 * shape.parameters / mesh.shards + gathered,
        # The sum over micro batches stands beside the gradients of the one at hand.
        gradients=(2 if options.accumulate(mesh) > 1 else 1) * 4 * trained / mesh.shards + unsummed,
        optimizer=8 * trained / mesh.shards,
        activations=_activations(options, mesh, tokens, half),
        # In float32, with their gradients; the normalised state before them.
        logits=2 * 4 * min(options.chunk, options.sequence) * options.micro * shape.vocabulary / mesh.tensor + half * tokens * shape.hidden,
    )


def _activations(options: Options, mesh: Mesh, tokens: int, half: int) -> float:
    """One hidden state for each layer and all of the layer at hand, or all of every layer."""
    shape = options.shape
    # Scores and weights in float32, of the queries at hand, and their gradients.
    attention = 3 * 4 * options.micro * shape.heads / mesh.tensor * min(QUERIES, options.sequence) * options.sequence
    # Two norms with their sums in float32, two residuals, one output: divided by positions; queries, keys and values before and after their turn,
    # what attention gives; gate, up, and two steps to their product: divided by heads and units. The normalised inputs of both halves are whole.
    wide = 9 * shape.hidden + 4 * shape.intermediate + 3 * shape.head * (shape.heads + shape.groups)
    layer = half * tokens * (wide / mesh.tensor + 2 * shape.hidden)
    hidden = half * tokens * shape.hidden / mesh.tensor
    if options.checkpoint_activations:
        return shape.layers * hidden + layer + attention
    return shape.layers * layer + attention


def _lora(rank: int, shape: Shape) -> int:
    """Parameters of the low-rank changes of all products."""
    query, key = shape.heads * shape.head, shape.groups * shape.head
    pairs = 2 * (shape.hidden + query) + 2 * (shape.hidden + key) + 3 * (shape.hidden + shape.intermediate)
    return shape.layers * rank * pairs


def of_core(instance: InstanceType, logical_core_size: int | None = None) -> float:
    """Bytes of device memory of one logical core."""
    return instance.device_memory_gib * GIB / instance.cores_at(logical_core_size)


def fits(memory: Memory, instance: InstanceType, logical_core_size: int | None = None) -> bool:
    """Whether the sum leaves the core's free share."""
    return memory.total <= (1 - FREE) * of_core(instance, logical_core_size)


def smallest(options: Options, instance: InstanceType, nodes_max: int = 256) -> tuple[int, Mesh, Memory] | None:
    """Fewest nodes of a type, in powers of two, on which a training fits, with the mesh of least tensor parallelism; None up to `nodes_max`."""
    nodes = 1
    while nodes <= nodes_max:
        devices = nodes * instance.logical_core_count
        for tensor in (1, 2, 4, 8):
            if devices % tensor == 0 and tensor <= instance.logical_core_count:
                mesh = Mesh(tensor, devices // tensor)
                asked = replace(options, batch=options.micro * mesh.readers)
                memory = of_llama(asked, mesh)
                if fits(memory, instance) and not list(conflicts(asked, mesh)):
                    return nodes, mesh, memory
        nodes *= 2
    return None
