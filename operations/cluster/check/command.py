"""`trn check`: before money flows."""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from operations.access import access
from operations.aws.capacity_blocks import refuse_hours
from operations.cluster.check import account
from operations.cluster.check.run import CHECKS, findings_of
from operations.cluster.check.subject import Subject
from operations.findings import exit_code, print_findings
from operations.output import results, tracked, write_json
from operations.rehearse.command import record_stack, settings_of
from operations.stack_file import read_stack_file

TIMEOUT_S = 30


@dataclass(frozen=True)
class CheckOptions:
    """What the command line said."""

    stack: str
    block_hours: int
    json_file: Path | None


def run(options: CheckOptions) -> int:
    """Check, print, and return 1 where anything failed."""
    refuse_hours(options.block_hours)
    stack_file = read_stack_file(options.stack)
    settings = settings_of(stack_file, rehearsal=access().is_practice)
    subject = Subject(
        stack_file=stack_file,
        settings=settings,
        recording=record_stack(stack_file),
        api=access().aws(options.stack, settings.region),
        today=datetime.now(UTC).date(),
        own_address=access().own_address,
        tool_answer=tool_answer,
        block_hours=options.block_hours,
    )
    # Bad credentials end it here, with exit code 2: twenty findings that all say so help nobody.
    found = [*account.credentials(subject)]
    found += [finding for name in tracked(list(CHECKS), "checking") for finding in findings_of(subject, [name])]
    write_json({"stack": options.stack, "findings": found}, options.json_file)
    print_findings(results(options.json_file), found)
    return exit_code(found)


def tool_answer(command: Sequence[str]) -> str:
    """What a tool prints. Raises OSError where it is missing, fails, or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    except subprocess.SubprocessError as error:
        raise OSError(str(error)) from error
    return done.stdout.strip()
