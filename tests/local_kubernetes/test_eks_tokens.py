"""Tokens of EKS's callers are told from others."""

from base64 import urlsafe_b64encode

import pytest

from local_kubernetes.eks_tokens import PREFIX, SECRET, bound, is_bound, is_eks_token, secret_in
from simulator.aws_endpoint.endpoint import Options, session
from trn.kubernetes.client import token
from trn.practice.access import PracticeApi
from trn.practice.account import PracticeAccount
from trn.practice.engine.project import EngineFolder


def _encoded(url: str) -> str:
    return PREFIX + urlsafe_b64encode(url.encode()).decode().rstrip("=")


def test_the_commands_own_token_is_one(tmp_path):
    """As `aws eks get-token` makes it."""
    account = PracticeAccount(EngineFolder(tmp_path))
    api = PracticeApi("us-west-2", session(account.world, Options("us-west-2")), account)
    assert is_eks_token(token(api, "trainium-dev"))


def test_a_practice_cluster_wants_its_secret_too(tmp_path):
    """Any signature holds here, so that others on the machine could make one; only the owner may read the file."""
    account = PracticeAccount(EngineFolder(tmp_path))
    made = token(PracticeApi("us-west-2", session(account.world, Options("us-west-2")), account), "trainium-dev")
    secret = secret_in(tmp_path)
    assert secret == secret_in(tmp_path)
    assert (tmp_path / SECRET).stat().st_mode & 0o777 == 0o600
    assert is_bound(bound(made, secret), secret)
    for other in (made, bound(made, "guessed"), bound("k8s-aws-v1.x", secret), bound("", secret)):
        assert not is_bound(other, secret)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "test.alice",
        PREFIX,
        PREFIX + "%%%",
        _encoded("https://example.com/?Action=GetCallerIdentity&X-Amz-SignedHeaders=host;x-k8s-aws-id"),
        _encoded("https://sts.us-west-2.amazonaws.com/?Action=AssumeRole&X-Amz-SignedHeaders=host;x-k8s-aws-id"),
        # A signed request that was made for no cluster.
        _encoded("https://sts.us-west-2.amazonaws.com/?Action=GetCallerIdentity&X-Amz-SignedHeaders=host"),
    ],
)
def test_nothing_else_is_one(text: str):
    """Whatever it is made of."""
    assert not is_eks_token(text)
