"""Volcano's queues: which ones it makes itself, and the limits that its webhook holds a hierarchy to.

Source: volcano-sh/volcano v1.15 pkg/webhooks/admission/queues/validate/validate_queue.go, pkg/scheduler/cache/cache.go,
cmd/webhook-manager/app/options/options.go; met on a real API server, 2026-11-22.
"""

import re
from decimal import Decimal

OWN_QUEUES = ("default", "root")
"""Queues that Volcano makes: they can be neither closed nor deleted."""
ROOT_QUEUE = "root"
MAX_QUEUE_DEPTH = 5
"""Levels below `root` (the webhook's `--max-queue-depth`)."""
QUANTITY = re.compile(r"([0-9]{1,30}(?:\.[0-9]{0,30})?|\.[0-9]{1,30})([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,2})?")
"""Quantities of Kubernetes that are an amount: a sign is taken too, and only a minus would change anything (apimachinery,
resource.Quantity)."""
LARGEST = 2**63 - 1
"""The most that Kubernetes keeps; what is larger it cuts off without a word."""
_DECIMAL_UNITS = {unit: Decimal(1000) ** power for power, unit in enumerate(("k", "M", "G", "T", "P", "E"), 1)}
_BINARY_UNITS = {f"{unit}i": Decimal(1024) ** power for power, unit in enumerate(("K", "M", "G", "T", "P", "E"), 1)}
_UNITS = {None: Decimal(1), **{unit: Decimal(1000) ** -power for power, unit in enumerate("mun", 1)}, **_DECIMAL_UNITS, **_BINARY_UNITS}


def amount(quantity: int | str) -> Decimal:
    """A quantity as a number. Raises ValueError for what is none."""
    found = QUANTITY.fullmatch(str(quantity))
    if found is None:
        raise ValueError(f"`{quantity}` is not a quantity of Kubernetes")
    unit = found[2]
    return (
        Decimal(f"{found[1]}{unit}") if unit and len(unit) > 1 and unit[0] in "eE" and unit[1] != "i" else Decimal(found[1]) * _UNITS[unit]
    )
