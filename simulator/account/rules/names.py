"""What services refuse about names and tags."""

from simulator.account.conflicts import wording
from simulator.account.identity import identity
from simulator.account.rule import Refusal, rule
from simulator.account.state import AccountState
from simulator.account.timeouts import NAME_LENGTHS
from simulator.recording import Registration

_TAKEN = {
    "aws:eks/": ("ResourceInUseException", "EKS API, CreateCluster, CreateNodegroup, CreateAddon"),
    "aws:iam/": ("EntityAlreadyExists", "IAM API, CreateRole"),
    "aws:ec2/securityGroup:": ("InvalidGroup.Duplicate", "EC2 API, CreateSecurityGroup"),
    "aws:ec2/launchTemplate:": ("InvalidLaunchTemplateName.AlreadyExistsException", "EC2 API, CreateLaunchTemplate"),
    "aws:ec2/placementGroup:": ("InvalidPlacementGroup.Duplicate", "EC2 API, CreatePlacementGroup"),
    "aws:ec2/routeTableAssociation:": ("Resource.AlreadyAssociated", "EC2 API, AssociateRouteTable"),
    "aws:ec2/route:": ("RouteAlreadyExists", "EC2 API, CreateRoute"),
    "aws:vpc/": ("InvalidPermission.Duplicate", "EC2 API, AuthorizeSecurityGroupIngress"),
    "aws:kms/alias:": ("AlreadyExistsException", "KMS API, CreateAlias"),
    "aws:cloudwatch/logGroup:": ("ResourceAlreadyExistsException", "CloudWatch Logs API, CreateLogGroup"),
    "aws:fsx/dataRepositoryAssociation:": ("BadRequest", "FSx API, CreateDataRepositoryAssociation"),
    "kubernetes:": ("AlreadyExists", "Kubernetes API, measured with pulumi-kubernetes 4.34.2"),
}
"""Beginning of a type token to the code for an object that is there already, with its source."""
REPEATABLE = ("aws:iam/rolePolicy:", "aws:iam/rolePolicyAttachment:", "aws:autoscaling/tag:", "aws:eks/accessPolicyAssociation:")
"""Put calls, which may be made twice."""


def _code_for(resource_type: str) -> str | None:
    if resource_type.startswith(REPEATABLE):
        return None
    return next((code for beginning, (code, _) in _TAKEN.items() if resource_type.startswith(beginning)), None)


@rule("create", "aws:*", "kubernetes:*", source="the create call of each service; see _TAKEN")
def name_is_free(state: AccountState, request: Registration) -> Refusal | None:
    """One physical name, or one place, belongs to one object: a second one is refused and never adopted in silence."""
    code, asked = _code_for(request.type), identity(request)
    if code is None or asked is None:
        return None
    said = wording(request.type, request.inputs) or (code, f"{asked} already exists")
    for thing in state.existing(request.type):
        other = thing.registration
        if identity(other) == asked:
            own = other.urn == request.urn
            whose = "an earlier run made it and the state does not know it" if own else f"{other.name} made it"
            return Refusal(
                *said,
                f"{whose}; it is {thing.status}",
                "`pulumi cancel`, `trn recover`, which imports it, then `pulumi up`" if own else "give one of the two another name",
            )
    return None


@rule("create", *NAME_LENGTHS, source="length limits in the service models of botocore 1.44.5, and Helm's own")
def name_fits(state: AccountState, request: Registration) -> Refusal | None:
    """No name is longer than its service takes."""
    key, longest, _ = NAME_LENGTHS[request.type]
    name = str(request.inputs.get(key, ""))
    if len(name) <= longest:
        return None
    return Refusal(
        "ValidationException",
        f"1 validation error detected: Value '{name}' at '{key}' failed to satisfy constraint: length less than or equal to {longest}",
        f"the name of {request.name} has {len(name)} characters",
        "shorten the cluster's name, `name` in the configuration",
    )


@rule("create", "aws:*", source="AWS tagging: the prefix aws: is reserved for AWS use")
def tags_are_free(state: AccountState, request: Registration) -> Refusal | None:
    """Tags that begin with `aws:` belong to AWS."""
    taken = sorted(key for key in request.inputs.get("tags") or {} if key.lower().startswith("aws:"))
    if not taken:
        return None
    return Refusal(
        "InvalidParameterValue",
        f"Tag keys starting with 'aws:' are reserved for internal use: {', '.join(taken)}",
        f"{request.name} is tagged {', '.join(taken)}",
        "rename the tag, `tags` in the configuration",
    )
