"""Constructs `pulumi_eks.Cluster` for the real engine: registers the children that the real component registers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2, resource_pb2, resource_pb2_grpc

from simulator.errors import UnknownType
from simulator.recorder import eks_component
from simulator.recorder.protocol import UNKNOWN, plain, struct
from simulator.recording import Registration

MESSAGE_LIMIT = 400 * 1024 * 1024
OPTIONS = [("grpc.max_receive_message_length", MESSAGE_LIMIT), ("grpc.max_send_message_length", MESSAGE_LIMIT)]


def construct_cluster(request: Any, versions: Mapping[str, str]) -> Any:
    """Answer a Construct request. `versions`: package to the version that its children's providers have."""
    if request.type != eks_component.COMPONENT_TYPE:
        raise UnknownType(f"the simulated cloud does not know the remote component {request.type}")
    with grpc.insecure_channel(request.monitorEndpoint, options=OPTIONS) as channel:
        return _Construction(request, versions, resource_pb2_grpc.ResourceMonitorStub(channel)).run()


class _Construction:
    def __init__(self, request: Any, versions: Mapping[str, str], monitor: resource_pb2_grpc.ResourceMonitorStub) -> None:
        self._request, self._versions, self._monitor = request, versions, monitor
        self._references = {reference.rsplit("::", 1)[0]: reference for reference in request.providers.values()}

    def run(self) -> Any:
        request = self._request
        dependencies = {key: frozenset(value.urns) for key, value in request.inputDependencies.items()}
        inputs = plain(request.inputs)
        # As the real component: its SDK sends no inputs of components, so that the engine never sees one of them change.
        component = self.register(
            type=request.type,
            name=request.name,
            parent=request.parent,
            inputs={},
            dependencies=frozenset(request.dependencies),
            providers=frozenset(self._references),
            custom=False,
        )
        role = inputs.get("serviceRole")
        if isinstance(role, dict) and "urn" in role:
            inputs = {**inputs, "serviceRole": {**role, "roleArn": self._state_of(role["urn"]).get("arn", UNKNOWN)}}
        component = replace(component, inputs=inputs, remote=True)
        expansion = eks_component.expand(component, self.register, dependencies)
        self._monitor.RegisterResourceOutputs(
            resource_pb2.RegisterResourceOutputsRequest(urn=component.urn, outputs=struct(expansion.outputs))
        )
        outputs = dict.fromkeys(_UNKNOWN_IN_PREVIEW, UNKNOWN) | expansion.outputs if request.dryRun else expansion.outputs
        response = provider_pb2.ConstructResponse(urn=component.urn, state=struct(outputs))
        for key, urns in expansion.output_dependencies.items():
            response.stateDependencies[key].urns.extend(urns)
        return response

    def register(
        self,
        *,
        type: str,
        name: str,
        parent: str,
        inputs: Mapping[str, Any],
        dependencies: frozenset[str],
        providers: frozenset[str] = frozenset(),
        custom: bool = True,
        options: Mapping[str, Any] | None = None,
    ) -> Registration:
        """Register one resource with the engine, as a component's own code does."""
        asked = resource_pb2.RegisterResourceRequest(
            type=type,
            name=name,
            parent=parent,
            custom=custom,
            object=struct(inputs),
            dependencies=sorted(dependencies),
            supportsPartialValues=True,
            acceptSecrets=True,
            acceptResources=True,
            ignoreChanges=(options or {}).get("ignoreChanges", []),
        )
        references = [self._references[urn] for urn in sorted(providers)]
        if custom and references:
            asked.provider = references[0]
        for reference in references if not custom else ():
            asked.providers[reference.split("::")[2].rsplit(":", 1)[-1]] = reference
        if type.startswith("pulumi:providers:"):
            asked.version = self._versions[type.rsplit(":", 1)[-1]]
        made = self._monitor.RegisterResource(asked)
        if type.startswith("pulumi:providers:"):
            self._references[made.urn] = f"{made.urn}::{made.id or UNKNOWN}"
        # In a preview the engine knows the id of what is there already, and none of what is not.
        known_id = "" if made.id == UNKNOWN else made.id
        return Registration(
            urn=made.urn, type=type, name=name, custom=custom, remote=False, parent=parent, inputs=inputs,
            dependencies=dependencies, providers=providers, id=known_id, outputs=plain(made.object),
        )  # fmt: skip

    def _state_of(self, urn: str) -> dict[str, Any]:
        asked = resource_pb2.ResourceInvokeRequest(tok="pulumi:pulumi:getResource", args=struct({"urn": urn}))
        answer = self._monitor.Invoke(asked)
        return plain(getattr(answer, "return")).get("state", {})


_UNKNOWN_IN_PREVIEW = ("clusterSecurityGroupId", "nodeSecurityGroupId", "kubeconfigJson")
