"""Operations of a transformer's training, for the share of the hardware's peak that `trn watch` shows. Standard library only."""


def of_sequence(parameters: int, layers: int, hidden: int, length: int) -> int:
    """Forward and back over one sequence: for each token 6 a parameter, and 12 x layers x hidden x length for attention (PaLM, appendix B)."""
    return length * (6 * parameters + 12 * layers * hidden * length)
