"""A cluster that stands, made from the shipped stack, for rules to be broken on."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from simulator.account import addresses, kinds
from simulator.account.objects import Stray
from simulator.account.world import World
from simulator.engine.run import Engine
from simulator.engine.state import State
from simulator.recording import Recording, Registration
from tests.support import dev_configuration, record_stack


@cache
def recording() -> Recording:
    """The shipped stack."""
    return record_stack(dev_configuration())


@cache
def _standing() -> Engine:
    engine = Engine(World(), State())
    assert engine.up(recording()).ended_well
    return engine


def standing() -> World:
    """An account with the whole cluster, of its own for each caller."""
    return _standing().world.copy()


def only(resource_type: str, name: str = "") -> Registration:
    """The one resource of a type, or the one of a name."""
    (found,) = [item for item in recording().of_type(resource_type) if not name or item.name == name]
    return found


TRAIN = "trn1-32xl"


def group(**inputs: Any) -> Registration:
    """The training group, with some inputs changed."""
    return changed(only(kinds.NODE_GROUP, TRAIN), **inputs)


def changed(registration: Registration, **inputs: Any) -> Registration:
    """A registration with some inputs changed; None takes one away."""
    merged = {**registration.inputs, **inputs}
    return replace(registration, inputs={key: value for key, value in merged.items() if value is not None})


def with_template(world: World, **inputs: Any) -> None:
    """Change the launch template of the training group."""
    world.state.put(changed(only(kinds.LAUNCH_TEMPLATE, TRAIN), **inputs))


def interfaces(*places: tuple[int, int, str], **more: Any) -> list[Mapping[str, Any]]:
    """Interfaces of a template: card, device, kind."""
    carried = only(kinds.LAUNCH_TEMPLATE, TRAIN).inputs["networkInterfaces"][0]["securityGroups"]
    return [
        {"networkCardIndex": card, "deviceIndex": device, "interfaceType": kind, "securityGroups": carried, **more}
        for card, device, kind in places
    ]


def without(world: World, *registrations: Registration) -> None:
    """Take things out of the account past all rules."""
    for registration in registrations:
        world.state.remove(registration)


def no_untainted_nodes(world: World) -> None:
    """Only nodes with the Neuron taint are left."""
    without(world, only(kinds.NODE_GROUP, "core"))


def stray(world: World, name: str, what: str, subnet_ids: tuple[str, ...] = ()) -> None:
    """Something that no resource stands for."""
    world.state.add_stray(Stray(name, what, "urn", subnet_ids))


def extra(resource_type: str, name: str, inputs: Mapping[str, Any], resource_id: str = "") -> Registration:
    """A resource that the shipped stack does not have."""
    return Registration(
        f"urn:pulumi:test::trn::{resource_type}::{name}", resource_type, name, True, False, "", inputs, id=resource_id or name
    )


def fill_a_control_plane_subnet(world: World, *, left: int) -> None:
    """Interfaces of others take the addresses of the control plane's first subnet, up to as many as are left."""
    subnet_id = only(kinds.CLUSTER).inputs["vpcConfig"]["subnetIds"][0]
    (subnet,) = [item for item in recording().of_type(kinds.SUBNET) if item.id == subnet_id]
    taken = addresses.free(world.state, subnet) - left
    stray(world, f"others-{left}", "instances of others", (subnet_id,) * taken)
