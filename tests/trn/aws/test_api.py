"""Calls to AWS: pages, regions, retries, and every error as one line with a way out."""

import subprocess
import sys
import textwrap

import boto3
import pytest
from botocore import exceptions
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError

from simulator.aws_endpoint.wire import Refused, Wire, WireSession
from tests.support import ROOT
from tests.trn.aws.cloud import Cloud
from tests.trn.cli.lines import taken
from trn.aws import api, errors
from trn.aws.api import BotoApi, Call
from trn.cli.errors import CommandError
from trn.engine.stack_names import StackFileError
from trn.run_command import run_command

DESCRIBE_VPCS = Call("ec2", "DescribeVpcs")


def refusal(code: str, operation: str, message: str = "refused") -> ClientError:
    """The error that boto3 raises for a code."""
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)


def vpcs(count: int) -> Wire:
    """An account with VPCs."""
    cloud = Cloud()
    for number in range(count):
        cloud.put("vpc", f"vpc-{number}", {"VpcId": f"vpc-{number}"})
    return cloud.wire


def test_all_pages_are_read():
    """What stands on the second page costs as much as what stands on the first."""
    wire = vpcs(5)
    found = [vpc["VpcId"] for vpc in BotoApi("us-west-2", wire.session()).pages(DESCRIBE_VPCS, "Vpcs")]
    assert found == ["vpc-0", "vpc-1", "vpc-2", "vpc-3", "vpc-4"]
    assert wire.count()["ec2.DescribeVpcs"] == 3


def test_an_action_without_pages_gives_its_one_answer():
    """Some lists of AWS have no paginator."""
    cloud = Cloud()
    cloud.put("placement group", "a", {"GroupName": "a"})
    call = Call("ec2", "DescribePlacementGroups")
    assert list(cloud.api.pages(call, "PlacementGroups")) == [{"GroupName": "a"}]


def test_a_wrong_parameter_never_leaves():
    """botocore's model is the first reader of every call."""
    with pytest.raises(exceptions.ParamValidationError):
        BotoApi("us-west-2", vpcs(0).session()).call(DESCRIBE_VPCS, VpcIdz=["vpc-1"])


@pytest.mark.parametrize(
    ("region", "service", "endpoint"),
    [
        ("us-west-2", "ec2", "https://ec2.us-west-2.amazonaws.com"),
        ("us-west-2", "pricing", "https://api.pricing.us-east-1.amazonaws.com"),
        ("us-west-2", "iam", "https://iam.amazonaws.com"),
        ("cn-north-1", "pricing", "https://api.pricing.cn-northwest-1.amazonaws.com.cn"),
        ("cn-north-1", "iam", "https://iam.cn-north-1.amazonaws.com.cn"),
        ("us-gov-west-1", "iam", "https://iam.us-gov.amazonaws.com"),
    ],
)
def test_the_region_is_the_stacks_and_never_the_environments(region: str, service: str, endpoint: str, monkeypatch: pytest.MonkeyPatch):
    """AWS_REGION of another project must not send a sweep elsewhere."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="y")
    assert BotoApi(region, session).client(service).meta.endpoint_url == endpoint


@pytest.mark.parametrize("account", [None, "simulated"])
def test_clients_share_one_session(account: str | None, monkeypatch: pytest.MonkeyPatch):
    """Each session loads the models of services again, 35 MB for EC2 alone, and searches for credentials again."""
    made, session = list[None](), boto3.Session
    monkeypatch.setattr(boto3, "Session", lambda **keys: made.append(None) or session(**keys))
    monkeypatch.setattr(WireSession, "_clients", {})
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    api = BotoApi("us-west-2", account and vpcs(0).session())
    assert len({id(api.client(service)) for service in ("ec2", "eks", "iam")}) == 3
    # The simulated account's is kept for all tests, and may be there.
    assert len(made) == 1 or (account and not made)


def test_clients_retry_adaptively():
    """A sweep of a busy account is throttled, and must slow down rather than stop."""
    config = BotoApi("us-west-2", vpcs(0).session()).client("ec2").meta.config
    assert config.retries == {"mode": "adaptive", "total_max_attempts": 9}


def test_a_throttled_call_is_made_again(monkeypatch: pytest.MonkeyPatch):
    """On the wire: two refusals, then the answer."""
    monkeypatch.setattr("time.sleep", lambda _: None)
    # What the rate limiter lets through after a refusal is botocore's own business, and takes seconds.
    monkeypatch.setattr("botocore.retries.bucket.TokenBucket.acquire", lambda *_, **__: True)
    session = boto3.Session(aws_access_key_id="x", aws_secret_access_key="y")
    answers = [
        (503, "<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>slow down</Message></Error></Errors></Response>"),
        (503, "<Response><Errors><Error><Code>RequestLimitExceeded</Code><Message>slow down</Message></Error></Errors></Response>"),
        (200, "<DescribeVpcsResponse><vpcSet><item><vpcId>vpc-9</vpcId></item></vpcSet></DescribeVpcsResponse>"),
    ]

    def answer(request: object, **_: object) -> AWSResponse:
        status, text = answers.pop(0)
        response = AWSResponse("https://fake", status, {}, None)
        response._content = text.encode()
        return response

    session.events.register("before-send.ec2.DescribeVpcs", answer)
    assert list(BotoApi("us-west-2", session).pages(DESCRIBE_VPCS, "Vpcs")) == [{"VpcId": "vpc-9"}]
    assert answers == []


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (exceptions.NoCredentialsError(), 2, "no usable AWS credentials"),
        (exceptions.PartialCredentialsError(provider="env", cred_var="key"), 2, "no usable AWS credentials"),
        (exceptions.ProfileNotFound(profile="work"), 2, "work"),
        (exceptions.UnauthorizedSSOTokenError(), 2, "expired"),
        (exceptions.TokenRetrievalError(provider="sso", error_msg="Token has expired"), 2, "expired"),
        (exceptions.CredentialRetrievalError(provider="process", error_msg="x"), 2, "expired or cannot be read"),
        (exceptions.EndpointConnectionError(endpoint_url="https://ec2.xx-west-9.amazonaws.com"), 2, "xx-west-9"),
        (exceptions.NoRegionError(), 2, "region"),
        (exceptions.InvalidConfigError(error_msg="odd"), 1, "odd"),
        (refusal("ExpiredToken", "GetCallerIdentity", "The security token has expired"), 2, "ExpiredToken: The security token"),
        (refusal("UnrecognizedClientException", "ListClusters"), 2, "UnrecognizedClientException"),
        (refusal("AuthFailure", "DescribeVpcs"), 2, "AuthFailure"),
        (refusal("ResourceNotFoundException", "DescribeCluster", "No cluster found for name: x."), 2, "No cluster found"),
        (refusal("ResourceNotFoundException", "DescribeNodegroup"), 1, "ResourceNotFoundException"),
        (refusal("UnauthorizedOperation", "DescribeVpcs"), 1, "UnauthorizedOperation"),
        (refusal("ThrottlingException", "DescribeCluster"), 1, "ThrottlingException"),
        (refusal("ValidationError", "GetProducts", "bad filter"), 1, "ValidationError: bad filter (GetProducts)"),
    ],
)
def test_each_error_is_one_line_with_its_exit_code(error: Exception, code: int, says: str, capsys: pytest.CaptureFixture[str]):
    """The user's to fix is 2, what AWS refuses is 1; the service's own code and text come first."""

    def command() -> int:
        raise error

    assert run_command(command) == code
    printed = capsys.readouterr().err
    assert printed.startswith("error: ")
    assert says in printed.splitlines()[0]
    assert "Traceback" not in printed


HINTS = {
    "trn iam --operator": "AccessDenied AccessDeniedException UnauthorizedOperation AuthorizationError UnauthorizedException",
    "sign in again": "ExpiredToken ExpiredTokenException RequestExpired",
    "the keys are not valid here": "InvalidClientTokenId UnrecognizedClientException SignatureDoesNotMatch InvalidAccessKeyId AuthFailure",
    "wait a minute": "Throttling ThrottlingException RequestLimitExceeded TooManyRequestsException RequestThrottled",
}


@pytest.mark.parametrize(("kind", "hint"), [(kind, hint) for hint, kinds in HINTS.items() for kind in kinds.split()])
def test_errors_that_have_a_fix_name_it(kind: str, hint: str):
    """A hint that says where to look next; services have codes of their own for one thing."""
    error = errors.command_error(refusal(kind, "DescribeVpcs"))
    assert error is not None
    assert hint in error.hint
    assert error.code == (2 if hint in ("sign in again", "the keys are not valid here") else 1)


@pytest.mark.parametrize(
    ("status", "code", "was_refused"),
    [
        (400, "ValidationError", True), (499, "ValidationError", True), (500, "InternalFailure", False), (503, "ServiceUnavailable", False),
        (503, "RequestLimitExceeded", True), (503, "RequestThrottled", True), (500, "InsufficientInstanceCapacity", True),
    ],
)  # fmt: skip
def test_an_error_of_the_servers_own_is_no_refusal(status: int, code: str, was_refused: bool):
    """What it answers after the work may be done; too many requests and no capacity it says before."""
    error = refusal(code, "RunInstances")
    error.response["ResponseMetadata"] = {"HTTPStatusCode": status}  # type: ignore[typeddict-item]
    assert errors.is_refusal(error) is was_refused
    assert not errors.is_refusal(exceptions.NoCredentialsError())


def test_an_error_of_our_own_keeps_its_traceback():
    """A bug reported as a user's mistake is never fixed."""

    def command() -> int:
        raise KeyError("ours")

    with pytest.raises(KeyError):
        run_command(command)


def test_interruption_and_missing_files_are_reported(capsys: pytest.CaptureFixture[str]):
    """Ctrl-C is no crash, and a missing stack file has its own hint."""

    def stopped() -> int:
        raise KeyboardInterrupt

    def missing() -> int:
        raise StackFileError("there is no Pulumi.x.yaml", "stacks: dev")

    def unwilling() -> int:
        raise CommandError("no", "try this")

    assert [run_command(stopped), run_command(missing), run_command(unwilling)] == [130, 2, 1]
    said = capsys.readouterr().err
    assert (said.splitlines()[0].startswith("interrupted: "), said.count("hint: ")) == (True, 2)


def test_a_fake_that_says_what_aws_cannot_say_is_refused():
    """Else tests would prove a world that is not there."""
    cloud = Cloud()
    cloud.put("vpc", "vpc-1", {"VpcIdentity": "vpc-1"})
    wire = cloud.wire
    with pytest.raises(exceptions.ParamValidationError, match="VpcIdentity"):
        cloud.api.call(DESCRIBE_VPCS)
    cloud.of("vpc").clear()
    wire.faults["ec2.DescribeVpcs"] = [Refused("InternalError")]
    with pytest.raises(ClientError, match="InternalError"):
        BotoApi("us-west-2", wire.session()).call(DESCRIBE_VPCS)


def test_tags_are_read_in_both_spellings():
    """EC2 gives a list, EKS a mapping, and some answers have none."""
    assert api.tags_of({"Tags": [{"Key": "a", "Value": "1"}, {"Key": "b"}]}) == {"a": "1", "b": ""}
    assert api.tags_of({"tags": {"a": "1"}}, "tags") == {"a": "1"}
    assert api.tags_of({}) == {}


def test_the_commands_around_a_cluster_are_taken():
    """What a reader copies must run: each line is parsed by the command line itself, up to where it would act."""
    section = (ROOT / "docs/running.md").read_text().split("## ")[0]
    lines = [line.split("#")[0].split()[2:] for line in section.splitlines() if line.startswith("$ trn ")]
    assert len(lines) >= 5
    for words in lines:
        assert taken(words, ("dev", "night"))[1]["stack"] == "night"


def test_help_loads_no_sdk_and_every_command_has_an_example():
    """`trn --help` must answer at once: the SDKs take a second."""
    script = textwrap.dedent("""
        import sys
        from typer.testing import CliRunner
        from trn.app import app
        names = [command.name or command.callback.__name__ for command in app.registered_commands]
        for name in names:
            help = CliRunner().invoke(app, [name.replace("_", "-"), "--help"]).output
            # The engine passes its arguments on, and with them Pulumi's own --json.
            assert "Example" in help and ("--json" in help or name == "engine"), name
        loaded = {module.split(".")[0] for module in sys.modules} & {"boto3", "botocore", "pulumi", "kubernetes", "jinja2", "yaml", "rich"}
        print(len(names) > 0, sorted(loaded))
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "True []"


def test_the_list_of_commands_loads_neither_rich_nor_pydantic():
    """They double its time. For the help of one command Typer itself loads pydantic."""
    script = textwrap.dedent("""
        import sys
        from typer.testing import CliRunner
        from trn.app import app
        assert "verify" in CliRunner().invoke(app, ["--help"]).output
        print(sorted({module.split(".")[0] for module in sys.modules} & {"boto3", "jinja2", "pulumi", "pydantic", "rich", "yaml"}))
    """)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"
