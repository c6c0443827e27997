"""What each chart, and each add-on that EKS manages, brings into a cluster: one contract for each, read from its file.

A contract is a YAML file in the folder of the add-on that installs the chart (`addons/NAME/contracts/CHART.yaml`), written
from the chart's own files and from what it renders. Values, pods and images are what the program is checked against; kinds,
webhooks, hook Jobs, finalizers and latencies are what the simulated cluster and the lower bound of a run are made from.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from facts.kubernetes_versions import kubernetes_order
from facts.resources.latency import Latency, Lifetime

# Where the files are is all that is known here of the add-ons: none of their code is loaded. Passed in by the caller, the
# contracts would have to go through every function that meets a release: rules, consequences, latencies, bounds, changes.
ADDONS = Path(__file__).parent.parent / "addons"
# The loader in C, where PyYAML was built with it, reads all contracts eight times as fast; both are safe loaders.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class ContractError(ValueError):
    """A contract is missing, is not one, or was written for another version than the pinned one."""

    def __init__(self, wrong: str, hint: str) -> None:
        super().__init__(wrong)
        self.hint = hint


@dataclass(frozen=True, kw_only=True)
class Contract:
    """One chart at one version, or one EKS add-on. Values by dotted path; a `*` in a path matches any key."""

    chart: str
    version: str = ""
    """Of the chart that it was written for; empty for an EKS add-on."""
    managed: Sequence[str] = ()
    """Builds of the EKS add-on that it was written for; empty for a chart."""
    source: str
    """Where it was read, and when."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Defaults. A list is one value: what is given replaces it whole, so nothing below it is compared."""
    open: Mapping[str, Any] = field(default_factory=dict)
    """Defaults of maps that the chart passes on to Kubernetes: any keys are allowed in them."""
    kubernetes: Sequence[str] = ()
    """Minors for which the chart renders."""
    supports: Mapping[str, str] = field(default_factory=dict)
    """Minors that its makers publish as supported: `from`, `to` where they name a last one, and the `source`; the source alone where they
    publish none."""
    pods: Sequence[Mapping[str, Any]] = ()
    """What makes pods: `object`, the `nodes` it is meant for (core, neuron or all), the paths of its `tolerations`, `selector` and `requests`, what it `tolerates` by default, and the switch `when` it is made."""
    crds: Sequence[Mapping[str, Any]] = ()
    """CRDs by `name`, each with its `kind` as `group/Kind`; one that `stays` is not deleted with the release."""
    images: Sequence[Mapping[str, str]] = ()
    """Images, each with the path of its `repository` or `registry`, and the switch `when` it is pulled."""
    guards: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Kinds (`group/Kind`) that its fail-closed webhooks are asked about, and on which operations."""
    guards_off_by: Mapping[str, str] = field(default_factory=dict)
    """Guarded kinds to the value, dotted, that removes the guard when it is false."""
    install_jobs: bool = False
    """Whether hook Jobs run before it is installed."""
    delete_jobs_with: str = ""
    """Values section that brings hook Jobs before its deletion, when anything below it is switched on."""
    cluster_objects: Sequence[str] = ()
    """Cluster-wide objects (`Kind/name`) that another chart brings too."""
    cluster_objects_off_by: str = ""
    """Value, dotted, that leaves them out when it is false."""
    finalizers: Sequence[str] = ()
    """Kinds whose objects only its controller can release."""
    calls_at_start: Sequence[str] = ()
    """AWS services, by the names of their endpoints, without which its pods end at their start."""
    needs: str = ""
    """Chart whose kinds its pods cannot start without."""
    latency_s: Mapping[str, tuple[float, float, float, str]]
    """Seconds to `create` and to `delete` it: shortest, typical, longest, and the source."""

    def lists(self, minor: str) -> bool | None:
        """Whether its makers publish a Kubernetes minor as supported; None where they publish no range."""
        if "from" not in self.supports:
            return None
        last = self.supports.get("to", minor)
        return kubernetes_order(self.supports["from"]) <= kubernetes_order(minor) <= kubernetes_order(last)

    @property
    def range_text(self) -> str:
        """`1.24 to 1.35`, `1.29 and later`, or `no range published`."""
        first, last = self.supports.get("from"), self.supports.get("to")
        return f"{first} to {last}" if last else f"{first} and later" if first else "no range published"

    @property
    def needs_node(self) -> bool:
        """Whether it always has pods for untainted nodes, so that its install waits for one."""
        return any(pod["nodes"] == "core" and "when" not in pod for pod in self.pods)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds that go with the release, and all their objects with them."""
        return tuple(crd["kind"] for crd in self.crds if not crd["stays"])

    @property
    def kinds_that_stay(self) -> tuple[str, ...]:
        """Kinds from the chart's `crds/` folder, which Helm never deletes."""
        return tuple(crd["kind"] for crd in self.crds if crd["stays"])

    @property
    def lifetime(self) -> Lifetime:
        """How long it takes to install and to delete."""
        return Lifetime(Latency(*self.latency_s["create"]), Latency(*self.latency_s["delete"]))


@cache
def contracts() -> Mapping[str, Contract]:
    """All contracts, by the name of chart or EKS add-on.

    Raises ContractError for a chart that two files describe, and for a file that is no contract.
    """
    found: dict[str, Contract] = {}
    for contract in _read(ADDONS):
        if contract.chart in found:
            raise ContractError(
                f"two contracts of {contract.chart}", f"delete one of `addons/*/contracts/*.yaml` with `chart: {contract.chart}`"
            )
        found[contract.chart] = contract
    return found


def contract_of(chart: str) -> Contract:
    """The contract of one chart or EKS add-on. Raises ContractError where there is none."""
    if chart not in contracts():
        hint = f"write `addons/NAME/contracts/{chart}.yaml`; docs/contributing/addon.md says what is in it"
        raise ContractError(f"{chart} has no contract", hint)
    return contracts()[chart]


def contract_file(chart: str) -> Path:
    """The file of one contract, from the root of the tree."""
    return next(ADDONS.glob(f"*/contracts/{chart}.yaml")).relative_to(ADDONS.parent)


def _read(folder: Path) -> Iterator[Contract]:
    for path in sorted(folder.glob("*/contracts/*.yaml")):
        hint = f"correct {path.relative_to(folder.parent)}; docs/contributing/addon.md says what is in it"
        try:
            written = yaml.load(path.read_text(), _LOADER)
        except yaml.YAMLError as error:
            raise ContractError(f"{path.name} is not YAML: {' '.join(str(error).split())}", hint) from error
        keys = set(written) if isinstance(written, dict) else set[str]()
        known = {item.name: item.default is MISSING and item.default_factory is MISSING for item in fields(Contract)}
        wrong = [f"no key `{key}` is known" for key in sorted(keys - known.keys())]
        wrong += [f"`{key}` is missing" for key, needed in known.items() if needed and key not in keys]
        if wrong:
            raise ContractError(f"{path.name} is no contract: {', '.join(wrong)}", hint)
        yield Contract(**written)
