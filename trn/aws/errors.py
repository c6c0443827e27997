"""What botocore raises, in one line each: the service's own code and text first, then how to fix it.

Credentials, region and a cluster that is not there are for the user to fix: exit code 2. What AWS refuses is 1.
"""

from typing import Any

from botocore import exceptions

from facts.resources.table import absent_codes
from facts.typed import typed
from trn.cli.errors import MISUSE, CommandError

NOT_FOUND = frozenset(
    {
        *absent_codes(),
        # Of what is no type of facts/resources, and other spellings.
        "NoSuchResourceException", "ParameterNotFound", "InvalidCapacityReservationId.NotFound", "InvalidAssociationID.NotFound",
        "Gateway.NotAttached", "QueueDoesNotExist",
        # SNS, of topics that the stack did not make.
        "NotFound",
    }
)  # fmt: skip
"""Codes that say: the object does not exist. EC2, EKS, ELB, FSx, IAM, KMS, Logs, SQS API references."""
IN_USE = frozenset(
    {
        "DependencyViolation", "ResourceInUseException", "ResourceInUse", "VolumeInUse", "DeleteConflict", "InvalidPlacementGroup.InUse",
        "InvalidIPAddress.InUse", "InvalidNetworkInterface.InUse", "IncorrectState", "OperationAbortedException", "BackupInProgress",
        # EC2, DeleteNetworkInterface: "Network interface 'eni-...' is currently in use."
        "InvalidParameterValue",
        # Batch's one code for all that is the caller's: "Cannot delete, found existing JobQueue relationship", "resource is being modified".
        "ClientException",
    }
)  # fmt: skip
"""Codes that say: not yet, something still hangs on it. The second and later tries may do."""
DENIED = frozenset({"AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "UnauthorizedException"})
THROTTLED = frozenset({"Throttling", "ThrottlingException", "RequestLimitExceeded", "TooManyRequestsException", "RequestThrottled"})
_EXPIRED = frozenset({"ExpiredToken", "ExpiredTokenException", "RequestExpired"})
_REFUSED = frozenset({"InvalidClientTokenId", "UnrecognizedClientException", "SignatureDoesNotMatch", "InvalidAccessKeyId", "AuthFailure"})

_SIGN_IN = "sign in again (`aws sso login`, or new keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), then `aws sts get-caller-identity`"


def code_of(error: BaseException) -> str:
    """The service's code of a refusal, empty for any other error."""
    return error.response.get("Error", {}).get("Code", "") if isinstance(error, exceptions.ClientError) else ""


def is_refusal(error: BaseException) -> bool:
    """Whether AWS has refused, so that nothing was done. An error of the server's own, or of a proxy, says nothing of that, other than
    too many requests and a lack of capacity, which EC2 answers with 5xx as well (EC2 API, error codes, server error codes)."""
    if not isinstance(error, exceptions.ClientError):
        return False
    status, code = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400), code_of(error)
    return status < 500 or code in THROTTLED or code.startswith("Insufficient")


def command_error(error: BaseException) -> CommandError | None:
    """The error of a command for what botocore raised; None for any other error."""
    if isinstance(error, exceptions.ClientError):
        return _of_refusal(error)
    wrong = f"{error}"
    match error:
        case exceptions.NoCredentialsError() | exceptions.PartialCredentialsError():
            return CommandError("there are no usable AWS credentials", _SIGN_IN, code=MISUSE)
        case exceptions.ProfileNotFound():
            return CommandError(wrong, "`aws configure list-profiles` shows the profiles; set AWS_PROFILE to one of them", code=MISUSE)
        case exceptions.SSOError() | exceptions.TokenRetrievalError() | exceptions.CredentialRetrievalError():
            return CommandError(f"the AWS credentials have expired or cannot be read: {wrong}", _SIGN_IN, code=MISUSE)
        case exceptions.EndpointConnectionError() | exceptions.ConnectTimeoutError() | exceptions.ReadTimeoutError():
            return CommandError(wrong, "check `trn:region` in the stack file, the network and the proxy", code=MISUSE)
        case exceptions.NoRegionError() | exceptions.InvalidRegionError() | exceptions.UnknownServiceError():
            return CommandError(wrong, "set `trn:region` in the stack file to a region such as us-west-2", code=MISUSE)
        case exceptions.BotoCoreError():
            return CommandError(wrong, "check credentials, region and network, then run the command again")
    return None


def _of_refusal(error: exceptions.ClientError) -> CommandError:
    answer: dict[str, Any] = dict(error.response.get("Error", {}))
    code, text = answer.get("Code", "Unknown"), answer.get("Message", "")
    wrong = f"{code}: {text} ({error.operation_name})"
    if code in _EXPIRED:
        return CommandError(wrong, _SIGN_IN, code=MISUSE)
    if code in DENIED:
        return CommandError(wrong, f"give the caller the document that `{typed('trn iam --operator')}` prints")
    if code in _REFUSED:
        hint = "the keys are not valid here; check AWS_PROFILE, and that the region of `trn:region` is enabled for the account"
        return CommandError(wrong, hint, code=MISUSE)
    if code in THROTTLED:
        return CommandError(wrong, "AWS still throttles after 8 tries; wait a minute, then run the command again")
    if code == "ResourceNotFoundException" and (error.operation_name == "DescribeCluster" or text.startswith("No cluster found")):
        return CommandError(
            wrong, f"check `trn:name` and `trn:region` in the stack file; `{typed('pulumi up')}` makes the cluster", code=MISUSE
        )
    return CommandError(wrong)
