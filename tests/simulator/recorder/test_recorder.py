"""The recorder keeps what the SDK's mock monitor drops, and never invents an answer."""

import asyncio
import gc
import logging
from collections.abc import Iterable
from contextlib import nullcontext
from typing import Any

import pulumi
import pulumi_aws as aws
import pytest
from pulumi.runtime import resource as sdk_resource
from pulumi.runtime.proto import source_pb2

from simulator.engine.order import deletion_levels
from simulator.engine.plan import plan
from simulator.engine.state import State
from simulator.errors import DuplicateUrn, NotMeasured, UnknownType
from simulator.recorder.recorder import program_at, record
from simulator.recording import Indexed
from tests.simulator.small_programs import provider, run, vpc_with_subnet
from tests.stacks.addon_sets import ALTERNATIVES, everything
from tests.support import ROOT, dev_configuration, merged, record_stack
from trn.engine.stack_file import as_pulumi


class Box(pulumi.ComponentResource):
    """A component with one child."""

    def __init__(self, name: str, opts: pulumi.ResourceOptions) -> None:
        super().__init__("trn:test:Box", name, None, opts)
        aws.ec2.Vpc(name, cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(parent=self))
        self.register_outputs({})


def test_dependencies_come_with_the_property_they_belong_to():
    """The graph is all that a rehearsal of the order has."""
    recording = run(vpc_with_subnet)
    (vpc,), (subnet,) = recording.of_type("aws:ec2/vpc:Vpc"), recording.of_type("aws:ec2/subnet:Subnet")
    assert subnet.dependencies == {vpc.urn}
    assert subnet.property_dependencies == {"vpcId": frozenset({vpc.urn})}
    assert subnet.inputs["vpcId"] == vpc.id


def test_a_urn_holds_the_types_of_all_parents():
    """Two resources of one name under parents of different types are different to the engine."""
    recording = run(lambda: (Box("box", pulumi.ResourceOptions(providers=[provider()])), None)[1])
    (vpc,) = recording.of_type("aws:ec2/vpc:Vpc")
    assert vpc.urn == "urn:pulumi:test::trn::trn:test:Box$aws:ec2/vpc:Vpc::box"
    assert recording.registrations[vpc.parent].type == "trn:test:Box"


def test_one_urn_twice_is_refused():
    """The engine refuses it, the SDK's mocks do not."""

    def program() -> None:
        options = pulumi.ResourceOptions(provider=provider())
        aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=options)
        aws.ec2.Vpc("vpc", cidr_block="10.1.0.0/16", opts=options)

    with pytest.raises(DuplicateUrn, match="Duplicate resource URN 'urn:pulumi:test::trn::aws:ec2/vpc:Vpc::vpc'"):
        run(program)


def test_an_unknown_type_is_an_error_and_no_invention():
    """An invented id would make the rehearsal say something it cannot know."""

    def program() -> None:
        aws.s3.Bucket("bucket", opts=pulumi.ResourceOptions(provider=provider()))

    with pytest.raises(UnknownType, match="aws:s3/bucket:Bucket"):
        run(program)


def test_an_invoke_is_an_error():
    """A look-up would make the graph depend on the account's moods."""

    def program() -> None:
        aws.get_caller_identity(opts=pulumi.InvokeOptions(provider=provider()))

    with pytest.raises(UnknownType, match="getCallerIdentity"):
        run(program)


def test_a_resource_without_our_provider_is_an_error():
    """Its region would come from the environment."""

    def program() -> None:
        aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16")

    with pytest.raises(UnknownType, match="no explicit AWS provider"):
        run(program)


def test_what_the_program_raises_comes_out():
    """A rehearsal that swallowed it would look green."""

    def program() -> None:
        raise pulumi.RunError("no")

    with pytest.raises(pulumi.RunError, match="no"):
        run(program)


def test_no_stack_traces_are_made(monkeypatch: pytest.MonkeyPatch):
    """They take a quarter of a recording's time and nothing reads them. Afterwards the SDK makes them again, also where a program fails."""

    made = list[source_pb2.StackTrace]()

    def trace() -> source_pb2.StackTrace:
        made.append(source_pb2.StackTrace())
        return made[-1]

    monkeypatch.setattr(sdk_resource, "_get_stack_trace", trace)

    def fail() -> None:
        vpc_with_subnet()
        raise ValueError("the program's own")

    assert len(run(vpc_with_subnet).registrations) > 2
    with pytest.raises(ValueError, match="the program's own"):
        run(fail)
    assert made == []
    assert sdk_resource._get_stack_trace is trace


@pytest.mark.parametrize(
    ("configuration", "preview"), [(everything(next(iter(ALTERNATIVES))), False), (dev_configuration(), True)], ids=["up", "preview"]
)
def test_shortcuts_change_nothing_that_is_recorded(monkeypatch: pytest.MonkeyPatch, configuration: dict[str, Any], preview: bool):
    """The SDK as it is registers the same, only with more work."""
    short = record_stack(configuration, stack="dev", preview=preview)
    taken = list[Any]()

    def none(program_log: Any) -> Any:
        taken.append(program_log)
        return nullcontext()

    monkeypatch.setattr("simulator.recorder.recorder.shortcuts", none)
    as_it_is = record(program_at(ROOT), project="trn", stack="dev", configuration=as_pulumi(configuration), preview=preview)
    assert taken
    assert (as_it_is.registrations, as_it_is.stack_outputs) == (short.registrations, short.stack_outputs)


@pytest.mark.parametrize("level", [logging.DEBUG, logging.INFO])
def test_debug_messages_are_made_where_they_are_listened_to(caplog: pytest.LogCaptureFixture, level: int):
    """A caller who looks for an error in a program wants the SDK's own account of it."""
    with caplog.at_level(level, "simulator.program"):
        run(vpc_with_subnet)
    assert any("registering resource" in message for message in caplog.messages) == (level == logging.DEBUG)


def test_options_are_kept():
    """Protection, time-outs and retries decide what a destroy does."""

    def program() -> None:
        options = pulumi.ResourceOptions(provider=provider(), protect=True, custom_timeouts=pulumi.CustomTimeouts(delete="3m"))
        aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=options)

    (vpc,) = run(program).of_type("aws:ec2/vpc:Vpc")
    assert vpc.options["protect"] is True
    assert vpc.options["customTimeouts"] == {"delete": "3m"}


def test_stack_outputs_arrive():
    """They are what the user sees after an up."""
    recording = run(vpc_with_subnet)
    assert recording.stack_outputs == {"subnet": recording.of_type("aws:ec2/subnet:Subnet")[0].id}


def test_secret_inputs_are_known_as_secrets():
    """A secret in plain inputs would end in the report."""

    def program() -> None:
        aws.ec2.Vpc("vpc", cidr_block=pulumi.Output.secret("10.0.0.0/16"), opts=pulumi.ResourceOptions(provider=provider()))

    (vpc,) = run(program).of_type("aws:ec2/vpc:Vpc")
    assert vpc.secret_inputs == {"cidrBlock"}
    assert vpc.inputs["cidrBlock"] == "10.0.0.0/16"


def test_a_preview_knows_no_computed_value():
    """A program that reads one would work here and fail at the first real preview."""
    seen: list[str] = []

    def program() -> None:
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=pulumi.ResourceOptions(provider=provider()))
        vpc.id.apply(seen.append)
        vpc.arn.apply(seen.append)
        vpc.cidr_block.apply(seen.append)

    run(program, preview=True)
    assert seen == ["10.0.0.0/16"]


def test_ids_follow_from_the_seed_alone():
    """Same seed, same report."""
    one, same, other = run(vpc_with_subnet), run(vpc_with_subnet), run(vpc_with_subnet, seed=1)
    assert one.stack_outputs == same.stack_outputs
    assert one.stack_outputs != other.stack_outputs


def test_the_components_children_are_those_of_the_real_component():
    """Measured behind the real engine; a child that is missing here is missing in every order and cost."""
    recording = record_stack(dev_configuration())
    component = next(item for item in recording if item.type == "eks:index:Cluster")
    below = {
        (
            recording.registrations[urn].type,
            recording.registrations[urn].name,
            recording.registrations[recording.registrations[urn].parent].name,
        )
        for urn in recording.descendants(component.urn)
    }
    assert below == {
        ("aws:eks/cluster:Cluster", "control-plane-eksCluster", "control-plane"),
        ("pulumi:providers:kubernetes", "control-plane-eks-k8s", "control-plane"),
        ("aws:eks/addon:Addon", "control-plane-kube-proxy", "control-plane"),
        ("eks:index:VpcCniAddon", "control-plane-vpc-cni", "control-plane"),
        ("aws:eks/addon:Addon", "control-plane-vpc-cni", "control-plane-vpc-cni"),
    }


def test_the_components_edges_are_those_of_the_real_component():
    """Its SDK for Node.js sends neither the inputs of components nor what these depend on: vpc-cni goes together with kube-proxy."""
    recording = record_stack(dev_configuration())
    named = {f"{item.type.split(':')[-1]} {item.name}": item for item in recording}
    cni, cluster = named["VpcCniAddon control-plane-vpc-cni"], named["Cluster control-plane-eksCluster"]
    assert (cni.inputs, cni.dependencies) == ({}, frozenset())
    (key,) = recording.of_type("aws:kms/key:Key")
    assert key.urn in cluster.dependencies
    level = {urn: index for index, urns in enumerate(deletion_levels(recording)) for urn in urns}
    assert level[named["Addon control-plane-vpc-cni"].urn] == level[named["Addon control-plane-kube-proxy"].urn]
    assert level[named["Addon control-plane-vpc-cni"].urn] < level[cluster.urn]


def test_a_change_shows_the_components_children_and_never_the_component():
    """The engine has no inputs of it to compare: an update of it would be one that never comes."""
    before, after = record_stack(dev_configuration()), record_stack(merged(dev_configuration(), controlPlane={"deletionProtection": True}))
    state = State()
    for item in before:
        state.save(item)
    kinds = {urn.split("::")[-1]: change.kind for urn, change in plan(state, after, creations={}, seed=0).items() if change.kind != "same"}
    assert kinds == {"control-plane-eksCluster": "update"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"instance_type": "m5.large"}, "instanceType"),
        ({"create_oidc_provider": True}, "createOidcProvider"),
        ({"coredns_addon_options": {"enabled": True}}, "without its coredns"),
        ({"vpc_cni_options": {"addon_version": "v1.23.0-eksbuild.1", "warm_ip_target": 2}}, "warmIpTarget"),
        ({"vpc_cni_options": None}, "without a pinned vpc-cni"),
    ],
)
def test_an_argument_whose_effect_was_not_measured_is_refused(arguments: dict[str, object], message: str):
    """A guess about the component would be a guess about the control plane."""
    import pulumi_eks as eks

    def program() -> None:
        aws_provider = provider()
        role = aws.iam.Role("role", name="role", assume_role_policy="{}", opts=pulumi.ResourceOptions(provider=aws_provider))
        usual: dict[str, object] = {
            "name": "c", "version": "1.35", "service_role": role, "authentication_mode": eks.AuthenticationMode.API, "create_oidc_provider": False,
            "skip_default_node_group": True, "skip_default_security_groups": True, "private_subnet_ids": [], "coredns_addon_options": {"enabled": False},
            "vpc_cni_options": {"addon_version": "v1.23.0-eksbuild.1"}, "kube_proxy_addon_options": {"version": "v1.35.3-eksbuild.29"},
        }  # fmt: skip
        eks.Cluster("c", **{**usual, **arguments}, opts=pulumi.ResourceOptions(providers=[aws_provider]))  # pyright: ignore[reportCallIssue, reportArgumentType]

    with pytest.raises(NotMeasured, match=message):
        run(program)


def test_the_recorder_awaits_all_that_is_under_way_at_once(monkeypatch: pytest.MonkeyPatch):
    """The SDK looks at every outstanding task again each time that one ends: time by the square of the number of resources."""
    looked_at = []
    wait = asyncio.wait

    async def counted(tasks: Iterable[asyncio.Task[object]], **options: Any) -> Any:
        tasks = list(tasks)
        looked_at.append(len(tasks))
        return await wait(tasks, **options)

    def program() -> None:
        of_aws = pulumi.ResourceOptions(provider=provider())
        vpc = aws.ec2.Vpc("vpc", cidr_block="10.0.0.0/16", opts=of_aws)
        for number in range(20):
            aws.ec2.RouteTable(f"table-{number}", vpc_id=vpc.id, opts=of_aws)

    monkeypatch.setattr(asyncio, "wait", counted)
    run(program)
    assert looked_at
    assert sum(looked_at) < 3 * max(looked_at)


def test_a_refused_registration_is_raised_whatever_else_is_under_way():
    """What the SDK would raise, from a program with much to await."""

    def program() -> None:
        of_aws = pulumi.ResourceOptions(provider=provider())
        for name in ("one", "two", "one"):
            aws.ec2.Vpc(name, cidr_block="10.0.0.0/16", opts=of_aws)

    with pytest.raises(Exception, match="Duplicate resource URN"):
        run(program)


def test_an_indexed_recording_answers_like_the_recording():
    """It is only quicker."""
    recording = record_stack(dev_configuration())
    indexed = Indexed(recording)
    assert indexed.resources() == recording.resources()
    assert all(indexed.of_type(kind) == recording.of_type(kind) for kind in {item.type for item in recording} | {"no:such:Type"})


@pytest.mark.parametrize("fails", [False, True])
def test_garbage_is_not_collected_while_a_program_runs_and_is_again_afterwards(fails: bool):
    """With it a resource of a large stack costs more than one of a small stack; without it for good the process would grow."""
    seen = list[bool]()

    def program() -> None:
        seen.append(gc.isenabled())
        if fails:
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong") if fails else nullcontext():
        record(program, project="trn", stack="test", configuration={})
    assert (seen, gc.isenabled()) == ([False], True)
