"""What `pulumi up` does after the import: the rehearsal's own plan against what the state then holds, and rules of EKS beyond it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from addons.versions import SUPPORTED_KUBERNETES
from facts.names import CONTROL_PLANE_ROLE
from facts.resources import eks, iam
from facts.typed import typed
from simulator.engine.plan import Change, plan
from simulator.engine.state import Held, State
from simulator.recording import Recording
from trn.aws.other_cluster import OtherCluster, authentication_mode
from trn.before.import_cluster.matching import Match, Matches
from trn.engine.effects import Effect, effects
from trn.engine.planned import Planned


@dataclass
class Aftermath:
    """The plan after the import."""

    changes: Mapping[str, Change]
    """Of what exists outside the engine, by URN; what stays the same is left out."""
    effects: list[Effect]
    red: list[str] = field(default_factory=list)
    """What would fail, or destroy something: to be settled before `pulumi up`."""

    def of_kind(self, kind: str) -> list[Change]:
        """Changes of one kind, by URN."""
        return [change for change in self.changes.values() if change.kind == kind]


def after_import(recording: Recording, matches: Matches, other: OtherCluster) -> Aftermath:
    """What the next `pulumi up` would do. Nothing is asked."""
    held = {match.recorded.urn: Held(match.imported) for match in matches.taken}
    whole = plan(State(held), recording, creations={}, seed=0)
    before = Recording(recording.project, recording.stack, {urn: each.registration for urn, each in held.items()})
    outside = {item.urn for item in recording.resources()}
    changes = {urn: change for urn, change in whole.items() if urn in outside and change.kind != "same"}
    found = Aftermath(changes, effects(Planned(before, recording, changes)))
    found.red += _replaced(found)
    found.red += _of_eks(other, matches.taken)
    found.red += [
        f"{item.type.rsplit(':', 1)[-1]} {which} is there already, and is not the stack's: {item.name} cannot be made"
        for item, which in matches.clashes
    ]
    return found


def _replaced(found: Aftermath) -> Iterator[str]:
    for change in found.of_kind("replace"):
        assert change.old is not None
        kind = change.old.type.rsplit(":", 1)[-1]
        lost = ": all that runs in the cluster is lost" if change.old.type == eks.CLUSTER_TYPE.token else ""
        yield f"{kind} {change.old.id} is replaced ({', '.join(change.because)}){lost}"


def _of_eks(other: OtherCluster, taken: list[Match]) -> Iterator[str]:
    """What EKS refuses although the provider plans it as a change in place."""
    cluster = next((match for match in taken if match.recorded.type == eks.CLUSTER_TYPE.token), None)
    if cluster is None:
        return
    wanted = cluster.recorded.inputs
    arn = str(other.entry["roleArn"])
    for each in other.role_users if any(match.recorded.type == iam.ROLE.token for match in taken) else ():
        yield (
            f"the role {arn} is that of cluster {each} as well, and `{typed('pulumi destroy')}` would delete it below that one:"
            f" set `iam.roles.{CONTROL_PLANE_ROLE}: {arn}`, and remove `controlPlane.roleName` and `iam.path`"
        )
    yield from _version(str(other.entry["version"]), str(wanted["version"]))
    yield from _access(other)
    yield from _security_groups(other)
    key = (wanted.get("encryptionConfig") or {}).get("provider", {}).get("keyArn")
    theirs = [each["provider"]["keyArn"] for each in other.entry.get("encryptionConfig") or ()]
    if theirs and key != theirs[0]:
        yield f"the secrets of Kubernetes are encrypted by {theirs[0]}, and EKS takes no other key: set `controlPlane.encryptionKeyArn` to it"
    yield from _subnets(other, list(wanted["vpcConfig"]["subnetIds"]))


def _version(theirs: str, wanted: str) -> Iterator[str]:
    steps = int(wanted.split(".")[1]) - int(theirs.split(".")[1])
    if steps < 0:
        yield f"the cluster runs Kubernetes {theirs}, the program knows {SUPPORTED_KUBERNETES[0]} to {SUPPORTED_KUBERNETES[-1]}: EKS lowers no version"
    elif steps > 1 or theirs not in SUPPORTED_KUBERNETES:
        yield (
            f"the cluster runs Kubernetes {theirs}, and EKS upgrades one minor at a time: bring it to {wanted} first, {steps}"
            f" step{'s' if steps > 1 else ''} with the tool that made it"
        )


def _access(other: OtherCluster) -> Iterator[str]:
    """With access entries alone, nodes and people that only the config map names cannot reach the cluster (EKS user guide, setting-up-access-entries)."""
    mode = authentication_mode(other.entry)
    if mode == "CONFIG_MAP":
        yield (
            "the cluster finds its users in the config map aws-auth only, and EKS changes that to API_AND_CONFIG_MAP first, then to API:"
            f" `aws eks update-cluster-config --name {other.name} --access-config authenticationMode=API_AND_CONFIG_MAP`"
        )
    if mode == "API":
        return
    known = {str(entry["principalArn"]) for entry in other.access_entries}
    for role in sorted({str(group["nodeRole"]) for group in other.node_groups} - known):
        yield (
            f"nodes with {role.rsplit('/', 1)[-1]} have no access entry, and cannot reach the cluster once EKS ignores the config map:"
            f" `aws eks create-access-entry --cluster-name {other.name} --type EC2_LINUX --principal-arn {role}`"
        )


def _security_groups(other: OtherCluster) -> Iterator[str]:
    """The program gives the control plane no groups beside EKS's own: nodes that it reaches through others are cut off.

    Terraform's module gives nodes a group of their own, which only its group of the control plane lets in
    (terraform-aws-modules/terraform-aws-eks node_groups.tf, attach_cluster_primary_security_group).
    """
    place = other.entry["resourcesVpcConfig"]
    own = place["clusterSecurityGroupId"]
    if not place.get("securityGroupIds"):
        return
    let_in = {pair["GroupId"] for rule in other.cluster_group.get("IpPermissions", ()) for pair in rule.get("UserIdGroupPairs", ())}
    groups = [{group["GroupId"] for group in node.get("SecurityGroups", ())} for node in other.nodes]
    for cut_off in sorted({min(each) for each in groups if each and not each & {own, *let_in}}):
        yield (
            f"nodes with {cut_off} reach the control plane through {', '.join(place['securityGroupIds'])}, which it loses:"
            f" `aws ec2 authorize-security-group-ingress --group-id {own} --protocol all --source-group {cut_off}`, and the same"
            f" with the two groups exchanged"
        )


def _subnets(other: OtherCluster, wanted: list[str]) -> Iterator[str]:
    """A control plane keeps its VPC and its zones (EKS user guide, network-reqs, changing subnets)."""
    network, place = other.network, other.entry["resourcesVpcConfig"]
    outside = [each for each in wanted if each not in network.subnets]
    if outside:
        yield f"{', '.join(outside)} is not in {place['vpcId']}: EKS keeps a control plane in the VPC in which it was made"
        return
    zones = {network.subnets[each].zone_id for each in place["subnetIds"]}
    ours = {network.subnets[each].zone_id for each in wanted}
    if zones != ours:
        yield f"the control plane is in {', '.join(sorted(zones))}, and the file says {', '.join(sorted(ours))}: EKS takes subnets of the same zones only"
