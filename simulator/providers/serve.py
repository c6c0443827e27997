"""Serves the three packages on loopback ports, for the engine to attach to."""

import contextlib
import importlib.metadata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import grpc
from pulumi.runtime.proto import provider_pb2_grpc

from simulator.providers.calls import CallLog
from simulator.providers.cloud import Cloud
from simulator.providers.construct import OPTIONS
from simulator.providers.pace import Pace
from simulator.providers.servicer import Provider

PACKAGES = {"aws": "pulumi-aws", "eks": "pulumi-eks", "kubernetes": "pulumi-kubernetes"}
"""Every package that the program uses: one that is not served would be looked for elsewhere."""


@contextlib.contextmanager
def serving(cloud: Cloud, pace: Pace, log: CallLog) -> Iterator[str]:
    """Serve a cloud; gives the text for PULUMI_DEBUG_PROVIDERS, one port a package."""
    versions = {package: importlib.metadata.version(distribution) for package, distribution in PACKAGES.items()}
    providers, servers, pools, attach = [], [], [], []
    for package in versions:
        pool = ThreadPoolExecutor(max_workers=64, thread_name_prefix=package)
        server = grpc.server(pool, options=OPTIONS)
        provider = Provider(package, versions, cloud, pace, log)
        provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
        attach.append(f"{package}:{server.add_insecure_port('127.0.0.1:0')}")
        server.start()
        providers.append(provider)
        servers.append(server)
        pools.append(pool)
    try:
        yield ",".join(attach)
    finally:
        stopping = [server.stop(grace=1) for server in servers]
        for provider in providers:
            provider.stop()
        for stopped in stopping:
            stopped.wait()
        # What was accepted is finished, though no client may be left to get the answer.
        for pool in pools:
            pool.shutdown()
