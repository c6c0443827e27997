"""A bucket that others keep, as S3 answers for it: reads only."""

from typing import Literal

from botocore.exceptions import ClientError

from trn.aws.api import Api, Call
from trn.aws.errors import DENIED, code_of

GET_LOCATION = Call("s3", "GetBucketLocation")
_ABSENT = "NoSuchBucket"
_OLD_NAMES = {None: "us-east-1", "EU": "eu-west-1"}
"""How S3 writes the location of its two oldest regions (S3 API, GetBucketLocation: LocationConstraint)."""


def bucket_region(api: Api, name: str) -> str | Literal["absent", "denied"]:
    """Region of a bucket; `absent` where the caller's partition has none of this name, `denied` where the caller may not ask.

    Raises what botocore raises for any other refusal. Source: S3 API, GetBucketLocation; S3 user guide, bucket naming rules: a name
    is one bucket's in all accounts of a partition, and unknown in the others.
    """
    try:
        place = api.call(GET_LOCATION, Bucket=name).get("LocationConstraint") or None
    except ClientError as error:
        if code_of(error) == _ABSENT:
            return "absent"
        if code_of(error) in DENIED:
            return "denied"
        raise
    return _OLD_NAMES.get(place) or str(place)
