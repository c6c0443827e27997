"""What `trn init` writes where `--json` says."""

from typing import Any, Literal

from facts.document import Document
from simulator.cost_figures import Figures


class InitReport(Figures, Document, frozen=True):
    """The stack file that `trn init` wrote, and what it costs."""

    schema_: Literal["trn-init"] = "trn-init"
    file: str
    answers: dict[str, Any]
    """By the names of the questions."""
