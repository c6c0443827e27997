"""Rules on Volcano's queues: what its webhook would refuse half-way through an `up`."""

import difflib
from collections.abc import Iterator, Mapping
from decimal import Decimal

from addons.efa import EfaSettings
from addons.neuron import NeuronSettings
from addons.volcano import VolcanoSettings
from facts.device_claims import EFA_COUNTED, NEURON_COUNTED
from facts.names import EFA_RESOURCE, NEURON_CORE_RESOURCE, NEURON_RESOURCE
from facts.problems import Problem
from facts.text_formats import RESOURCE_NAME
from facts.volcano_queues import LARGEST, MAX_QUEUE_DEPTH, OWN_QUEUES, QUANTITY, ROOT_QUEUE, amount
from stacks.settings import Settings

KNOWN_RESOURCES = (
    "cpu", "memory", "ephemeral-storage", "pods", NEURON_RESOURCE, NEURON_CORE_RESOURCE, EFA_RESOURCE, NEURON_COUNTED, EFA_COUNTED,
)  # fmt: skip
"""What nodes of the stack have."""


def queues(settings: Settings) -> Iterator[Problem]:
    """Queues that are not Volcano's own, with amounts that are quantities."""
    for name, queue in settings.addons.of(VolcanoSettings).queues.items():
        if name in OWN_QUEUES:
            yield Problem("addons.volcano.queues", name, "a queue that Volcano makes itself", hint="take another name")
        for section, amounts in (("capability", queue.capability), ("deserved", queue.deserved)):
            for resource, quantity in amounts.items():
                yield from _amount(f"addons.volcano.queues.{name}.{section}.{resource}", resource, quantity)


def _amount(path: str, resource: str, quantity: int | str) -> Iterator[Problem]:
    if not RESOURCE_NAME.fits(resource):
        close = difflib.get_close_matches(resource, KNOWN_RESOURCES, n=2)
        yield Problem(
            path, quantity, f"`{resource}` is no {RESOURCE_NAME.what}", ", ".join(close) or RESOURCE_NAME.allowed, RESOURCE_NAME.hint
        )
    if not QUANTITY.fullmatch(str(quantity)) or amount(quantity) > LARGEST:
        hint = "write a number, with a unit where one belongs"
        yield Problem(path, quantity, "not a quantity of Kubernetes", "such as 32, 500m, 64Gi; at most 2^63 - 1", hint)
    elif "/" in resource and amount(quantity) % 1:
        yield Problem(path, quantity, "devices are counted whole", "whole numbers", "round it")


def queues_of_claims(settings: Settings) -> Iterator[Problem]:
    """An amount of devices in the name under which they are counted: of the plug-in, or of the class from which they are claimed.

    Source: volcano-sh/volcano docs/user-guide/how_to_use_dra_quota.md, 1.15.
    """
    addons = settings.addons
    ways = {
        NEURON_COUNTED: (("neuron", addons.of(NeuronSettings)), (NEURON_RESOURCE, NEURON_CORE_RESOURCE)),
        EFA_COUNTED: (("efa", addons.of(EfaSettings)), (EFA_RESOURCE,)),
    }
    for counted, ((key, section), resources) in ways.items():
        by_claims = _claims(section)
        wrong = f"with `addons.{key}.devices: {section.devices}` nothing is counted under that name, and the limit holds nobody"
        for name, queue in addons.of(VolcanoSettings).queues.items():
            for kind, amounts in (("capability", queue.capability), ("deserved", queue.deserved)):
                for resource in amounts.keys() & (resources if by_claims else {counted}):
                    use = counted if by_claims else resources[0]
                    yield Problem(f"addons.volcano.queues.{name}.{kind}.{resource}", amounts[resource], wrong, use, f"name `{use}`")


def weights_of_claims(settings: Settings) -> Iterator[Problem]:
    """Where claims are counted, queues share by `deserved`: the plug-in that knows claims looks at no weight."""
    addons = settings.addons
    by_claims = [key for key, kind in (("neuron", NeuronSettings), ("efa", EfaSettings)) if _claims(addons.of(kind))]
    for name, queue in addons.of(VolcanoSettings).queues.items() if by_claims else ():
        if queue.weight != 1:
            wrong = f"with `addons.{by_claims[0]}.devices: dra` Volcano shares by `deserved`, and no weight has an effect"
            yield Problem(f"addons.volcano.queues.{name}.weight", queue.weight, wrong, "1", "leave it out, and write `deserved`")


def _claims(section: NeuronSettings | EfaSettings) -> bool:
    return section.enabled and section.devices == "dra"


def queue_hierarchy(settings: Settings) -> Iterator[Problem]:
    """A parent queue must exist, parents must form no cycle and not too many levels, and `deserved` needs a hierarchy."""
    queues = settings.addons.of(VolcanoSettings).queues
    hierarchy = any(queue.parent is not None for queue in queues.values())
    for name, queue in queues.items():
        path = f"addons.volcano.queues.{name}"
        if queue.parent is not None and queue.parent not in (*queues, ROOT_QUEUE):
            hint = f"name a queue of this list, or `{ROOT_QUEUE}`"
            yield Problem(f"{path}.parent", queue.parent, "no queue of the stack", ", ".join([*sorted(queues), ROOT_QUEUE]), hint)
        above = ancestors(name, {key: item.parent for key, item in queues.items()})
        if above is None:
            yield Problem(f"{path}.parent", queue.parent, "a cycle of parents", hint=f"give one of them the parent `{ROOT_QUEUE}`")
        elif len(above) >= MAX_QUEUE_DEPTH:
            wrong = f"{len(above) + 1} levels of queues, Volcano takes {MAX_QUEUE_DEPTH}"
            yield Problem(f"{path}.parent", queue.parent, wrong, hint="give it a parent nearer to `root`")
        addons = settings.addons
        if queue.deserved and not hierarchy and not (_claims(addons.of(NeuronSettings)) or _claims(addons.of(EfaSettings))):
            hint = "give a queue a `parent`, or use `weight`"
            yield Problem(f"{path}.deserved", dict(queue.deserved), "a share that only a hierarchy of queues has", hint=hint)


def queue_shares(settings: Settings) -> Iterator[Problem]:
    """`deserved` of a queue is within its `capability`, and of its children together within its own; `capability` within every queue above."""
    queues = settings.addons.of(VolcanoSettings).queues
    parents = {name: queue.parent for name, queue in queues.items()}
    if any(ancestors(name, parents) is None for name in queues) or any(True for _ in _no_quantities(settings)):
        return  # reported already
    capability = {name: _amounts(queue.capability) for name, queue in queues.items()}
    deserved = {name: _amounts(queue.deserved) for name, queue in queues.items()}
    for name, queue in queues.items():
        path = f"addons.volcano.queues.{name}"
        for resource, share in deserved[name].items():
            most = capability[name].get(resource)
            if most is not None and share > most:
                hint = "lower `deserved`, or raise `capability`"
                yield Problem(
                    f"{path}.deserved.{resource}",
                    queue.deserved[resource],
                    "more than the queue's own `capability`",
                    f"at most {most}",
                    hint,
                )
        for resource, most in capability[name].items():
            limits = [capability[above][resource] for above in ancestors(name, parents) or () if resource in capability.get(above, {})]
            if limits and most > limits[0]:
                hint = "lower it, or raise `capability` of the queue above"
                yield Problem(
                    f"{path}.capability.{resource}",
                    queue.capability[resource],
                    "more than a queue above it may use",
                    f"at most {limits[0]}",
                    hint,
                )
        children = [child for child, parent in parents.items() if parent == name]
        for resource in sorted({key for child in children for key in deserved[child]}):
            together, own = sum(deserved[child].get(resource, Decimal(0)) for child in children), deserved[name].get(resource, Decimal(0))
            if together > own:
                wrong = f"its children {', '.join(children)} deserve {together} together"
                hint = f"set `{path}.deserved.{resource}` to at least {together}: Volcano's webhook refuses the children otherwise"
                yield Problem(f"{path}.deserved.{resource}", str(own), wrong, f"at least {together}", hint)


def ancestors(name: str, parents: Mapping[str, str | None]) -> list[str] | None:
    """Queues of the stack above one, nearest first; None where they form a cycle."""
    above: list[str] = []
    parent = parents.get(name)
    while parent is not None and parent in parents:
        if parent == name or parent in above:
            return None
        above.append(parent)
        parent = parents[parent]
    return above


def _no_quantities(settings: Settings) -> Iterator[str]:
    for queue in settings.addons.of(VolcanoSettings).queues.values():
        yield from (str(value) for value in (*queue.capability.values(), *queue.deserved.values()) if not QUANTITY.fullmatch(str(value)))


def _amounts(quantities: Mapping[str, int | str]) -> dict[str, Decimal]:
    return {resource: amount(quantity) for resource, quantity in quantities.items()}
