"""Forms of names and ids, as AWS, Kubernetes and container registries take them: what matches none is refused by them all.

Sources: service models of botocore 1.44.5 (IAM, FSx, EKS); KMS developer guide, key-arn; S3 user guide, bucketnamingrules;
opencontainers/distribution-spec and distribution/reference, grammar; Kubernetes apimachinery, validation and resource.Quantity.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from ipaddress import AddressValueError, IPv4Address
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def _always(text: str) -> bool:
    return True


@dataclass(frozen=True)
class Form:
    """What a text must look like."""

    what: str
    """What it is, without an article."""
    pattern: str
    """Of the whole text; one that editors read as well."""
    allowed: str
    """In words, for an error."""
    hint: str
    longest: int = 2048
    """Characters."""
    holds: Callable[[str], bool] = field(default=_always)
    """What no pattern can say."""

    def fits(self, text: str) -> bool:
        """Whether a text has the form."""
        return len(text) <= self.longest and re.fullmatch(self.pattern, text) is not None and self.holds(text)


_PARTITION = r"arn:aws(-[a-z]+)*"
_UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
IAM_NAME = r"[A-Za-z0-9_+=,.@-]{1,64}"
"""Name of an IAM role or user."""
_IAM_PATH_LIMIT = 512


def _iam_path_fits(arn: str) -> bool:
    path = arn.partition(":role" if ":role/" in arn else ":user")[2].rpartition("/")[0]
    return len(path) < _IAM_PATH_LIMIT


PRINCIPAL_ARN = Form(
    "ARN of an IAM role or user",
    rf"{_PARTITION}:iam::[0-9]{{12}}:(role|user)/([!-.0-~]+/)*{IAM_NAME}",
    "arn:aws:iam::ACCOUNT:role/NAME or .../user/NAME; names of 1 to 64 letters, digits and _+=,.@-",
    "`aws iam get-role --role-name NAME --query Role.Arn` shows it; a session's ARN, with `assumed-role`, is another",
    holds=_iam_path_fits,
)
ROLE_ARN = Form(
    "ARN of an IAM role",
    rf"{_PARTITION}:iam::[0-9]{{12}}:role/([!-.0-~]+/)*{IAM_NAME}",
    "arn:aws:iam::ACCOUNT:role/NAME, with its path; names of 1 to 64 letters, digits and _+=,.@-",
    "`aws iam get-role --role-name NAME --query Role.Arn` shows it",
    holds=_iam_path_fits,
)
ROLE_NAME = Form(
    "name of an IAM role",
    IAM_NAME,
    "1 to 64 letters, digits and _+=,.@-, without a path",
    "`aws eks describe-cluster --name NAME --query cluster.roleArn` ends with it",
)
KMS_KEY_ARN = Form(
    "ARN of a KMS key",
    rf"{_PARTITION}:kms:[a-z]{{2}}(-[a-z]+)+-[0-9]:[0-9]{{12}}:key/({_UUID}|mrk-[0-9a-f]{{32}})",
    "arn:aws:kms:REGION:ACCOUNT:key/ID, the id a UUID or mrk- and 32 hexadecimal digits",
    "`aws kms describe-key --key-id ID --query KeyMetadata.Arn` shows it; an alias is no key",
)
SNS_TOPIC_ARN = Form(
    "ARN of an SNS topic",
    rf"{_PARTITION}:sns:[a-z]{{2}}(-[a-z]+)+-[0-9]:[0-9]{{12}}:[A-Za-z0-9_-]{{1,256}}",
    "arn:aws:sns:REGION:ACCOUNT:NAME; a FIFO topic sends no e-mail",
    "`aws sns list-topics` lists those of a region",
)
_MAIL_WORD = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
EMAIL = Form(
    "e-mail address",
    rf"{_MAIL_WORD}(\.{_MAIL_WORD})*@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+",
    "NAME@DOMAIN, in ASCII and without a display name",
    "write such as team@example.com; a list of addresses has one in each line",
    254,
)
POLICY_ARN = Form(
    "ARN of an IAM policy",
    rf"{_PARTITION}:iam::([0-9]{{12}}|aws):policy/([!-.0-~]+/)*[A-Za-z0-9_+=,.@-]{{1,128}}",
    "arn:aws:iam::ACCOUNT:policy/NAME",
    "`aws iam list-policies --scope Local --query 'Policies[].Arn'` lists those of the account",
)
VPC_ID = Form(
    "id of a VPC", r"vpc-[0-9a-f]{8,17}", "vpc- and 8 to 17 hexadecimal digits", "`aws ec2 describe-vpcs` lists those of the region"
)
SUBNET_ID = Form(
    "id of a subnet",
    r"subnet-[0-9a-f]{8,17}",
    "subnet- and 8 to 17 hexadecimal digits",
    "`aws ec2 describe-subnets --filters Name=vpc-id,Values=VPC` lists those of a VPC",
)
WORKSPACE_ARN = Form(
    "ARN of a workspace of Amazon Managed Prometheus",
    rf"{_PARTITION}:aps:[a-z]{{2}}(-[a-z]+)+-[0-9]:[0-9]{{12}}:workspace/ws-{_UUID}",
    "arn:aws:aps:REGION:ACCOUNT:workspace/ws-UUID",
    "`aws amp list-workspaces --query 'workspaces[].arn'` lists those of the region",
)
IAM_PATH = Form(
    "path of IAM roles",
    r"/([A-Za-z0-9_+=,.@-]+/)*",
    "/ or /PART/PART/, of letters, digits and _+=,.@-",
    "begin and end it with /, such as /teams/training/",
    512,
    lambda text: not text.startswith(("/aws-service-role/", "/aws-reserved/")),
)
SECURITY_GROUP_ID = Form(
    "id of a security group",
    r"sg-[0-9a-f]{8,17}",
    "sg- and 8 to 17 hexadecimal digits",
    "`aws ec2 describe-security-groups --filters Name=vpc-id,Values=VPC` lists those of a VPC",
)
FILE_SYSTEM_ID = Form(
    "id of a file system",
    r"fs-[0-9a-f]{8,18}",
    "fs- and 8 to 18 hexadecimal digits",
    "`aws fsx describe-file-systems --query 'FileSystems[].FileSystemId'` lists those of the region",
)
MOUNT_NAME = Form(
    "mount name of a Lustre file system",
    r"[A-Za-z0-9_-]{1,8}",
    "1 to 8 letters, digits, _ and -",
    "`aws fsx describe-file-systems --file-system-ids ID --query 'FileSystems[].LustreConfiguration.MountName'` shows it",
)
_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"
_BUCKET_STARTS, _BUCKET_ENDS = ("xn--", "sthree-", "amzn-s3-demo-"), ("-s3alias", "--ol-s3", ".mrap", "--x-s3", "--table-s3")


def _is_bucket(name: str) -> bool:
    if ".." in name or name.startswith(_BUCKET_STARTS) or name.endswith(_BUCKET_ENDS):
        return False
    try:
        IPv4Address(name)
    except AddressValueError:
        return True
    return False


_BUCKET_WORDS = (
    "3 to 63 lower-case letters, digits, dots and hyphens, beginning and ending with a letter or digit; no address, no two dots in a row"
)
BUCKET = Form(
    "name of an S3 bucket", _BUCKET, _BUCKET_WORDS, "`aws s3 ls` lists those of the account; write the name without s3://", 63, _is_bucket
)
_NO_BREAK = r"[^\x00\x85\u2028\u2029\r\n]"
"""Texts of FSx hold no end of a line."""
S3_URI = Form(
    "S3 URI",
    rf"s3://{_BUCKET}(/{_NO_BREAK}*)?",
    f"s3://BUCKET or s3://BUCKET/PREFIX; bucket of {_BUCKET_WORDS}",
    "write s3:// and the bucket's name, and a prefix behind it where only that is to be linked",
    4357,
    lambda text: _is_bucket(text.removeprefix("s3://").partition("/")[0]),
)
FILE_SYSTEM_PATH = Form(
    "path of a file system",
    rf"/{_NO_BREAK}*",
    "a path that begins with /, of at most 4096 characters without the end of a line",
    "write it from the root of the file system, such as /data",
    4096,
)
_HOST_PART = r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = rf"({_HOST_PART}(\.{_HOST_PART})+(:[0-9]{{1,5}})?|{_HOST_PART}:[0-9]{{1,5}}|localhost)"
"""A registry's host has a dot or a port: without either it is read as a folder of Docker Hub."""
_PATH_PART = r"[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*"
_PATH = rf"{_PATH_PART}(/{_PATH_PART})*"
REGISTRY = Form(
    "registry",
    rf"{_HOST}(/{_PATH})?",
    "a host with a dot or a port, and a path in lower case where the copies are below one",
    "write such as 123456789012.dkr.ecr.us-west-2.amazonaws.com/mirror, without https:// and without a / at the end",
    255,
)
ECR_REPOSITORY = Form(
    "name of an ECR repository",
    r"[a-z0-9]+([._-][a-z0-9]+)*(/[a-z0-9]+([._-][a-z0-9]+)*)*",
    "2 to 256 lower-case letters and digits in parts, with . _ - and / between them",
    "`aws ecr describe-repositories --query 'repositories[].repositoryName'` lists those of the account; write it without the registry's host",
    256,
    lambda text: len(text) >= 2,
)
IMAGE = Form(
    "image reference",
    rf"({_HOST}/)?{_PATH}(:[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?(@[a-z0-9]+([+._-][a-z0-9]+)*:[0-9a-fA-F]{{32,}})?",
    "[REGISTRY/]NAME[:TAG][@DIGEST], the name in lower case and with its registry at most 255 characters",
    "write such as 123456789012.dkr.ecr.us-west-2.amazonaws.com/train:1.0, without https://",
    512,
    lambda text: len(re.sub(r"(:[A-Za-z0-9_][A-Za-z0-9_.-]*)?(@.*)?\Z", "", text, count=1)) <= 255,
)
AMI_VERSION = Form(
    "AMI release of Karpenter",
    r"v20[0-9]{6}",
    "v and a date, such as v20260505",
    "take the date of a release in the changelog of awslabs/amazon-eks-ami",
    holds=lambda text: is_date(text[1:]),
)
INSTANT = Form(
    "time with its zone",
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})",
    "a date, T, a time and a zone, such as 2026-12-01T11:30:00Z or 2026-12-01T06:30:00-05:00",
    "add Z for UTC, or an offset such as -05:00: without one the same digits are another moment in each time zone",
    25,
    lambda text: is_instant(text),
)
TIME_ZONE = Form(
    "time zone",
    r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*",
    "a name of the IANA database, such as UTC, Europe/Berlin or America/Los_Angeles",
    "`timedatectl list-timezones` lists them; an abbreviation such as CET or PST does not follow daylight saving",
    50,
    lambda text: is_time_zone(text),
)
_SUBDOMAIN = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
_LABEL_NAME = r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?"
LABEL_KEY = Form(
    "key of a label",
    rf"({_SUBDOMAIN}/)?{_LABEL_NAME}",
    "a name of 1 to 63 letters, digits, -, _ and ., with a domain and / before it where it has one",
    "begin and end the name with a letter or digit",
    253 + 1 + 63,
    lambda text: len(text.rpartition("/")[0]) <= 253,
)
LABEL_VALUE = Form("value of a label", _LABEL_NAME, "1 to 63 letters, digits, -, _ and .", "begin and end it with a letter or digit", 63)
NAMESPACES = Form(
    "name or pattern of namespaces",
    r"[a-z0-9*]([a-z0-9*-]*[a-z0-9*])?",
    "1 to 63 lower-case letters, digits, - and *, which stands for any characters",
    "write such as training, or team-* for all that begin so",
    63,
)
"""Of the scope of an EKS access policy (EKS user guide, access-policies: "You can use wildcard characters for a namespace name")."""
_STANDARD_RESOURCES = ("cpu", "memory", "ephemeral-storage", "pods")
RESOURCE_NAME = Form(
    "resource of Kubernetes",
    rf"{'|'.join(_STANDARD_RESOURCES)}|hugepages-[0-9]+[KMGTPE]?i?|{_SUBDOMAIN}/{_LABEL_NAME}",
    f"{', '.join(_STANDARD_RESOURCES)}, hugepages-SIZE, or DOMAIN/NAME such as aws.amazon.com/neuron",
    "`kubectl describe node` lists what nodes have under Capacity; no node has any other, and a limit on it limits nothing",
    253 + 1 + 63,
    lambda text: len(text.rpartition("/")[0]) <= 253,
)


def is_date(digits: str) -> bool:
    """Whether eight digits are a day of the calendar."""
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return True


def is_instant(text: str) -> bool:
    """Whether a text is a moment of the calendar with its time zone."""
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


_NO_ZONES = frozenset({"localtime", "posixrules", "Factory"})


def is_time_zone(name: str) -> bool:
    """Whether the IANA database of this machine has a time zone of a name; files beside it that are none, such as the machine's own
    `localtime`, do not count: another machine, and AWS, read them as another zone or not at all."""
    if name in _NO_ZONES or name.startswith(("posix/", "right/")):
        return False
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
