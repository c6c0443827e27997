"""`trn iam`: documents that IAM takes, that hold every action, and that hold no more than the code can use."""

import ast
import fnmatch
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.model import OperationNotFoundError
from typer.testing import CliRunner

from facts.resources.rights import ALWAYS, Rights, Scope
from facts.resources.table import TYPES
from simulator.aws_endpoint.wire import SESSION
from simulator.recording import Recording, Registration
from tests.stacks.external_networks import INTERNAL, PUBLIC, configuration
from tests.stacks.samples import BOUNDARY
from tests.support import ROOT, dev_configuration, merged, record_stack
from tests.trn.aws.cloud import Cloud
from tests.trn.aws.leftovers import leave_control_plane, leave_everything
from tests.trn.aws.locked import locked
from tests.trn.change.owned import owner_of
from trn.app import app
from trn.aws.api import Api, Call
from trn.aws.identity import Caller
from trn.aws.leftovers import Found, Place, kind_named
from trn.aws.lock import this_run
from trn.aws.places import look, place_of
from trn.before.check.account import as_documented
from trn.before.iam.documents import POLICY_LIMIT, declared_calls, deployer_permissions, documents, operator_permissions, statements
from trn.change.sweep_plan import DATA_NAMES, Keeping
from trn.cli.errors import CommandError
from trn.ending.sweep.plan import judged
from trn.rehearsal.random_configurations import random_configuration

PERMISSION_ONLY = {
    "iam:PassRole",
    "iam:CreateServiceLinkedRole",
    "s3:ListBucket",
    "kms:CreateGrant",
    "budgets:ModifyBudget",
    "budgets:ViewBudget",
}
"""Actions that are no operation of their own in botocore's models, or not under that name."""


RIGHTS = {token: item.rights for token, item in TYPES.items() if isinstance(item.rights, Rights)}


def existing_network() -> Recording:
    """The shipped stack in a network that others keep, whose subnets it tags."""
    return record_stack(configuration(existing={"tagSubnets": True}))


@cache
def resources() -> tuple[Registration, ...]:
    """AWS resources of the shipped stack with every switch on, and of random stacks."""
    everything = merged(
        dev_configuration(),
        nodeGroups={"trn1-32xl": {"placementGroup": True, "schedule": {"downAt": "0 20 * * *", "upAt": "0 7 * * *"}}},
        controlPlane={"accessEntries": {"team": {"principalArn": "arn:aws:iam::123456789012:role/team"}}},
        storage={"lustre": {"dataRepository": {"s3Uri": "s3://bucket/prefix"}}},
        budget={"alarm": {"limitUsdPerMonth": 1000, "emails": ["team@example.com"]}},
        addons={
            "idleGuard": {"enabled": True, "emails": ["team@example.com"]},
            "batch": {"enabled": True, "nodeGroups": ["trn1-32xl"], "image": "registry.example/train:1.0"},
        },
    )
    recordings = [record_stack(everything), existing_network(), *(record_stack(random_configuration(number)) for number in range(4))]
    return tuple(item for recording in recordings for item in recording.resources() if item.type.startswith("aws:"))


def test_every_type_of_the_program_has_its_actions_and_no_other_has():
    """A type without actions fails in the middle of `pulumi up`; an entry without a type is a right that is not needed."""
    assert {item.type for item in resources()} == RIGHTS.keys()


def test_a_type_that_is_not_known_is_reported():
    """Users extend the program."""
    with pytest.raises(CommandError, match="aws:sns/platformApplication:PlatformApplication"):
        deployer_permissions([_registered("aws:sns/platformApplication:PlatformApplication")])
    assert deployer_permissions([_registered("kubernetes:core/v1:Service")]) == deployer_permissions([])


def _registered(token: str) -> Registration:
    return Registration("urn", token, "a", True, False, "", {})


def knows(service: str, operation: str) -> bool:
    """Whether a service has an operation, by botocore's model of it."""
    try:
        SESSION.get_service_model(service).operation_model(operation)
    except OperationNotFoundError:
        return False
    return True


def test_every_action_exists():
    """IAM takes a misspelt action without a word, and it grants nothing."""
    services = {
        "elasticloadbalancing": ("elb", "elbv2"),
        "servicequotas": ("service-quotas",),
        "tag": ("resourcegroupstaggingapi",),
        "aps": ("amp",),
    }
    grants = [*ALWAYS, *(grant for rights in RIGHTS.values() for grant in rights.grants)]
    actions = {action for grant in grants for action in grant.actions} | {call.action for call in declared_calls()}
    for action in sorted(actions - PERMISSION_ONLY):
        prefix, operation = action.split(":")
        assert any(knows(name, operation) for name in services.get(prefix, (prefix,))), action


def test_every_declared_call_is_one_of_its_service():
    """The code makes calls by these names."""
    for call in declared_calls():
        assert knows(call.service, call.operation), call


def test_no_call_is_made_that_is_not_declared_in_a_module_of_its_own():
    """Then the documents cannot lack one: `Call` is made at the top of a module of trn/aws, and boto3 is asked only there.

    Two modules make calls of what facts/resources says; those are declared by `objects.declared_calls`.
    """
    made_at_top = 0
    for path in sorted((ROOT / "trn").rglob("*.py")):
        if path.name in ("objects.py", "leftovers.py") and path.parent.name == "aws":
            continue
        tree = ast.parse(path.read_text())
        top = {id(node.value) for node in tree.body if isinstance(node, ast.Assign)}
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Call"]
        assert all(id(node) in top for node in calls), path
        assert not calls or path.parent.name == "aws", path
        made_at_top += len(calls)
        used = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        assert "boto3" not in used or path.name == "api.py", path
    assert made_at_top > 20
    assert len(declared_calls()) > 50


def test_every_declared_call_is_used():
    """A right that no line of code uses is one too many."""
    unused = []
    for path in sorted((ROOT / "trn/aws").glob("*.py")):
        tree = ast.parse(path.read_text())
        names = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and getattr(node.value.func, "id", "") == "Call"
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        unused += [f"{path.name}: {name}" for name in names - used]
    assert unused == []


# What the documents grant


def allows(found: list[dict[str, Any]], action: str, resource: str, context: dict[str, str]) -> bool:
    """IAM's evaluation of what these documents use: patterns, StringEquals, Null."""
    for statement in found:
        listed = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        if action in statement["Action"] and any(fnmatch.fnmatchcase(resource, one) for one in listed):
            equal = statement.get("Condition", {}).get("StringEquals", {})
            absent = statement.get("Condition", {}).get("Null", {})
            if all(context.get(key) == value for key, value in equal.items()) and all(key in context for key in absent):
                return True
    return False


def operator(cluster: str = "train") -> list[dict[str, Any]]:
    """The operator's statements."""
    return statements(operator_permissions(), cluster, "us-west-2")


class Watched:
    """An Api that notes which calls change something."""

    def __init__(self, api: Api) -> None:
        self._api, self.changes, self.calls = api, list[tuple[Call, dict[str, Any]]](), set[Call]()
        self.region = api.region

    def call(self, call: Call, **parameters: Any) -> dict[str, Any]:
        self.calls.add(call)
        if not call.operation.startswith(("Describe", "List", "Get")):
            self.changes.append((call, parameters))
        return self._api.call(call, **parameters)

    def pages(self, call: Call, key: str, **parameters: Any) -> Any:
        self.calls.add(call)
        return self._api.pages(call, key, **parameters)


def swept(watched: Watched, cloud: Cloud, cluster: str) -> tuple[Found, ...]:
    """What a sweep of everything deletes."""
    owner = owner_of(cloud, cluster)
    place = Place(cluster, owner.vpc_ids)
    return judged(watched, list(look(watched, place)), Keeping(owner, data=DATA_NAMES)).deletions


def delete(watched: Watched, item: Found) -> None:
    """As a sweep does it; something may hang on it."""
    with suppress(ClientError):
        kind_named(item.kind).delete(watched, item)


def test_the_operator_may_delete_what_carries_the_clusters_tags():
    """A sweep with these documents is refused nothing but what belongs by its VPC alone, or by the volume that it is a snapshot of."""
    cloud = Cloud()
    leave_everything(cloud, "train")
    leave_control_plane(cloud, "train")
    # One that is up is never swept.
    cloud.of("cluster")["train"]["status"] = "FAILED"
    watched = Watched(cloud.api)
    found = {item.id: item for item in look(cloud.api, place_of(cloud.api, "train"))}
    refused = set()
    for item in swept(watched, cloud, "train"):
        before = len(watched.changes)
        delete(watched, item)
        own = {} if item.because.startswith("of ") else item.tags
        context = {f"aws:ResourceTag/{key}": value for key, value in own.items()}
        for call, _ in watched.changes[before:]:
            if not allows(operator(), call.action, _arn(item.kind, item.id), context):
                refused.add(item.id)
    assert {found[which].because for which in refused} == {"in vpc-a", "of vol-a"}
    assert refused == {"eni-bare-a", "snap-hand-a"}
    # Every call that was made is in the documents.
    assert watched.calls <= set(declared_calls())


@pytest.mark.parametrize("cluster", ["train-2", "my-train", "trai"])
def test_the_operator_of_one_cluster_may_change_nothing_of_a_neighbour(cluster: str):
    """Look-alike names, each with all its things."""
    cloud = Cloud()
    leave_everything(cloud, cluster)
    leave_control_plane(cloud, cluster)
    watched = Watched(cloud.api)
    for item in swept(watched, cloud, cluster):
        before = len(watched.changes)
        delete(watched, item)
        context = {f"aws:ResourceTag/{key}": value for key, value in item.tags.items()}
        for call, _ in watched.changes[before:]:
            assert not allows(operator(), call.action, _arn(item.kind, item.id), context), (call, item)


def test_the_lock_of_a_cluster_is_its_operators_and_its_deployers_and_no_neighbours():
    """Whoever may take it may give it up; the lock of a cluster with a look-alike name is another's."""
    watched = Watched(Cloud().api)
    with locked(watched, "train", this_run("a", "sweep dev")) as lock:
        lock.refuse_lost()
    assert {call.action for call in watched.calls} == {action for action in _LOCK_CONTEXTS if action != "ec2:CreateTags"}
    neighbours = (operator("train-2"), operator("trai"))
    for action, context in _LOCK_CONTEXTS.items():
        arn = "arn:aws:ec2:us-west-2:111122223333:launch-template/lt-1"
        if action == "ssm:GetParameter":
            arn = "arn:aws:ssm:us-west-2:111122223333:parameter/trn/lock/train"
        for document in (operator(), _deployer()):
            assert allows(document, action, arn, context), action
        for document in neighbours if context else ():
            assert not allows(document, action, arn, context), action
    assert not any(action.startswith(("ssm:Put", "ssm:Delete")) for item in operator() for action in item["Action"])


_LOCK_CONTEXTS = {
    "ec2:CreateLaunchTemplate": {"aws:RequestTag/trn:lock": "train"},
    "ec2:CreateTags": {"aws:RequestTag/trn:lock": "train", "ec2:CreateAction": "CreateLaunchTemplate"},
    "ec2:DescribeLaunchTemplates": {},
    "ec2:DeleteLaunchTemplate": {"aws:ResourceTag/trn:lock": "train"},
    "ssm:GetParameter": {},
}
"""What IAM judges of a run that takes the lock, looks at it and gives it up."""


def _arn(kind: str, name: str) -> str:
    """A thing as IAM names it, where the documents name any."""
    account, region = "111122223333", "us-west-2"
    cluster, _, part = name.partition(":")
    return {
        "role": f"arn:aws:iam::{account}:role/{name}",
        "queue": f"arn:aws:sqs:{region}:{account}:{name.rsplit('/')[-1]}",
        "budget": f"arn:aws:budgets::{account}:budget/{name.rpartition(':')[2]}",
        "topic": name,
        "event rule": f"arn:aws:events:{region}:{account}:rule/{name}",
        "log group": f"arn:aws:logs:{region}:{account}:log-group:{name}:*",
        "EKS cluster": f"arn:aws:eks:{region}:{account}:cluster/{name}",
        "node group": f"arn:aws:eks:{region}:{account}:nodegroup/{cluster}/{part}/1a2b",
        "access entry": f"arn:aws:eks:{region}:{account}:access-entry/{cluster}/role/{account}/team/1a2b",
    }.get(kind, "*")


def test_reads_of_any_account_are_allowed():
    """A check or a look is refused nothing."""
    for call in declared_calls():
        if call.scopes == (Scope(),):
            assert allows(operator(), call.action, "*", {}), call


def test_who_checks_may_ask_where_a_bucket_is_and_not_what_is_in_it():
    """The bucket of pods' logs is another team's: its region is all that a check asks."""
    for permissions in (deployer_permissions(()), operator_permissions()):
        granted = {action for actions in permissions.values() for action in actions if action.startswith("s3:")}
        assert granted == {"s3:GetBucketLocation"}


def test_passing_roles_is_limited_to_the_clusters_own_and_to_three_services():
    """With `iam:PassRole` on everything the deployer is an administrator. Batch is handed its own role, which no other service can assume."""
    shipped = [item for item in record_stack(dev_configuration()).resources() if item.type.startswith("aws:")]
    found = [item for item in statements(deployer_permissions(shipped), "trainium-dev", "us-west-2") if "iam:PassRole" in item["Action"]]
    passed = {}
    for item in found:
        listed = item["Resource"] if isinstance(item["Resource"], list) else [item["Resource"]]
        passed[item["Condition"]["StringEquals"]["iam:PassedToService"]] = {arn.removeprefix("arn:aws:iam::*:role/") for arn in listed}
    names = {item.inputs["name"] for item in shipped if item.type == "aws:iam/role:Role"}
    assert passed.keys() == {"eks.amazonaws.com", "ec2.amazonaws.com", "pods.eks.amazonaws.com"}
    assert passed["eks.amazonaws.com"] == {"trainium-dev-us-west-2-control-plane"}
    assert passed["ec2.amazonaws.com"] == {"trainium-dev-us-west-2-node"}
    assert set.union(*passed.values()) == names
    batch = [arn for item in _deployer() if "iam:PassRole" in item["Action"] for arn in [item["Resource"]] if "batch" in str(arn)]
    assert batch == ["arn:aws:iam::*:role/aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch"]


def test_no_change_is_granted_on_everything():
    """Only reads stand without resource and condition."""
    for statement in [*_deployer(), *operator()]:
        if statement["Resource"] == "*" and "Condition" not in statement:
            assert all(action.split(":")[1].startswith(("Describe", "List", "Get", "Simulate")) for action in statement["Action"]), (
                statement
            )


def test_arns_carry_the_regions_partition():
    """GovCloud and China refuse `arn:aws:`."""
    found = statements(deployer_permissions(resources()), "train", "us-gov-west-1")
    arns = {arn for item in found for arn in (item["Resource"] if isinstance(item["Resource"], list) else [item["Resource"]])} - {"*"}
    assert all(arn.startswith("arn:aws-us-gov:") for arn in arns)


def _deployer() -> list[dict[str, Any]]:
    return statements(deployer_permissions(resources()), "train", "us-west-2")


def test_every_document_fits_a_managed_policy_and_none_is_lost():
    """IAM takes 6,144 characters; a list that is too long is split."""
    long = {"Effect": "Allow", "Action": [f"ec2:Describe{number:0>40}" for number in range(300)], "Resource": "*"}
    for found in (_deployer(), operator(), [long]):
        made = documents(found)
        assert all(len(json.dumps(document, separators=(",", ":"))) <= POLICY_LIMIT for document in made)
        packed = [action for document in made for statement in document["Statement"] for action in statement["Action"]]
        assert sorted(packed) == sorted(action for statement in found for action in statement["Action"])
    assert len(documents(_deployer())) <= 10


def test_a_statement_is_asked_with_concrete_names_and_the_values_it_wants():
    """The simulator knows no patterns in its questions."""
    who = Caller("111122223333", "arn:aws:iam::111122223333:user/anna")
    statement = {
        "Action": [f"iam:Act{number}" for number in range(41)],
        "Resource": "arn:aws:iam::*:role/train-us-west-2-*",
        "Condition": {"StringEquals": {"iam:PassedToService": "eks.amazonaws.com"}, "Null": {"ec2:CreateAction": "false"}},
    }
    first, second = as_documented(statement, who)
    assert first.resource == "arn:aws:iam::111122223333:role/train-us-west-2-any"
    assert first.context == [("iam:PassedToService", "eks.amazonaws.com"), ("ec2:CreateAction", "CreateVolume")]
    assert (len(first.actions), len(second.actions)) == (40, 1)
    (on_eks,) = as_documented({"Action": ["eks:X"], "Resource": "arn:aws:eks:us-west-2:*:addon/train/*"}, who)
    assert on_eks.resource == "arn:aws:eks:us-west-2:111122223333:addon/train/any"


# The command


def trn(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    result = CliRunner().invoke(app, ["iam", *arguments], catch_exceptions=False)
    return result.exit_code, result.stdout, result.stderr


def test_the_command_prints_or_writes_the_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As JSON that a pipe can read, or one file each with the command that makes the policy."""
    monkeypatch.chdir(ROOT)
    code, out, _ = trn("dev", "--deployer")
    assert code == 0
    assert all(name.startswith("trainium-dev-us-west-2-deployer-") for name in json.loads(out)["policies"])
    code, out, err = trn("dev", "--operator", "--output", str(tmp_path / "iam"))
    assert (code, out) == (0, "")
    written = sorted((tmp_path / "iam").iterdir())
    assert json.loads(written[0].read_text())["Version"] == "2012-10-17"
    assert f"--policy-document file://{written[0]}" in err
    code, _, err = trn("dev")
    assert (code, "--deployer" in err) == (2, True)
    (tmp_path / "file").write_text("")
    assert trn("dev", "--operator", "--output", str(tmp_path / "file"))[0] == 1
    code, out, _ = trn("dev", "--operator", "--json", "-")
    assert (code, len(json.loads(out)["policies"]) >= 1) == (0, True)


def test_where_others_keep_the_network_no_document_touches_one():
    """The right to delete a subnet is none that a company gives away for nothing; the tags are on these subnets alone."""
    deployer = statements(deployer_permissions(existing_network().resources()), "train", "us-west-2")
    operator = statements(operator_permissions(own_network=False), "train", "us-west-2")
    words = ("Vpc", "Subnet", "Route", "NatGateway", "InternetGateway", "Address")
    actions = {action for statement in (*deployer, *operator) for action in statement["Action"] if action.startswith("ec2:")}
    changing = {
        action for action in actions if any(word in action for word in words) and not action.startswith(("ec2:Describe", "ec2:Get"))
    }
    assert changing == set()
    whole = statements(operator_permissions(), "train", "us-west-2")
    assert "ec2:DeleteSubnet" in {action for statement in whole for action in statement["Action"]}
    tagged = {
        arn
        for statement in deployer
        if "ec2:CreateTags" in statement["Action"] and isinstance(statement["Resource"], list)
        for arn in statement["Resource"]
    }
    wanted = {*PUBLIC.values(), *INTERNAL.values()}
    assert tagged == {f"arn:aws:ec2:us-west-2:*:subnet/{subnet}" for subnet in wanted}


def test_the_right_to_a_boundary_is_there_where_there_is_one_and_never_to_take_it_off():
    """Who may take a boundary off a role has every right that it kept from the role."""
    with_one = record_stack(merged(dev_configuration(), iam={"permissionsBoundary": BOUNDARY})).resources()
    found = {
        name: {action for actions in deployer_permissions(items).values() for action in actions if "Boundary" in action}
        for name, items in (("with", with_one), ("without", record_stack(dev_configuration()).resources()))
    }
    assert found == {"with": {"iam:PutRolePermissionsBoundary"}, "without": set()}


def test_what_the_provider_waits_by_and_what_a_deletion_takes_beside_its_own_are_granted():
    """UpdateAddon is followed by DescribeUpdate on the add-on; a group of schedules is deleted by a caller who may delete its schedules."""
    addon = "arn:aws:eks:us-west-2:111122223333:addon/train/vpc-cni/0123"
    granted = [scope.resource for scope, actions in deployer_permissions(resources()).items() if "eks:DescribeUpdate" in actions]
    assert any(fnmatch.fnmatch(addon, resource.format(partition="aws", region="us-west-2", cluster="train")) for resource in granted), (
        granted
    )
    assert allows(operator(), "scheduler:DeleteSchedule", "arn:aws:scheduler:us-west-2:111122223333:schedule/train/night-up", {})
