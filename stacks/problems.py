"""The error of a stack's configuration: all mistakes at once, each with its fix."""

from collections.abc import Iterable

import pulumi

from facts.problems import Problem


class ConfigurationError(pulumi.RunError):
    """The configuration cannot be used. Pulumi prints it without a traceback; `trn` exits with 2."""

    def __init__(self, problems: Iterable[Problem], stack: str) -> None:
        self.problems = tuple(problems)
        self.stack = stack
        count = "1 mistake" if len(self.problems) == 1 else f"{len(self.problems)} mistakes"
        body = "\n\n".join(str(problem) for problem in self.problems)
        super().__init__(f"{count} in the configuration of stack `{stack}`; nothing was created\n\n{body}")
