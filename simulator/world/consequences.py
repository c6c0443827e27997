"""What a deletion brings about beyond the thing itself: what goes with it, and what it leaves in the account."""

from typing import TYPE_CHECKING

from simulator.recording import Registration
from simulator.world import kinds, view
from simulator.world.charts import chart_of
from simulator.world.things import Stray

if TYPE_CHECKING:
    from simulator.world.world import World


def of_deletion(world: "World", gone: Registration) -> None:
    """Apply all consequences of a deletion that has just ended."""
    if gone.type == kinds.NODE_GROUP:
        _nodes_go(world, gone)
    elif gone.type == kinds.CLUSTER:
        _cluster_goes(world)
    elif gone.type == kinds.FILE_SYSTEM:
        _file_system_goes(world, gone)
    elif gone.type == kinds.LOG_GROUP:
        _log_group_goes(world, gone)
    elif gone.type == kinds.NAMESPACE:
        _namespace_goes(world, gone)
    elif gone.type in (kinds.RELEASE, kinds.ADDON):
        _chart_goes(world, gone)
    if kinds.is_kubernetes(gone.type):
        for name in [name for name, stray in world.strays.items() if stray.urn == gone.urn and stray.kept_by]:
            # Its controller was there to see it go: a rule held the deletion back otherwise.
            del world.strays[name]


def _nodes_go(world: "World", group: Registration) -> None:
    """Interfaces of a node that no CNI gives back stay behind (pulumi/pulumi-eks#1226, terraform-aws-modules/terraform-aws-eks#2048)."""
    if not view.desired_size(group) or view.has_addon(world, "vpc-cni") or view.cluster(world) is None:
        return
    carried = tuple(sorted({group_id for ids in view.security_groups_of(world, group) for group_id in ids}))
    world.stray(
        Stray(
            f"interfaces of {group.urn}",
            f"interfaces that the VPC CNI made for nodes of {group.inputs['nodeGroupName']}, now `available`",
            group.urn,
            tuple(view.listed(group.inputs.get("subnetIds"))),
            carried,
        )
    )


def _cluster_goes(world: "World") -> None:
    """With the control plane goes all that it stored; what its controllers had made elsewhere stays."""
    held = [thing.registration for thing in world if kinds.is_kubernetes(thing.registration.type) or thing.registration.type == kinds.ADDON]
    for registration in held:
        world.lose(registration)
    for name in [name for name in world.strays if name.startswith(("crd ", "namespace "))]:
        del world.strays[name]


def _file_system_goes(world: "World", gone: Registration) -> None:
    if gone.inputs.get("skipFinalBackup") is False:
        world.stray(Stray(f"backup of {gone.urn}", f"final backup of {gone.id}", gone.urn))
    days = gone.inputs.get("automaticBackupRetentionDays")
    if days:
        world.stray(Stray(f"daily backups of {gone.urn}", f"daily backups of {gone.id}, kept {days} days", gone.urn))


def _log_group_goes(world: "World", gone: Registration) -> None:
    """A control plane that is still there writes its group anew, without a retention."""
    found = view.cluster(world)
    if found is not None and gone.inputs["name"] == f"/aws/eks/{found.registration.id}/cluster":
        world.stray(Stray(f"log group {gone.id}", f"log group {gone.id}, which EKS made anew and which never expires", gone.urn))


def _namespace_goes(world: "World", gone: Registration) -> None:
    name = gone.inputs["metadata"]["name"]
    inside = [
        thing.registration
        for thing in world
        if kinds.is_kubernetes(thing.registration.type)
        and name in (thing.registration.inputs.get("namespace"), thing.registration.inputs.get("metadata", {}).get("namespace"))
    ]
    for registration in inside:
        world.lose(registration)


def _chart_goes(world: "World", gone: Registration) -> None:
    """Kinds of the chart's templates go with all their objects; kinds of its `crds/` folder stay, and so does a namespace Helm made."""
    chart = chart_of(gone)
    for kind in chart.crds if chart is not None else ():
        if not view.knows_kind(world, kind):
            for thing in view.objects_of_kind(world, kind):
                world.lose(thing.registration)
    if gone.type != kinds.RELEASE:
        return
    for kind in chart.crds_that_stay if chart is not None and not gone.inputs.get("skipCrds") else ():
        world.stray(Stray(f"crd {kind}", f"custom resource definition of {kind}, which Helm never deletes", gone.urn))
    if gone.inputs.get("createNamespace"):
        name = gone.inputs["namespace"]
        world.stray(Stray(f"namespace {name}", f"namespace {name}, which Helm made and never deletes", gone.urn))
