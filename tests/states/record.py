"""`make state`: records what the present version leaves in a state. Run once, before a version is tagged; never for one that is."""

import json
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

from tests.engine.cli import Engine
from tests.states.recorded import deployment, versions, write
from tests.support import ROOT
from trn.engine.program import rehearsing


def main() -> int:
    """Write the file of the version in pyproject.toml. Refuses one that there is already, unless `--again` is given."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    if version in versions() and "--again" not in sys.argv:
        sys.stderr.write(f"there is a state of {version}: it stays as it was released. Raise `version` in pyproject.toml first\n")
        return 1
    with rehearsing():
        print(f"wrote {write(version).relative_to(ROOT)}")
    if shutil.which("pulumi") is None:
        sys.stderr.write("no Pulumi CLI on PATH: the state of the real engine is not recorded\n")
        return 1
    write_deployment(version)
    print(f"wrote {deployment(version).relative_to(ROOT)}")
    return 0


def write_deployment(version: str) -> None:
    """Bring the stack with few add-ons up with the real engine on the simulated cloud, and keep its state."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Engine.lean(Path(folder) / "dev")
        engine.up()
        text = engine.run("stack", "export", quiet=True)
    exported = json.loads(text[text.index("{") : text.rindex("}") + 1])
    for resource in exported["deployment"]["resources"]:
        # When and where in the program it was made: nothing depends on it, and it names folders of the machine.
        for key in ("created", "modified", "sourcePosition", "stackTrace"):
            resource.pop(key, None)
    deployment(version).parent.mkdir(exist_ok=True)
    deployment(version).write_text(
        json.dumps(exported, indent=None, sort_keys=True, separators=(",", ":")).replace('},{"', '},\n{"') + "\n"
    )


if __name__ == "__main__":
    sys.exit(main())
