"""Rules on the control plane: version, principals, logs."""

from collections.abc import Iterator

from addons.versions import SUPPORTED_KUBERNETES
from facts.kubernetes_versions import KUBERNETES_VERSIONS, leaves_standard_support_soon
from facts.names import CONTROL_PLANE_ROLE
from facts.problems import Problem
from facts.regions import partition
from facts.typed import typed
from stacks.settings import LOG_RETENTION_DAYS, Settings


def kubernetes_version(settings: Settings) -> Iterator[Problem]:
    """The version stays in standard support for a while, or extended support was asked for."""
    plane = settings.control_plane
    if plane.support_type == "STANDARD" and leaves_standard_support_soon(plane.kubernetes_version):
        ends = KUBERNETES_VERSIONS[plane.kubernetes_version].standard_support_ends
        newer = [name for name in SUPPORTED_KUBERNETES if not leaves_standard_support_soon(name)]
        hint = (
            f'for a new cluster set it to "{newer[0]}"; one that runs: `{typed(f"trn upgrade STACK --to {newer[0]}")}`, in the order that nodes allow;'
            " or `controlPlane.supportType: EXTENDED` at 0.60 instead of 0.10 USD an hour"
        )
        wrong = f"standard support ends on {ends}, EKS would upgrade the control plane by itself then"
        yield Problem("controlPlane.kubernetesVersion", plane.kubernetes_version, wrong, ", ".join(newer), hint)


def zones(settings: Settings) -> Iterator[Problem]:
    """The control plane's zones are zones of the network, at least two, and are said in one place."""
    named, of_network = settings.control_plane.zones, settings.network.zones
    if not named:
        return
    path, existing = "controlPlane.zones", settings.network.existing
    if existing is not None and existing.control_plane:
        hint = "remove it: the subnets say in which zones the control plane is"
        yield Problem(path, ", ".join(named), "`network.existing.controlPlane` names its subnets by zone already", hint=hint)
    for index, zone_id in enumerate(named):
        if zone_id not in of_network:
            yield Problem(f"{path}[{index}]", zone_id, "not in `network.zones`", ", ".join(of_network), "append it to `network.zones`")
        if zone_id in named[:index]:
            yield Problem(f"{path}[{index}]", zone_id, "zone named twice", hint="name each zone once")
    if len(set(named)) < 2:
        yield Problem(path, ", ".join(named), "a control plane needs two zones", "two zones or more", "add another zone of `network.zones`")


def role(settings: Settings) -> Iterator[Problem]:
    """A name for the control plane's role is for one that the stack makes."""
    given = settings.iam.roles.get(CONTROL_PLANE_ROLE)
    if given is not None and settings.control_plane.role_name is not None:
        wrong = f"a name for a role that the stack does not make: `iam.roles.{CONTROL_PLANE_ROLE}` is {given}"
        yield Problem("controlPlane.roleName", settings.control_plane.role_name, wrong, hint="remove it, or remove the given role")


def principals(settings: Settings) -> Iterator[Problem]:
    """ARNs lie in the region's partition; retentions are ones CloudWatch takes."""
    expected = partition(settings.region)
    arns = {
        f"controlPlane.accessEntries.{name}.principalArn": entry.principal_arn
        for name, entry in settings.control_plane.access_entries.items()
    }
    if settings.control_plane.encryption_key_arn:
        arns["controlPlane.encryptionKeyArn"] = settings.control_plane.encryption_key_arn
        key_region = settings.control_plane.encryption_key_arn.split(":")[3]
        if key_region != settings.region:
            yield Problem(
                "controlPlane.encryptionKeyArn",
                settings.control_plane.encryption_key_arn,
                f"a key of {key_region}",
                settings.region,
                "name a key of the cluster's region",
            )
    if settings.iam.permissions_boundary:
        arns["iam.permissionsBoundary"] = settings.iam.permissions_boundary
    arns |= {f"iam.roles.{purpose}": arn for purpose, arn in settings.iam.roles.items()}
    principals = [entry.principal_arn for entry in settings.control_plane.access_entries.values()]
    for name, entry in settings.control_plane.access_entries.items():
        if principals.count(entry.principal_arn) > 1:
            path = f"controlPlane.accessEntries.{name}.principalArn"
            yield Problem(path, entry.principal_arn, "a principal named twice", hint="EKS keeps one entry per principal: keep one of them")
    for path, arn in arns.items():
        if arn.split(":")[1] != expected:
            yield Problem(
                path,
                arn,
                f"an ARN of another partition than {settings.region}",
                f"arn:{expected}:...",
                "name a principal or key of this partition",
            )
    if settings.control_plane.log_retention_days not in LOG_RETENTION_DAYS:
        allowed = ", ".join(str(days) for days in LOG_RETENTION_DAYS)
        yield Problem(
            "controlPlane.logRetentionDays",
            settings.control_plane.log_retention_days,
            "not a retention of CloudWatch Logs",
            allowed,
            "take the next larger one",
        )
