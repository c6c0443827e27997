"""What others keep, put into a simulated account that a stack is to come up in."""

from facts.external.description import Description, assumed
from facts.external.role import Role
from facts.iam import SESSION_MANAGER_POLICY, document, managed_policy_arn
from facts.resources.rights import role_of
from simulator.account.places import subnet
from simulator.account.putting import put_existing, put_role
from simulator.account.state import AccountState
from stacks.external import asked_of, log_bucket
from stacks.settings import Settings


def assumed_description(settings: Settings) -> Description | None:
    """What exists, with all that the stack asks; None where it makes everything itself."""
    found = assumed(asked_of(settings)).model_copy(update={"roles": tuple(map(_role, settings.iam.roles.values()))})
    return None if found == Description() else found


def assumption(settings: Settings) -> list[str]:
    """What a rehearsal without a description says, one sentence or none."""
    used = [*asked_of(settings).names, *(["the roles of `iam.roles`"] if settings.iam.roles else [])]
    if not used:
        return []
    described = "`trn network describe` writes what it is like, and `trn rehearse --existing FILE` reads that"
    return [f"{', '.join(used)} {'is' if len(used) == 1 and not settings.iam.roles else 'are'} taken to be as the stack needs: {described}"]


def put_missing(state: AccountState, settings: Settings) -> bool:
    """Put a stand-in into an account for what the stack uses of others and it lacks; whether something was put."""
    return _put_missing(state, settings) | _put_boundary(state, settings) | _put_roles(state, settings) | _put_bucket(state, settings)


def _put_missing(state: AccountState, settings: Settings) -> bool:
    asked = asked_of(settings)
    if asked.is_nothing:
        return False
    found = assumed(asked)
    network, file_system = asked.network, asked.file_system
    if network is not None and all(_is_there(state, network.vpc_id, subnet_id) for _, _, subnet_id in network.places()):
        found = found.model_copy(update={"network": None})
    if file_system is not None and file_system.id in state.others.get("fsx", {}):
        found = found.model_copy(update={"file_system": None})
    if asked.workspace is not None and asked.workspace.id in state.others.get("workspace", {}):
        found = found.model_copy(update={"workspace": None})
    put_existing(state, found)
    return found != Description()


def _put_boundary(state: AccountState, settings: Settings) -> bool:
    arn = settings.iam.permissions_boundary
    if arn is None or arn in state.others.get("policy", {}):
        return False
    state.others.setdefault("policy", {})[arn] = {"Arn": arn}
    return True


def _put_bucket(state: AccountState, settings: Settings) -> bool:
    name = log_bucket(settings)
    if name is None or name in state.others.get("bucket", {}):
        return False
    state.others.setdefault("bucket", {})[name] = {"region": settings.region}
    return True


def _is_there(state: AccountState, vpc_id: str, subnet_id: str) -> bool:
    found = subnet(state, subnet_id)
    return found is not None and found.inputs["vpcId"] == vpc_id


_TRUSTED = ("ec2.amazonaws.com", "eks.amazonaws.com", "pods.eks.amazonaws.com", "scheduler.amazonaws.com")
_ATTACHED = (
    "AmazonEKSClusterPolicy",
    "AmazonEKSWorkerNodeMinimalPolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKS_CNI_Policy",
    SESSION_MANAGER_POLICY,
)


def _role(arn: str) -> Role:
    """A role that trusts the control plane, nodes, pods and schedules of any cluster, with every managed policy that the stack would attach."""
    trust = document({"Effect": "Allow", "Principal": {"Service": list(_TRUSTED)}, "Action": ["sts:AssumeRole", "sts:TagSession"]})
    return Role(arn=arn, trust=trust, attached=tuple(managed_policy_arn(arn.split(":")[1], each) for each in _ATTACHED))


def _put_roles(state: AccountState, settings: Settings) -> bool:
    missing = [arn for arn in settings.iam.roles.values() if role_of(arn) not in state.others.get("role", {})]
    for arn in missing:
        put_role(state, _role(arn))
    return bool(missing)


def account_for(*settings: Settings) -> AccountState:
    """An account with what these configurations use and do not make."""
    state = AccountState()
    for each in settings:
        put_missing(state, each)
    return state
