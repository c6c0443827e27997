"""One package's provider: what the engine calls to check, compare, make, read, change and delete."""

import contextlib
from collections.abc import Iterator
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from components.hardware.regions import dns_suffix, partition
from simulator import outputs
from simulator.errors import SimulationError
from simulator.protocol import UNKNOWN, plain, struct
from simulator.providers.cloud import Cloud
from simulator.providers.construct import construct_cluster
from simulator.providers.values import live_inputs, updated_state, with_unknowns
from simulator.replacements import changed_paths, deletes_first, replacing_paths


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """Serves `aws`, `eks` or `kubernetes` from one cloud. State that belongs to an instance is kept by its connection."""

    def __init__(self, package: str, version: str, versions: dict[str, str], cloud: Cloud, *, seed: int) -> None:
        self._package, self._version, self._versions, self._cloud, self._seed = package, version, versions, cloud, seed
        self._regions: dict[str, str] = {}

    def Handshake(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.ProviderHandshakeResponse(accept_secrets=True, accept_resources=True)

    def GetPluginInfo(self, request: Any, context: grpc.ServicerContext) -> Any:
        return plugin_pb2.PluginInfo(version=self._version)

    def Attach(self, request: Any, context: grpc.ServicerContext) -> Any:
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: grpc.ServicerContext) -> Any:
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        return provider_pb2.CheckResponse(inputs=request.news)

    def DiffConfig(self, request: Any, context: grpc.ServicerContext) -> Any:
        changed = changed_paths(plain(request.olds), plain(request.news))
        return _difference(changed, [])

    def Configure(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._regions[context.peer()] = str(plain(request.args).get("region", ""))
        # A package that constructs components must take secrets; values are opened on arrival.
        return provider_pb2.ConfigureResponse(acceptSecrets=True, acceptResources=True, supportsPreview=True)

    def Check(self, request: Any, context: grpc.ServicerContext) -> Any:
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
        inputs = plain(request.properties)
        with _refusing(context):
            resource_id, state = self._answer(request.urn, inputs, context)
        if request.preview:
            computed = {key: value for key, value in state.items() if key not in inputs or state[key] != inputs[key]}
            return provider_pb2.CreateResponse(id="", properties=struct(with_unknowns(inputs, computed)))
        failure = self._cloud.next_failure(request.urn)
        if failure is not None:
            context.abort(grpc.StatusCode.UNKNOWN, failure)
        if not self._cloud.put("create", _type_of(request.urn), resource_id, request.urn, state):
            context.abort(grpc.StatusCode.ALREADY_EXISTS, f"{_type_of(request.urn)} {resource_id} exists already")
        return provider_pb2.CreateResponse(id=resource_id, properties=struct(state))

    def Read(self, request: Any, context: grpc.ServicerContext) -> Any:
        state = self._cloud.get(_type_of(request.urn), request.id)
        if state is None:
            return provider_pb2.ReadResponse(id="")
        inputs = live_inputs(plain(request.inputs), state)
        return provider_pb2.ReadResponse(id=request.id, properties=struct(state), inputs=struct(inputs))

    def Update(self, request: Any, context: grpc.ServicerContext) -> Any:
        new, old = plain(request.news), plain(request.olds)
        state = updated_state(old, plain(request.old_inputs), new)
        if "latestVersion" in old:
            state["latestVersion"] = UNKNOWN if request.preview else int(old["latestVersion"]) + 1
        if not request.preview:
            self._cloud.put("update", _type_of(request.urn), request.id, request.urn, state)
        return provider_pb2.UpdateResponse(properties=struct(state))

    def Delete(self, request: Any, context: grpc.ServicerContext) -> Any:
        self._cloud.remove(_type_of(request.urn), request.id, request.urn)
        return empty_pb2.Empty()

    def Invoke(self, request: Any, context: grpc.ServicerContext) -> Any:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, f"the simulated cloud answers no invoke {request.tok}: the program must make none")

    def Construct(self, request: Any, context: grpc.ServicerContext) -> Any:
        with _refusing(context):
            return construct_cluster(request, self._versions)

    def _answer(self, urn: str, inputs: dict[str, Any], context: grpc.ServicerContext) -> tuple[str, dict[str, Any]]:
        region = self._regions.get(context.peer(), "")
        generation = self._cloud.generation(urn)
        # The first one has the id that a rehearsal gives it; a replacement needs another.
        key = urn if generation == 0 else f"{urn}#{generation}"
        answering = outputs.Context(self._seed, key, region, partition(region), dns_suffix(region))
        return outputs.answer(answering, _type_of(urn), urn.rsplit("::", 1)[-1], inputs)


@contextlib.contextmanager
def _refusing(context: grpc.ServicerContext) -> Iterator[None]:
    """Turns what the simulated cloud does not know into an error that the engine shows."""
    try:
        yield
    except SimulationError as error:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, str(error))


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
