"""Names and ids by the patterns and lengths of those who take them: what passes here is refused nowhere for its form."""

from typing import Any

import botocore.session
import pytest

from facts import text_formats
from facts.text_formats import Form

UUID = "1f0e8d3c-5a2b-4c6d-8e9f-0a1b2c3d4e5f"
KEY, ROLE = "arn:aws:kms:us-west-2:123456789012:key", "arn:aws:iam::123456789012:role"

GOOD: dict[str, tuple[Form, tuple[str, ...]]] = {
    "principal": (
        text_formats.PRINCIPAL_ARN,
        (
            f"{ROLE}/team", f"{ROLE}/path/to/team+a=b,c.d@e-f_g", f"{ROLE}/{'n' * 64}", "arn:aws:iam::123456789012:user/ada",
            "arn:aws-us-gov:iam::123456789012:role/team", "arn:aws-cn:iam::123456789012:user/x", f"{ROLE}/{'p' * 500}/team",
        ),
    ),
    "key": (text_formats.KMS_KEY_ARN, (f"{KEY}/{UUID}", f"{KEY}/mrk-{'0a' * 16}", f"arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/{UUID}")),
    "policy": (
        text_formats.POLICY_ARN,
        ("arn:aws:iam::123456789012:policy/boundary", "arn:aws-cn:iam::123456789012:policy/a/b/c+d", "arn:aws:iam::aws:policy/PowerUserAccess"),
    ),
    "topic": (text_formats.SNS_TOPIC_ARN, ("arn:aws:sns:us-west-2:123456789012:costs", f"arn:aws-us-gov:sns:us-gov-west-1:123456789012:{'t' * 256}")),
    "address": (text_formats.EMAIL, ("a@b.example", "first.last+trn@mail.example.com", "o'neil@example.com", f"a@{'d' * 60}.example")),
    "vpc": (text_formats.VPC_ID, ("vpc-0a1b2c3d", "vpc-0123456789abcdef0")),
    "subnet": (text_formats.SUBNET_ID, ("subnet-0a1b2c3d", "subnet-0123456789abcdef0")),
    "workspace": (
        text_formats.WORKSPACE_ARN,
        (f"arn:aws:aps:us-west-2:123456789012:workspace/ws-{UUID}", f"arn:aws-us-gov:aps:us-gov-west-1:123456789012:workspace/ws-{UUID}"),
    ),
    "repository": (text_formats.ECR_REPOSITORY, ("ab", "company/training", "a.b/c_d-e/f1")),
    "role": (text_formats.ROLE_ARN, (f"{ROLE}/team", f"{ROLE}/path/to/team", "arn:aws-cn:iam::123456789012:role/x")),
    "role name": (text_formats.ROLE_NAME, ("team", "a+b=c,d.e@f-g_h", "n" * 64)),
    "path of roles": (text_formats.IAM_PATH, ("/", "/teams/", "/teams/a+b=c,d.e@f-g_h/", "/" + "p" * 510 + "/")),
    "security group": (text_formats.SECURITY_GROUP_ID, ("sg-0a1b2c3d", "sg-0123456789abcdef0")),
    "file system": (text_formats.FILE_SYSTEM_ID, ("fs-0a1b2c3d", "fs-0123456789abcdef0")),
    "mount name": (text_formats.MOUNT_NAME, ("fsx", "abcdefgh", "a-B_9")),
    "bucket": (text_formats.BUCKET, ("corpus", "a-1", "my.bucket.of.logs", "b" * 63, "192.168.0.x")),
    "uri": (text_formats.S3_URI, ("s3://corpus", "s3://corpus/", "s3://corpus/a b/ü/", f"s3://corpus/{'p' * 1000}")),
    "path": (text_formats.FILE_SYSTEM_PATH, ("/", "/data", "/data/", "/a b", "/" + "p" * 4095)),
    "registry": (
        text_formats.REGISTRY,
        ("docker.io", "registry.example:5000", "localhost:5000", "host:1", "123456789012.dkr.ecr.us-west-2.amazonaws.com/mirror/a_b", "localhost"),
    ),
    "image": (
        text_formats.IMAGE,
        (
            "train", "train:1.0", "team/train:latest", "registry.example/train:1.0", "host:5000/a/b__c.d--e:T_a.g-1",
            f"registry.example/train@sha256:{'a' * 64}", f"train:1@sha256:{'A' * 64}", f"train:{'t' * 128}", f"r.io/{'n' * 250}:1",
        ),
    ),
    "instant": (text_formats.INSTANT, ("2026-12-01T11:30:00Z", "2026-12-01T11:30Z", "2026-12-01T06:30:00-05:00", "2028-02-29T00:00:00+05:30")),
    "zone": (text_formats.TIME_ZONE, ("UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5")),
    "karpenter": (text_formats.AMI_VERSION, ("v20260505", "v20240229")),
    "label": (text_formats.LABEL_KEY, ("team", "example.com/team", "a/b.c_d-e", f"{'d' * 253}/{'n' * 63}")),
    "namespaces": (text_formats.NAMESPACES, ("training", "dev-*", "*-dev", "*", "n" * 63)),
    "value": (text_formats.LABEL_VALUE, ("x", "a.b_c-d", "v" * 63)),
    "resource": (
        text_formats.RESOURCE_NAME,
        ("cpu", "memory", "pods", "ephemeral-storage", "hugepages-2Mi", "aws.amazon.com/neuron", "vpc.amazonaws.com/efa"),
    ),
}  # fmt: skip
BAD: dict[str, tuple[Form, tuple[str, ...]]] = {
    "principal": (
        text_formats.PRINCIPAL_ARN,
        (
            f"{ROLE}/", f"{ROLE}/{'n' * 65}", f"{ROLE}/a b", f"{ROLE}/team/", f"{ROLE}/tëam", "arn:aws:iam::12345:role/team", ROLE,
            "arn:aws:iam::123456789012:group/team", "arn:aws:sts::123456789012:assumed-role/team/session", f"{ROLE}/{'p' * 512}/team",
            "arn:aws:iam::123456789012:root", f"{ROLE}/team\n", "arn:aws:iam:us-west-2:123456789012:role/team",
        ),
    ),
    "policy": (
        text_formats.POLICY_ARN,
        (
            f"{ROLE}/boundary", "arn:aws:iam::123456789012:policy/", "arn:aws:iam::1:policy/a", "arn:aws:iam:us-west-2:123456789012:policy/a",
            f"arn:aws:iam::123456789012:policy/{'n' * 129}", "arn:aws:iam::123456789012:policy/a b", "boundary",
        ),
    ),
    "topic": (
        text_formats.SNS_TOPIC_ARN,
        (
            "costs", "arn:aws:sns:us-west-2:123456789012:", "arn:aws:sns:us-west-2:1:costs", "arn:aws:sns:us-west-2:123456789012:costs.fifo",
            "arn:aws:sqs:us-west-2:123456789012:costs", f"arn:aws:sns:us-west-2:123456789012:{'t' * 257}",
        ),
    ),
    "address": (
        text_formats.EMAIL,
        ("team", "team@", "@example.com", "team@example", "a b@example.com", "a@b.example, c@d.example", "A <a@b.example>", "a..b@example.com",
         "a@-b.example", f"{'a' * 250}@example.com", "a@b.example\n", "ä@b.example"),
    ),
    "vpc": (text_formats.VPC_ID, ("vpc-", "vpc-1", "vpc-0123456789ABCDEF0", "subnet-0a1b2c3d", "vpc-0123456789abcdef01", "my-vpc")),
    "workspace": (text_formats.WORKSPACE_ARN, (f"ws-{UUID}", "arn:aws:aps:us-west-2:123456789012:workspace/ws-1", f"arn:aws:aps::123456789012:workspace/ws-{UUID}")),
    "role": (text_formats.ROLE_ARN, ("team", "arn:aws:iam::123456789012:user/ada", f"{ROLE}/", f"{ROLE}/a b", "arn:aws:sts::123456789012:assumed-role/a/b")),
    "repository": (text_formats.ECR_REPOSITORY, ("a", "Train", "a//b", "/a", "a/", "a b", "host.example:5000/a", "n" * 257)),
    "role name": (text_formats.ROLE_NAME, ("", "a b", "path/team", "n" * 65)),
    "path of roles": (text_formats.IAM_PATH, ("", "teams", "/teams", "teams/", "//", "/a b/", "/aws-service-role/x/", "/" + "p" * 511 + "/")),
    "security group": (text_formats.SECURITY_GROUP_ID, ("sg-", "lustre", "subnet-0a1b2c3d", "sg-0123456789abcdefg")),
    "file system": (text_formats.FILE_SYSTEM_ID, ("fs-", "fs-shared", "fsvol-0123456789abcdef0", "fs-0123456789abcdefg")),
    "namespaces": (text_formats.NAMESPACES, ("", "Dev-*", "-dev", "dev-", "dev.*", "n" * 64, "dev *")),
    "mount name": (text_formats.MOUNT_NAME, ("", "/fsx", "abcdefghi", "a b")),
    "subnet": (text_formats.SUBNET_ID, ("subnet-", "subnet-a", "vpc-0a1b2c3d", "subnet-0123456789abcdefg", "subnet-0a1b2c3d\n")),
    "key": (
        text_formats.KMS_KEY_ARN,
        (
            UUID, f"{KEY}/1", f"{KEY}/{UUID.upper()}", f"{KEY}/mrk-{UUID}", f"{KEY}/{UUID}0", f"{KEY}/", f"{KEY}/{UUID}\n",
            "arn:aws:kms:us-west-2:123456789012:alias/team", f"arn:aws:kms::123456789012:key/{UUID}",
        ),
    ),
    "bucket": (
        text_formats.BUCKET,
        ("ab", "B" * 3, "b" * 64, "a..b", "-ab", "ab-", "a_b", "192.168.0.1", "xn--a", "sthree-x", "x-s3alias", "x--x-s3", "s3://corpus", "abc\n"),
    ),
    "uri": (text_formats.S3_URI, ("corpus", "s3://", "s3://ab", "s3://Corpus", "s3://a..b/x", "s3://corpus/a\nb", "https://corpus", "s3:///x", "s3://192.168.0.1/x")),
    "path": (text_formats.FILE_SYSTEM_PATH, ("", "data", "/a\nb", "/\x00", "/a\u2028", "/" + "p" * 4096, "C:\\data")),
    "registry": (
        text_formats.REGISTRY,
        ("registry", "https://registry.example", "registry.example/", "registry.example/Mirror", "a..b", "-a.b", "registry.example:port", "a.b:123456", ""),
    ),
    "image": (
        text_formats.IMAGE,
        (
            "", "Train", "train:", "train:a b", "https://r.io/train", "r.io/train@sha256:abc", "a//b", "train:-1", f"train:{'t' * 129}",
            "team/", "/train", "a___b", f"r.io/{'n' * 251}", "train:1:2", "train\n",
        ),
    ),
    "instant": (
        text_formats.INSTANT,
        (
            "", "2026-12-01", "2026-12-01T11:30:00", "2026-02-30T11:30:00Z", "2026-12-01 11:30:00Z", "2026-12-01T24:30:00Z", "tomorrow",
            "2026-12-01T11:30:00 CET", "2026-12-01T11:30:00Z\n", "2026-12-01T11:30:00+25:00",
        ),
    ),
    "zone": (text_formats.TIME_ZONE, ("", "Europe/Bonn", "../UTC", "/etc/localtime", "Europe/", "UTC ", "+01:00", "z" * 51, "localtime", "posixrules", "posix/UTC", "right/UTC")),
    "karpenter": (text_formats.AMI_VERSION, ("20260505", "v2026050", "v20261301", "v20260230", "v20260505 ", "latest")),
    "label": (text_formats.LABEL_KEY, ("", "-a", "a-", "a/b/c", "Example.com/a", "a..b/c", "a./b", "n" * 64, f"{'d' * 254}/n", "a b")),
    "value": (text_formats.LABEL_VALUE, ("", "-x", "x.", "v" * 64, "a b", "ü")),
    "resource": (text_formats.RESOURCE_NAME, ("gpu", "neuron", "CPU", "aws.amazon.com/", "/neuron", "aws.amazon.com/neuron/0", "requests.cpu", "")),
}  # fmt: skip


def cases(table: dict[str, tuple[Form, tuple[str, ...]]]) -> list[tuple[Form, str]]:
    """Each text with its form."""
    return [(form, text) for form, texts in table.values() for text in texts]


@pytest.mark.parametrize(("form", "text"), cases(GOOD))
def test_what_is_taken_passes(form: Form, text: str):
    """A form that is too narrow refuses what works."""
    assert form.fits(text)


@pytest.mark.parametrize(("form", "text"), cases(BAD))
def test_what_is_refused_does_not(form: Form, text: str):
    """A form that is too wide ends in an error of AWS in the middle of an up."""
    assert not form.fits(text)


def test_every_form_is_in_both_tables():
    """A new form comes with its examples."""
    known = {id(form) for form in vars(text_formats).values() if isinstance(form, Form)}
    assert known == {id(form) for form, _ in GOOD.values()} == {id(form) for form, _ in BAD.values()}


def members(service: str, operation: str) -> Any:
    """Parameters of an operation, by name."""
    shape: Any = botocore.session.get_session().get_service_model(service).operation_model(operation).input_shape
    return shape.members


def test_lengths_are_those_of_the_service_models():
    """AWS widens a limit now and then."""
    association = members("fsx", "CreateDataRepositoryAssociation")
    assert text_formats.FILE_SYSTEM_PATH.longest == association["FileSystemPath"].metadata["max"]
    assert text_formats.S3_URI.longest == association["DataRepositoryPath"].metadata["max"]
    assert f"{{1,{members('iam', 'CreateRole')['RoleName'].metadata['max']}}}" in text_formats.IAM_NAME
    assert members("eks", "CreateNodegroup")["labels"].value.metadata["max"] == text_formats.LABEL_VALUE.longest


def test_a_long_text_costs_no_time():
    """Patterns must not try again and again: a text may have a million characters."""
    for form, _ in GOOD.values():
        for text in ("a" * 1_000_000, "a/" * 500_000, "a." * 500_000, "arn:aws:iam::123456789012:role/" + "a/" * 900, "a-" * 1000 + "!"):
            assert not form.fits(text + "!")
