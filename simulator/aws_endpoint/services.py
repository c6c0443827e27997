"""IAM, KMS, Batch and CloudFormation: what a role consists of, keys that wait for their deletion, and what must be disabled first."""

from collections.abc import Iterator

from simulator.aws_endpoint.entries import Entry, arn, tag_list
from simulator.aws_endpoint.inventory import KINDS, Inventory
from simulator.aws_endpoint.wire import Handler, Refused
from simulator.outputs import CREATED_AT


class Services:
    """Answers of these services over one account."""

    def __init__(self, inventory: Inventory, *, caller_role: str, ignores_filters: bool) -> None:
        self._inventory, self._caller_role, self._ignores_filters = inventory, caller_role, ignores_filters

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield from self._identity()
        yield from self._batch()
        # Nothing of the program is a stack of CloudFormation: all of them are others'.
        yield "cloudformation.DescribeStacks", lambda _: {"Stacks": list(self._inventory.world.state.others.get("stack", {}).values())}

    def _identity(self) -> Iterator[tuple[str, Handler]]:
        yield "iam.ListRoles", lambda _: {"Roles": [self._plain_role(name) for name in self._inventory.look("role")]}
        yield "iam.GetRole", self._get_role
        yield "iam.GetPolicy", self._policy
        yield "iam.ListRoleTags", lambda given: {"Tags": tag_list(self._role(given["RoleName"]).get("tags", {}))}
        yield "iam.ListAttachedRolePolicies", lambda given: {"AttachedPolicies": list(self._attached(given["RoleName"]).values())}
        yield "iam.ListRolePolicies", lambda given: {"PolicyNames": list(self._inline(given["RoleName"]))}
        yield "iam.GetRolePolicy", self._role_policy
        yield "iam.DetachRolePolicy", lambda given: self._undo("role attachment", "attached", given["RoleName"], given["PolicyArn"])
        yield "iam.DeleteRolePolicy", lambda given: self._undo("role policy", "inline", given["RoleName"], given["PolicyName"])
        yield "iam.DeleteRole", self._delete_role
        yield (
            "iam.ListInstanceProfiles",
            lambda _: {"InstanceProfiles": [*map(self._plain_profile, self._inventory.look("instance profile"))]},
        )
        yield "iam.ListInstanceProfileTags", self._profile_tags
        yield "iam.RemoveRoleFromInstanceProfile", self._empty_profile
        yield "iam.DeleteInstanceProfile", self._delete_profile
        yield "resourcegroupstaggingapi.GetResources", self._tagged_keys
        yield "kms.DescribeKey", self._described_key
        yield "kms.ScheduleKeyDeletion", self._schedule
        yield "kms.DeleteAlias", lambda given: self._inventory.delete("alias", given["AliasName"])
        yield "kms.ListAliases", self._aliases

    def parameter(self, given: Entry) -> Entry | None:
        """A parameter of the account's own, None where there is none."""
        value = self._inventory.world.state.others.get("parameter", {}).get(given["Name"])
        return None if value is None else {"Parameter": dict(value)}

    def _role(self, name: str) -> Entry:
        entry = self._inventory.entries("role").get(name)
        if entry is None and name == self._caller_role.rsplit("/", 1)[-1]:
            entry = {"Arn": self._caller_role, "Path": "/"}
        if entry is None:
            raise Refused("NoSuchEntity", f"The role with name {name} cannot be found.", 404)
        named = {"Path": "/", "RoleName": name, "RoleId": "AROAEXAMPLEEXAMPLE00"}
        own = arn(self._inventory.region, "iam", f"role/{name}", regional=False)
        return {**named, "Arn": own, "CreateDate": CREATED_AT, **entry}

    def _get_role(self, given: Entry) -> Entry:
        tags = tag_list(self._role(given["RoleName"]).get("tags", {}))
        return {"Role": {**self._plain_role(given["RoleName"]), "Tags": tags}}

    def _policy(self, given: Entry) -> Entry:
        """A policy of the account's own: the program makes none."""
        arn = given["PolicyArn"]
        if arn not in self._inventory.world.state.others.get("policy", {}):
            raise Refused("NoSuchEntity", f"Policy {arn} was not found.", 404)
        return {"Policy": {"Arn": arn, "PolicyName": arn.rsplit("/", 1)[-1]}}

    def _plain_role(self, name: str) -> Entry:
        """A role as it is listed: without what other calls show."""
        return {key: value for key, value in self._role(name).items() if key not in {*KINDS["role"].hidden, "tags"}}

    def _attached(self, role: str) -> dict[str, Entry]:
        """Policies attached to a role, by ARN."""
        entries = (entry for entry in self._inventory.look("role attachment").values() if entry["RoleName"] == role)
        found = {entry["PolicyArn"]: {"PolicyName": entry["PolicyName"], "PolicyArn": entry["PolicyArn"]} for entry in entries}
        return found | {arn: {"PolicyArn": arn} for arn in self._role(role).get("attached", ())}

    def _inline(self, role: str) -> dict[str, Entry]:
        """Policies written into a role, by name."""
        entries = (entry for entry in self._inventory.look("role policy").values() if entry["RoleName"] == role)
        others = {name: {"RoleName": role, "PolicyName": name, "PolicyDocument": "{}"} for name in self._role(role).get("inline", ())}
        return others | {entry["PolicyName"]: entry for entry in entries}

    def _role_policy(self, given: Entry) -> Entry:
        name = given["PolicyName"]
        found = self._inline(given["RoleName"])
        if name not in found:
            raise Refused("NoSuchEntity", f"The role policy with name {name} cannot be found.", 404)
        return found[name]

    def _undo(self, kind: str, key: str, role: str, what: str) -> Entry:
        other = self._inventory.world.state.others.get("role", {}).get(role)
        if other is not None:
            other[key].remove(what)
            return {}
        return self._inventory.delete(kind, f"{role}/{what}" if kind == "role attachment" else f"{role}:{what}")

    def _delete_role(self, given: Entry) -> Entry:
        name = given["RoleName"]
        if self._attached(name):
            raise Refused("DeleteConflict", "Cannot delete entity, must detach all policies first.", 409)
        if self._inline(name):
            raise Refused("DeleteConflict", "Cannot delete entity, must delete policies first.", 409)
        if any(role["RoleName"] == name for profile in self._inventory.entries("instance profile").values() for role in profile["Roles"]):
            raise Refused("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.", 409)
        return self._inventory.delete("role", name)

    def _plain_profile(self, name: str) -> Entry:
        """An instance profile as it is listed: without its tags."""
        roles = [self._plain_role(role["RoleName"]) for role in self._inventory.entries("instance profile")[name]["Roles"]]
        own = arn(self._inventory.region, "iam", f"instance-profile/{name}", regional=False)
        named = {"Path": "/", "InstanceProfileName": name, "InstanceProfileId": "AIPAEXAMPLEEXAMPLE00", "Arn": own}
        return {**named, "CreateDate": CREATED_AT, "Roles": roles}

    def _profile_tags(self, given: Entry) -> Entry:
        return {"Tags": self._inventory.one("instance profile", InstanceProfileName=given["InstanceProfileName"])[1]["Tags"]}

    def _empty_profile(self, given: Entry) -> Entry:
        profile = self._inventory.world.state.others["instance profile"][given["InstanceProfileName"]]
        profile["Roles"] = [role for role in profile["Roles"] if role["RoleName"] != given["RoleName"]]
        return {}

    def _delete_profile(self, given: Entry) -> Entry:
        name = given["InstanceProfileName"]
        if self._inventory.one("instance profile", InstanceProfileName=name)[1]["Roles"]:
            raise Refused("DeleteConflict", "Cannot delete entity, must remove roles from instance profile first.", 409)
        return self._inventory.delete("instance profile", name)

    def _tagged_keys(self, given: Entry) -> Entry:
        if given.get("ResourceTypeFilters") == ["sns"]:
            return self._tagged_topics(given)
        assert given.get("ResourceTypeFilters") == ["kms:key"], given
        wanted = given.get("TagFilters", [])
        entries = self._inventory.look("key")
        shown = [
            {"ResourceARN": self._key_arn(which, entry), "Tags": tag_list(entry["tags"])}
            for which, entry in entries.items()
            if self._ignores_filters or all(entry["tags"].get(each["Key"]) in each["Values"] for each in wanted)
        ]
        return {"ResourceTagMappingList": shown}

    def _tagged_topics(self, given: Entry) -> Entry:
        wanted = given.get("TagFilters", [])
        shown = [
            {"ResourceARN": which, "Tags": tag_list(entry.get("tags", {}))}
            for which, entry in self._inventory.look("topic").items()
            if self._ignores_filters or all(entry.get("tags", {}).get(each["Key"]) in each["Values"] for each in wanted)
        ]
        return {"ResourceTagMappingList": shown}

    def _key(self, asked: str) -> tuple[str, Entry]:
        which = asked.rsplit("/", 1)[-1]
        entry = self._inventory.entries("key").get(which)
        if entry is None:
            raise Refused("NotFoundException", f"Key '{asked}' does not exist")
        return which, {"KeyId": which, "Description": "secrets", **entry}

    def _described_key(self, given: Entry) -> Entry:
        return {"KeyMetadata": {name: value for name, value in self._key(given["KeyId"])[1].items() if name != "tags"}}

    def _schedule(self, given: Entry) -> Entry:
        """A key waits for its deletion, bills nothing, and keeps its aliases (KMS developer guide, deleting-keys)."""
        which, entry = self._key(given["KeyId"])
        leaving = KINDS["key"].word("deleting")
        if entry["KeyState"] == leaving:
            raise Refused("KMSInvalidStateException", f"{self._key_arn(which, entry)} is pending deletion.")
        other = self._inventory.world.state.others.get("key", {}).get(which)
        if other is None:
            self._inventory.delete("key", which)
        else:
            other["KeyState"] = leaving
        return {"KeyId": which, "KeyState": leaving, "PendingWindowInDays": given["PendingWindowInDays"]}

    def _aliases(self, given: Entry) -> Entry:
        """All, or those of one key. A key that was never made has none."""
        entries = self._inventory.look("alias").values()
        return {"Aliases": [each for each in entries if given.get("KeyId", each.get("TargetKeyId")) == each.get("TargetKeyId")]}

    def _key_arn(self, which: str, entry: Entry) -> str:
        return entry.get("Arn") or arn(self._inventory.region, "kms", f"key/{which}")

    def _batch(self) -> Iterator[tuple[str, Handler]]:
        for kind, name, parameter in (("queue", "JobQueue", "jobQueue"), ("environment", "ComputeEnvironment", "computeEnvironment")):
            yield f"batch.Update{name}", self._disabler(kind, parameter)
            yield f"batch.Delete{name}", self._batch_deleter(kind, parameter)

    def _disabler(self, kind: str, parameter: str) -> Handler:
        def answer(given: Entry) -> Entry:
            self._inventory.change(kind, given[parameter], state=given["state"])
            return {}

        return answer

    def _batch_deleter(self, kind: str, parameter: str) -> Handler:
        def answer(given: Entry) -> Entry:
            which = given[parameter]
            if self._inventory.entries(kind).get(which, {}).get("state") == "ENABLED":
                raise Refused("ClientException", f"Cannot delete, resource {which} must be disabled first")
            return self._inventory.delete(kind, which)

        return answer
