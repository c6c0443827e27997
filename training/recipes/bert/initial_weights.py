"""BERT's weights before training, by name: the same whichever framework trains them, made on the processor without compiling anything.

Linear weights are (inputs, outputs); `layers.N.` stands before the names of a layer.
"""

import numpy as np

from bert_options import Size


def weights(size: Size, seed: int) -> dict[str, np.ndarray]:
    """All arrays in float32: weights from a normal distribution of 0.02, cut at two deviations; biases 0, scales 1 (Devlin et al., 2018)."""
    random = np.random.Generator(np.random.Philox(key=seed))

    def normal(*shape: int) -> np.ndarray:
        values = random.standard_normal(shape, np.float32)
        while (far := np.abs(values) > 2).any():
            values[far] = random.standard_normal(int(far.sum()), np.float32)
        return np.float32(0.02) * values

    found = dict[str, np.ndarray]()

    def dense(name: str, inputs: int, outputs: int) -> None:
        found[f"{name}.weight"], found[f"{name}.bias"] = normal(inputs, outputs), np.zeros(outputs, np.float32)

    def norm(name: str) -> None:
        found[f"{name}.scale"], found[f"{name}.bias"] = np.ones(size.hidden, np.float32), np.zeros(size.hidden, np.float32)

    found["tokens"] = normal(size.vocabulary, size.hidden)
    found["positions"] = normal(size.positions, size.hidden)
    found["types"] = normal(2, size.hidden)
    norm("norm")
    for layer in range(size.layers):
        dense(f"layers.{layer}.query_key_value", size.hidden, 3 * size.hidden)
        dense(f"layers.{layer}.output", size.hidden, size.hidden)
        norm(f"layers.{layer}.attention_norm")
        dense(f"layers.{layer}.up", size.hidden, size.intermediate)
        dense(f"layers.{layer}.down", size.intermediate, size.hidden)
        norm(f"layers.{layer}.norm")
    dense("pooler", size.hidden, size.hidden)
    dense("next", size.hidden, 2)
    dense("transform", size.hidden, size.hidden)
    norm("transform_norm")
    found["vocabulary_bias"] = np.zeros(size.vocabulary, np.float32)
    return found
