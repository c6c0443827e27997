"""How a command reaches AWS, the cluster and Pulumi: the real ones, or those of a practice account (`trn --practice`).

The root option decides once; every command asks `access()` and never makes a client by itself.
"""

import shutil
import time
import urllib.request
from typing import TYPE_CHECKING, Any, Protocol, cast

from facts.kubeconfig import kubeconfig
from facts.typed import typed
from trn.aws.api import Api, BotoApi
from trn.cli.errors import CommandError
from trn.cli.voice import Voice, current, using
from trn.engine.pulumi import Pulumi, PulumiCli
from trn.kubernetes.client import Kubernetes, connect

if TYPE_CHECKING:
    from urllib3 import PoolManager

__all__ = ["Access", "Live", "access", "kubeconfig_for", "using"]
OWN_ADDRESS_URL, ADDRESS_TIMEOUT_S = "https://checkip.amazonaws.com", 20


class Access(Voice, Protocol):
    """The connections of a command to the outside."""

    def schedules_pods(self, stack: str, /) -> bool:
        """Whether the stack's pods get nodes; that their containers run is another thing."""
        ...

    def aws(self, stack: str, region: str, /) -> Api:
        """AWS in a region, for a stack."""
        ...

    def kubernetes(self, api: Api, entry: dict[str, Any], /) -> Kubernetes:
        """The cluster that `DescribeCluster` described, reached through the same account."""
        ...

    def kubeconfig(self, api: Api, entry: dict[str, Any], /) -> dict[str, Any]:
        """A kubeconfig for the cluster that `DescribeCluster` described."""
        ...

    def pulumi(self, stack: str, /) -> Pulumi:
        """Pulumi, with the backend that holds the stack."""
        ...

    def registries(self) -> "PoolManager":
        """Connections to image registries."""
        ...

    def hub(self) -> "PoolManager":
        """Connections to Hugging Face, whose data sets and tokenizers are no part of any account."""
        ...

    def pause(self, seconds: float) -> None:
        """Let time pass until the next look."""
        ...

    def own_address(self) -> str:
        """Address from which the API server would see the caller."""
        ...

    def need_tools(self, *tools: str) -> None:
        """Raises CommandError where a tool cannot be used: before anything is started."""
        ...

    def acts_on(self, stack: str, /) -> None:
        """The command is about this stack: said before it begins."""
        ...


def kubeconfig_for(api: Api, entry: dict[str, Any]) -> dict[str, Any]:
    """As `aws eks update-kubeconfig` writes it."""
    return kubeconfig(entry["name"], api.region, entry["endpoint"], entry["certificateAuthority"]["data"])


def _connections() -> "PoolManager":
    from urllib3 import PoolManager, Timeout

    return PoolManager(timeout=Timeout(connect=10, read=120))


class Live:
    """AWS itself, with the credentials that boto3 finds."""

    is_practice = False

    def schedules_pods(self, _stack: str, /) -> bool:
        """A cluster does."""
        return True

    def aws(self, _stack: str, region: str, /) -> Api:
        """boto3's own search for credentials."""
        return BotoApi(region)

    def kubernetes(self, api: Api, entry: dict[str, Any]) -> Kubernetes:
        """The API server itself, with a token of the caller's own."""
        assert isinstance(api, BotoApi)
        return connect(api, entry)

    def kubeconfig(self, api: Api, entry: dict[str, Any]) -> dict[str, Any]:
        """It asks the AWS CLI for tokens, and holds no secret."""
        return kubeconfig_for(api, entry)

    def pulumi(self, _stack: str, /) -> Pulumi:
        """The CLI, where it is logged in."""
        return PulumiCli()

    def registries(self) -> "PoolManager":
        """Over HTTP, with a time limit for each step."""
        return _connections()

    def hub(self) -> "PoolManager":
        """The same."""
        return _connections()

    def pause(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def own_address(self) -> str:
        """The address under which the world sees this machine. Raises OSError."""
        with urllib.request.urlopen(OWN_ADDRESS_URL, timeout=ADDRESS_TIMEOUT_S) as answer:
            return answer.read(100).decode().strip()

    def need_tools(self, *tools: str) -> None:
        """Raises CommandError for the first that is not on PATH."""
        for tool in tools:
            if shutil.which(tool) is None:
                raise CommandError(f"{tool} is not on PATH", f"install {tool}; `{typed('trn check')}` says which version")

    def announce(self, *, on_standard_error: bool) -> None:
        """Nothing to say."""

    def acts_on(self, _stack: str, /) -> None:
        """Commands on AWS are typed alike for every stack."""

    def typed(self, line: str, /) -> str:
        """As it is."""
        return line


def access() -> Access:
    """What the command that runs was given; AWS itself without `--practice`."""
    return cast(Access | None, current()) or Live()
