"""KMS: keys and their aliases."""

from facts.prices import hourly
from facts.resources.api_calls import ApiCall, creation, titled
from facts.resources.identity import by, by_name_tag
from facts.resources.latency import INSTANT, Latencies, both
from facts.resources.outputs import Answer, Draw, Inputs
from facts.resources.queries import Deletion, Detail, Leftover, Lookup, Query, Stage, States, Step, Tagging
from facts.resources.resource_type import Changes, Conflict, Listed, NameLimit, ResourceType, Without
from facts.resources.rights import ALIAS_OF_CLUSTER, ANY_KEY, BEING_TAGGED, IN_REGION, TAGGED, Grant, Rights, Scope

KEY_WINDOW_DAYS = 7
"""Days until a key that a sweep deletes is gone: the least that KMS takes (KMS API, ScheduleKeyDeletion)."""


def _key_tags(tags: object) -> object:
    """Tags as KMS alone spells them."""
    return [{"TagKey": key, "TagValue": tags[key]} for key in sorted(tags)] if isinstance(tags, dict) else tags


def _make_key(draw: Draw, inputs: Inputs) -> Answer:
    key = draw.uuid()
    return key, {"keyId": key, "arn": draw.arn("kms", f"key/{key}")}


# KMS lists no tags with its keys: the tagging API finds them, and KMS describes them.
_TAGGED_KEYS = Query("resourcegroupstaggingapi", "GetResources", "ResourceTagMappingList", "ResourceARN", filters="TagFilters")
_DETAIL = Detail(
    Query(
        "kms",
        "DescribeKey",
        "KeyMetadata",
        "KeyId",
        one=True,
        tags="",
        states=States("KeyState", "Enabled", ("Creating", "Updating"), (), ("PendingDeletion", "PendingReplicaDeletion")),
        absent="NotFoundException",
        scopes=TAGGED,
    ),
    {"KeyId": "ResourceARN"},
)
_ONLY_KEYS = {"ResourceTypeFilters": ["kms:key"]}
_ALIASES = Query("kms", "ListAliases", "Aliases", "AliasName", tags="", absent="NotFoundException")
KEY = ResourceType(
    "aws:kms/key:Key",
    make=_make_key,
    latencies=Latencies(both(2, 4, 12, "inferred: waits for the key's policy to propagate")),
    changes=Changes(replacing=(), calls=("PutKeyPolicy", "UpdateKeyDescription", "EnableKeyRotation", "DisableKeyRotation")),
    identity=by_name_tag(),
    creation=creation(
        ApiCall("kms", "CreateKey", {**titled("description"), "tags": ("Tags", _key_tags)}),
        ApiCall("kms", "EnableKeyRotation", {}, id_member="KeyId", needs="enableKeyRotation"),
        later=("deletionWindowInDays",),
    ),
    lookup=Lookup(_TAGGED_KEYS, "named", constants=_ONLY_KEYS, detail=_DETAIL),
    tagging=Tagging("kms", "TagResource", "UntagResource", "KeyId", "Tags", by="id", shape="key pairs", read="ListResourceTags"),
    # An alias stays until its key is gone, which is days later, and the next stack of the name is refused one.
    deletion=Deletion(
        "kms",
        "ScheduleKeyDeletion",
        {"KeyId": "KeyId"},
        {"PendingWindowInDays": KEY_WINDOW_DAYS},
        steps=(Step("DeleteAlias", {"AliasName": "AliasName"}, each="Aliases", asks=Detail(_ALIASES, {"KeyId": "KeyId"})),),
        waits=True,
    ),
    rights=Rights(
        (
            Grant("kms", "CreateKey", IN_REGION),
            Grant("kms", "TagResource", BEING_TAGGED),
            # What follows at once reads the key, or switches its rotation on.
            Grant("kms", "DescribeKey GetKeyPolicy GetKeyRotationStatus EnableKeyRotation ListResourceTags", (Scope(ANY_KEY),)),
            Grant("kms", "PutKeyPolicy DisableKeyRotation UpdateKeyDescription UntagResource ScheduleKeyDeletion", TAGGED),
        )
    ),
    costs=Listed("KMS key", "KMS key"),
    leftover=Leftover(
        "KMS key",
        Stage.OUTSIDE,
        _TAGGED_KEYS,
        constants=_ONLY_KEYS,
        detail=_DETAIL,
        label="{Description}",
        usd_per_hour=lambda entry: hourly("KMS key"),
        # One that waits for its deletion no longer bills.
        leaves=lambda entry: entry["KeyState"] == "PendingDeletion",
        scopes=(*TAGGED, ALIAS_OF_CLUSTER),
    ),
    second="another",
)

ALIAS = ResourceType(
    "aws:kms/alias:Alias",
    make=lambda draw, inputs: (
        inputs["name"],
        {"arn": draw.arn("kms", inputs["name"]), "targetKeyArn": draw.arn("kms", f"key/{inputs['targetKeyId']}")},
    ),
    latencies=Latencies(INSTANT),
    changes=Changes(replacing=("name",), calls=("UpdateAlias",), name="name"),
    identity=by("name"),
    creation=creation(ApiCall("kms", "CreateAlias", {"name": "AliasName", "targetKeyId": "TargetKeyId"})),
    # One of that name may still belong to a key that waits for its deletion.
    lookup=Lookup(_ALIASES, "part", matches={"AliasName": "name", "TargetKeyId": "targetKeyId"}),
    tagging=Without("KMS tags no aliases"),
    deletion=Deletion("kms", "DeleteAlias", {"AliasName": "AliasName"}),
    # An alias is granted on itself and on its key.
    rights=Rights(
        (
            Grant("kms", "CreateAlias", (Scope("arn:{partition}:kms:{region}:*:{name}"), Scope(ANY_KEY))),
            Grant("kms", "UpdateAlias DeleteAlias", (Scope("arn:{partition}:kms:{region}:*:{name}"), *TAGGED)),
            Grant("kms", "ListAliases"),
        )
    ),
    costs=Without("an alias has no price"),
    leftover=Without("a sweep deletes it before it schedules the deletion of its key"),
    # KMS API, CreateAlias
    conflict=Conflict(("name",), "AlreadyExistsException", "An alias with the name {name} already exists"),
    name_limit=NameLimit("name", 256, "KMS API, CreateAlias"),
)

TYPES = (KEY, ALIAS)
