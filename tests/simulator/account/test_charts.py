"""When a chart's webhooks are asked: values of a release can take them away."""

from typing import Any

import pytest

from simulator.account import charts
from simulator.recording import Registration

SERVICE = "v1/Service"


def release(chart: str, **values: Any) -> Registration:
    """A Helm release of a chart with values."""
    inputs = {"chart": chart, "name": chart, "values": values}
    return Registration("urn", "kubernetes:helm.sh/v3:Release", chart, True, False, "", inputs)


@pytest.mark.parametrize(
    ("values", "asked"), [({}, True), ({"enableServiceMutatorWebhook": True}, True), ({"enableServiceMutatorWebhook": False}, False)]
)
def test_a_webhook_is_asked_unless_its_switch_is_off(values: dict[str, Any], asked: bool):
    """Off, Services of everybody are made while the controller is away; the other kinds are guarded all the same."""
    controller = release("aws-load-balancer-controller", **values)
    assert charts.guards(controller, SERVICE, "CREATE") is asked
    assert charts.guards(controller, "networking.k8s.io/Ingress", "CREATE") is True
    assert charts.guards(controller, SERVICE, "UPDATE") is False
