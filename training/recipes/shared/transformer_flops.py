"""Operations of a transformer's training, for the share of the hardware's peak that `trn watch` shows. Standard library only.

Share of peak (MFU) = samples per second x operations of a sample / (chips x peak of a chip). Peaks are in facts/catalogue.py, dense BF16 as
AWS publishes them. Formula: Chowdhery et al., PaLM, 2022, appendix B (arXiv:2204.02311): for each token 6 operations a parameter that it is
multiplied with, and 12 x layers x width x length for attention, masked halves included. Rows that are only looked up multiply nothing: of
an embedding that is not the output's as well, none counts (pytorch/torchtitan, num_flops_per_token), and of an output that is computed for
some tokens alone, those. Recomputed activations do not count. tests/training/test_transformer_flops.py recomputes published tables by it.
"""


def of_sequence(parameters: int, layers: int, width: int, length: int, *, looked_up: int = 0, for_some: int = 0, some: int = 0) -> int:
    """Forward and back over one sequence.

    `width`: of all heads together. `looked_up`: parameters of tables that no token is multiplied with. `for_some`: parameters that are
    multiplied with `some` of the tokens alone, as BERT's output with the masked ones.
    """
    every = parameters - looked_up - for_some
    return length * (6 * every + 12 * layers * width * length) + some * 6 * for_some
