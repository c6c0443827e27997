"""Times as users write them in a job file: `90s`, `30m`, `12h`, `7d`."""

from facts.forms import Form

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
DURATION = Form("time", r"[1-9][0-9]{0,8}[smhd]", "a whole number and s, m, h or d", "write such as 90s, 30m, 12h or 7d", 10)


def seconds(duration: str) -> int:
    """Seconds of a text that has the form."""
    return int(duration[:-1]) * _UNITS_S[duration[-1]]
