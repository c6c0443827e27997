"""What a rule of the account is, and what it answers when it is broken."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from simulator.account.state import AccountState
from simulator.recording import Registration

Stage = Literal["create", "settle", "update", "delete", "verify"]
"""When a rule is asked: as a request arrives (`create`, `update`, `delete`), while what was made has yet to become ready
(`settle`), or of a cluster that is up (`verify`)."""

Remedy = Literal["configure", "again", "replace", "sweep", "drain", "forget"]
"""What a fix comes to, for those who follow it without reading: change the configuration or the program; run the same
command again; `pulumi up --replace`; `trn sweep`; `trn drain`; drop from the state what cannot be reached."""

Left = Literal["nothing", "unready", "failed"]
"""What a creation that failed leaves. `unready`: the object, in the account and in the state, to be awaited again by the
next run. `failed`: the same, but it never becomes ready by itself and must be replaced."""


@dataclass(frozen=True)
class Refusal:
    """An error as the service, the cluster or the engine words it, with what its reader needs to go on."""

    code: str
    """The service's own code."""
    text: str
    """The service's own words where they are known, otherwise ours in its manner."""
    cause: str
    """One sentence: why, with the names of what is in the way."""
    fix: str
    """What to do, starting with a verb."""
    retry_s: float = 0.0
    """Seconds from the request on until the provider, or the service, gives up; 0 refuses at once."""
    leaves: Left = "nothing"
    remedy: Remedy = "configure"
    by_fault: bool = False
    """Whether a fault brought it, which is over some time, and no rule."""
    runs: bool = True
    """Whether what did not become ready runs all the same, and is paid for."""

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


Check = Callable[[AccountState, Registration], Refusal | None]


@dataclass(frozen=True)
class Rule:
    """One rule of AWS, EKS, Kubernetes or the engine: an operation that is refused, or an object that cannot work."""

    name: str
    stage: Stage
    types: tuple[str, ...]
    """Type tokens that it checks; one that ends in `*` matches all that begin so."""
    source: str
    sentence: str
    check: Check

    def covers(self, resource_type: str) -> bool:
        """Whether the rule is asked about a type."""
        return any(resource_type.startswith(token[:-1]) if token.endswith("*") else resource_type == token for token in self.types)


def rule(stage: Stage, *types: str, source: str) -> Callable[[Check], Rule]:
    """Makes a function a rule: its name, with dashes, is the rule's, the first line of its docstring the sentence."""

    def make(check: Check) -> Rule:
        sentence = (check.__doc__ or "").strip().split("\n")[0]
        assert sentence, f"{check} has no docstring"
        return Rule(check.__name__.replace("_", "-"), stage, types, source, sentence, check)

    return make


def named(*groups: Mapping[str, object]) -> tuple[Rule, ...]:
    """All rules among the names of some modules, in the order in which they stand there."""
    return tuple(value for group in groups for value in group.values() if isinstance(value, Rule))
