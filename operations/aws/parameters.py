"""One parameter of the account, for what operators must agree on: the lock of a cluster."""

from typing import Any

from botocore.exceptions import ClientError

from facts.names import lock_parameter
from facts.resources.rights import Scope
from operations.aws.api import Api, Call
from operations.aws.errors import NOT_FOUND, code_of

_LOCKS = (Scope("arn:{partition}:ssm:{region}:*:parameter" + lock_parameter("{cluster}")),)
PUT = Call("ssm", "PutParameter", _LOCKS)
GET = Call("ssm", "GetParameter", _LOCKS)
DELETE = Call("ssm", "DeleteParameter", _LOCKS)

LOCKING = (PUT, GET, DELETE)


def create(api: Api, name: str, value: str) -> bool:
    """Make a parameter; False where there is one. Of two that try at once one gets it (SSM API, PutParameter, Overwrite)."""
    parameters: dict[str, Any] = {"Name": name, "Value": value, "Type": "String", "Overwrite": False}
    try:
        api.call(PUT, **parameters)
    except ClientError as error:
        if code_of(error) == "ParameterAlreadyExists":
            return False
        raise
    return True


def read(api: Api, name: str) -> str | None:
    """The value of a parameter, None where there is none."""
    try:
        return api.call(GET, Name=name)["Parameter"]["Value"]
    except ClientError as error:
        if code_of(error) in NOT_FOUND:
            return None
        raise


def delete(api: Api, name: str) -> None:
    """Delete a parameter; one that is gone already is no error."""
    try:
        api.call(DELETE, Name=name)
    except ClientError as error:
        if code_of(error) not in NOT_FOUND:
            raise
