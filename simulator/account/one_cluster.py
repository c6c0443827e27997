"""An account as the rules about one of its clusters see it: without what belongs to another cluster."""

from collections.abc import Iterator
from dataclasses import replace

from simulator.account import kinds
from simulator.account.ledger import Ledger
from simulator.account.objects import CloudObject, Stray
from simulator.account.state import AccountState, Amounts
from simulator.recording import Registration


def cluster_of(registration: Registration) -> str:
    """Name of the cluster that an object is, is part of, or is kept by; empty where it belongs to none, or nothing says to which."""
    if kinds.is_kubernetes(registration.type):
        return registration.cluster
    if registration.type == kinds.CLUSTER:
        return str(registration.inputs["name"])
    over = (registration.inputs.get("eksConfiguration") or {}).get("eksClusterArn", "")
    return str(registration.inputs.get("clusterName") or over.partition(":cluster/")[2])


def seen_by(state: AccountState, registration: Registration) -> AccountState:
    """The account without the other clusters than that of an object, and all that is theirs; changes are made in the whole account."""
    name = cluster_of(registration)
    others = {item.registration.id for item in state.existing(kinds.CLUSTER)} - {name}
    return _OneCluster(state.whole, name) if name and others else state


class _OneCluster(AccountState):
    def __init__(self, whole: AccountState, name: str) -> None:
        self.__dict__.update(whole.__dict__)
        self._whole, self._name = whole, name
        self.strays = {stray.name: stray for stray in whole.strays.values() if stray.cluster in ("", name)}

    @property
    def whole(self) -> AccountState:
        return self._whole

    def _is_seen(self, registration: Registration) -> bool:
        return cluster_of(registration) in ("", self._name)

    def existing(self, resource_type: str) -> list[CloudObject]:
        return [item for item in self._whole.existing(resource_type) if self._is_seen(item.registration)]

    def find(self, resource_type: str, resource_id: str, cluster: str = "") -> CloudObject | None:
        return self._whole.find(resource_type, resource_id, cluster or self._name)

    def __iter__(self) -> Iterator[CloudObject]:
        return (item for item in self._whole if self._is_seen(item.registration))

    def add_stray(self, stray: Stray) -> None:
        self._whole.add_stray(replace(stray, cluster=stray.cluster or self._name))

    def drop_stray(self, stray: Stray) -> None:
        self._whole.drop_stray(stray)

    def ledger(self, resource_type: str, amounts: Amounts, *, rests_on: tuple[str, ...] = ()) -> Ledger:
        return self._whole.ledger(resource_type, amounts, rests_on=rests_on)
