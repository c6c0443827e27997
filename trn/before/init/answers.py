"""The answers that make a stack file, and the text of the file: the same answers, the same bytes."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from facts.catalogue import NEURON_TYPES
from facts.neuron_releases import AMI_RELEASES
from facts.toolchains import DEFAULT_TOOLCHAIN, running_on
from facts.yaml_text import is_text_only_in_quotes
from trn.before.init.offers import CAPACITY
from trn.before.init.questions import ADDONS, EXAMPLE_BLOCK

RELEASE = AMI_RELEASES["1.35"]
"""AMI release on which the image of the default toolchain starts: newer drivers do not run it."""
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9._/-]*|\d{1,3}(\.\d{1,3}){3}/\d{1,2}")
"""Values without a character that means something to YAML."""


@dataclass(frozen=True)
class Answers:
    """What was asked, or given by options."""

    stack: str
    name: str
    region: str
    instance_type: str
    count: int
    capacity: str
    """A key of `CAPACITY`."""
    reservation: str | None
    zone: str
    """Zone id of the nodes."""
    second_zone: str
    """The control plane needs subnets in two zones."""
    allow: tuple[str, ...]
    """Blocks that may reach the API; none means no public endpoint."""
    fsx_gib: int
    """0 for no file system."""
    addons: tuple[str, ...]


def quoted(value: str) -> str:
    """A value as YAML text, in quotes where YAML would read something else: a cluster called `no` is not false."""
    return value if _PLAIN.fullmatch(value) and not is_text_only_in_quotes(value) else json.dumps(value)


def quoted_list(values: Iterable[str]) -> str:
    """A YAML list on one line."""
    return f"[{', '.join(quoted(value) for value in values)}]"


def stack_file_text(answers: Answers) -> str:
    """The stack file, with comments."""
    group = answers.instance_type.replace(".", "-").removesuffix("xlarge") + "xl"
    lines = [
        "# yaml-language-server: $schema=docs/config.schema.json",
        "#",
        f"# Made by `trn init {answers.stack}`. Every key, with its default and what it does: docs/configuration.md",
        "config:",
        f"  trn:name: {quoted(answers.name)}",
        f"  trn:region: {answers.region}",
        "  trn:network:",
        "    # Zone ids, the training zone first. Append further ones, never reorder.",
        f"    zones: {quoted_list((answers.zone, answers.second_zone))}",
        "  trn:controlPlane:",
        '    kubernetesVersion: "1.35"',
        *_allow_list(answers),
        "  trn:nodeGroups:",
        f"    {group}:",
        f"      instanceType: {answers.instance_type}",
        "      # 0 empties the group for the night: `trn cost` shows what still bills.",
        f"      size: {answers.count}",
        *([f"      maxSize: {max(1, answers.count)}"] if answers.count == 0 else []),
        *_capacity(answers),
        f"      # An AMI release whose Neuron driver runs images of {toolchain_for(answers.instance_type)}"
        + ("; the newest one's does not." if toolchain_for(answers.instance_type) == DEFAULT_TOOLCHAIN else "."),
        f"      releaseVersion: {RELEASE}",
        "  trn:storage:",
        "    lustre:",
        *_lustre(answers),
        "  trn:training:",
        f"    toolchain: {toolchain_for(answers.instance_type)}",
        "  trn:addons:",
        *(
            line
            for addon in dict.fromkeys((*ADDONS, *answers.addons))
            for line in (f"    {addon}:", f"      enabled: {str(addon in answers.addons).lower()}")
        ),
    ]
    return "\n".join(lines) + "\n"


def toolchain_for(instance_type: str) -> str:
    """The default toolchain where the type runs it, else the first that it runs."""
    fitting = running_on(NEURON_TYPES[instance_type])
    return DEFAULT_TOOLCHAIN if DEFAULT_TOOLCHAIN in fitting else fitting[0]


def _allow_list(answers: Answers) -> list[str]:
    if not answers.allow:
        return [
            "    # No public endpoint: `pulumi up` and kubectl must run inside the VPC. docs/private.md has three ways there.",
            "    publicAccessCidrs: []",
        ]
    if answers.allow == (EXAMPLE_BLOCK,):
        return [
            "    # A documentation address. Put in your own, such as 198.51.100.7/32: `pulumi up` refuses this one.",
            f"    publicAccessCidrs: {quoted_list(answers.allow)}",
        ]
    return [
        "    # Who may reach the API. The address that runs `pulumi up` must be among them.",
        f"    publicAccessCidrs: {quoted_list(answers.allow)}",
    ]


def _capacity(answers: Answers) -> list[str]:
    lines = [f"      capacityType: {CAPACITY[answers.capacity]}"]
    return [*lines, f"      capacityReservationId: {answers.reservation}"] if answers.reservation else lines


def _lustre(answers: Answers) -> list[str]:
    if answers.fsx_gib == 0:
        return ["      enabled: false"]
    return ["      # 1200, or a multiple of 2400. It grows in place and never shrinks.", f"      capacityGib: {answers.fsx_gib}"]
