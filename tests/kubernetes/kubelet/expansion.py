"""`$(NAME)` in commands, arguments and values, as Kubernetes replaces it (API reference, Container: command, args, env.value)."""

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$(\$|\([^)]*\)?)")


def expand(text: str, values: Mapping[str, str]) -> str:
    """`$(NAME)` replaced where the name is known and kept as it is where not; `$$` is one `$`, so `$$(NAME)` stays text."""

    def replaced(match: re.Match[str]) -> str:
        found = match.group(1)
        if found == "$":
            return "$"
        name = found[1:-1] if found.endswith(")") else None
        return values.get(name, match.group(0)) if name else match.group(0)

    return _REFERENCE.sub(replaced, text)
