"""The error with which a control plane on this machine cannot be had."""

MISUSE = 2
"""Exit code for what is not on this machine, or was asked for wrongly."""


class LocalKubernetesError(Exception):
    """What is wrong; `hint`: how to put it right. `code`: exit code of the command that it stops."""

    def __init__(self, wrong: str, hint: str = "", *, code: int = 1) -> None:
        super().__init__(wrong)
        self.hint, self.code = hint, code
