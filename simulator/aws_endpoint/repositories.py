"""ECR: the account's repositories and its login. Images are not simulated: no registry answers behind it."""

import base64
from collections.abc import Iterator

from simulator.aws_endpoint.entries import Entry, arn
from simulator.aws_endpoint.inventory import Inventory
from simulator.aws_endpoint.wire import Handler, Refused
from simulator.outputs import ACCOUNT, CREATED_AT

KIND = "repository"


class Repositories:
    """Answers over one account."""

    def __init__(self, inventory: Inventory) -> None:
        self._inventory = inventory

    def handlers(self) -> Iterator[tuple[str, Handler]]:
        """By `service.Operation`."""
        yield "ecr.GetAuthorizationToken", lambda _: {"authorizationData": [self._login()]}
        yield "ecr.DescribeRepositories", self._described
        yield "ecr.CreateRepository", self._create
        yield "ecr.ListTagsForResource", self._tags

    @property
    def _kept(self) -> dict[str, Entry]:
        return self._inventory.world.state.others.get(KIND, {})

    def _login(self) -> Entry:
        token = base64.b64encode(b"AWS:simulated").decode()
        return {"authorizationToken": token, "proxyEndpoint": f"https://{ACCOUNT}.dkr.ecr.{self._inventory.region}.amazonaws.com"}

    def _described(self, given: Entry) -> Entry:
        found = [self._shown(name) for name in given["repositoryNames"] if name in self._kept]
        if len(found) < len(given["repositoryNames"]):
            raise Refused("RepositoryNotFoundException", f"The repository with name '{given['repositoryNames'][0]}' does not exist", 400)
        return {"repositories": found}

    def _shown(self, name: str) -> Entry:
        """Tags are listed by another call (ECR API, Repository)."""
        own = {key: value for key, value in self._kept[name].items() if key != "tags"}
        return {
            "repositoryArn": arn(self._inventory.region, "ecr", f"repository/{name}"),
            "repositoryName": name,
            "createdAt": CREATED_AT,
            **own,
        }

    def _create(self, given: Entry) -> Entry:
        name = given["repositoryName"]
        if name in self._kept:
            raise Refused("RepositoryAlreadyExistsException", f"The repository with name '{name}' already exists", 400)
        made = {key: given[key] for key in ("imageTagMutability", "imageScanningConfiguration", "tags") if key in given}
        self._inventory.world.state.others.setdefault(KIND, {})[name] = made
        return {"repository": self._shown(name)}

    def _tags(self, given: Entry) -> Entry:
        name = given["resourceArn"].partition(":repository/")[2]
        if name not in self._kept:
            raise Refused("RepositoryNotFoundException", f"The repository with name '{name}' does not exist", 400)
        return {"tags": self._kept[name].get("tags", [])}
