"""Scenarios: files that say what a cluster meets, so that the same trouble can be rehearsed again and shown to others."""

from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simulator.account.allowances import Allowances
from simulator.account.faults import Faults
from simulator.faults_syntax import FaultSyntaxError, parse_fault
from simulator.rehearsal import Circumstances
from simulator.scenario_effects import words
from simulator.scenario_files import ScenarioError, path_of

MAX_BYTES = 1_000_000
"""Largest scenario; those of the project have some hundred bytes."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Capacity(_Part):
    """Instances of one type in one zone."""

    type: str
    zone: str
    count: int = Field(ge=0)


Family = Literal["Trn", "Inf", "Standard"]
"""Quota families, as `facts.catalogue.QUOTA_CODES` names them."""


class Limits(_Part):
    """What the account allows; what is not named has no limit."""

    vcpu: dict[Family, int] = Field(default_factory=dict)
    """On-demand vCPU by quota family: Trn, Inf, Standard."""
    spot_vcpu: dict[Family, int] = Field(default_factory=dict)
    """Spot vCPU by quota family."""
    capacity: list[Capacity] = Field(default_factory=list)
    """Instances that EC2 has."""


class Scenario(_Part):
    """One scenario file."""

    says: str
    """What happens, in a sentence."""
    faults: list[str] = Field(default_factory=list)
    """As for `--fault`."""
    account: Limits = Limits()


def read(name: str) -> Scenario:
    """A scenario by its name, or by the path of a file.

    Raises ScenarioError, with a hint.
    """
    path = path_of(name)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ScenarioError(f"{path} has more than {MAX_BYTES:,} bytes", "see simulator/scenarios for the form")
        loaded: Any = yaml.safe_load(path.read_text("utf-8-sig"))
        scenario = Scenario.model_validate(loaded)
        Faults.of(parse_fault(text) for text in scenario.faults)
    except OSError as error:
        raise ScenarioError(f"cannot read {path}: {error.strerror}", "name a file that you may read") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{path} is not UTF-8 text: {error}", "save it as UTF-8") from error
    except RecursionError as error:
        raise ScenarioError(f"{path} is nested too deep", "see simulator/scenarios for the form") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise ScenarioError(f"{path}: `{where}`: {first['msg']}", "see simulator/scenarios for the form") from error
    except FaultSyntaxError as error:
        raise ScenarioError(f"{path}: {error}", error.hint) from error
    # ValueError: a date that the calendar does not have.
    except (yaml.YAMLError, ValueError) as error:
        raise ScenarioError(f"{path} is not valid YAML: {error}", "fix the line it names") from error
    return scenario


def circumstances(scenario: Scenario, name: str) -> Circumstances:
    """What a scenario brings about, and what it says of itself under its name."""
    limits = scenario.account
    capacity = {(item.type, item.zone): item.count for item in limits.capacity}
    allowances = Allowances({**limits.vcpu}, {**limits.spot_vcpu}, capacity)
    said = words(name, scenario.says, allowances, scenario.faults)
    return Circumstances(allowances, faults=[parse_fault(text) for text in scenario.faults], scenario=said)
