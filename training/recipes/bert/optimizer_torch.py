"""LAMB and AdamW over parameters by name, in float32: the same arithmetic as optimizer_jax.py.

Step and learning rate come as tensors: as numbers they would be constants of the graph, which would be compiled for each step.
"""

import torch

BETA_1, BETA_2, EPSILON, DECAY, CLIP = 0.9, 0.999, 1e-6, 0.01, 1.0
"""As in BERT's own training (Devlin et al., 2018, A.2); gradients are clipped to a global norm of 1 before both."""
Tensors = dict[str, torch.Tensor]


def initial(parameters: Tensors) -> dict[str, Tensors]:
    """State before the first step: both moments zero."""
    return {
        moment: {name: torch.zeros_like(tensor, requires_grad=False) for name, tensor in parameters.items()}
        for moment in ("first", "second")
    }


@torch.no_grad()
def update(kind: str, parameters: Tensors, state: dict[str, Tensors], gradients: Tensors, step: torch.Tensor, rate: torch.Tensor) -> None:
    """One step in place. `step` counts from 1.

    LAMB scales AdamW's change of each tensor to the norm of the tensor itself (You et al., 2019, algorithm 2).
    """
    norm = torch.sqrt(torch.stack([gradient.square().sum() for gradient in gradients.values()]).sum())
    clip = (CLIP / (norm + EPSILON)).clamp(max=1.0)
    for name, parameter in parameters.items():
        gradient, first, second = gradients[name] * clip, state["first"][name], state["second"][name]
        first.mul_(BETA_1).add_(gradient, alpha=1 - BETA_1)
        second.mul_(BETA_2).add_(gradient.square(), alpha=1 - BETA_2)
        change = (first / (1 - BETA_1**step)) / (torch.sqrt(second / (1 - BETA_2**step)) + EPSILON)
        # Biases and normalisation, the tensors of one axis, neither decay nor are scaled.
        if parameter.ndim > 1:
            change = change + DECAY * parameter
            if kind == "lamb":
                own, wanted = torch.linalg.vector_norm(parameter), torch.linalg.vector_norm(change)
                change = change * torch.where((own > 0) & (wanted > 0), own / wanted, torch.ones_like(own))
        parameter.sub_(rate * change)
