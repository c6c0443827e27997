"""The add-on that is one chart and nothing else: a namespace of its own, and the release in it."""

from typing import Any

from addons.base import Addon
from addons.site import Site
from addons.versions import Chart

KUBE_SYSTEM = "kube-system"


class PlainChart(Addon):
    """One chart. Starts when untainted nodes are there."""

    def __init__(
        self, token: str, name: str, chart: Chart, namespace: str, values: dict[str, Any], site: Site, *, timeout_s: int = 300
    ) -> None:
        """`namespace`: its own, or `kube-system`, which is there."""
        super().__init__(token, name, site)
        after = [] if namespace == KUBE_SYSTEM else [self.namespace(namespace)]
        self.release(chart, namespace=namespace, values=values, timeout_s=timeout_s, after=after)
        self.register_outputs({})
