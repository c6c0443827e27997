"""Times as the API writes them, and as seconds since 1970."""

from datetime import UTC, datetime


def as_text(seconds: float) -> str:
    """Seconds since 1970 as the API writes a time: whole seconds, UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def as_precise_text(seconds: float) -> str:
    """The same with microseconds, as leases and events want it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def as_seconds(text: str) -> float:
    """A time of the API as seconds since 1970. Fractions may have any length. Raises ValueError for other text."""
    whole, _, fraction = text.removesuffix("Z").partition(".")
    seconds = datetime.fromisoformat(whole).replace(tzinfo=UTC) if "+" not in whole else datetime.fromisoformat(whole)
    return seconds.timestamp() + (float(f"0.{fraction}") if fraction else 0.0)
