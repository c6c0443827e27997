"""Image registries on the stage: requests are answered in this process, counted, refused and lost like all other calls."""

import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from urllib3 import HTTPResponse
from urllib3.exceptions import HTTPError

from facts.toolchains import TOOLCHAINS
from simulator.account.world import World
from simulator.aws_endpoint.repositories import KIND
from simulator.outputs import ACCOUNT
from tests.trn.jobs.image.images import put_base
from tests.trn.jobs.image.strict_registry import StrictRegistry, answered
from trn.aws.ecr import registry_host
from trn.jobs.image.registry import parsed

READS = ("GET", "HEAD")


class _OfAccount(StrictRegistry):
    """As ECR: it has the repositories that the account has, and tags stay with their images."""

    world: World

    def of(self, name: str) -> Any:
        """What the account has is there; nothing else is made."""
        self.makes_repositories = name in self.world.state.others.get(KIND, {})
        return super().of(name)


@cache
def _public() -> StrictRegistry:
    """Nothing is ever sent to it."""
    made = StrictRegistry()
    for image in sorted({toolchain.image for toolchain in TOOLCHAINS.values() if toolchain.image}):
        reference = parsed(image)
        put_base(made, reference.repository, reference.version, layers=1)
    return made


@dataclass
class Registries:
    """The account's registry, and a public one with the base of each toolchain."""

    region: str
    account: StrictRegistry = field(default_factory=lambda: _OfAccount(password="simulated", immutable=True))
    public: StrictRegistry = field(default_factory=lambda: _public())
    through: Callable[[str, str, bool, Callable[[], Any], Callable[[Any], Any]], Any] = lambda *_: None
    """Counts a request: method and path, what it is called, whether it changes anything, how it is done, how it fails."""

    def serve(self, world: World, through: Any) -> "Registries":
        """Over one account."""
        vars(self.account)["world"] = world
        self.through = through
        return self

    def everything(self) -> Iterator[tuple[str, str]]:
        """What is in the account's registry."""
        for name, repository in self.account.repositories.items():
            yield from ((f"image {name}:{tag}", digest) for tag, digest in repository.tags.items())
            yield from ((f"layer {name}@{digest}", digest) for digest in repository.blobs)

    def request(
        self, method: str, url: str, *, body: Any = None, headers: Any = None, preload_content: bool = True, **_more: Any
    ) -> HTTPResponse:
        """As `urllib3.PoolManager` has it."""
        host, _, path = url.removeprefix("https://").partition("/")
        registry = self.account if host == registry_host(ACCOUNT, self.region) else self.public
        kind = next(iter(re.findall(r"/(blobs/uploads|blobs|manifests)/", f"/{path}")), "token")

        def act() -> HTTPResponse:
            sent = b"" if body is None else body if isinstance(body, bytes) else b"".join(body)
            status, answer, found = answered(registry, method, f"/{path}", dict(headers or {}), sent)
            content = found if preload_content else io.BytesIO(found)
            return HTTPResponse(content, answer, status, preload_content=preload_content, request_method=method)

        def failed(fault: str) -> HTTPResponse:
            if fault == "lost":
                raise HTTPError("connection lost")
            return HTTPResponse(b"{}", {}, 500 if fault == "broken" else int(fault), preload_content=True)

        return self.through(f"{method} {kind}", f"{method} /{path}", method not in READS, act, failed)
