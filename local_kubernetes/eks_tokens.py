"""Tokens as `aws eks get-token` makes them, read as EKS's authenticator reads them (aws-iam-authenticator, pkg/token)."""

import binascii
import hmac
import secrets
from base64 import urlsafe_b64decode
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PREFIX = "k8s-aws-v1."
SECRET = "token-secret"
"""File beside a practice cluster's authority. STS, which knows whose a signature is, is not asked here: only who reads this file is believed."""


def secret_in(folder: Path) -> str:
    """The secret of a practice cluster, made at the first time; only its owner may read it."""
    path = folder / SECRET
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(32))
    return path.read_text()


def bound(token: str, secret: str) -> str:
    """A token with the secret, which a practice cluster wants."""
    return f"{token}.{secret}"


def is_bound(token: str, secret: str) -> bool:
    """Whether a token is one of EKS's callers, with the secret."""
    before, _, given = token.rpartition(".")
    return hmac.compare_digest(given.encode(), secret.encode()) and is_eks_token(before)


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
