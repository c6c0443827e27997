"""Runs a Pulumi program against a monitor that keeps every request, and answers from the simulated cloud.

The SDK's own mock monitor drops parents, dependencies and options, builds wrong URNs, accepts one URN twice and throws
stack outputs away; this one does none of that.
"""

import asyncio
import gc
import logging
import runpy
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from google.protobuf import empty_pb2
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from pulumi.runtime import config as pulumi_config
from pulumi.runtime import mocks, settings
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.stack import run_in_stack

from facts.kubeconfig import cluster_of
from simulator import outputs
from simulator.errors import DuplicateUrn, UnknownType
from simulator.recorder import eks_component
from simulator.recorder.protocol import plain, secret_keys, struct
from simulator.recorder.sdk_shortcuts import shortcuts
from simulator.recording import STACK_TYPE, Recording, Registration

_NOT_OPTIONS = frozenset(
    {
        "type", "name", "object", "custom", "remote", "parent", "provider", "providers", "dependencies", "propertyDependencies",
        "acceptSecrets", "acceptResources", "supportsPartialValues", "supportsResultReporting", "sourcePosition", "stackTrace", "version",
        "packageRef", "pluginDownloadURL", "pluginChecksums",
    }
)  # fmt: skip


ORGANIZATION = "organization"
"""What a file backend calls the only organization that it has."""


class NoMocks(mocks.Mocks):
    """The monitor answers by itself; nothing may reach the SDK's mocks."""

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        raise AssertionError(f"resource {args.name} went past the recorder")

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]] | None]:
        raise AssertionError(f"invoke {args.token} went past the recorder")


class RecordingMonitor(mocks.MockMonitor):
    """ResourceMonitor that records. Requests come from several threads at once."""

    def __init__(self, recording: Recording, *, seed: int, preview: bool) -> None:
        super().__init__(NoMocks())
        self._recording, self._seed, self._preview = recording, seed, preview
        self._lock = threading.RLock()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """The engine's rule: the chain of all parents' types, the stack's left out."""
        chain = parent.split("::")[2] if parent else ""
        chain = "" if chain in ("", STACK_TYPE) else f"{chain}$"
        return f"urn:pulumi:{self._recording.stack}::{self._recording.project}::{chain}{type_}::{name}"

    def RegisterResource(self, request: Any) -> Any:
        with self._lock:
            registration = self._from_request(request)
            if registration.type == STACK_TYPE:
                self._keep(registration)
                return resource_pb2.RegisterResourceResponse(urn=registration.urn)
            if registration.type == eks_component.COMPONENT_TYPE and registration.remote:
                return self._construct_cluster(registration)
            if registration.remote:
                raise UnknownType(f"the simulated cloud does not know the remote component {registration.type}")
            registration = self._answered(registration)
            return _response(registration)

    def Invoke(self, request: Any) -> Any:
        """Only the look-up that turns a reference into a resource is answered: the program asks AWS nothing."""
        if request.tok != "pulumi:pulumi:getResource":
            raise UnknownType(f"the simulated cloud answers no invoke {request.tok}: the program must make none")
        registration = self._recording.registrations[request.args["urn"]]
        found = {"urn": registration.urn, "id": registration.id, "state": dict(registration.outputs)}
        response = resource_pb2.ResourceInvokeResponse()
        # The field's name is a word of the language.
        getattr(response, "return").CopyFrom(struct(found))
        return response

    def ReadResource(self, request: Any) -> Any:
        """What others made: its description is what the program says of it."""
        with self._lock:
            urn = self.make_urn(request.parent, request.type, request.name)
            seen = plain(request.properties)
            self._keep(
                Registration(
                    urn=urn, type=request.type, name=request.name, custom=False, remote=False, parent=request.parent, inputs={},
                    dependencies=frozenset(request.dependencies), providers=frozenset({request.provider.rsplit("::", 1)[0]} - {""}),
                    id=request.id, outputs=seen, external=True,
                )
            )  # fmt: skip
            return resource_pb2.ReadResourceResponse(urn=urn, properties=struct(seen))

    def RegisterResourceOutputs(self, request: Any) -> Any:
        with self._lock:
            registration = self._recording.registrations[request.urn]
            if registration.type == STACK_TYPE:
                self._recording.stack_outputs.update(plain(request.outputs))
        return empty_pb2.Empty()

    def _from_request(self, request: Any) -> Registration:
        providers = [request.provider, *request.providers.values()]
        return Registration(
            urn=self.make_urn(request.parent, request.type, request.name),
            type=request.type,
            name=request.name,
            custom=request.custom,
            remote=request.remote,
            parent=request.parent,
            inputs=plain(request.object),
            dependencies=frozenset(request.dependencies),
            property_dependencies={key: frozenset(value.urns) for key, value in request.propertyDependencies.items() if value.urns},
            providers=frozenset(reference.rsplit("::", 1)[0] for reference in providers if reference),
            options=_options(request),
            secret_inputs=secret_keys(request.object),
        )

    def _answered(self, registration: Registration) -> Registration:
        """The registration with id and outputs, kept."""
        resource_id, state = "", dict(registration.inputs)
        if registration.custom:
            resource_id, state = outputs.answer(
                outputs.context_of(self._recording, registration, self._seed, registration.urn),
                registration.type,
                registration.name,
                registration.inputs,
            )
            if self._preview and not registration.type.startswith("pulumi:providers:"):
                # What the provider would compute is not there yet; a property that is not sent counts as unknown.
                kubernetes = registration.type.startswith("kubernetes:")
                resource_id, state = "", {} if kubernetes else dict(registration.inputs)
        answered = replace(registration, id=resource_id, outputs=state, cluster=self._cluster_of(registration))
        self._keep(answered)
        return answered

    def _cluster_of(self, registration: Registration) -> str:
        """The cluster of its Kubernetes provider."""
        if not registration.type.startswith("kubernetes:"):
            return ""
        providers = (self._recording.registrations[urn].inputs for urn in sorted(registration.providers))
        return next((cluster_of(str(inputs["kubeconfig"])) for inputs in providers if "kubeconfig" in inputs), "")

    def _keep(self, registration: Registration) -> None:
        if registration.urn in self._recording.registrations:
            raise DuplicateUrn(f"Duplicate resource URN '{registration.urn}'; try giving it a unique name")
        self._recording.registrations[registration.urn] = registration

    def _construct_cluster(self, component: Registration) -> Any:
        role = component.inputs.get("serviceRole")
        if isinstance(role, dict) and "urn" in role:
            arn = self._recording.registrations[role["urn"]].outputs.get("arn", "")
            component = replace(component, inputs={**component.inputs, "serviceRole": {**role, "roleArn": arn}})
        self._keep(component)

        def register(
            *, type: str, name: str, parent: str, inputs: Mapping[str, Any], dependencies: frozenset[str],
            providers: frozenset[str] = frozenset(), custom: bool = True, options: Mapping[str, Any] | None = None,
        ) -> Registration:  # fmt: skip
            child = Registration(
                urn=self.make_urn(parent, type, name), type=type, name=name, custom=custom, remote=False, parent=parent, inputs=inputs,
                dependencies=dependencies, providers=providers, options=options or {},
            )  # fmt: skip
            return self._answered(child)

        expansion = eks_component.expand(component, register, component.property_dependencies)
        response = resource_pb2.RegisterResourceResponse(urn=component.urn, object=struct(expansion.outputs))
        for key, urns in expansion.output_dependencies.items():
            response.propertyDependencies[key].urns.extend(urns)
        return response


def record(
    program: Callable[[], None],
    *,
    project: str,
    stack: str,
    configuration: Mapping[str, str],
    seed: int = 0,
    preview: bool = False,
) -> Recording:
    """Run a Pulumi program and give what it registered. What the program raises is raised here.

    `configuration`: full keys (`trn:name`) to text, structured values as JSON, as the engine passes them.
    """
    recording = Recording(project=project, stack=stack)
    monitor = RecordingMonitor(recording, seed=seed, preview=preview)
    configure = mocks.MockSettings(
        monitor=monitor,
        monitor_features=set(monitor.GetDeploymentInfo(empty_pb2.Empty()).supportedFeatures),
        engine=mocks.MockEngine(_program_log()),
        project=project,
        stack=stack,
        dry_run=preview,
        organization=ORGANIZATION,
        callbacks=None,
    )
    settings.configure(configure)
    settings.set_root_resource(None)  # pyright: ignore[reportArgumentType]  # the SDK's own tests reset it so
    # The SDK declares these two as decorated functions; they are the run's own queues.
    configure.rpc_manager.clear()  # pyright: ignore[reportAttributeAccessIssue]
    configure.outputs.clear()  # pyright: ignore[reportAttributeAccessIssue]
    pulumi_config.set_all_config(dict(configuration))
    loop = asyncio.new_event_loop()
    # A failing resource makes asyncio report every one of its outputs; the first error is raised anyway.
    loop.set_exception_handler(lambda _loop, _context: None)
    executor = ThreadPoolExecutor(max_workers=4, thread_name_prefix="recorder")
    loop.set_default_executor(executor)
    asyncio.set_event_loop(loop)
    try:
        with shortcuts(_program_log()), _uncollected():
            loop.run_until_complete(run_in_stack(lambda: _run(program, configure)))
    finally:
        _finish(loop)
        asyncio.set_event_loop(None)
        executor.shutdown(wait=True)
        loop.close()
        pulumi_config.set_all_config({})
    recording.registrations = dict(sorted(recording.registrations.items()))
    return recording


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without garbage collection: nearly all that a program makes is alive until it ends, and looking through it again and again took
    more than half of the time of a large stack."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


async def _run(program: Callable[[], None], run: Any) -> None:
    """Run the program and await what it has begun, all at once.

    The SDK then has nothing left to await: it would look at everything that is under way again each time that something ends
    (pulumi/runtime/stack.py wait_for_rpcs), which takes time by the square of the number of resources.
    """
    program()
    while under_way := [task for task in {*run.rpc_manager.rpcs, *run.outputs} if not task.done()]:
        ended, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_EXCEPTION)
        if any(task.cancelled() or task.exception() for task in ended):
            # What failed stays among the SDK's own tasks, and the SDK raises it.
            return


def _finish(loop: asyncio.AbstractEventLoop) -> None:
    """End what a failed program has left under way, so that nothing of it reaches the next recording."""
    pending = asyncio.all_tasks(loop)
    for task in pending:
        task.cancel()
    if pending:
        loop.run_until_complete(asyncio.gather(*pending, return_exceptions=True))


@dataclass(frozen=True)
class ProgramFile:
    """A program in a file, run afresh at each call."""

    path: Path

    def __call__(self) -> None:
        """Run it, with its folder on Python's path."""
        folder = str(self.path.parent)
        inserted = folder not in sys.path
        if inserted:
            sys.path.insert(0, folder)
        try:
            runpy.run_path(str(self.path), run_name="__main__")
        finally:
            if inserted:
                sys.path.remove(folder)


def program_at(directory: Path) -> ProgramFile:
    """The program in `__main__.py` of a directory."""
    return ProgramFile(directory / "__main__.py")


def _program_log() -> logging.Logger:
    """Where the program's own messages go: callers who want them add a handler."""
    logger = logging.getLogger("simulator.program")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    return logger


def _options(request: Any) -> dict[str, Any]:
    """Options that differ from their defaults, as plain values."""
    given = {field.name: _plain_option(value) for field, value in request.ListFields() if field.name not in _NOT_OPTIONS}
    # The SDK sends an empty binding with every resource.
    return {key: value for key, value in given.items() if value not in ({}, [], "")}


def _plain_option(value: Any) -> Any:
    if isinstance(value, Message):
        return MessageToDict(value, preserving_proto_field_name=True)
    if isinstance(value, str | bytes | bool | int):
        return value
    return [_plain_option(item) for item in value]


def _response(registration: Registration) -> Any:
    return resource_pb2.RegisterResourceResponse(urn=registration.urn, id=registration.id, object=struct(registration.outputs))
