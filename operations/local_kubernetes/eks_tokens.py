"""Tokens as `aws eks get-token` makes them, read as EKS's authenticator reads them (aws-iam-authenticator, pkg/token)."""

import binascii
from base64 import urlsafe_b64decode
from urllib.parse import parse_qs, urlsplit

PREFIX = "k8s-aws-v1."


def is_eks_token(token: str) -> bool:
    """Whether it is a signed request for GetCallerIdentity that was made for some cluster. STS is not asked: any signature holds."""
    if not token.startswith(PREFIX):
        return False
    text = token.removeprefix(PREFIX)
    try:
        url = urlsplit(urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode())
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    asked = {key: values[0] for key, values in parse_qs(url.query).items()}
    signed = asked.get("X-Amz-SignedHeaders", "").split(";")
    return (url.hostname or "").startswith("sts.") and asked.get("Action") == "GetCallerIdentity" and "x-k8s-aws-id" in signed
