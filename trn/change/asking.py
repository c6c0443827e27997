"""Questions on the terminal, on standard error."""

import typer

from trn.change.ownership import Consent


def consent(yes: bool, name: str = "", identity: str = "") -> Consent:
    """What the options said, and a terminal for the rest. A no ends the command."""

    def confirm(question: str) -> None:
        typer.confirm(question, abort=True, err=True)

    def prompt(question: str) -> str:
        return str(typer.prompt(question, default="", show_default=False, err=True))

    def ask(question: str) -> bool:
        return typer.confirm(question, err=True)

    return Consent(yes, name, identity, confirm, ask, prompt)
