"""LAMB and AdamW over a tree of parameters, in float32."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Tree = Any
BETA_1, BETA_2, EPSILON, DECAY, CLIP = 0.9, 0.999, 1e-6, 0.01, 1.0
"""As in BERT's own training (Devlin et al., 2018, A.2); gradients are clipped to a global norm of 1 before both."""


def initial(parameters: Tree) -> Tree:
    """State before the first step: both moments zero."""
    return {moment: jax.tree.map(lambda array: np.zeros(array.shape, np.float32), parameters) for moment in ("first", "second")}


def update(kind: str, parameters: Tree, state: Tree, gradients: Tree, step: jax.Array, rate: jax.Array) -> tuple[Tree, Tree]:
    """Parameters and state after one step. `step` counts from 1.

    LAMB scales AdamW's change of each array to the norm of the array itself (You et al., 2019, algorithm 2).
    """
    norm = jnp.sqrt(jnp.stack([jnp.sum(array**2) for array in jax.tree.leaves(gradients)]).sum())
    gradients = jax.tree.map(lambda array: array * jnp.minimum(1.0, CLIP / (norm + EPSILON)), gradients)
    first = jax.tree.map(lambda old, new: BETA_1 * old + (1 - BETA_1) * new, state["first"], gradients)
    second = jax.tree.map(lambda old, new: BETA_2 * old + (1 - BETA_2) * new**2, state["second"], gradients)
    count = step.astype(jnp.float32)

    def moved(array: jax.Array, first: jax.Array, second: jax.Array) -> jax.Array:
        change = (first / (1 - BETA_1**count)) / (jnp.sqrt(second / (1 - BETA_2**count)) + EPSILON)
        # Biases and normalisation, the arrays of one axis, neither decay nor are scaled.
        if array.ndim > 1:
            change = change + DECAY * array
            if kind == "lamb":
                own, wanted = jnp.linalg.norm(array), jnp.linalg.norm(change)
                change = change * jnp.where((own > 0) & (wanted > 0), own / wanted, 1.0)
        return array - rate * change

    return jax.tree.map(moved, parameters, first, second), {"first": first, "second": second}
