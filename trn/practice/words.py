"""Commands in hints and reports, as they are typed in practice: `pulumi up` is `trn practice up NAME` there."""

import re
from collections.abc import Callable

from trn.table import ENTRIES, InPractice

_AROUND = "|".join(sorted({entry.place.split()[0] for entry in ENTRIES.values() if entry.in_practice is InPractice.SIMULATED}))
"""Commands of `trn` that act on a cluster, and take `--practice`; for those of a group its word."""
_OF_A_STACK = "|".join(place for place, entry in ENTRIES.items() if entry.in_practice is InPractice.SIMULATED and not entry.takes_words)
"""Those of them whose only argument is the stack."""
_STACK = r"(?: --stack [\w.-]*[\w-])?"
_KNOWN: tuple[tuple[str, Callable[[str, str], str]], ...] = (
    (rf"pulumi stack export{_STACK}", lambda stack, _: f"trn practice export {stack}"),
    ("`pulumi stack ls` lists them, `pulumi login` chooses where", lambda stack, _: f"`trn practice up {stack}` brings it up"),
    ("PULUMI_K8S_DELETE_UNREACHABLE=true pulumi refresh", lambda stack, _: f"trn --practice destroy {stack}"),
    (rf"pulumi up(?! --replace){_STACK}", lambda stack, _: f"trn practice up {stack}"),
    (rf"pulumi destroy{_STACK}", lambda stack, _: f"trn practice down {stack}"),
    # Not `config`: the key is in the user's own stack file, wherever the stack is up.
    (rf"pulumi (?:cancel|refresh|import|preview|stack|state|up)\b{_STACK}", lambda stack, text: f"trn engine {stack} -- {text.split()[1]}"),
    (rf"trn (?:{_OF_A_STACK})(?=`| --)", lambda stack, text: f"trn --practice {text.removeprefix('trn ')} {stack}"),
    (rf"trn (?:{_AROUND})\b", lambda _, text: f"trn --practice {text.split()[1]}"),
)  # fmt: skip
"""What begins a command, and what takes its place, from the stack and the text. The first that fits counts."""
_ANY = re.compile("|".join(rf"(?<![-\w/])({pattern})" for pattern, _ in _KNOWN))


def in_practice(text: str, stack: str) -> str:
    """The text with each command as it is typed in practice. What is one of practice's own already stays as it is."""

    def typed(found: re.Match[str]) -> str:
        assert found.lastindex is not None
        return _KNOWN[found.lastindex - 1][1](stack, found[0])

    return _ANY.sub(typed, text)
