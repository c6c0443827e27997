"""What tests share: recording a configuration with the real program, and the shipped stack file as data."""

import json
import shutil
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from facts.catalogue import NEURON_TYPES, known_zone_ids
from facts.neuron_releases import AMI_RELEASES
from facts.regions import zone_id_prefix
from simulator.recorder.recorder import program_at
from simulator.recording import Recording
from tests.sharing import recorded
from trn.engine.stack_file import as_pulumi

ROOT = Path(__file__).parent.parent
PACKAGES: list[str] = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
"""Everything that is not a test."""


SHEBANG = f"""#!/bin/sh
'''exec' "{sys.executable}" "$0" "$@"
' '''
"""
"""First lines of a Python script that is started as a tool, as pip writes them: the kernel's own `#!` knows no path with a space."""


def copy_project(folder: Path) -> Path:
    """Make an existing folder a project of its own, with the shipped stack; gives the folder."""
    for name in ("Pulumi.yaml", "Pulumi.dev.yaml", "__main__.py"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def dev_configuration() -> dict[str, Any]:
    """`Pulumi.dev.yaml` as the configuration reader sees it: keys without namespace, plain values."""
    return json.loads(_shipped())


@cache
def _shipped() -> str:
    pairs = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"]
    return json.dumps({key.removeprefix("trn:"): value for key, value in pairs.items()})


def record_stack(configuration: dict[str, Any], *, stack: str = "test", preview: bool = False) -> Recording:
    """Run the program of `__main__.py` against the simulated cloud, once for each configuration; each caller has a recording to change."""
    return recorded(program_at(ROOT), "trn", stack, as_pulumi(configuration), preview=preview)


def merged(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A deep copy of a configuration with sections changed: dictionaries are merged, everything else replaced."""
    copied = json.loads(json.dumps(base))
    for key, value in changes.items():
        copied[key] = merged(copied[key], **value) if isinstance(value, dict) and isinstance(copied.get(key), dict) else value
    return copied


def with_groups(count: int, instance_type: str = "trn1.32xlarge") -> dict[str, Any]:
    """The dev stack with other groups, one node each: the subnet of a zone has addresses for 268 small nodes.

    Only types that no zone is known for are spread over four.
    """
    configuration = dev_configuration()
    zones = configuration["network"]["zones"]
    if not known_zone_ids(NEURON_TYPES[instance_type], zone_id_prefix(configuration["region"])):
        zones = configuration["network"]["zones"] = [f"{zone_id_prefix(configuration['region'])}-az{number}" for number in range(1, 5)]
    configuration["nodeGroups"] = {
        f"group-{index}": {
            "instanceType": instance_type, "releaseVersion": AMI_RELEASES["1.35"], "size": 1, "maxSize": 1,
            "zoneIds": [zones[index % len(zones)] if len(zones) == 4 else zones[0]],
        }
        for index in range(count)
    }  # fmt: skip
    return configuration
