"""The one reader of stack configuration: from Pulumi's key-value pairs to frozen settings, or to all mistakes at once."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pulumi
from pydantic import ValidationError

from facts.mistakes import File, problems_of
from facts.names import CLUSTER_NAME_WORDS
from facts.problems import Problem, missing
from facts.toolchains import TOOLCHAINS
from stacks import rules
from stacks.namespace import NAMESPACE
from stacks.problems import ConfigurationError
from stacks.settings import Settings

REHEARSAL_VARIABLE = "TRN_REHEARSAL"
"""Set by `trn rehearse`: the run meets a simulated cloud, so the shipped stack file's example address will do."""

_ZONES = "`pulumi config set --path 'trn:network.zones[0]' usw2-az4`, and a second zone"
STACK_FILE = File(
    Settings,
    page="docs/configuration.md",
    for_missing={
        "name": "`pulumi config set trn:name trainium-dev`",
        "region": "`pulumi config set trn:region us-west-2`",
        "network": _ZONES,
        "network.zones": _ZONES,
    },
    for_form={"name": CLUSTER_NAME_WORDS},
    for_length={"network.zones": "a control plane needs subnets in two zones"},
    replaced={
        "addons.trainer.image": "set `addons.trainer.images` in its place: an image for each toolchain that is not to have AWS's",
        "training.neuronSdk": f"set `training.toolchain` in its place, to one of: {', '.join(TOOLCHAINS)}; it names the SDK release and all that goes with it",
    },
)
"""How its mistakes are worded."""


def load_settings() -> Settings:
    """Settings of the stack that Pulumi is running.

    Raises ConfigurationError with every mistake found.
    """
    return parse_settings(_pulumi_configuration(), pulumi.get_stack(), rehearsal=is_rehearsal())


def is_rehearsal() -> bool:
    """Whether this run meets a simulated cloud."""
    return os.environ.get(REHEARSAL_VARIABLE) == "1"


def parse_settings(configuration: Mapping[str, Any], stack: str, *, rehearsal: bool = False) -> Settings:
    """Settings from keys without namespace and plain values.

    Raises ConfigurationError with every mistake: all that single keys get wrong, and all that keys get wrong together
    in the sections that are otherwise sound.
    """
    if secrets := list(_secrets(configuration, stack)):
        raise ConfigurationError(secrets, stack)
    try:
        settings = _validated(configuration)
    except ValidationError as error:
        problems = problems_of(error, STACK_FILE)
        broken = {str(detail["loc"][0]) for detail in error.errors()}
        sound = {key: value for key, value in configuration.items() if key not in broken}
        stand_in = _validated({**_STAND_IN, **sound})
        problems += rules.check(stand_in, rehearsal=rehearsal, without=broken)
        raise ConfigurationError(problems, stack) from None
    problems = rules.check(settings, rehearsal=rehearsal)
    if problems:
        raise ConfigurationError(problems, stack)
    return settings


_SECURE = "secure"
"""Only key of a value that is kept as a secret, as a stack file has it (pulumi/pulumi sdk/go/common/resource/config/value.go)."""


def _secrets(value: Any, stack: str, path: str = "") -> Iterator[Problem]:
    """Keys that are kept as secrets. What a cluster is made of is in names, tags and manifests, and so in each preview."""
    if isinstance(value, Mapping) and set(value) == {_SECURE}:
        wrong = f"`{path}` is kept as a secret, and previews, names and tags would show it"
        yield missing(
            path, wrong, hint=f"write the value itself where Pulumi.{stack}.yaml has `secure:`; no key of the cluster can be secret"
        )
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _secrets(item, stack, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _secrets(item, stack, f"{path}[{index}]")


_STAND_IN: Mapping[str, Any] = {"name": "stand-in", "region": "us-west-2", "network": {"zones": ["usw2-az1", "usw2-az2"]}}
"""Used in place of required sections that are broken; rules that read one of these are not run."""


def _validated(configuration: Mapping[str, Any]) -> Settings:
    # YAML knows dates; as text they are refused like any other wrong kind of value.
    return Settings.model_validate_json(json.dumps(dict(configuration), default=str), strict=True)


def _pulumi_configuration() -> dict[str, Any]:
    from pulumi.runtime import config as pulumi_config

    pairs = {**pulumi_config.get_config_env(), **pulumi_config.CONFIG.get()}
    prefix = f"{NAMESPACE}:"
    return {
        key.removeprefix(prefix): {_SECURE: ""} if pulumi_config.is_config_secret(key) else _plain(value)
        for key, value in pairs.items()
        if key.startswith(prefix)
    }


def _plain(value: Any) -> Any:
    """Structured values reach a program as JSON text, plain ones as text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value
