"""What a bundle is about, and the ways to it, opened when they are first needed: any of them may be broken."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from stacks.settings import Settings
from trn.aws.api import Api
from trn.change.clients import access
from trn.change.cluster import cluster_of
from trn.cli.errors import CommandError
from trn.engine.program import settings_of
from trn.engine.pulumi import NO_STACK, PulumiCli, says
from trn.engine.stack_export import ROOT_TYPE
from trn.engine.stack_file import StackFile, StackFileError, project_of, read_stack_file
from trn.kubernetes.client import Kubernetes, Object
from trn.running.bundle.part import OriginSilent
from trn.running.bundle.tools import NoAnswer, Tools


@dataclass
class Subject:
    """One stack."""

    stack: str
    path: Path
    """Of its file."""
    tools: Tools
    patience_s: float
    """Longest that one part may take: a tool gets less, so that it is ended before the wait is."""
    outputs: Mapping[str, Any] = field(default_factory=dict)
    """Those of the stack, once Pulumi has said them."""
    pods: Sequence[Object] = ()
    """Of all namespaces, once the cluster has listed them."""

    @cached_property
    def stack_file(self) -> StackFile:
        """The stack's file. Raises CommandError where it cannot be read."""
        return read_stack_file(self.stack)

    @cached_property
    def settings(self) -> Settings:
        """What the file says. Raises CommandError, ConfigurationError."""
        return settings_of(self.stack_file)

    @cached_property
    def place(self) -> tuple[str, str]:
        """Name and region of the cluster: of the settings, else of the stack's outputs, else of the keys that can be read."""
        try:
            return self.settings.name, self.settings.region
        except Exception:
            name, region = self.outputs.get("clusterName"), self.outputs.get("region")
            if not (name and region) and (keys := self._keys()):
                name, region = keys.get("name"), keys.get("region")
            if isinstance(name, str) and isinstance(region, str):
                return name, region
            raise

    def _keys(self) -> Mapping[str, Any]:
        try:
            return self.stack_file.configuration
        except CommandError:
            return {}

    @cached_property
    def api(self) -> Api:
        """AWS in the stack's region."""
        return access().aws(self.stack, self.place[1])

    @cached_property
    def kubernetes(self) -> Kubernetes:
        """The cluster. Raises OriginSilent where there is none to be asked, CommandError."""
        try:
            return cluster_of(self.api, self.place[0])
        except CommandError as error:
            raise OriginSilent(error.args[0]) from error

    def export(self) -> Mapping[str, Any]:
        """What Pulumi holds of the stack, without the values of secrets. Raises CommandError."""
        command, pulumi = ("pulumi", "stack", "export", "--stack", self.stack), access().pulumi(self.stack)
        try:
            if isinstance(pulumi, PulumiCli):
                printed = self.tools.answer(command, 0.8 * self.patience_s, pulumi.environment, pulumi.folder)
            else:
                code, printed = pulumi.ask(command)
                if code:
                    raise CommandError(printed.strip())
            deployment = json.loads(printed)["deployment"]
        except NoAnswer:
            raise
        except CommandError as error:
            if says(str(error), NO_STACK):
                raise OriginSilent(f"Pulumi's backend has no stack `{self.stack}`") from error
            raise OriginSilent(error.args[0]) from error
        except (ValueError, KeyError, TypeError) as error:
            raise CommandError(f"`{' '.join(command)}` gave no state: {error!r}") from error
        self.outputs = next((each.get("outputs") or {} for each in deployment.get("resources") or () if each.get("type") == ROOT_TYPE), {})
        return deployment


def subject_of(stack: str, tools: Tools, patience_s: float) -> Subject:
    """The subject of a stack whose file is there, readable or not. Raises StackFileError for one that is not there."""
    try:
        found = read_stack_file(stack)
        return Subject(stack, found.root / f"Pulumi.{stack}.yaml", tools, patience_s)
    except StackFileError:
        path = project_of()[0] / f"Pulumi.{stack}.yaml"
        # A file that is broken is a reason for a bundle; a slip in the name is not.
        if Path(stack).name != stack or not path.is_file():
            raise
        return Subject(stack, path, tools, patience_s)
