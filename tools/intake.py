"""Takes in a release of the Neuron SDK: `python -m tools.intake MANIFEST [--release 2.33.1] [--dry-run]`.

MANIFEST is the one that AWS publishes (aws-neuron/aws-neuron-sdk src/helperscripts/n2-manifest.json). It writes the release's row in
facts/neuron_releases.py, and lists what a person has to look at then: toolchains, images, drivers, AMI releases, constraints, and every
line of tests, docs and code that names the release or what it replaces. It writes nothing else: which toolchain is to be had of a
release is no matter of its numbers.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from facts.neuron_releases import SDK_RELEASES, SdkRelease, Version, first_ami_date, fitting_ami_dates, version_text
from facts.toolchains import TOOLCHAINS, driver_conflict

ROOT = Path(__file__).resolve().parent.parent
FACTS = "facts/neuron_releases.py"
DRIVER, RUNTIME = "aws-neuronx-dkms", "aws-neuronx-runtime-lib"
_ROW = re.compile(r'^        SdkRelease\("(?P<name>[0-9.]+)", .*\),\n', re.MULTILINE)
_NAMED_IN = (
    "addons/**/*.py",
    "facts/**/*.py",
    "tests/**/*.py",
    "training/**/*.py",
    "training/images/*/*",
    "docs/*.md",
    "docs/samples/**/*.yaml",
)


class ManifestError(Exception):
    """The manifest is none, or has no such release."""


@dataclass(frozen=True)
class Published:
    """One release as the manifest has it."""

    number: str
    """`2.33.1`."""
    packages: Mapping[str, tuple[str, ...]]
    """Versions by package, with hyphens."""

    @property
    def row(self) -> SdkRelease:
        """As the table has it. Raises ManifestError where driver or runtime are missing."""
        driver, runtime = _newest(self, DRIVER), _newest(self, RUNTIME)
        return SdkRelease(".".join(self.number.split(".")[:2]), driver, runtime[:3])


def _newest(release: Published, package: str) -> Version:
    """Releases up to 2.21 list the runtime of inf1 too, which is older."""
    found = [_order(version) for version in release.packages.get(package, ()) if re.fullmatch(r"[0-9]+(\.[0-9]+){3}", version)]
    if not found:
        raise ManifestError(f"release {release.number} has no version of {package} with four numbers")
    return max(found)


def releases(manifest: Any) -> dict[str, Published]:
    """All of a manifest, the newest first. Raises ManifestError."""
    try:
        found = dict[str, Published]()
        for entry in manifest["neuron_releases"]:
            packages = dict[str, tuple[str, ...]]()
            for package in entry["packages"]:
                name = str(package["name"]).replace("_", "-")
                packages[name] = tuple(dict.fromkeys((*packages.get(name, ()), str(package["version"]))))
            found[str(entry["neuron_version"])] = Published(str(entry["neuron_version"]), packages)
    except (KeyError, TypeError) as error:
        raise ManifestError(f"it is no manifest of the Neuron SDK: {error}") from error
    return dict(sorted(found.items(), key=lambda item: _order(item[0]), reverse=True))


def _order(number: str) -> Version:
    return tuple(int(part) for part in re.findall(r"[0-9]+", number))


def row_text(release: SdkRelease) -> str:
    """The row's line in the table."""
    return f'        SdkRelease("{release.name}", {release.driver}, {release.runtime}),\n'


def rewritten(text: str, release: SdkRelease) -> str:
    """facts/neuron_releases.py with the row: in place of the one of its name, else in its order. Raises ManifestError where no row is found."""
    rows = list(_ROW.finditer(text))
    if not rows:
        raise ManifestError(f"{FACTS} has no rows as this command knows them")
    same = next((row for row in rows if row["name"] == release.name), None)
    if same is not None:
        return text[: same.start()] + row_text(release) + text[same.end() :]
    before = [row for row in rows if _order(row["name"]) < _order(release.name)]
    at = before[-1].end() if before else rows[0].start()
    return text[:at] + row_text(release) + text[at:]


def touched(release: Published, root: Path = ROOT) -> Iterator[str]:
    """What is to be looked at, a line each."""
    row = release.row
    yield from _toolchains(release)
    yield from _drivers(row)
    yield from _constraints(release, root)
    old = SDK_RELEASES.get(row.name) or max(SDK_RELEASES.values(), key=lambda each: each.number)
    words = {f'"{row.name}"', f"sdk{row.name}.", f'"{old.name}"', f"sdk{old.name}.", version_text(old.driver), version_text(row.driver)}
    words |= {repr(each)[:-1] for known in (old, row) for each in (known.driver, known.runtime)}
    yield from _named(words, root)


def _toolchains(release: Published) -> Iterator[str]:
    row = release.row
    for name, toolchain in TOOLCHAINS.items():
        is_own = toolchain.sdk.name == row.name
        other = {
            package: (version, release.packages[package])
            for package, version in toolchain.versions.items()
            if package in release.packages and version not in release.packages[package]
        }
        said = [f"{package} {version}, the release has {' and '.join(now)}" for package, (version, now) in other.items()]
        if is_own:
            yield f"toolchain {name}: is of this release{'; ' + '; '.join(said) if said else ''}"
        elif toolchain.state != "frozen" and said:
            yield f"toolchain {name}: stays at SDK {toolchain.sdk.name}; {'; '.join(said)}"
        if is_own:
            yield f"image of {name}: {toolchain.image or 'none is known: look for the one of this release'}"


def _drivers(row: SdkRelease) -> Iterator[str]:
    first, last = fitting_ami_dates(row.runtime)
    until = f", before {last}" if last is not None else ""
    yield f"runtime {version_text(row.runtime)}: as far as is published it starts on AMI releases of {f'{first} or later' if int(first) else 'any date'}{until}"
    try:
        yield f"driver {version_text(row.driver)}: in AMI releases since {first_ami_date(row.driver)}"
    except KeyError:
        yield f"driver {version_text(row.driver)}: no AMI release with it is known; add its first date to _DRIVERS of {FACTS} when one is out"
    for toolchain in TOOLCHAINS.values():
        if conflict := driver_conflict(toolchain, row.driver):
            yield f"toolchain {toolchain.name}: does not start on that driver, {conflict}"


def _constraints(release: Published, root: Path) -> Iterator[str]:
    for path in sorted((root / "training" / "images").glob("*/constraints.txt")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            package, _, version = line.partition("==")
            now = release.packages.get(package.strip().replace("_", "-"), ())
            if version and now and version.strip() not in now:
                yield f"{path.relative_to(root)}:{number}: {line.strip()}, the release has {' and '.join(now)}"


def _named(words: set[str], root: Path) -> Iterator[str]:
    """Lines that name one of the words."""
    pattern = re.compile("|".join(re.escape(word) for word in sorted(words)))
    paths = {path for glob in _NAMED_IN for path in root.glob(glob) if path.is_file()} - {root / FACTS}
    for path in sorted(paths):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if found := pattern.search(line):
                yield f"{path.relative_to(root)}:{number}: names {found[0]}"


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Runs the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.intake", description="Take in a release of the Neuron SDK.")
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--release", help="such as 2.33.1; else the manifest's newest")
    parser.add_argument("--dry-run", action="store_true", help="write nothing")
    asked = parser.parse_args(arguments)
    try:
        found = releases(json.loads(asked.manifest.read_text()))
        number = asked.release or next(iter(found), "")
        if number not in found:
            raise ManifestError(f"it has no release {number or 'at all'}; it has {', '.join(list(found)[:5])}")
        release = found[number]
        text = (root / FACTS).read_text()
        new = rewritten(text, release.row)
    except (OSError, ValueError, ManifestError) as error:
        sys.stderr.write(f"error: {asked.manifest}: {error}\n")
        return 2
    sys.stdout.write(f"{FACTS}: {'is as it was' if new == text else 'the row is'}\n{row_text(release.row)}")
    sys.stdout.writelines(f"{line}\n" for line in touched(release, root))
    if new != text and not asked.dry_run:
        (root / FACTS).write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
