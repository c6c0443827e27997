"""Reads part after part: each has a limited time, an error costs no more than its part, and a silent origin is not asked twice."""

import traceback
from dataclasses import dataclass, field

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)

from stacks.problems import ConfigurationError
from trn.aws.errors import command_error
from trn.cli.errors import CommandError
from trn.cli.parallel import in_time
from trn.kubernetes.client import Unreachable
from trn.running.bundle.part import Absent, Origin, OriginSilent, Outcome, Part
from trn.running.bundle.redact import Redactor
from trn.running.bundle.tools import NoAnswer
from trn.running.bundle.writing import bounded, written

_SILENT = (EndpointConnectionError, ConnectTimeoutError, ReadTimeoutError, NoCredentialsError)
"""Errors after which another call to AWS would say the same."""


@dataclass
class Gathering:
    """The parts of one bundle, as they were read."""

    redactor: Redactor
    patience_s: float
    """Longest that one part may take."""
    outcomes: list[Outcome] = field(default_factory=list)
    shut: dict[Origin, str] = field(default_factory=dict)
    """Origins that gave no answer, and the part that found it."""

    def take(self, part: Part) -> Outcome:
        """Read one part."""
        outcome = self._taken(part)
        self.outcomes.append(outcome)
        return outcome

    def _taken(self, part: Part) -> Outcome:
        if part.origin in self.shut:
            return Outcome(part, why=f"not asked for, since {self.shut[part.origin]} could not be read", is_skipped=True)
        try:
            found = in_time(lambda: bounded(written(part.read(), part.file, self.redactor), part.file), self.patience_s)
            return Outcome(part, text=found.text, why=found.cut)
        except Absent as error:
            return Outcome(part, why=str(error), is_absent=True)
        except (TimeoutError, NoAnswer, OriginSilent) as error:
            self.shut[part.origin] = f"`{part.file}`"
            return Outcome(part, why=self._said(error.args[0] if error.args else str(error)))
        except (CommandError, BotoCoreError, ClientError, ConfigurationError, OSError) as error:
            if isinstance(error, _SILENT) or (isinstance(error, Unreachable) and error.__cause__ is not None):
                self.shut[part.origin] = f"`{part.file}`"
            return Outcome(part, why=self._said(_words(error)))
        # A bug must cost no other part, and its trace is what a bug report is for.
        except Exception as error:
            trace = self.redactor.text(traceback.format_exc())
            return Outcome(part, why=self._said(f"{type(error).__name__}: {error}"), trace=trace)

    def _said(self, text: str) -> str:
        return " ".join(self.redactor.text(text).split())


def _words(error: Exception) -> str:
    known = error if isinstance(error, CommandError) else command_error(error)
    if known is None:
        return str(error)
    return f"{known.args[0]}; {known.hint}" if known.hint else str(known.args[0])
