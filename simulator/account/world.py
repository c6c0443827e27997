"""The simulated account as every way in meets it: requests are judged, change what exists, and have consequences."""

from dataclasses import dataclass, field, replace

from simulator.account import consequences, judge, kinds
from simulator.account.cluster import RealCluster
from simulator.account.conflicts import repeats
from simulator.account.faults import Faults
from simulator.account.rule import Refusal
from simulator.account.state import AccountState
from simulator.recording import Registration, exists_in_cloud


@dataclass
class World:
    """The state of the account and the faults that strike it. Mutable: requests change the state and use up faults."""

    state: AccountState = field(default_factory=AccountState)
    faults: Faults = field(default_factory=Faults)
    cluster: RealCluster | None = None
    """A real API server for the account's Kubernetes half; a copy of the account has none."""

    def copy(self) -> "World":
        """An independent account with the same content and the same faults."""
        return World(self.state.copy(), self.faults.copy())

    def begin_create(self, registration: Registration) -> Refusal | None:
        """A request to create something; from then on it exists, even if the caller dies."""
        if self.cluster is not None:
            self.cluster.look(self.state, registration)
        refusal = judge.refusal_of(self.state, self.faults, "create", registration)
        if refusal is None and self.cluster is not None:
            refusal = self.cluster.create(registration)
        if refusal is None and exists_in_cloud(registration):
            # A put call may be made twice.
            add = self.state.put if repeats(registration.type) else self.state.add
            add(registration, "creating")
            self.state.creations[registration.urn] += 1
        return refusal

    def settle(self, registration: Registration) -> Refusal | None:
        """Let what is being created become ready, unless a fault or a rule prevents it."""
        item = self.state.of(registration)
        if item is None:
            return None
        refusal = judge.refusal_of(self.state, self.faults, "settle", registration)
        if refusal is None:
            item.status = "ready"
        return refusal

    def abandon(self, registration: Registration, refusal: Refusal) -> None:
        """The caller no longer waits for what did not become ready."""
        item = self.state.of(registration)
        if item is None:
            return
        if refusal.leaves == "nothing":
            self.state.remove(registration)
            if self.cluster is not None:
                self.cluster.delete(registration)
        else:
            item.status = "failed" if refusal.leaves == "failed" else "unready"

    def update(self, old: Registration, new: Registration) -> Refusal | None:
        """Change something in place, or refuse."""
        refusal = judge.refusal_of(self.state, self.faults, "update", new)
        if refusal is None and self.cluster is not None:
            refusal = self.cluster.update(new)
        item = self.state.of(old)
        if refusal is None and item is not None:
            item.registration = replace(new, id=old.id)
            if item.status == "unready":
                refusal = self.settle(item.registration)
        return refusal

    def begin_delete(self, registration: Registration) -> Refusal | None:
        """A request to delete something. What does not exist counts as deleted."""
        if registration.options.get("retainOnDelete"):
            return None
        refusal = judge.refusal_of(self.state, self.faults, "delete", registration)
        if refusal is None and self.cluster is not None:
            refusal = self.cluster.delete(registration)
        item = self.state.of(registration)
        if refusal is None and item is not None:
            item.status, item.was = "deleting", item.was if item.status == "deleting" else item.status
        return refusal

    def finish_delete(self, registration: Registration) -> None:
        """The end of a deletion, with its consequences."""
        if registration.options.get("retainOnDelete") or self.state.of(registration) is None:
            return
        if kinds.waits(registration.type):
            self.state.schedule(registration)
        else:
            self.state.remove(registration)
        consequences.of_deletion(self.state, registration)

    def is_deleting(self, registration: Registration) -> bool:
        """Whether its deletion has been accepted."""
        item = self.state.of(registration)
        return item is not None and item.status == "deleting"

    def withdraw(self, registration: Registration) -> None:
        """The request was never sent: what it would have created does not exist, what it would have deleted is as it was."""
        item = self.state.of(registration)
        if item is not None and item.status == "deleting":
            item.status = item.was
        elif item is not None:
            self.state.remove(registration)

    def withdraw_update(self, old: Registration, new: Registration) -> None:
        """The request to change something was never sent."""
        item = self.state.of(new)
        if item is not None:
            item.registration = old

    def orphan(self, registration: Registration) -> None:
        """The caller died. AWS continues without it; a Helm release stays as it was, half installed."""
        item = self.state.of(registration)
        if item is None:
            return
        if registration.type == kinds.RELEASE:
            item.status = "failed"
            return
        refusal = self.settle(registration)
        if refusal is not None:
            item.status = "failed" if refusal.leaves == "failed" else "unready"
        self.faults.ended(registration)

    def pass_time(self) -> None:
        """Everything that AWS was asked for ends: what is being created is there, what is being deleted is gone."""
        for item in list(self.state):
            if item.status == "creating":
                self.orphan(item.registration)
            elif item.status == "deleting":
                self.finish_delete(item.registration)
