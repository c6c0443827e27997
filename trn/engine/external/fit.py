"""Whether what others keep fits a stack: judged before anything is made with it."""

from facts.external import description, role
from facts.external.description import Description
from stacks.external import asked_of
from stacks.settings import Settings
from trn.cli.errors import MISUSE, CommandError, CompleteError
from trn.engine.external.roles import wanted_roles
from trn.engine.stack_file import StackFile

NOTHING_USED = "set `network.existing`, or another key of docs/existing.md"


def refuse_unfit(settings: Settings, found: Description, stack_file: StackFile) -> list[str]:
    """What should be known of what fits. Raises CompleteError with all that does not fit, each with its fix."""
    asked, given, stack = asked_of(settings), settings.iam.roles, stack_file.stack
    if asked.is_nothing and not given:
        raise CommandError(f"stack `{stack}` uses nothing that exists", f"leave --existing out, or {NOTHING_USED}", code=MISUSE)
    problems = description.problems(found, asked)
    problems += role.problems(found.roles, given, wanted_roles(stack_file, settings)) if given else ()
    if problems:
        count = "1 mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        said = "\n\n".join(str(problem) for problem in problems)
        raise CompleteError(f"{count} in how stack `{stack}` and what exists fit; nothing was created\n\n{said}")
    return description.notes(found, asked)
