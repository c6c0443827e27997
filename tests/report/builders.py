"""Small reports and recordings, built by hand: drawings are tested without running a program."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from report.runs import Run, Step
from simulator.cost_figures import Figure
from simulator.recording import Recording, Registration
from simulator.report.schema import (
    Cost,
    CostLine,
    CostPoint,
    Destroy,
    DestroyStep,
    Leftover,
    PathStep,
    Program,
    Report,
    ResourceTimes,
    Up,
)

HOSTILE = "<script>alert('x')</script> & \"quoted\" \x1b\x00 ]]>"
"""A name that breaks whatever is not escaped, with two characters that XML forbids."""

VPC = "aws:ec2/vpc:Vpc"
CLUSTER = "aws:eks/cluster:Cluster"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
ROLES = ("public", "private", "node")


def urn(token: str, name: str) -> str:
    """URN of a resource right under the stack."""
    return f"urn:pulumi:test::trn::{token}::{name}"


def resource(token: str, name: str, start: float, end: float, error: str | None = None, **more: Any) -> ResourceTimes:
    """One resource of the up phase; `more` are fields that differ from what is usual."""
    return ResourceTimes(**{"parent": "", "custom": True, "depends_on": [], "inputs": {}, **_times(token, name, start, end, error), **more})


def deletion(token: str, name: str, start: float, end: float, *, level: int = 0, error: str | None = None, **more: Any) -> DestroyStep:
    """One deletion."""
    return DestroyStep(**{**_times(token, name, start, end, error), "level": level, **more})


def _times(token: str, name: str, start: float, end: float, error: str | None) -> dict[str, Any]:
    return {
        "urn": urn(token, name),
        "type": token,
        "name": name,
        "start": start,
        "end": end,
        "attempts": 1,
        "cut": False,
        "slot_wait_seconds": 0.0,
        "error": error,
        "cause": None if error is None else "its cause",
        "fix": None if error is None else "its fix",
        "waited_for": None,
    }


def cost_line(what: str, usd_per_hour: float | None, *, verified: bool = True) -> CostLine:
    """One line of the bill, the same in every situation."""
    return CostLine(
        urn=what,
        name=what,
        what=what,
        quantity=1,
        usd_per_hour=usd_per_hour,
        full_size_what=what,
        full_size_usd_per_hour=usd_per_hour,
        idle_usd_per_hour=usd_per_hour,
        price_verified=verified,
        price_source="EKS pricing page, 2026-11",
    )


DEFAULT_UP = (
    resource(VPC, "network", 0, 14.7),
    resource(CLUSTER, "control-plane", 14.7, 580),
    resource("aws:iam/role:Role", "quick", 0, 2.2),
    resource(NODE_GROUP, "train", 580, 1063.8),
    resource("aws:autoscaling/tag:Tag", "train-tag", 1063.8, 1065.2),
)
DEFAULT_DESTROY = (
    deletion(NODE_GROUP, "train", 0, 430.5, level=0),
    deletion(CLUSTER, "control-plane", 430.5, 840, level=1),
    deletion(VPC, "network", 840, 850, level=2),
)
DEFAULT_PATH = ("network", "control-plane", "train", "train-tag")


def up_again(*resources: ResourceTimes, before: Sequence[str] = ("pulumi up",), **more: Any) -> Up:
    """A run of up after another; `more` are fields that differ from those of a run that ended well at once."""
    usual: dict[str, Any] = {
        "seconds": max((item.end for item in resources), default=0.0),
        "ended": "well",
        "before": list(before),
        "lower_bound_seconds": 100.0,
        "critical_path": [],
        "resources": list(resources),
        "not_started": [],
        "cost": [CostPoint(at=0, usd_per_hour=1.5, usd=0)],
    }
    return Up(**{**usual, **more})


def destroy_again(*order: DestroyStep, before: Sequence[str] = ("pulumi destroy",), leftovers: Iterable[str] = ()) -> Destroy:
    """A run of destroy after another."""
    return Destroy(
        seconds=max((step.end for step in order), default=0.0),
        ended="refused" if any(step.error for step in order) else "well",
        before=list(before),
        lower_bound_seconds=0.0,
        cost=[CostPoint(at=0, usd_per_hour=0.5, usd=0)],
        order=list(order),
        critical_path=[],
        leftovers=[Leftover(urn=what, what=what) for what in leftovers],
    )


def change_run(title: str = "change") -> Run:
    """A change that does all three things to resources."""
    steps = [
        Step(urn(NODE_GROUP, "train"), NODE_GROUP, "train", "delete", 0, 5),
        Step(urn(NODE_GROUP, "train"), NODE_GROUP, "train", "create", 5, 9, waited_for=urn(NODE_GROUP, "train")),
        Step(urn(VPC, "network"), VPC, "network", "update", 9, 20, inputs={"tags": "a to b"}),
    ]
    return Run(
        title,
        "change",
        20.0,
        "well",
        [],
        steps,
        frozenset(),
        [CostPoint(at=0, usd_per_hour=2.0, usd=0), CostPoint(at=20, usd_per_hour=2.0, usd=0.55)],
    )


def report(
    *,
    stack: str = "test",
    resources: Sequence[ResourceTimes] = DEFAULT_UP,
    critical: Sequence[str] = DEFAULT_PATH,
    deletions: Sequence[DestroyStep] = DEFAULT_DESTROY,
    leftovers: Iterable[str] = (),
    notices: Sequence[str] = (),
    costs: Sequence[CostLine] = (),
    **more: Any,
) -> Report:
    """A report of a small cluster; `critical` names the resources of the critical path, in both phases.

    `more` are fields of the report that differ from those of a rehearsal in which nothing was made to go wrong.
    """

    def path(steps: Iterable[ResourceTimes | DestroyStep], operation: Literal["create", "delete"]) -> list[PathStep]:
        return [
            PathStep(
                urn=step.urn,
                name=step.name,
                type=step.type,
                operation=operation,
                start=step.start,
                end=step.end,
                slot_wait_seconds=step.slot_wait_seconds,
            )
            for step in steps
            if step.name in critical
        ]

    seconds = max((item.end for item in resources), default=0.0)
    made = Report(
        stack=stack,
        seed=0,
        notices=list(notices),
        faults=[],
        program=Program(seconds=5.0, resources=len(resources), components=0, registrations=len(resources)),
        up=Up(
            seconds=seconds,
            ended="refused" if any(item.error for item in resources) else "well",
            before=[],
            lower_bound_seconds=seconds * 0.95,
            critical_path=path(resources, "create"),
            resources=list(resources),
            not_started=[],
            cost=[CostPoint(at=0, usd_per_hour=0, usd=0), CostPoint(at=seconds, usd_per_hour=43.8176, usd=1)],
        ),
        reruns=[],
        problems=[],
        incidents=[],
        destroy=Destroy(
            seconds=max((step.end for step in deletions), default=0.0),
            ended="refused" if any(step.error for step in deletions) else "well",
            before=[],
            lower_bound_seconds=0.0,
            cost=[CostPoint(at=0, usd_per_hour=43.8176, usd=0)],
            order=list(deletions),
            critical_path=path(deletions, "delete"),
            leftovers=[Leftover(urn=what, what=what) for what in leftovers],
        ),
        destroy_reruns=[],
        cost=Cost(
            now=Figure(usd_per_hour=43.8176),
            full_size=Figure(usd_per_hour=45.0354),
            idle=Figure(usd_per_hour=0.7956),
            items=list(costs),
        ),
        outputs={},
    )
    return made.model_copy(update=more)


def registration(
    token: str, name: str, resource_id: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any] | None = None
) -> Registration:
    """One custom resource with its id."""
    return Registration(
        urn=urn(token, name),
        type=token,
        name=name,
        custom=True,
        remote=False,
        parent="",
        inputs=inputs,
        id=resource_id,
        outputs=outputs or {},
    )


def recording(
    *,
    zone_ids: Sequence[str] = ("use2-az1", "use2-az2"),
    nat_zone_ids: Sequence[str] = ("use2-az1",),
    groups: Sequence[tuple[str, str]] = (("train", "use2-az1"),),
    efa_count: int = 8,
    file_system_gib: int | None = 1200,
) -> Recording:
    """A cluster as its registrations show it; `groups` are pairs of group name and zone id."""
    items = [*_network(zone_ids, nat_zone_ids), *(item for name, zone_id in groups for item in _node_group(name, zone_id, efa_count))]
    control_plane = {"version": "1.35", "vpcConfig": {"subnetIds": [f"private-{zone_id}" for zone_id in zone_ids]}}
    items.append(registration(CLUSTER, "control-plane", "test", control_plane))
    if file_system_gib is not None:
        inputs = {"subnetIds": f"private-{zone_ids[0]}", "storageCapacity": file_system_gib}
        items.append(registration("aws:fsx/lustreFileSystem:LustreFileSystem", "lustre", "fs-1", inputs))
    items.append(registration("aws:eks/addon:Addon", "coredns", "test:coredns", {"addonName": "coredns", "addonVersion": "v1.13.2"}))
    items.append(registration("kubernetes:helm.sh/v3:Release", "volcano", "volcano/volcano", {"name": "volcano", "version": "1.15.0"}))
    return Recording("trn", "test", {item.urn: item for item in sorted(items, key=lambda item: item.urn)})


def _network(zone_ids: Sequence[str], nat_zone_ids: Sequence[str]) -> list[Registration]:
    items = [
        registration(VPC, "network", "vpc-1", {"cidrBlock": "10.0.0.0/16", "tags": {"Name": "test"}}),
        registration("aws:ec2/internetGateway:InternetGateway", "network", "igw-1", {"vpcId": "vpc-1"}),
        registration(
            "aws:ec2/vpcEndpoint:VpcEndpoint",
            "s3",
            "vpce-1",
            {"serviceName": "com.amazonaws.us-east-2.s3", "routeTableIds": [f"rtb-{zone_id}" for zone_id in zone_ids]},
        ),
    ]
    for place, zone_id in enumerate(zone_ids):
        for row, role in enumerate(ROLES):
            tags = {"Name": f"test-{role}-{zone_id}"}
            inputs = {"vpcId": "vpc-1", "availabilityZoneId": zone_id, "cidrBlock": f"10.0.{row * 16 + place}.0/24", "tags": tags}
            items.append(registration("aws:ec2/subnet:Subnet", f"{role}-{zone_id}", f"{role}-{zone_id}", inputs))
    for zone_id in nat_zone_ids:
        address = registration("aws:ec2/eip:Eip", zone_id, f"eipalloc-{zone_id}", {}, {"publicIp": "198.51.100.7"})
        gateway = {"subnetId": f"public-{zone_id}", "allocationId": address.id}
        items += [address, registration("aws:ec2/natGateway:NatGateway", zone_id, f"nat-{zone_id}", gateway)]
    return [*items, *_routes(zone_ids, nat_zone_ids)]


def _routes(zone_ids: Sequence[str], nat_zone_ids: Sequence[str]) -> list[Registration]:
    """One public table, and one table per zone for the other roles; a zone without NAT gateway uses the first one."""
    items = [registration("aws:ec2/route:Route", "public", "r-public", {"routeTableId": "rtb-public", "gatewayId": "igw-1"})]
    for zone_id in zone_ids:
        table_id = f"rtb-{zone_id}"
        for role in ROLES:
            inputs = {"subnetId": f"{role}-{zone_id}", "routeTableId": "rtb-public" if role == "public" else table_id}
            items.append(registration("aws:ec2/routeTableAssociation:RouteTableAssociation", f"{role}-{zone_id}", "", inputs))
        for nat_zone_id in [zone_id] if zone_id in nat_zone_ids else nat_zone_ids[:1]:
            inputs = {"routeTableId": table_id, "natGatewayId": f"nat-{nat_zone_id}"}
            items.append(registration("aws:ec2/route:Route", zone_id, f"r-{zone_id}", inputs))
    return items


def _node_group(name: str, zone_id: str, efa_count: int) -> list[Registration]:
    kinds = ["efa", *["efa-only"] * (efa_count - 1)][:efa_count]
    template = {"networkInterfaces": [{"interfaceType": kind} for kind in [*kinds, "interface"]]}
    group = {
        "nodeGroupName": name,
        "subnetIds": [f"node-{zone_id}"],
        "instanceTypes": ["trn2.48xlarge"],
        "scalingConfig": {"desiredSize": 2},
        "launchTemplate": {"id": f"lt-{name}"},
    }
    return [
        registration("aws:ec2/launchTemplate:LaunchTemplate", name, f"lt-{name}", template),
        registration(NODE_GROUP, name, f"test:{name}", group),
    ]
