"""What an add-on says about itself: one shape for all, walked by the composition, by `trn addons` and by the tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from addons.versions import Chart

Nodes = Literal["none", "core", "neuron", "all"]
"""Where its pods run: nowhere, on untainted core nodes, on Neuron nodes, or on every node."""


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
    namespace: str
    nodes: Nodes
    charts: Sequence[Chart] = ()
    managed: Sequence[str] = ()
    """EKS add-ons, by EKS's names."""
    images: Sequence[str] = ()
    """Images of its own manifests; those of charts stand in the charts' contracts."""
    needs: Sequence[str] = ()
    """Keys of the add-ons that must be on."""
    identities: Sequence[str] = ()
    """Service accounts that call AWS, as `namespace/name`."""
    kinds: Sequence[str] = ()
    """Custom resources that the program makes with it."""
    changes: Sequence[str] = ()
    """Keys of the add-ons whose values it adds to: those are upgraded when it is switched, and nothing else is touched."""
    switch: bool = True
    """False for what is always there."""
    fenced: str = ""
    """Why nothing may be installed or deleted beside it; empty for what disturbs nobody. It comes last and goes first."""
    tamed: str = ""
    """Why its webhooks stop nobody, although the chart's own values would let them."""
    early: bool = False
    """Made before the training namespace and deleted after it: it cleans up after objects that users make there."""
    leaves: Sequence[str] = ()
    """What stays in the cluster when it is switched off; nothing of it outlives the cluster."""
