"""What `trn iam` writes where `--json` says."""

from typing import Any, Literal

from facts.document import Document


class IamReport(Document, frozen=True):
    """Policy documents, made by `trn iam`."""

    schema_: Literal["trn-iam"] = "trn-iam"
    policies: dict[str, dict[str, Any]]
    """Each as IAM takes it, by its name."""
