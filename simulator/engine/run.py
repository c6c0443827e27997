"""Runs of the engine against the world: up, from any state, and destroy; to their end, or until they are killed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from simulator.account.world import World
from simulator.engine.clock import Clock, Listener, Operation, Step
from simulator.engine.jobs import Gone, Job, Protected, Same, Update, create_job, delete_job
from simulator.engine.order import DEFAULT_PARALLEL, creation_dependencies, deletion_levels, recorded_dependencies
from simulator.engine.permanent import refusal, refused_by_program
from simulator.engine.plan import Change, plan, targeted
from simulator.engine.state import OLD, Pending, State, object_key, stack_of
from simulator.latencies import update_seconds
from simulator.recording import Recording, Registration, exists_in_cloud


def is_of_earlier_run(key: str) -> bool:
    """Whether a step deletes what an earlier run had replaced."""
    return OLD in key and not key.endswith(OLD)


@dataclass(frozen=True)
class Kill:
    """The run is killed, without warning, while one operation is under way."""

    urn: str
    operation: Operation
    at: float = 0.5
    """Fraction of the operation's own time: 0 before its request has left, 1 when it has ended but is not yet saved in the state."""


@dataclass(frozen=True)
class Phase:
    """A run that has ended."""

    steps: Mapping[str, Step]
    """By URN, the deletions of replaced resources by URN and OLD; operations that never started are missing."""
    order: tuple[str, ...]
    """Their keys in the order in which they ended."""
    predecessors: Mapping[str, str | None]
    """What each operation depends on and waited for last: None where it waited for nothing. A wait for a free slot is not in it."""
    changes: Mapping[str, Change]
    """What the run was to do."""
    killed: bool = False

    @property
    def seconds(self) -> float:
        """When the last operation ended."""
        return max((step.end for step in self.steps.values()), default=0.0)

    @property
    def errors(self) -> list[Step]:
        """Operations that were refused, by key."""
        return [self.steps[key] for key in sorted(self.steps) if self.steps[key].refusal]

    @property
    def ended_well(self) -> bool:
        """Whether all that was to be done has been done."""
        return not self.errors and not self.killed


@dataclass
class Engine:
    """The engine with its state and the account it works in."""

    world: World
    state: State
    seed: int = 0
    parallel: int = DEFAULT_PARALLEL
    checkpoint: Callable[[Sequence[Pending]], None] | None = None
    """Called whenever an operation has begun or ended, with those under way: what is then written down outlives a kill."""

    def copy(self) -> "Engine":
        """The same engine in an account of its own: what happens to one does not happen to the other."""
        return Engine(self.world.copy(), self.state.copy(), self.seed, self.parallel)

    def up(
        self,
        recording: Recording,
        *,
        force: frozenset[str] = frozenset(),
        targets: frozenset[str] = frozenset(),
        kill: Kill | None = None,
        begin: float = 0.0,
        listener: Listener | None = None,
    ) -> Phase:
        """Bring the account to what the program wants. `begin`: when the program has started to register resources.

        `targets`: URNs; with any, everything else stays as it is (`pulumi up --target`). Where the program's own hook refuses the
        change, the refusal is all that happens.
        """
        refused = refused_by_program(self.state.recording(), recording)
        if refused:
            steps = {urn: Step(urn, "update", begin, begin, refusal=refusal(parts)) for urn, parts in refused.items()}
            return Phase(steps, tuple(steps), dict.fromkeys(steps), {})
        changes = plan(self.state, recording, creations=self.world.state.creations, seed=self.seed, force=force)
        if targets:
            changes = targeted(changes, targets)
            there = {urn: item for urn, item in recording.registrations.items() if urn in changes}
            recording = Recording(recording.project, recording.stack, there)
        self.state.stack = stack_of(recording) or self.state.stack
        run = _Run(self, changes, listener, kill)
        before = self.state.copy()
        self.state.begin_run()
        run.first_phase(recording, before.recording(), begin)
        if not run.stopped and not targets:
            run.deletions(before, {urn for urn, change in changes.items() if _goes_last(change)})
        return run.phase()

    def destroy(self, *, kill: Kill | None = None, listener: Listener | None = None) -> Phase:
        """Delete everything that the state knows, level by level; a refusal lets its own level finish and stops the run there."""
        changes = {urn: Change("delete", held.registration, None) for urn, held in sorted(self.state.held.items())}
        run = _Run(self, changes, listener, kill)
        run.deletions(self.state.copy(), set(changes))
        return run.phase()


def _unprotected(registration: Registration) -> Registration:
    options = {name: value for name, value in registration.options.items() if name != "protect"}
    return replace(registration, options=options) if options != registration.options else registration


def _is_protected(change: Change) -> bool:
    """Whether neither the state nor the program lets it be replaced: to drop the option and replace is one run."""
    return all(item is not None and bool(item.options.get("protect")) for item in (change.old, change.new))


def _goes_last(change: Change) -> bool:
    return change.kind == "delete" or (change.kind == "replace" and not change.delete_first)


class _Run:
    def __init__(self, engine: Engine, changes: Mapping[str, Change], listener: Listener | None, kill: Kill | None) -> None:
        self._engine, self._changes, self._kill = engine, changes, kill
        self._jobs: dict[str, Job] = {}
        self._listener = listener
        self._clock = Clock(engine.parallel, listener if engine.checkpoint is None else self._tell, self._jobs)
        self._refused = self._killed = False
        self._begun: dict[str, Pending] = {}
        """As they were when they began: one value for each operation, for as long as it lasts."""

    @property
    def stopped(self) -> bool:
        """Whether nothing more may be started."""
        return self._refused or self._killed

    def phase(self) -> Phase:
        return Phase(self._clock.steps, self._clock.order, self._clock.predecessors, self._changes, self._killed)

    def _tell(self, at: float, step: Step, ended: bool) -> None:
        if not ended:
            self._checkpoint()
        if self._listener is not None:
            self._listener(at, step, ended)

    def _checkpoint(self) -> None:
        if self._engine.checkpoint is None:
            return
        clock = self._clock
        for key in clock.running:
            if key not in self._begun and clock.took_time(key):
                self._begun[key] = Pending(self._jobs[key].registration, self._jobs[key].doing, round(clock.planned[key] - clock.now, 1))
        # After a kill, what was under way is in the state already.
        under_way = () if self._killed else clock.running
        self._engine.checkpoint([self._begun[key] for key in under_way if key in self._begun])

    def first_phase(self, recording: Recording, before: Recording, begin: float) -> None:
        """Everything but the deletions that come last."""
        plain = creation_dependencies(recording)
        needs = {urn: set(names) for urn, names in plain.items()}
        refused = self._protected(before)
        for urn in plain:
            self._jobs[urn] = refused[urn] if urn in refused else self._job(self._changes[urn])
        going = {urn for urn, change in self._changes.items() if change.kind == "replace" and change.delete_first and urn in plain}
        for urn in refused:
            going -= {urn, *_users(before, urn)}
        for urn, (users, roots) in self._deleted_first(before, going).items():
            old = self._changes[urn].old
            assert old is not None
            self._jobs[urn + OLD] = self._delete_job(_unprotected(old), first=True)
            needs[urn + OLD] = {user + OLD for user in users} | {name for root in roots for name in plain[root]}
            needs[urn].add(urn + OLD)
        self._drive(needs, begin)

    def _protected(self, before: Recording) -> Mapping[str, Protected]:
        """Replacements that the engine refuses, by URN: of what is protected, and of what is deleted first with something protected on it."""
        replaced = {urn: change for urn, change in self._changes.items() if change.kind == "replace"}
        kept = {urn: change.registration for urn, change in replaced.items() if _is_protected(change)}
        refused = {urn: Protected(item, item) for urn, item in kept.items()}
        for urn, change in replaced.items() if kept else ():
            above = _users(before, urn) & kept.keys()
            if change.delete_first and above:
                refused.setdefault(urn, Protected(change.registration, kept[min(above)]))
        return refused

    def _deleted_first(self, before: Recording, going: set[str]) -> Mapping[str, tuple[set[str], set[str]]]:
        """What is deleted before its successor is made: URN to what is deleted before it, and to the roots that start the deletions.

        A root depends on nothing that is deleted. When it is registered, everything that depends on it is
        deleted, the last dependents first.
        """
        users = {urn: _users(before, urn) & going for urn in going}
        roots = {urn for urn in going if not any(urn in resting for resting in users.values())}
        return {urn: (users[urn], {root for root in roots if root == urn or urn in users[root]}) for urn in sorted(going)}

    def deletions(self, before: State, urns: set[str]) -> None:
        """Delete level by level, each level once the one before has ended, and with them what earlier runs did not come to delete."""
        barrier, last = self._clock.now, self._clock.order[-1] if self._clock.order else None
        replaced = before.replaced()
        for level in deletion_levels(before.recording(), urns, replaced, before.listed()):
            keys = []
            for urn in level:
                change = self._changes.get(urn)
                key = urn + OLD if change is not None and change.kind == "replace" else urn
                old = replaced[urn] if change is None else change.old
                assert old is not None
                # What was replaced is deleted whatever it said: the engine asks for `protect` before it makes the successor.
                self._jobs[key] = self._delete_job(_unprotected(old) if key != urn or change is None else old)
                self._clock.offer(key, barrier, last)
                keys.append(key)
            self._finish(stop_at_refusal=False, ended=lambda _key: None)
            if self.stopped:
                return
            for key in keys:
                end = self._clock.steps[key].end
                if end > barrier or last is None:
                    barrier, last = end, key

    def _job(self, change: Change) -> Job:
        engine, new = self._engine, change.new
        assert new is not None
        replaced = change.kind == "replace" and not change.delete_first
        if change.kind == "same":
            return Same(new)
        if change.kind == "update" and exists_in_cloud(new):
            assert change.old is not None
            seconds = update_seconds(change.old, new, engine.seed)
            return Update(change.old, new, engine.world, seconds, self._clock.idle)
        return create_job(new, engine.world, engine.seed, self._clock.idle, replaced=replaced)

    def _delete_job(self, registration: Registration, *, first: bool = False) -> Job:
        held = self._engine.state.held.get(registration.urn)
        if held is not None and held.pending_replacement and object_key(held.registration) == object_key(registration):
            return Gone(registration)
        return delete_job(registration, self._engine.world, self._engine.seed, self._clock.idle, first=first)

    def _drive(self, needs: Mapping[str, set[str]], begin: float) -> None:
        """Run jobs as what they need ends; a refusal lets what is under way finish and starts nothing new."""
        waiting = {key: len(names) for key, names in needs.items()}
        users: dict[str, list[str]] = {}
        for key, names in needs.items():
            for name in names:
                users.setdefault(name, []).append(key)
        for key in sorted(key for key, count in waiting.items() if count == 0):
            self._clock.offer(key, begin, None)

        def ended(key: str) -> None:
            for user in sorted(users.get(key, ())):
                waiting[user] -= 1
                if waiting[user] == 0:
                    self._clock.offer(user, self._clock.now, key)

        self._finish(stop_at_refusal=True, ended=ended)
        stuck = sorted(key for key, count in waiting.items() if count > 0)
        if stuck and not self.stopped:
            raise ValueError(f"dependency cycle among {stuck}")

    def _finish(self, *, stop_at_refusal: bool, ended: Callable[[str], None]) -> None:
        """Let jobs end until none is left, or the run is killed."""
        while True:
            key = self._clock.next(self._deadline)
            if key is None:
                break
            job = self._jobs[key]
            job.saved(self._engine.state)
            self._checkpoint()
            if job.refusal is not None:
                self._refused = True
                self._clock.stopping = stop_at_refusal
            else:
                ended(key)
            if self._kill is not None and self._is_victim(key):
                # It was quicker than the kill: its end is the moment.
                self._die(self._clock.now)
                return
        deadline = self._deadline()
        if deadline is not None and self._clock.running:
            self._die(deadline)

    def _is_victim(self, key: str) -> bool:
        assert self._kill is not None
        step = self._clock.steps[key]
        return step.urn == self._kill.urn and step.operation == self._kill.operation

    def _deadline(self) -> float | None:
        """When the run is killed, once that can be said."""
        if self._kill is None or self._killed:
            return None
        for key in self._clock.running:
            if self._is_victim(key):
                step = self._clock.steps[key]
                # Just before its end, when it is not yet saved in the state.
                return min(step.start + self._kill.at * (step.end - step.start), step.end - 0.05)
        return None

    def _die(self, at: float) -> None:
        """The run has died. AWS continues what it has accepted; the state holds what was saved, and what was under way."""
        self._killed = True
        self._clock.stop_at(at)
        for key in self._clock.running:
            job = self._jobs[key]
            unsent = self._kill is not None and self._is_victim(key) and self._kill.at == 0
            remaining = 0.0 if unsent else max(0.0, self._clock.planned[key] - at)
            self._engine.state.pending.append(Pending(job.registration, job.doing, round(remaining, 1)))
            if unsent and isinstance(job, Update):
                self._engine.world.withdraw_update(job.old, job.registration)
            elif unsent:
                self._engine.world.withdraw(job.registration)
            else:
                self._goes_on(job)
        self._clock.stopping = True
        self._checkpoint()

    def _goes_on(self, job: Job) -> None:
        """What becomes of an operation whose caller is gone."""
        world, registration = self._engine.world, job.registration
        if job.doing == "creating":
            world.orphan(registration)
        elif job.doing == "deleting" and world.is_deleting(registration):
            world.finish_delete(registration)


def _users(graph: Recording, urn: str) -> set[str]:
    """All that rests on a resource, directly or through others."""
    needs = recorded_dependencies(graph)
    found: set[str] = set()
    more = True
    while more:
        more = False
        for user, names in needs.items():
            if user not in found and (urn in names or names & found):
                found.add(user)
                more = True
    return found
