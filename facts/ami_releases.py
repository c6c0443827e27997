"""Releases of EKS's AL2023 images: their dates, and the patch of Kubernetes that each has for a minor.

EKS takes no other text as a node group's release. Source: awslabs/amazon-eks-ami CHANGELOG, 2026-07-23, from the first release of
1.34 on; those that AWS calls abandoned are left out, since they did not reach every region.
"""

from collections.abc import Mapping
from datetime import date

_TABLE = """
20260714 1.34.9 1.35.6 1.36.2
20260625 1.34.9 1.35.6 1.36.2
20260618 1.34.9 1.35.6 1.36.2
20260610 1.34.8 1.35.5 1.36.1
20260505 1.34.7 1.35.4
20260423 1.34.7 1.35.4
20260415 1.34.6 1.35.3
20260409 1.34.6 1.35.3
20260403 1.34.4 1.35.2
20260318 1.34.4 1.35.2
20260304 1.34.4 1.35.2
20260224 1.34.4 1.35.0
20260209 1.34.3 1.35.0
20260129 1.34.2 1.35.0
20260120 1.34.2 1.35.0
20260116 1.34.2 1.35.0
20260114 1.34.2 1.35.0
20260107 1.34.2
20251217 1.34.2
20251209 1.34.2
20251120 1.34.2
20251112 1.34.1
20251108 1.34.1
20251029 1.34.1
20251023 1.34.1
20251016 1.34.1
20251007 1.34.1
20251002 1.34.1
20250920 1.34.1
20250915 1.34.0
"""
_ROWS = [line.split() for line in _TABLE.split("\n") if line]
AMI_DATES: tuple[str, ...] = tuple(day for day, *_ in _ROWS)
"""Dates of all releases, newest first."""
NEWEST_KNOWN = AMI_DATES[0]
"""What is dated later may well be there, and is not known here."""


def _by_minor() -> Mapping[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for day, *patches in _ROWS:
        for patch in patches:
            found.setdefault(patch.rpartition(".")[0], []).append(f"{patch}-{day}")
    return {minor: tuple(releases) for minor, releases in found.items()}


PUBLISHED: Mapping[str, tuple[str, ...]] = _by_minor()
"""Releases of each Kubernetes minor as a node group names them, such as `1.35.4-20260505`, newest first."""


def near(day: str, releases: tuple[str, ...], *, count: int = 2) -> tuple[str, ...]:
    """Releases, or dates, nearest to a day given as eight digits, the nearest first. Each ends in its date."""
    wanted = _day(day)
    return tuple(sorted(releases, key=lambda release: abs((_day(release[-8:]) - wanted).days))[:count])


def _day(digits: str) -> date:
    return date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
