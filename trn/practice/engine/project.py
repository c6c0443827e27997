"""The folder in which a stack is practised: its simulated account, a stand-in for the project, and a file backend for the real engine.

The user's own project is read and never written: Pulumi keeps a salt in the stack file, and lists stacks beside it.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from facts.yaml_text import write_yaml
from stacks.config import REHEARSAL_VARIABLE
from trn.engine.stack_file import StackFile
from trn.engine.stack_names import StackFileError, project_root

PRACTICE = Path("build") / "practice"
"""Folder of all practice accounts, below the project's."""
_OWN_KEYS = ("encryptionsalt:", "encryptedkey:", "secretsprovider:")
"""Lines of a stack file that belong to the backend in which the stack is."""


@dataclass(frozen=True)
class EngineFolder:
    """Where everything of one stack is."""

    root: Path
    """Absolute."""

    @property
    def account(self) -> Path:
        """The objects of the simulated account, whichever engine made them."""
        return self.root / "account"

    @property
    def rehearsal(self) -> Path:
        """What the rehearsal's engine remembers of the stack, where it is the one that runs it."""
        return self.root / "rehearsal"

    @property
    def kubernetes(self) -> Path:
        """A real control plane for the account's Kubernetes half, where there is one."""
        return self.root / "kubernetes"

    @property
    def has_control_plane(self) -> bool:
        """Whether the stack was brought up with a real control plane, which may have ended since."""
        return (self.kubernetes / "identity").is_dir()

    @property
    def provider_record(self) -> Path:
        """Names the plug-in of the real Kubernetes provider, where the stack was brought up with it."""
        return self.kubernetes / "identity" / "provider"

    @property
    def real_provider(self) -> Path | None:
        """That plug-in; None where the simulated provider makes the objects."""
        return Path(self.provider_record.read_text().strip()) if self.provider_record.exists() else None

    @property
    def calls(self) -> Path:
        """What the last run asked of the simulated cloud."""
        return self.root / "calls.jsonl"

    @property
    def events(self) -> Path:
        """What the engine said that it did in the last run."""
        return self.root / "events.jsonl"

    @property
    def provider_log(self) -> Path:
        """What the provider process had to say."""
        return self.root / "providers.log"

    @property
    def project(self) -> Path:
        """The stand-in for the user's project."""
        return self.root / "project"

    @property
    def state(self) -> Path:
        """The file backend."""
        return self.root / "state"

    def has_stack(self, stack_file: StackFile) -> bool:
        """Whether the stack was made in this folder's backend."""
        stacks = self.state / ".pulumi" / "stacks" / stack_file.project
        return any((stacks / f"{stack_file.stack}.{ending}").exists() for ending in ("json", "json.gz"))

    def prepare(self, stack_file: StackFile) -> None:
        """Write the stand-in as the user's project is today; forget the last run's calls and events."""
        for folder in (self.project, self.state):
            folder.mkdir(parents=True, exist_ok=True)
        for path in (self.calls, self.events):
            path.unlink(missing_ok=True)
        settings = yaml.safe_load((stack_file.root / "Pulumi.yaml").read_text())
        (self.project / "Pulumi.yaml").write_text(write_yaml(project_settings(settings, stack_file.root)))
        name = f"Pulumi.{stack_file.stack}.yaml"
        ours = self.project / name
        kept = ours.read_text() if ours.exists() else ""
        ours.write_text(stack_settings((stack_file.root / name).read_text(), kept))


def practice_folder(stack: str, start: Path | None = None) -> EngineFolder:
    """The folder of a stack's practice account, below the project that `start`, or the working folder, belongs to.

    Raises StackFileError where there is no project.
    """
    return EngineFolder(project_root((start or Path.cwd()).absolute()) / PRACTICE / stack)


def project_settings(settings: Mapping[str, Any], root: Path) -> dict[str, Any]:
    """The project's settings, for a file elsewhere: the program stays where it is, and runs in the interpreter that runs trn."""
    runtime = settings.get("runtime", "python")
    named: dict[str, Any] = {"name": runtime} if isinstance(runtime, str) else dict(runtime)
    options = {key: value for key, value in (named.get("options") or {}).items() if key not in ("toolchain", "virtualenv")}
    kept = {key: value for key, value in settings.items() if key not in ("backend", "plugins")}
    return {**kept, "runtime": {**named, "options": options}, "main": str((root / settings.get("main", ".")).resolve())}


def stack_settings(text: str, kept: str) -> str:
    """The text of the user's stack file, with what Pulumi wrote into ours in place of what it wrote into theirs."""
    lines = [line for line in text.splitlines() if not line.startswith(_OWN_KEYS)]
    return "\n".join(lines + [line for line in kept.splitlines() if line.startswith(_OWN_KEYS)]) + "\n"


def refuse_secrets(stack_file: StackFile) -> None:
    """Raises StackFileError where a value is encrypted: its key is in another backend."""
    secret = sorted(key for key, value in stack_file.pairs.items() if _is_secret(value))
    if secret:
        raise StackFileError(
            f"Pulumi.{stack_file.stack}.yaml holds encrypted values, which only its own backend can open: {', '.join(secret)}",
            "rehearse with a copy of the stack file that has plain values in their place",
        )


def _is_secret(value: Any) -> bool:
    if isinstance(value, dict):
        return set(value) == {"secure"} or any(_is_secret(item) for item in value.values())
    return isinstance(value, list) and any(_is_secret(item) for item in value)


def environment(folder: EngineFolder, stack: str, attach: str, base: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What the CLI gets: this folder and the simulated cloud, no account.

    `attach`: the packages served, as PULUMI_DEBUG_PROVIDERS takes them.
    """
    kept = {key: value for key, value in base.items() if not key.startswith("AWS_")}
    made = kept | {
        # Without files of attributes beside the state's: one of those that a kill left empty makes every command fail.
        "PULUMI_BACKEND_URL": f"file://{folder.state}?metadata=skip",
        "PULUMI_CONFIG_PASSPHRASE": "",
        # Without it there is no --event-log; Pulumi's own Automation API sets it for the same reason.
        "PULUMI_DEBUG_COMMANDS": "true",
        "PULUMI_DEBUG_PROVIDERS": attach,
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_HOME": str(folder.root / "home"),
        "PULUMI_PYTHON_CMD": sys.executable,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_STACK": stack,
        REHEARSAL_VARIABLE: "1",
    }
    plugin = folder.real_provider
    if plugin is None:
        return made
    from trn.practice.engine.real_provider import environment_with

    return environment_with(folder, plugin, made)
