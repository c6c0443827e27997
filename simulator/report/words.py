"""Words for times, types and counts, as every output and drawing writes them."""


def duration(seconds: float) -> str:
    """A time in words: `0.4 s`, `12 s`, `17 min 45 s`, `1 h 02 min`."""
    if 0 < seconds < 0.95:
        return f"{max(seconds, 0.1):.1f} s"
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    minutes = int(seconds / 60 + 0.5)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def short_type(token: str) -> str:
    """The last word of a type token: `NodeGroup` of `aws:eks/nodeGroup:NodeGroup`."""
    return token.rsplit(":", 1)[-1]


def plural(count: int, noun: str) -> str:
    """A count with its noun: `1 zone`, `2 zones`, `2 registries`."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun.removesuffix('y')}ies" if noun.endswith("ry") else f"{count} {noun}s"
