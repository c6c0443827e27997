"""What an add-on says about itself: one shape for all, walked by the composition, by the commands and by the tests."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from addons.cluster import Cluster
from addons.section import AddonSettings
from addons.versions import Chart
from facts.kubernetes_kinds import DrainedKind

Nodes = Literal["none", "core", "neuron", "all"]
"""Where its pods run: nowhere, on untainted core nodes, on Neuron nodes, or on every node."""
_KEY = re.compile("[a-z][A-Za-z0-9]*")


class DeclarationError(ValueError):
    """An add-on declares what the registry cannot use."""

    def __init__(self, wrong: str, hint: str) -> None:
        super().__init__(wrong)
        self.hint = hint


@dataclass(frozen=True)
class Declaration:
    """One add-on."""

    key: str
    """Key below `addons` in the configuration; for the core add-ons, which have no switch, their name."""
    title: str
    purpose: str
    """What it is for, as a sentence without its full stop."""
    component: str
    """Logical name of its component."""
    namespace: str | None
    """Namespace of its pods; None for that of the jobs, `training.namespace`."""
    nodes: Nodes
    settings: type[AddonSettings] | None = None
    """Its section of the configuration; None for what is always there."""
    other_namespaces: Sequence[str] = ()
    """Namespaces of pods that it has by some of its settings only."""
    charts: Sequence[Chart] = ()
    managed: Sequence[str] = ()
    """EKS add-ons, by EKS's names."""
    images: Sequence[str] = ()
    """Images of its own manifests; those of charts are in the charts' contracts."""
    needs: Sequence[str] = ()
    """Keys of the add-ons that must be on."""
    after: Sequence[str] = ()
    """Keys of the add-ons that are made before it where they are on: it takes values, objects or edges from them."""
    applies: Callable[[Cluster], bool] = lambda cluster: True
    """Whether there is something to do for it in a cluster that has it switched on."""
    identities: Sequence[str] = ()
    """Service accounts that call AWS, as `namespace/name`."""
    endpoints: Sequence[str] = ()
    """AWS services that its pods call, with some settings at least, by the names of their VPC endpoints; those of its nodes too.
    A service without an endpoint has the prefix of its actions."""
    called_in: Callable[[Cluster], Collection[str]] | None = None
    """Those of them that it calls in one cluster, where its settings or the network decide; None for all."""
    drained: Sequence[DrainedKind] = ()
    """Kinds that it brings and that `trn` knows: to drain them, and to find jobs by their pods. In the order in which they are drained."""
    kinds: Sequence[str] = ()
    """Custom resources that the program makes with it."""
    changes: Sequence[str] = ()
    """Keys of the add-ons whose values it adds to: those are upgraded when it is switched, and nothing else is touched."""
    fenced: str = ""
    """Why no chart may be installed or deleted beside it; empty for most.

    It is made behind each Helm release, Deployment and StatefulSet of the stack, and deleted before them. DaemonSets and EKS
    add-ons go beside it: no webhook is asked about DaemonSets, and EKS add-ons have no Jobs.
    """
    tamed: str = ""
    """Why its webhooks block no requests, although the chart's own values would let them."""
    early: bool = False
    """Made before the training namespace and deleted after it: it cleans up after objects that users make there."""
    leaves: Sequence[str] = ()
    """What stays in the cluster when it is switched off; nothing of it outlives the cluster."""

    def __post_init__(self) -> None:
        if self.settings is not None and not _KEY.fullmatch(self.key):
            hint = "letters and digits, the first a small letter, such as `certManager`: it is a key of the stack file"
            raise DeclarationError(f"`{self.key}` cannot be the key of an add-on", hint)

    @property
    def switch(self) -> bool:
        """Whether it can be switched off."""
        return self.settings is not None

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Namespaces of its pods by name, that of the jobs left out."""
        return (*([self.namespace] if self.namespace else []), *self.other_namespaces)

    def endpoints_in(self, cluster: Cluster) -> tuple[str, ...]:
        """AWS services that its pods call in a cluster, in the order in which they are declared."""
        called = self.endpoints if self.called_in is None else self.called_in(cluster)
        return tuple(service for service in self.endpoints if service in called)

    def is_on(self, cluster: Cluster) -> bool:
        """Whether a cluster has it: always, or switched on with something to do."""
        return self.settings is None or (cluster.section(self.settings).enabled and self.applies(cluster))
