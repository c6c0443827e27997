"""The base of all components: a program may have several clusters, so all logical names below one start with its prefix."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pulumi


@dataclass(frozen=True)
class RoleRules:
    """What a company asks of every IAM role that is made in its account."""

    permissions_boundary: str | None = None
    """ARN of the policy that no role may go beyond; None sets none."""
    path: str = "/"
    """Path of every role, with / at both ends."""
    given: Mapping[str, str] = field(default_factory=dict)
    """ARNs of roles that others keep, by purpose: none is made in place of these."""


class Component(pulumi.ComponentResource):
    """A component whose children have names of their own in the program.

    A URN has the types of all parents and the name of none: without a prefix the second cluster's `network` would be the first's.
    """

    prefix: str
    """What logical names below it start with; that of the parent unless given."""
    role_rules: RoleRules
    """For all roles below it; those of the parent unless given."""

    def __init__(self, token: str, name: str, opts: pulumi.ResourceOptions | None = None, inputs: Mapping[str, str] | None = None) -> None:
        """`inputs`: what the state remembers of the component for its hooks; most need nothing."""
        parent = opts.parent if opts is not None else None
        self.prefix = parent.prefix if isinstance(parent, Component) else ""
        self.role_rules = parent.role_rules if isinstance(parent, Component) else RoleRules()
        super().__init__(token, self.named(name), inputs, opts)

    def named(self, name: str) -> str:
        """The logical name of a child."""
        return f"{self.prefix}{name}"
