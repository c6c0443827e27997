"""How a command reaches the practice account in place of AWS: boto3 and Kubernetes clients that end in the simulated account."""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, NoReturn

from rich.console import Console

from addons.versions import managed_addon_version
from simulator.account.disk import AccountInUse
from simulator.aws_endpoint.endpoint import Options, session
from simulator.aws_endpoint.surroundings import Surroundings
from simulator.kubernetes_endpoint.server import ApiServer
from trn.aws.api import Api, BotoApi
from trn.change.clients import access, kubeconfig_for
from trn.cli.errors import MISUSE, CommandError
from trn.engine.assumed_account import put_missing
from trn.engine.program import settings_of
from trn.engine.pulumi import Pulumi
from trn.engine.stack_file import read_stack_file
from trn.kubernetes.client import Kubernetes, KubernetesClient
from trn.practice.account import PracticeAccount
from trn.practice.engine.project import PRACTICE, practice_folder
from trn.practice.engines import engine_of
from trn.practice.kubernetes import SimulatedClient
from trn.practice.pulumi import NoStack, PracticeCli, RehearsalEngine
from trn.practice.words import in_practice

LINE = f"practice: this is a simulated account in {PRACTICE}/, not AWS"
PAGE_SIZE = 100
ADDRESS = "203.0.113.7"
"""Of the block that is kept for documentation (RFC 5737), as in the shipped stack file."""


class PracticeApi(BotoApi):
    """boto3 whose calls end in a practice account."""

    def __init__(self, region: str, session: Any, account: PracticeAccount) -> None:
        super().__init__(region, session)
        self.account = account


@dataclass
class Practice:
    """The practice accounts that one command uses, each opened when it is first asked for."""

    is_practice = True
    _accounts: dict[str, PracticeAccount] = field(default_factory=dict)
    _unknown: dict[str, NoStack] = field(default_factory=dict)
    """Answers for stacks that are not up."""
    _is_announced: bool = False
    _stack: str = "dev"
    """The one that the command acts on."""

    def acts_on(self, stack: str, /) -> None:
        """Hints name this stack."""
        self._stack = stack

    def account(self, stack: str) -> PracticeAccount:
        """The account of a stack, held until the command ends. Raises AccountInUse, DamagedAccount."""
        if stack not in self._accounts:
            try:
                self._accounts[stack] = PracticeAccount(practice_folder(stack)).open()
            except AccountInUse as error:
                error.hint = "let the other command end, and run this one again"
                raise
            except OSError as error:
                hint = f"it must be a folder that you may write to; delete {practice_folder(stack).root} to begin again"
                raise CommandError(f"cannot use `{error.filename}`: {error.strerror}", hint) from error
        return self._accounts[stack]

    def close(self) -> int:
        """Let others have the accounts; 0. Raises UnwritableAccount."""
        for account in self._accounts.values():
            account.close()
        self._accounts.clear()
        return 0

    def leftovers(self, stack: str) -> int:
        """How many objects are in a stack's account."""
        return len(self.account(stack).world.state.leftovers())

    def aws(self, stack: str, region: str, /) -> Api:
        """Real boto3 clients, answered by the account."""
        account = self.account(stack)
        if put_missing(account.world.state, settings_of(read_stack_file(stack))):
            account.save()
        around = replace(
            Surroundings.of_region(region, account.world.state.allowances),
            other_addons=_pinned_version,
            has_market=True,
            now=lambda: datetime.now(UTC),
        )
        options = Options(region, page_size=PAGE_SIZE, surroundings=around, after_call=lambda _operation: account.save())
        return PracticeApi(region, session(account.world, options), account)

    def kubernetes(self, api: Api, entry: dict[str, Any], /) -> Kubernetes:
        """The same client as for a cluster on AWS, answered by the account."""
        assert isinstance(api, PracticeApi)
        if api.account.folder.has_control_plane:
            from trn.practice.control_plane import client

            return client(api, api.account.folder, entry)
        return KubernetesClient(SimulatedClient(ApiServer(api.account.world), api.account.save), lambda: "practice")

    def kubeconfig(self, api: Api, entry: dict[str, Any], /) -> dict[str, Any]:
        """The real control plane's own, where there is one; else one that leads nowhere."""
        assert isinstance(api, PracticeApi)
        if api.account.folder.has_control_plane:
            from trn.practice.control_plane import kubeconfig

            return kubeconfig(api.account.folder)
        return kubeconfig_for(api, entry)

    def schedules_pods(self, stack: str, /) -> bool:
        """Where a real control plane is behind the account, with schedulers of its own."""
        return self.account(stack).folder.has_control_plane

    def pulumi(self, stack: str, /) -> Pulumi:
        """The engine that brought the stack up; where none did, one that has no stack."""
        stack_file = read_stack_file(stack)
        account = self.account(stack)
        engine = engine_of(account.folder, stack_file)
        if engine is None:
            return self._unknown.setdefault(stack, NoStack(stack))
        return PracticeCli(account, stack_file) if engine == "pulumi" else RehearsalEngine(account, stack_file)

    def registries(self) -> NoReturn:
        """Raises CommandError: no image is in a practice account."""
        raise CommandError(
            "a practice account has no registry that takes images", "`trn image build` without --push needs no account", code=MISUSE
        )

    def hub(self) -> NoReturn:
        """Raises CommandError: practice asks nobody outside."""
        raise CommandError(
            "practice asks nobody outside of this machine", "name text in a bucket of the account, or --from PATH", code=MISUSE
        )

    def pause(self, seconds: float) -> None:
        """Time passes in the account whenever a command looks; a real control plane takes its own, of which a second is waited for."""
        if any(account.folder.has_control_plane for account in self._accounts.values()):
            time.sleep(min(seconds, 1))

    def own_address(self) -> str:
        """An address that no machine has."""
        return ADDRESS

    def need_tools(self, *tools: str) -> None:
        """Raises CommandError: no container runs in practice."""
        wrong = f"{' and '.join(tools)} cannot reach a practice account: no container runs in it"
        raise CommandError(wrong, "`trn --practice status` and `trn --practice logs` show what there is", code=MISUSE)

    def announce(self, *, on_standard_error: bool) -> None:
        """Say once that it is practice."""
        if not self._is_announced:
            self._is_announced = True
            Console(stderr=on_standard_error, highlight=False, soft_wrap=True).print(LINE, markup=False)

    def typed(self, line: str, /) -> str:
        """As practice has it."""
        return in_practice(line, self._stack)


def _pinned_version(addon: str, kubernetes_version: str) -> str | None:
    """What the program asks for is what EKS has here; the account itself refuses no version."""
    try:
        return managed_addon_version(addon, kubernetes_version)
    except KeyError:
        return None


def practice() -> Practice:
    """What the commands of `trn practice` act on."""
    given = access()
    assert isinstance(given, Practice)
    return given
