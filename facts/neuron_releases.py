"""Which Neuron driver an AMI release brings, and which runtime a training image may then have.

A cluster that comes up well and cannot train is the commonest failure of this stack: EKS's newest AMI brings the newest
driver, and an image that is a release older does not start on it.
Sources: awslabs/amazon-eks-ami CHANGELOG, 2026-07-23; aws-neuron/aws-neuron-sdk release notes, runtime, 2026-08-21,
and of 2.33.0 and 2.33.1, 2026-10-19 and 2026-11-11; releases before 2.27: aws-neuron/aws-neuron-sdk
src/helperscripts/n2-manifest.json, 2026-08-21. Whether an AMI has driver 2.31 is not known: none was seen.
"""

import re
from dataclasses import dataclass

NEURON_AMI_TYPE = "AL2023_x86_64_NEURON"
"""EKS's AMI type with the driver (EKS API, amiType)."""
RELEASE_PATTERN = re.compile(r"(?P<minor>1\.\d{2})\.\d+-(?P<date>20\d{6})")

Version = tuple[int, ...]


@dataclass(frozen=True)
class SdkRelease:
    """One release of the Neuron SDK, named by its first two numbers."""

    name: str
    driver: Version
    runtime: Version

    @property
    def number(self) -> Version:
        """(2, 31) of `2.31`."""
        return tuple(int(part) for part in self.name.split("."))


SDK_RELEASES = {
    release.name: release
    for release in (
        SdkRelease("2.18", (2, 16, 7, 0), (2, 20, 22)),
        SdkRelease("2.19", (2, 17, 17, 0), (2, 21, 41)),
        SdkRelease("2.20", (2, 18, 12, 0), (2, 22, 14)),
        SdkRelease("2.21", (2, 19, 64, 0), (2, 23, 110)),
        SdkRelease("2.22", (2, 20, 28, 0), (2, 24, 53)),
        SdkRelease("2.23", (2, 21, 37, 0), (2, 25, 57)),
        SdkRelease("2.24", (2, 22, 2, 0), (2, 26, 42)),
        SdkRelease("2.25", (2, 23, 9, 0), (2, 27, 23)),
        SdkRelease("2.26", (2, 24, 7, 0), (2, 28, 23)),
        SdkRelease("2.27", (2, 25, 4, 0), (2, 29, 40)),
        SdkRelease("2.28", (2, 26, 10, 0), (2, 30, 51)),
        SdkRelease("2.29", (2, 27, 4, 0), (2, 31, 24)),
        SdkRelease("2.30", (2, 28, 0, 0), (2, 32, 31)),
        SdkRelease("2.31", (2, 29, 0, 0), (2, 33, 10)),
        SdkRelease("2.32", (2, 30, 2, 0), (2, 34, 10)),
        # 2.33.0 of 2026-10-19 and 2.33.1 of 2026-11-11, which corrects it. Native PyTorch of this release is for Trainium2 and later.
        SdkRelease("2.33", (2, 31, 7, 0), (2, 35, 30)),
    )
}

OLDEST_SDK = next(iter(SDK_RELEASES.values()))
"""The oldest release whose driver and runtime are in the table; images in the field carry 2.18 and later."""

# First AMI date of each driver, newest first.
_DRIVERS: tuple[tuple[str, Version], ...] = (
    ("20260714", (2, 29, 0, 0)),
    ("20260610", (2, 28, 0, 0)),
    ("20260409", (2, 27, 4, 0)),
    ("20260318", (2, 26, 10, 0)),
    ("20260304", (2, 26, 5, 0)),
    ("20260107", (2, 25, 4, 0)),
    ("00000000", (2, 24, 7, 0)),
)
NEWEST_AMI_DATE, NEWEST_DRIVER = _DRIVERS[0]
"""The newest driver seen in an AMI, and the date of the first AMI with it; an unpinned group gets this one or a newer."""

AMI_RELEASES = {"1.34": "1.34.7-20260505", "1.35": "1.35.4-20260505", "1.36": "1.36.1-20260610"}
"""One AMI release for each Kubernetes minor: the last whose driver starts the image of the default toolchain, or the
first of a minor that has none so old."""
LATER_AMI_RELEASE = "1.35.5-20260610"
"""A release after that of 1.35, to show what a change of release does."""


def ami_date(release_version: str) -> str:
    """`20260505` of `1.35.4-20260505`. Raises ValueError for a text that is no release version."""
    match = RELEASE_PATTERN.fullmatch(release_version)
    if match is None:
        raise ValueError(f"{release_version!r} is no AMI release version")
    return match["date"]


def first_ami_date(driver: Version) -> str:
    """Date of the first AMI with a driver. Raises KeyError for a driver that no AMI is known to have had."""
    return {version: date for date, version in _DRIVERS}[driver]


def ami_driver(release_version: str | None) -> Version:
    """Driver of an AMI release such as `1.35.4-20260505`; without a pin, the newest known.

    Raises ValueError for a text that is no release version.
    """
    if release_version is None:
        return NEWEST_DRIVER
    date = ami_date(release_version)
    return next(driver for first_date, driver in _DRIVERS if date >= first_date)


def runtime_conflict(driver: Version, runtime: Version) -> str | None:
    """Why a training image with `runtime` cannot run on a node with `driver`; None where it can."""
    if driver >= (2, 29) and runtime < (2, 33):
        return "driver 2.29 and later need runtime 2.33 or later"
    if runtime >= (2, 32) and driver[:2] <= (2, 26):
        return "runtime 2.32 and later need a driver newer than 2.26"
    return None


def fitting_ami_dates(runtime: Version) -> tuple[str, str | None]:
    """First and last AMI date whose driver fits `runtime`; None as the last where the newest fits."""
    fitting = [index for index, (_, driver) in enumerate(_DRIVERS) if runtime_conflict(driver, runtime) is None]
    newest, oldest = fitting[0], fitting[-1]
    return _DRIVERS[oldest][0], None if newest == 0 else _DRIVERS[newest - 1][0]


def version_text(version: Version) -> str:
    """`2.29.0.0` for (2, 29, 0, 0)."""
    return ".".join(str(number) for number in version)
