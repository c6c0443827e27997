"""Times as users write them in a job file: `90s`, `30m`, `12h`, `7d`."""

from facts.text_formats import Form

_UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_S = 2**31 - 1
"""Kubernetes has most of these times as int32 seconds: ttlSecondsAfterFinished and activeDeadlineSeconds of a Job (batch/v1)."""
DURATION = Form(
    "time",
    r"[1-9][0-9]{0,8}[smhd]",
    f"a whole number and s, m, h or d, together at most {LONGEST_S} s, which are 24855d",
    "write such as 90s, 30m, 12h or 7d",
    10,
    lambda text: seconds(text) <= LONGEST_S,
)


def seconds(duration: str) -> int:
    """Seconds of a text that has the form."""
    return int(duration[:-1]) * _UNITS_S[duration[-1]]
