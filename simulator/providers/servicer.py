"""One package's provider: what the engine calls to check, compare, make, read, change and delete."""

import contextlib
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from facts.regions import dns_suffix, partition
from simulator import outputs
from simulator.account.rule import Refusal
from simulator.errors import SimulationError
from simulator.providers.calls import Call, CallLog
from simulator.providers.cloud import Cloud
from simulator.providers.construct import construct_cluster
from simulator.providers.pace import Pace
from simulator.providers.values import live_inputs, updated_state, with_unknowns
from simulator.recorder.protocol import UNKNOWN, plain, struct
from simulator.recording import Registration
from simulator.replacements import changed_paths, deletes_first, replacing_paths

PARTITION_OF_REGION = "aws:index/getPartition:getPartition"
POLL_S, GRACE_S = 0.02, 2.0
"""Real seconds between two tries, and the least that is waited for what a parallel operation brings."""


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """Serves `aws`, `eks` or `kubernetes` from one cloud. State that belongs to an instance is kept by its connection."""

    def __init__(self, package: str, versions: dict[str, str], cloud: Cloud, pace: Pace, log: CallLog) -> None:
        self._package, self._versions, self._cloud, self._pace, self._log = package, versions, cloud, pace, log
        self._regions: dict[str, str] = {}
        self._default_tags: dict[str, Mapping[str, str]] = {}
        self._stopped: dict[str, threading.Event] = defaultdict(threading.Event)

    def stop(self) -> None:
        """End all waiting: what is under way is done at once."""
        for stopped in list(self._stopped.values()):
            stopped.set()

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True)

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:
        return plugin_pb2.PluginInfo(version=self._versions[self._package])

    def Attach(self, request: Any, context: grpc.ServicerContext) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:
        """The engine is interrupted, or done: what is under way ends at once, and is there.

        The real AWS provider continues until the operation ends (pulumi/pulumi-terraform-bridge pkg/tfbridge/provider.go, Cancel).
        """
        self._called("Cancel")
        self._stopped[context.peer()].set()
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        changed = changed_paths(plain(request.olds), plain(request.news))
        return _difference(changed, [])

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:
        configuration = plain(request.args)
        self._regions[context.peer()] = str(configuration.get("region", ""))
        self._default_tags[context.peer()] = outputs.default_tags_of(configuration)
        # The engine cancels a plug-in whenever it is done with it; a later connection may come from the same port.
        self._stopped[context.peer()].clear()
        # A package that constructs components must take secrets; values are opened on arrival.
        return provider_pb2.ConfigureResponse(acceptSecrets=True, acceptResources=True, supportsPreview=True)

    def Check(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._called("Check", request.urn)
        return provider_pb2.CheckResponse(inputs=request.news)

    def Diff(self, request: Any, context: grpc.ServicerContext) -> Any:
        old, new = plain(request.old_inputs), plain(request.news)
        ignored = tuple(request.ignoreChanges)
        changed = [path for path in changed_paths(old, new) if not any(path == key or path.startswith(f"{key}.") for key in ignored)]
        resource_type = _type_of(request.urn)
        with _refusing(context):
            replacing = replacing_paths(resource_type, changed, old, new)
        return _difference(changed, replacing, delete_first=bool(replacing) and deletes_first(resource_type, old, new))

    def Create(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._called("Create", request.urn, preview=request.preview)
        inputs = plain(request.properties)
        with _refusing(context):
            resource_id, state = self._answer(request.urn, inputs, context)
        if request.preview:
            computed = {key: value for key, value in state.items() if key not in inputs or state[key] != inputs[key]}
            return provider_pb2.CreateResponse(id="", properties=struct(with_unknowns(inputs, computed)))
        resource_type = _type_of(request.urn)
        refusal = self._patiently(lambda: self._cloud.begin_create(request.urn, resource_type, resource_id, inputs, state), context)
        if refusal is None:
            self._die_if_asked(request.urn, resource_type)
            self._take_time("create", request.urn, inputs, context)
            refusal = self._patiently(lambda: self._cloud.settle(resource_type, resource_id), context)
            if refusal is not None:
                self._cloud.abandon(resource_type, resource_id, refusal)
        self._cloud.ended(request.urn, resource_type, resource_id)
        if refusal is not None:
            made = self._cloud.get(resource_type, resource_id) if refusal.leaves != "nothing" else None
            if made is not None:
                _half_made(context, resource_id, made.state, refusal)
            self._refuse(context, refusal)
        return provider_pb2.CreateResponse(id=resource_id, properties=struct(state))

    def Read(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._called("Read", request.urn)
        found = self._cloud.get(_type_of(request.urn), request.id)
        if found is None:
            theirs = self._cloud.of_others(_type_of(request.urn), request.id)
            return provider_pb2.ReadResponse(id=request.id if theirs else "", properties=struct(theirs))
        # An import brings no inputs: it gets those that the object was made with.
        inputs = live_inputs(plain(request.inputs) or found.inputs, found.state)
        return provider_pb2.ReadResponse(id=request.id, properties=struct(found.state), inputs=struct(inputs))

    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._called("Update", request.urn, preview=request.preview)
        new, old = plain(request.news), plain(request.olds)
        state = updated_state(old, plain(request.old_inputs), new)
        if "latestVersion" in old:
            state["latestVersion"] = UNKNOWN if request.preview else int(old["latestVersion"]) + 1
        state |= outputs.all_tags(_type_of(request.urn), new, self._default_tags.get(context.peer(), {}))
        if not request.preview:
            self._take_time("update", request.urn, new, context)
            refusal = self._patiently(lambda: self._cloud.update(_type_of(request.urn), request.id, new, state), context)
            if refusal is not None:
                self._refuse(context, refusal)
        return provider_pb2.UpdateResponse(properties=struct(state))

    def Delete(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._called("Delete", request.urn)
        resource_type = _type_of(request.urn)
        refusal = self._patiently(lambda: self._cloud.begin_delete(resource_type, request.id), context)
        self._cloud.ended(request.urn, resource_type, request.id)
        if refusal is not None:
            self._refuse(context, refusal)
        self._take_time("delete", request.urn, plain(request.old_inputs), context)
        self._cloud.finish_delete(resource_type, request.id)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Only what the real pulumi-eks component asks is answered; the program itself asks AWS nothing."""
        if self._package != "aws" or request.tok != PARTITION_OF_REGION:
            context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the simulated cloud answers no invoke {request.tok}: the program must make none")
        region = self._regions.get(context.peer(), "")
        suffix = dns_suffix(region)
        found = {
            "id": partition(region),
            "partition": partition(region),
            "dnsSuffix": suffix,
            "reverseDnsPrefix": ".".join(suffix.split(".")[::-1]),
        }
        response = provider_pb2.InvokeResponse()
        # The field's name is a word of the language.
        getattr(response, "return").CopyFrom(struct(found))
        return response

    def Construct(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._called("Construct")
        with _refusing(context):
            return construct_cluster(request, self._versions)

    def _called(self, method: str, urn: str = "", *, preview: bool = False) -> None:
        self._log.add(Call(method, self._package, urn, preview))

    def _take_time(self, operation: str, urn: str, inputs: dict[str, Any], context: grpc.ServicerContext) -> None:
        stopped = self._stopped[context.peer()]
        stopped.wait(self._pace.real_s(operation, urn, _type_of(urn), inputs))

    def _die_if_asked(self, urn: str, resource_type: str) -> None:
        """The process ends during a creation: the request has been accepted, and the engine gets no answer."""
        registration = Registration(urn, resource_type, urn.rsplit("::", 1)[-1], True, False, "", {})
        if self._cloud.world.faults.take("provider", registration) is not None:
            os.kill(os.getpid(), signal.SIGKILL)

    def _patiently(self, attempt: Callable[[], Refusal | None], context: grpc.ServicerContext) -> Refusal | None:
        """Try until it succeeds, or for as long as the provider tries, in scaled time.

        Even where no time passes, what a parallel operation is about to bring is waited for a moment.
        """
        began, stopped = time.monotonic(), self._stopped[context.peer()]
        while (refusal := attempt()) is not None:
            allowed = max(refusal.retry_s * self._pace.scale, 0.0 if refusal.by_fault or not refusal.retry_s else GRACE_S)
            if time.monotonic() - began >= allowed or stopped.wait(POLL_S):
                return refusal
        return None

    def _refuse(self, context: grpc.ServicerContext, refusal: Refusal) -> NoReturn:
        context.abort(grpc.StatusCode.UNKNOWN, error_text(refusal))

    def _answer(self, urn: str, inputs: dict[str, Any], context: grpc.ServicerContext) -> tuple[str, dict[str, Any]]:
        region = self._regions.get(context.peer(), "")
        generation = self._cloud.generation(urn)
        # The first one has the id that a rehearsal gives it; a replacement needs another.
        key = urn if generation == 0 else f"{urn}#{generation}"
        answering = outputs.Context(
            self._pace.seed, key, region, partition(region), dns_suffix(region), self._default_tags.get(context.peer(), {})
        )
        resource_id, state = outputs.answer(answering, _type_of(urn), urn.rsplit("::", 1)[-1], inputs)
        cluster = self._cloud.world.cluster
        return resource_id, state if cluster is None else {**state, **cluster.outputs(_type_of(urn))}


@contextlib.contextmanager
def _refusing(context: grpc.ServicerContext) -> Iterator[None]:
    """Turns what the simulated cloud does not know into an error that the engine shows."""
    try:
        yield
    except SimulationError as error:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, str(error))


def error_text(refusal: Refusal) -> str:
    """An error as the engine prints it: the service's own words, then why, and how to go on."""
    return f"{refusal}\n  cause: {refusal.cause}\n\nhint: {refusal.fix}"


def _half_made(context: grpc.ServicerContext, resource_id: str, state: dict[str, Any], refusal: Refusal) -> NoReturn:
    """Fail a create whose object stays: the engine keeps it in its state, with the reason.

    hashicorp/terraform-provider-aws sets a node group's id before it waits for it.
    """
    text = f"waiting for {resource_id} create: {error_text(refusal)}"
    detail = provider_pb2.ErrorResourceInitFailed(id=resource_id, properties=struct(state), reasons=[text])
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=text)
    status.details.add().Pack(detail)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, text)


def _type_of(urn: str) -> str:
    return urn.split("::")[2].split("$")[-1]


def _difference(changed: list[str], replacing: list[str], *, delete_first: bool = False) -> Any:
    kinds = provider_pb2.DiffResponse
    detailed = {
        path: provider_pb2.PropertyDiff(
            kind=provider_pb2.PropertyDiff.UPDATE_REPLACE if path in replacing else provider_pb2.PropertyDiff.UPDATE, inputDiff=True
        )
        for path in changed
    }
    return kinds(
        changes=kinds.DIFF_SOME if changed else kinds.DIFF_NONE,
        replaces=sorted({path.split(".")[0] for path in replacing}),
        diffs=sorted({path.split(".")[0] for path in changed}),
        detailedDiff=detailed,
        hasDetailedDiff=True,
        deleteBeforeReplace=delete_first,
    )
