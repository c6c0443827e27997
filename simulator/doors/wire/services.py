"""IAM, KMS, CloudWatch Logs, FSx and Batch."""

from collections.abc import Iterator

from simulator.doors.wire import filters
from simulator.doors.wire.entries import Entry, tag_list
from simulator.doors.wire.inventory import Inventory
from simulator.doors.wire.wire import Handler, Refused
from simulator.outputs import ACCOUNT

_HIDDEN = frozenset({"tags", "attached", "inline", "targets"})


class Services:
    """Answers of these services over one account."""

    def __init__(self, inventory: Inventory, *, region: str, caller_role: str, ignores_filters: bool) -> None:
        self._inventory, self._region, self._caller_role, self._ignores_filters = inventory, region, caller_role, ignores_filters

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield from self._identity()
        yield from self._storage()
        yield from self._batch()
        yield "ssm.PutParameter", self._put_parameter
        yield "ssm.DeleteParameter", self._delete_parameter

    def _identity(self) -> Iterator[tuple[str, Handler]]:
        yield "iam.ListRoles", lambda _: {"Roles": [plain(self._role(name)) for name in self._inventory.look("role")]}
        yield "iam.GetRole", self._get_role
        yield "iam.ListRoleTags", lambda given: {"Tags": tag_list(self._role(given["RoleName"]).get("tags", {}))}
        yield "iam.ListAttachedRolePolicies", lambda given: {"AttachedPolicies": list(self._attached(given["RoleName"]).values())}
        yield "iam.ListRolePolicies", lambda given: {"PolicyNames": list(self._inline(given["RoleName"]))}
        yield "iam.GetRolePolicy", self._role_policy
        yield "iam.DetachRolePolicy", lambda given: self._undo("role attachment", "attached", given["RoleName"], given["PolicyArn"])
        yield "iam.DeleteRolePolicy", lambda given: self._undo("role policy", "inline", given["RoleName"], given["PolicyName"])
        yield "iam.DeleteRole", self._delete_role
        yield "resourcegroupstaggingapi.GetResources", self._tagged_keys
        yield "kms.DescribeKey", lambda given: {"KeyMetadata": self._key(given["KeyId"])}
        yield "kms.ScheduleKeyDeletion", self._schedule
        yield "kms.ListAliases", lambda _: {"Aliases": list(self._inventory.look("alias").values())}

    def parameter(self, given: Entry) -> Entry | None:
        """A parameter of the account's own, None where there is none."""
        value = self._inventory.world.state.others.get("parameter", {}).get(given["Name"])
        return None if value is None else {"Parameter": dict(value)}

    def _put_parameter(self, given: Entry) -> Entry:
        if self.parameter(given) is not None and not given.get("Overwrite"):
            raise Refused(
                "ParameterAlreadyExists", "The parameter already exists. To overwrite this value, set the overwrite option to true."
            )
        made = {key: given[key] for key in ("Name", "Value", "Type")}
        self._inventory.world.state.others.setdefault("parameter", {})[given["Name"]] = made
        return {"Version": 1}

    def _delete_parameter(self, given: Entry) -> Entry:
        if self.parameter(given) is None:
            raise Refused("ParameterNotFound", f"Parameter {given['Name']} not found.")
        others = self._inventory.world.state.others
        del others["parameter"][given["Name"]]
        if not others["parameter"]:
            del others["parameter"]
        return {}

    def _role(self, name: str) -> Entry:
        entry = self._inventory.entries("role").get(name)
        if entry is None and name == self._caller_role.rsplit("/", 1)[-1]:
            entry = {"Arn": self._caller_role, "Path": "/"}
        if entry is None:
            raise Refused("NoSuchEntity", f"The role with name {name} cannot be found.", 404)
        plain = {"Path": "/", "RoleName": name, "RoleId": "AROAEXAMPLEEXAMPLE00", "Arn": f"arn:aws:iam::{ACCOUNT}:role/{name}"}
        return {**plain, "CreateDate": "2026-11-01T00:00:00Z", **entry}

    def _get_role(self, given: Entry) -> Entry:
        role = self._role(given["RoleName"])
        return {"Role": {**plain(role), "Tags": tag_list(role.get("tags", {}))}}

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
        return self._inventory.delete("role", name)

    def _tagged_keys(self, given: Entry) -> Entry:
        assert given.get("ResourceTypeFilters") == ["kms:key"], given
        wanted = given.get("TagFilters", [])
        entries = self._inventory.look("key")
        shown = [
            {"ResourceARN": entry.get("Arn", f"arn:aws:kms:{self._region}:{ACCOUNT}:key/{which}"), "Tags": tag_list(entry["tags"])}
            for which, entry in entries.items()
            if self._ignores_filters or all(entry["tags"].get(each["Key"]) in each["Values"] for each in wanted)
        ]
        return {"ResourceTagMappingList": shown}

    def _key(self, asked: str) -> Entry:
        which = asked.rsplit("/", 1)[-1]
        entry = self._inventory.entries("key").get(which)
        if entry is None:
            raise Refused("NotFoundException", f"Key '{asked}' does not exist")
        return {"KeyId": which, "KeyState": entry["state"], "Description": entry.get("Description", "secrets")}

    def _schedule(self, given: Entry) -> Entry:
        """A key that waits for its deletion bills nothing and cannot be used; as for the engine, it is no longer there."""
        which = given["KeyId"]
        other = self._inventory.world.state.others.get("key", {}).get(which)
        if other is None:
            return self._inventory.delete("key", which)
        other["state"] = "PendingDeletion"
        return {}

    def _storage(self) -> Iterator[tuple[str, Handler]]:
        yield "fsx.DescribeFileSystems", self._lister("fsx", "FileSystems")
        yield "fsx.DeleteFileSystem", lambda given: self._inventory.delete("fsx", given["FileSystemId"])
        yield "fsx.DescribeBackups", self._lister("backup", "Backups")
        yield "fsx.DeleteBackup", lambda given: self._inventory.delete("backup", given["BackupId"])
        yield "fsx.DescribeDataRepositoryAssociations", self._lister("repository association", "Associations")
        yield "logs.DescribeLogGroups", self._log_groups
        yield "logs.DeleteLogGroup", lambda given: self._inventory.delete("log group", given["logGroupName"])

    def _lister(self, kind: str, key: str) -> Handler:
        return lambda given: {key: filters.listed(self._inventory.look(kind), given, ignored=self._ignores_filters)}

    def _log_groups(self, given: Entry) -> Entry:
        prefix = given.get("logGroupNamePrefix", "")
        return {"logGroups": [entry for name, entry in self._inventory.look("log group").items() if name.startswith(prefix)]}

    def _batch(self) -> Iterator[tuple[str, Handler]]:
        for kind, name, parameter in (("queue", "JobQueue", "jobQueue"), ("environment", "ComputeEnvironment", "computeEnvironment")):
            yield f"batch.Describe{name}s", self._lister(kind, f"{parameter}s")
            yield f"batch.Update{name}", self._disabler(kind, parameter)
            yield f"batch.Delete{name}", self._batch_deleter(kind, parameter)
        yield "batch.DescribeJobDefinitions", self._lister("definition", "jobDefinitions")
        yield "batch.DeregisterJobDefinition", lambda given: self._inventory.delete("definition", given["jobDefinition"])

    def _disabler(self, kind: str, parameter: str) -> Handler:
        def answer(given: Entry) -> Entry:
            if not self._inventory.change(kind, given[parameter], state=given["state"]):
                self._inventory.world.state.others[kind][given[parameter]]["state"] = given["state"]
            return {}

        return answer

    def _batch_deleter(self, kind: str, parameter: str) -> Handler:
        def answer(given: Entry) -> Entry:
            which = given[parameter]
            if self._inventory.entries(kind).get(which, {}).get("state") == "ENABLED":
                raise Refused("ClientException", f"Cannot delete, resource {which} must be disabled first")
            return self._inventory.delete(kind, which)

        return answer


def plain(entry: Entry) -> Entry:
    """An entry without what its service shows elsewhere."""
    return {key: value for key, value in entry.items() if key not in _HIDDEN}
