"""IAM: roles and their policies."""

from facts.resources.api_calls import ApiCall, Members, creation
from facts.resources.identity import by
from facts.resources.latency import IAM, Latencies
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage, Step, Tagging
from facts.resources.resource_type import Changes, Conflict, Foreign, NameLimit, ResourceType, Without
from facts.resources.rights import ROLES_OF_CLUSTER, Grant, Rights, Scope, names_of_inputs

_FREE = Without("IAM is free of charge")
_OF_ROLE = Without("it is a part of its role")
_ABSENT = "NoSuchEntity"
_ATTACHED = Query("iam", "ListAttachedRolePolicies", "AttachedPolicies", "PolicyArn", tags="", absent=_ABSENT, scopes=ROLES_OF_CLUSTER)
_INLINE = Query("iam", "ListRolePolicies", "PolicyNames", tags="", absent=_ABSENT, scopes=ROLES_OF_CLUSTER)
_PROFILES = (Scope("*", (("StringEquals", "aws:ResourceTag/kubernetes.io/cluster/{cluster}", "owned"),)),)
"""Instance profiles, by the tag that Karpenter sets."""
_ROLE_TAGS = Query("iam", "ListRoleTags", "Tags", absent=_ABSENT, scopes=ROLES_OF_CLUSTER)


def _rights(operations: str, name: str) -> Rights:
    return Rights((Grant("iam", operations, (Scope(f"arn:{{partition}}:iam::*:role/{{role_path}}{{{name}}}"),)),))


_ROLE: Members = {
    "name": "RoleName",
    "path": "Path",
    "assumeRolePolicy": "AssumeRolePolicyDocument",
    "permissionsBoundary": "PermissionsBoundary",
}
_BOUNDED = Grant("iam", "PutRolePermissionsBoundary", (Scope("arn:{partition}:iam::*:role/{role_path}{bounded}"),))
"""For a role that has a boundary, so that it can be given another. The right to take it off is none that a deployer needs."""


def _names_of_role(inputs: Inputs) -> dict[str, tuple[str, ...]]:
    return {**names_of_inputs(inputs), **({"bounded": (inputs["name"],)} if inputs.get("permissionsBoundary") else {})}


def _make_role(draw: Draw, inputs: Inputs) -> Answer:
    name, unique = inputs["name"], "AROA" + draw.letters(17).upper()
    return name, {
        "arn": draw.arn("iam", f"role{inputs.get('path') or '/'}{name}", regional=False),
        "uniqueId": unique,
        "createDate": draw.created_at,
    }


ROLE = ResourceType(
    "aws:iam/role:Role",
    make=_make_role,
    latencies=Latencies(IAM),
    changes=Changes(replacing=("name", "path"), calls=("UpdateRole", "UpdateAssumeRolePolicy"), name="name"),
    identity=by("name"),
    creation=creation(ApiCall("iam", "CreateRole", _ROLE)),
    lookup=Lookup(Query("iam", "GetRole", "Role", "RoleName", one=True, absent=_ABSENT), "owned", parameters={"RoleName": "name"}),
    tagging=Tagging("iam", "TagRole", "UntagRole", "RoleName", "Tags", by="id"),
    deletion=Deletion(
        "iam",
        "DeleteRole",
        {"RoleName": "RoleName"},
        steps=(
            Step(
                "DetachRolePolicy",
                {"RoleName": "RoleName", "PolicyArn": "PolicyArn"},
                each="AttachedPolicies",
                asks=Detail(_ATTACHED, {"RoleName": "RoleName"}),
            ),
            Step(
                "DeleteRolePolicy",
                {"RoleName": "RoleName", "PolicyName": "id"},
                each="PolicyNames",
                asks=Detail(_INLINE, {"RoleName": "RoleName"}),
            ),
        ),
    ),
    rights=Rights(
        (
            *_rights(
                "CreateRole GetRole UpdateRole UpdateAssumeRolePolicy DeleteRole TagRole UntagRole ListRolePolicies"
                " ListAttachedRolePolicies ListInstanceProfilesForRole",
                "name",
            ).grants,
            _BOUNDED,
        ),
        _names_of_role,
    ),
    costs=_FREE,
    leftover=Leftover(
        "role",
        Stage.OUTSIDE,
        Query("iam", "ListRoles", "Roles", "RoleName", tags="", absent=_ABSENT),
        "role name",
        detail=Detail(_ROLE_TAGS, {"RoleName": "RoleName"}, into="Tags"),
        scopes=ROLES_OF_CLUSTER,
    ),
    # IAM API, CreateRole
    conflict=Conflict(("name",), "EntityAlreadyExists", "Role with name {name} already exists."),
    name_limit=NameLimit("name", 64, "IAM API, CreateRole"),
)

ROLE_POLICY = ResourceType(
    "aws:iam/rolePolicy:RolePolicy",
    make=lambda draw, inputs: (f"{inputs['role']}:{inputs['name']}", {}),
    latencies=Latencies(IAM),
    changes=Changes(replacing=("name", "role"), calls=("PutRolePolicy",), name="name"),
    identity=by("role", "name"),
    creation=creation(ApiCall("iam", "PutRolePolicy", {"role": "RoleName", "name": "PolicyName", "policy": "PolicyDocument"})),
    lookup=Lookup(
        Query("iam", "GetRolePolicy", "", "PolicyName", one=True, tags="", absent=_ABSENT, scopes=ROLES_OF_CLUSTER),
        "part",
        parameters={"RoleName": "role", "PolicyName": "name"},
        import_id="{role}:{name}",
    ),
    tagging=_OF_ROLE,
    deletion=Deletion("iam", "DeleteRolePolicy", {"RoleName": "RoleName", "PolicyName": "PolicyName"}),
    rights=_rights("PutRolePolicy GetRolePolicy DeleteRolePolicy", "role"),
    costs=_FREE,
    leftover=Without("a sweep deletes it with its role"),
    name_limit=NameLimit("name", 128, "IAM API, PutRolePolicy"),
    second="same",
)

ROLE_ATTACHMENT = ResourceType(
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    make=lambda draw, inputs: (f"{inputs['role']}/{inputs['policyArn']}", {}),
    latencies=Latencies(IAM),
    changes=Changes(replacing=("role", "policyArn"), deletes_first=True),
    identity=by("role", "policyArn"),
    creation=creation(ApiCall("iam", "AttachRolePolicy", {"role": "RoleName", "policyArn": "PolicyArn"})),
    lookup=Lookup(_ATTACHED, "part", parameters={"RoleName": "role"}, matches={"PolicyArn": "policyArn"}, import_id="{role}/{policyArn}"),
    tagging=_OF_ROLE,
    deletion=Deletion("iam", "DetachRolePolicy", {"RoleName": "RoleName", "PolicyArn": "PolicyArn"}),
    rights=_rights("AttachRolePolicy DetachRolePolicy ListAttachedRolePolicies", "role"),
    costs=_FREE,
    leftover=Without("a sweep detaches it before it deletes the role"),
    second="same",
)

_PROFILE_TAGS = Query("iam", "ListInstanceProfileTags", "Tags", absent=_ABSENT, scopes=_PROFILES)
INSTANCE_PROFILE = Foreign(
    # Karpenter makes one for each node class with a role, with the class's tags, and keeps it where it is killed; it holds the node role, which IAM does not
    # delete before (Karpenter 1.14, NodeClasses; IAM API, DeleteRole).
    Leftover(
        "instance profile",
        Stage.OUTSIDE,
        Query("iam", "ListInstanceProfiles", "InstanceProfiles", "InstanceProfileName", tags="", absent=_ABSENT),
        detail=Detail(_PROFILE_TAGS, {"InstanceProfileName": "InstanceProfileName"}, into="Tags"),
        label="{InstanceProfileName}",
        scopes=_PROFILES,
    ),
    Deletion(
        "iam",
        "DeleteInstanceProfile",
        {"InstanceProfileName": "InstanceProfileName"},
        steps=(
            Step(
                "RemoveRoleFromInstanceProfile",
                {"InstanceProfileName": "InstanceProfileName", "RoleName": "RoleName"},
                each="Roles",
            ),
        ),
    ),
)
FOREIGN = (INSTANCE_PROFILE,)
TYPES = (ROLE, ROLE_POLICY, ROLE_ATTACHMENT)
