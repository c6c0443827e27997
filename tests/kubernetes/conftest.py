"""One control plane for a session's tests of the tier, and fresh namespaces in it."""

import fcntl
import itertools
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from facts.charts import contracts
from local_kubernetes import build
from local_kubernetes.api import Api, wait
from local_kubernetes.control_plane import ControlPlane
from local_kubernetes.crds import install
from local_kubernetes.nodes import join, of_account, ready
from tests.addons.custom_resources import schemas
from tests.kubernetes import crds
from tests.kubernetes.stack import objects
from tests.stacks.test_addons import recorded
from tests.trn.practice.commands import bring_up
from trn.kubernetes.kinds import KINDS
from trn.practice.account import PracticeAccount
from trn.practice.engine.project import practice_folder
from trn.rights import drain_rights

# For the programs of a control plane: they collect garbage less often, which is a tenth of their time and costs some memory.
os.environ.setdefault("GOGC", "200")
_numbers = itertools.count(1)
Programs = Callable[..., Mapping[str, Path]]
LONGEST_FIRST = (
    "test_launchers.py", "test_objects.py", "test_practice.py", "test_charts.py", "test_commands.py", "test_volcano.py",
    "test_precompile.py", "test_rayjob.py", "test_mpijob.py", "test_accepted.py", "test_drain.py", "test_other_tools.py",
    "test_stage.py", "test_cancel.py", "kubelet/test_controllers.py", "kubelet/test_pods_run.py",
)  # fmt: skip
"""Files of more than 10 s on two cores. One of them at the end would leave the other workers with nothing to do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest files begin: workers take whole files in this order (`--dist loadfile --no-loadscope-reorder`)."""
    ranks = {Path(__file__).parent / name: rank for rank, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


@pytest.fixture(scope="session")
def programs(request: pytest.FixtureRequest) -> Programs:
    """Builds tools by name, says how long a build took, and gives their programs; a test is skipped where they cannot be built."""
    terminal = request.config.pluginmanager.get_plugin("terminalreporter")

    def built(name: str, seconds: float) -> None:
        if terminal is not None:
            terminal.write_line(f"built {name} {build.version(name)} in {seconds:.0f} s")

    def made(*names: str) -> Mapping[str, Path]:
        try:
            return build.tools(*names, built=built)
        except build.Missing as error:
            pytest.skip(str(error))

    return made


def first_start(factory: pytest.TempPathFactory) -> Path:
    """Where it is written how long the first control plane of a run took: while it started, other workers waited."""
    own = factory.getbasetemp()
    return (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "first-start.json"


@pytest.fixture(scope="session")
def control_plane(programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A control plane without nodes; with `-n` each worker has one."""
    tools = programs("kubernetes", "etcd", "kwok")
    with first_start(tmp_path_factory).open("a+") as turn:
        # One after the other: two at once take each as long as both together, and the second worker's tests begin no earlier for it.
        fcntl.flock(turn, fcntl.LOCK_EX)
        started = ControlPlane.start(tools)
        turn.seek(0)
        if not turn.read():
            turn.write(json.dumps(started.seconds))
    yield started
    started.stop()


@pytest.fixture
def api(control_plane: ControlPlane) -> Api:
    """An administrator's way to it."""
    return control_plane.api()


@pytest.fixture(scope="session")
def practised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose stack dev is up in a practice account. Not to be changed: tests take a copy."""
    return bring_up(tmp_path_factory.mktemp("practice"))


@pytest.fixture(scope="session")
def _dev_nodes(control_plane: ControlPlane, practised: Path) -> list[str]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.chdir(practised)
        account = PracticeAccount(practice_folder("dev")).open()
        try:
            return join(control_plane.api(), of_account(account.world.state))
        finally:
            account.close()


@pytest.fixture
def dev_nodes(_dev_nodes: list[str], api: Api) -> list[str]:
    """Names of the dev stack's nodes, which are there for the rest of the session. A test that takes one away puts it back."""
    assert set(_dev_nodes) <= set(ready(api))
    return _dev_nodes


@pytest.fixture(scope="module")
def with_kinds(control_plane: ControlPlane) -> Api:
    """The API server with every custom kind of which the program makes objects, or a drain deletes some; they stay for the next module.

    The charts bring three times as many, which test_objects.py installs: that takes the API server 12 s.
    """
    brought = {crd["metadata"]["name"]: crd for chart in contracts() for crd in crds.of_chart(chart)}
    own = {item["metadata"]["name"]: item for item in objects(recorded("everything")) if item["kind"] == "CustomResourceDefinition"}
    made = {(version.rpartition("/")[0], kind) for version, kind in map(str.split, schemas())}
    drained = {name for kind in KINDS for name in (kind.resource.qualified, *drain_rights(kind))}
    wanted = [
        item for name, item in (brought | own).items() if name in drained or (item["spec"]["group"], item["spec"]["names"]["kind"]) in made
    ]
    api = control_plane.api()
    install(api, wanted)
    return api


@contextmanager
def fresh_namespace(api: Api) -> Iterator[str]:
    """A namespace that takes pods; it goes with all that is in it."""
    name = f"test-{next(_numbers)}"
    item = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    api.create(item).ok()
    account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
    wait(lambda: api.call("GET", account).status == 200, f"{name} has its ServiceAccount")
    yield name
    api.delete(item)


@pytest.fixture
def namespace(api: Api) -> Iterator[str]:
    """One of the test's own."""
    with fresh_namespace(api) as name:
        yield name
