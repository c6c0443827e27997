"""Whether a network that others keep fits a stack: judged before anything is made in it."""

from facts.existing import judge
from facts.existing.network import NetworkDescription
from operations.errors import MISUSE, CommandError, CompleteError
from stacks.existing import asked_of_network
from stacks.settings import Settings


def refuse_unfit(settings: Settings, network: NetworkDescription, stack: str) -> list[str]:
    """What should be known of a network that fits. Raises CompleteError with all that does not fit, each with its fix."""
    asked = asked_of_network(settings)
    if asked is None:
        wrong = f"stack `{stack}` makes a network of its own: nothing that exists is used"
        raise CommandError(wrong, "leave --existing out, or set `network.existing`", code=MISUSE)
    found = judge.problems(network, asked)
    if found:
        count = "1 mistake" if len(found) == 1 else f"{len(found)} mistakes"
        said = "\n\n".join(str(problem) for problem in found)
        raise CompleteError(f"{count} in how stack `{stack}` and {network.vpc_id} fit; nothing was created\n\n{said}")
    return judge.notes(network, asked)
