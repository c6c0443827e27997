"""Commands that hints and reports name, as they are typed in practice: `pulumi up` is `trn practice up NAME` there."""

from trn.table import ENTRIES, InPractice

_AS_ON_AWS = ("config", "login", "whoami")
"""The stack file is the user's own, wherever the stack is up; and practice has no backend to choose."""
_FORCED = "PULUMI_K8S_DELETE_UNREACHABLE=true"


def in_practice(line: str, stack: str) -> str:
    """A command line as it is typed in practice, on this stack. What needs no account, or is for AWS alone, stays as it is."""
    program, *words = line.split(" ")
    if program == _FORCED:
        return f"trn --practice destroy {stack}"
    if program == "pulumi" and words[0] not in _AS_ON_AWS:
        return _of_pulumi(words, stack)
    for count in (2, 1):
        entry = ENTRIES.get(" ".join(words[:count]))
        if entry is not None and len(words) >= count:
            if entry.in_practice is not InPractice.SIMULATED:
                return line
            options = words[count:]
            named = entry.takes_words or (options and not options[0].startswith("-"))
            return " ".join(["trn", "--practice", entry.place, *([] if named else [stack]), *options])
    return line


def _of_pulumi(words: list[str], stack: str) -> str:
    if "--stack" in words:
        at = words.index("--stack")
        words = words[:at] + words[at + 2 :]
    if words[:2] == ["stack", "export"]:
        return " ".join(["trn practice export", stack, *words[2:]])
    if (own := {"up": "up", "destroy": "down"}.get(" ".join(words))) is not None:
        return f"trn practice {own} {stack}"
    return f"trn engine {stack} -- {' '.join(words)}"
