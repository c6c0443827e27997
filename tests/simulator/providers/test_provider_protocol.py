"""The providers over their protocol, as the engine calls them: time, interruption, half-made objects, a death."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc, status_pb2

from simulator.account.faults import Faults
from simulator.faults_syntax import parse_fault
from simulator.providers.calls import Call, CallLog, read_calls
from simulator.providers.cloud import Cloud
from simulator.providers.pace import Pace
from simulator.providers.serve import serving
from simulator.recorder.protocol import plain, struct

GROUP = "urn:pulumi:dev::trn::trn:components:NodeGroup$aws:eks/nodeGroup:NodeGroup::train"
VPC = "urn:pulumi:dev::trn::trn:components:Network$aws:ec2/vpc:Vpc::network"
ROLE = "urn:pulumi:dev::trn::trn:components:Role$aws:iam/role:Role::node"
GROUP_INPUTS = {
    "clusterName": "dev", "nodeGroupName": "train", "instanceTypes": ["trn1.32xlarge"], "scalingConfig": {"desiredSize": 2},
}  # fmt: skip
FOREVER = 1_000.0
"""A scale at which nothing ends by itself."""


class Engine:
    """Calls one package's provider."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.stub: Any = provider_pb2_grpc.ResourceProviderStub(channel)
        self.stub.Configure(provider_pb2.ConfigureRequest(args=struct({"region": "us-west-2"})))

    def create(self, urn: str, inputs: dict[str, Any], *, preview: bool = False) -> Any:
        """Make a resource."""
        return self.stub.Create(provider_pb2.CreateRequest(urn=urn, properties=struct(inputs), preview=preview))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the objects."""
    return tmp_path / "world"


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """File of the calls."""
    return tmp_path / "calls.jsonl"


@pytest.fixture
def serve(folder: Path, calls: Path) -> Iterator[Any]:
    """Serves the cloud with faults and a time scale; gives an engine that talks to `aws`."""
    with ExitStack() as stack:

        def start(*faults: str, scale: float = 0.0) -> Engine:
            cloud = Cloud.load(folder, Faults.of(map(parse_fault, faults)))
            attach = stack.enter_context(serving(cloud, Pace(scale), CallLog(calls)))
            return Engine(stack.enter_context(grpc.insecure_channel(address(attach, "aws"))))

        yield start


def address(attach: str, package: str) -> str:
    """Where a package is served."""
    return f"127.0.0.1:{dict(item.split(':') for item in attach.split(','))[package]}"


def test_a_package_is_served_on_a_port_of_its_own(folder: Path, calls: Path):
    """A request does not say for which package it is."""
    with serving(Cloud(folder), Pace(), CallLog(calls)) as attach:
        ports = dict(item.split(":") for item in attach.split(","))
    assert sorted(ports) == ["aws", "eks", "kubernetes"]
    assert len(set(ports.values())) == 3


def test_every_call_is_written_down_before_it_is_answered(serve: Any, calls: Path):
    """The run is judged by them, also when the process has died."""
    engine = serve()
    engine.stub.Check(provider_pb2.CheckRequest(urn=VPC))
    engine.create(VPC, {"cidrBlock": "10.0.0.0/16"}, preview=True)
    made = engine.create(VPC, {"cidrBlock": "10.0.0.0/16"})
    engine.stub.Read(provider_pb2.ReadRequest(urn=VPC, id=made.id))
    engine.stub.Update(provider_pb2.UpdateRequest(urn=VPC, id=made.id, news=made.properties, olds=made.properties))
    engine.stub.Delete(provider_pb2.DeleteRequest(urn=VPC, id=made.id))
    engine.stub.Cancel(empty_pb2.Empty())
    seen = [(call.method, call.package, call.urn, call.preview) for call in read_calls(calls)]
    assert seen == [
        ("Check", "aws", VPC, False),
        ("Create", "aws", VPC, True),
        ("Create", "aws", VPC, False),
        ("Read", "aws", VPC, False),
        ("Update", "aws", VPC, False),
        ("Delete", "aws", VPC, False),
        ("Cancel", "aws", "", False),
    ]
    assert list(read_calls(calls.with_name("none"))) == []


def test_a_name_that_is_taken_is_an_error_with_its_code(serve: Any):
    """The engine prints it as it is."""
    engine = serve()
    engine.create(ROLE, {"name": "node"})
    with pytest.raises(grpc.RpcError) as refused:
        engine.create(ROLE.replace("::node", "::other"), {"name": "node"})
    said = str(refused.value.details())
    assert said.startswith("EntityAlreadyExists: Role with name node already exists.\n  cause: ")
    assert "\nhint: " in said


def test_a_read_tells_what_is_there_and_what_is_lost(serve: Any):
    """A refresh brings the inputs as the engine has them; an import brings none, and gets those it was made with."""
    engine = serve()
    made = engine.create(VPC, {"cidrBlock": "10.0.0.0/16", "tags": {"Name": "a"}})
    refreshed = engine.stub.Read(provider_pb2.ReadRequest(urn=VPC, id=made.id, inputs=struct({"cidrBlock": "?"})))
    imported = engine.stub.Read(provider_pb2.ReadRequest(urn=VPC, id=made.id))
    assert plain(refreshed.inputs) == {"cidrBlock": "10.0.0.0/16"}
    assert plain(imported.inputs) == {"cidrBlock": "10.0.0.0/16", "tags": {"Name": "a"}}
    assert engine.stub.Read(provider_pb2.ReadRequest(urn=VPC, id="vpc-none")).id == ""


def test_a_replacement_gets_an_id_of_its_own(serve: Any):
    """Or the engine would not see that it is another."""
    engine = serve()
    assert engine.create(VPC, {"cidrBlock": "10.0.0.0/16"}).id != engine.create(VPC, {"cidrBlock": "10.0.0.0/16"}).id


def test_a_group_without_capacity_comes_back_half_made(serve: Any, folder: Path):
    """With id, state and reason, in the form that makes the engine keep it."""
    engine = serve("no-capacity@train")
    with pytest.raises(grpc.RpcError) as failed:
        engine.create(GROUP, GROUP_INPUTS)
    error: Any = failed.value
    status = status_pb2.Status.FromString(dict(error.trailing_metadata())["grpc-status-details-bin"])
    detail = provider_pb2.ErrorResourceInitFailed()
    assert status.details[0].Unpack(detail)
    assert detail.id == "dev:train"
    assert plain(detail.properties)["status"] == "CREATE_FAILED"
    assert "unexpected state 'CREATE_FAILED', wanted target 'ACTIVE'" in detail.reasons[0]
    assert "InsufficientInstanceCapacity" in detail.reasons[0]
    assert (status.code, status.message) == (2, detail.reasons[0])
    assert Cloud.load(folder).objects["aws:eks/nodeGroup:NodeGroup", "dev:train"].status == "failed"


def test_a_group_without_capacity_takes_longer_than_one_that_comes_up(serve: Any):
    """EKS tries for 33 minutes."""
    engine, before = serve("no-capacity@train", scale=0.0005), time.monotonic()
    with pytest.raises(grpc.RpcError):
        engine.create(GROUP, GROUP_INPUTS)
    assert time.monotonic() - before >= 33 * 60 * 0.0005


def under_way(folder: Path, pool: ThreadPoolExecutor, engine: Engine, urn: str, inputs: dict[str, Any]) -> Future[Any]:
    """A create that takes its time, once it has been accepted."""
    future = pool.submit(engine.create, urn, inputs)
    while not list(folder.glob("*/*.json")):
        assert not future.done(), future.result()
        time.sleep(0.005)
    return future


def test_an_interrupt_ends_the_waiting_and_what_was_under_way_is_there(serve: Any, folder: Path):
    """The engine saves what an interrupted run has finished."""
    engine = serve(scale=FOREVER)
    with ThreadPoolExecutor() as pool:
        future = under_way(folder, pool, engine, VPC, {"cidrBlock": "10.0.0.0/16"})
        assert [item.status for item in Cloud.load(folder).objects.values()] == ["creating"]
        assert not future.done()
        engine.stub.Cancel(empty_pb2.Empty())
        assert future.result().id.startswith("vpc-")
    assert [item.status for item in Cloud.load(folder).objects.values()] == ["ready"]


@pytest.mark.parametrize("operation", ["Update", "Delete"])
def test_updates_and_deletes_take_time_too(serve: Any, folder: Path, operation: str):
    """And wait no longer than the engine does."""
    serve().create(VPC, {"cidrBlock": "10.0.0.0/16"})
    (made,) = Cloud.load(folder).objects.values()
    engine = serve(scale=FOREVER)
    requests = {
        "Update": provider_pb2.UpdateRequest(urn=VPC, id=made.id, news=struct({"cidrBlock": "10.0.0.0/16", "x": 1})),
        "Delete": provider_pb2.DeleteRequest(urn=VPC, id=made.id, old_inputs=struct(made.inputs)),
    }
    done = threading.Event()
    with ThreadPoolExecutor() as pool:
        future = pool.submit(getattr(engine.stub, operation), requests[operation])
        future.add_done_callback(lambda _: done.set())
        assert not done.wait(0.3)
        engine.stub.Cancel(empty_pb2.Empty())
        future.result()


def test_a_new_connection_waits_again(serve: Any, folder: Path):
    """The engine cancels its plug-ins between preview and update."""
    engine = serve(scale=FOREVER)
    engine.stub.Cancel(empty_pb2.Empty())
    engine.stub.Configure(provider_pb2.ConfigureRequest(args=struct({"region": "us-west-2"})))
    with ThreadPoolExecutor() as pool:
        future = under_way(folder, pool, engine, VPC, {"cidrBlock": "10.0.0.0/16"})
        assert not future.done()
        engine.stub.Cancel(empty_pb2.Empty())
        future.result()


def test_a_server_that_stops_waits_for_nothing(folder: Path, calls: Path):
    """An engine that was killed says no goodbye."""
    with ThreadPoolExecutor() as pool, serving(Cloud(folder), Pace(FOREVER), CallLog(calls)) as attach:
        channel = grpc.insecure_channel(address(attach, "aws"))
        future = under_way(folder, pool, Engine(channel), VPC, {"cidrBlock": "10.0.0.0/16"})
        channel.close()
        assert future.exception() is not None
    assert [item.status for item in Cloud.load(folder).objects.values()] == ["ready"]


def process(folder: Path, calls: Path, *arguments: str) -> subprocess.Popen[str]:
    """The providers in a process of their own."""
    command = [sys.executable, "-m", "simulator.providers", str(folder), "--calls", str(calls), *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_provider_that_is_killed_leaves_a_half_made_object(folder: Path, calls: Path):
    """In the middle of its creation; the call and the fault are written down."""
    with process(folder, calls, "--fault", "kill-provider@network", "--time-scale", "0.04") as server:
        assert server.stdout is not None
        with grpc.insecure_channel(address(server.stdout.readline().strip(), "aws")) as channel, pytest.raises(grpc.RpcError):
            Engine(channel).create(VPC, {"cidrBlock": "10.0.0.0/16"})
        assert server.wait() == -9
    (made,) = Cloud.load(folder).objects.values()
    assert made.status == "creating"
    assert list(read_calls(calls)) == [Call("Create", "aws", VPC), Call("Fault", "", VPC, fault="kill-provider@network")]


def test_the_process_ends_with_its_standard_input(folder: Path, calls: Path):
    """It ends with the process that started it."""
    with process(folder, calls) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("aws:")
        server.communicate("")
        assert server.returncode == 0


def test_a_second_process_says_who_has_the_folder(folder: Path, calls: Path):
    """On standard error, with exit code 1."""
    with process(folder, calls) as first:
        assert first.stdout is not None
        first.stdout.readline()
        with process(folder, calls) as second:
            _, error = second.communicate()
        first.communicate("")
    assert second.returncode == 1
    assert error.startswith(f"another run has the simulated account in {folder} (process {first.pid})\n\nhint: let the other run end")


@pytest.mark.parametrize(
    ("region", "partition", "suffix"), [("us-west-2", "aws", "amazonaws.com"), ("cn-north-1", "aws-cn", "amazonaws.com.cn")]
)
def test_the_partition_of_the_region_is_told(serve: Any, region: str, partition: str, suffix: str):
    """The real pulumi-eks component asks for it at each run, and for nothing else that the program does not pin."""
    stub = serve().stub
    stub.Configure(provider_pb2.ConfigureRequest(args=struct({"region": region})))
    told = plain(getattr(stub.Invoke(provider_pb2.InvokeRequest(tok="aws:index/getPartition:getPartition")), "return"))
    assert told == {"id": partition, "partition": partition, "dnsSuffix": suffix, "reverseDnsPrefix": ".".join(suffix.split(".")[::-1])}
    with pytest.raises(grpc.RpcError, match="answers no invoke aws:index/getRegion"):
        stub.Invoke(provider_pb2.InvokeRequest(tok="aws:index/getRegion:getRegion"))
