"""What tests share: recording a configuration with the real program, and the shipped stack file as data."""

import json
from pathlib import Path
from typing import Any

import yaml

from operations.stack_file import as_pulumi
from simulator.recorder import program_at, record
from simulator.recording import Recording

ROOT = Path(__file__).parent.parent


def dev_configuration() -> dict[str, Any]:
    """`Pulumi.dev.yaml` as the configuration reader sees it: keys without namespace, plain values."""
    pairs = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"]
    return {key.removeprefix("trn:"): value for key, value in pairs.items()}


def record_stack(configuration: dict[str, Any], *, stack: str = "test", preview: bool = False, seed: int = 0) -> Recording:
    """Run the program of `__main__.py` against the simulated cloud."""
    return record(program_at(ROOT), project="trn", stack=stack, configuration=as_pulumi(configuration), preview=preview, seed=seed)


def merged(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A deep copy of a configuration with sections changed: dictionaries are merged, everything else replaced."""
    copied = json.loads(json.dumps(base))
    for key, value in changes.items():
        copied[key] = merged(copied[key], **value) if isinstance(value, dict) and isinstance(copied.get(key), dict) else value
    return copied
