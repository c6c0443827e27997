"""Where a control plane comes from is decided by what is on PATH, what the stack has, and what is asked for."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local_kubernetes.errors import LocalKubernetesError
from local_kubernetes.ways import GO, K3D, KIND, NAME_LENGTH_MAX, WAYS, chosen, cluster_name, named, names
from tests.support import copy_project
from tests.trn.practice.commands import trn

OWN = Path("/p/own")


def on_path(*programs: str):
    """Only these are there."""
    return lambda name: name in programs


def test_the_first_that_is_there_is_taken():
    """Go first: what is built has EKS's version and admission plug-ins."""
    assert chosen(None, None, on_path("k3d", "kind", "go")) == GO
    assert chosen(None, None, on_path("kwokctl", "k3d")) == K3D


def test_what_is_asked_for_wins_where_it_is_there():
    """And is refused by its name where it is not."""
    assert chosen("kind", None, on_path("go", "kind")) == KIND
    with pytest.raises(LocalKubernetesError, match="there is no kind on PATH"):
        chosen("kind", None, on_path("go"))
    with pytest.raises(LocalKubernetesError, match="`docker` is no way"):
        chosen("docker", None, on_path("go"))


def test_a_stack_keeps_its_way():
    """Also when its tool is not on PATH any more: then that is said, and no other cluster is made."""
    assert chosen(None, KIND, on_path("go")) == KIND
    assert chosen("kind", KIND, on_path()) == KIND
    with pytest.raises(LocalKubernetesError, match="the stack's API server is kind's, and not k3d's") as raised:
        chosen("k3d", KIND, on_path("kind", "k3d"))
    assert "practice down" in raised.value.hint


def test_nothing_at_all_is_named():
    """With everything that would do."""
    with pytest.raises(LocalKubernetesError, match="none of go, kind, k3d, kwokctl is on PATH"):
        chosen(None, None, on_path())


@given(st.text(max_size=60), st.text(min_size=1, max_size=20))
def test_names_of_clusters_are_host_names(stack: str, folder: str):
    """Whatever a stack is called; and the same each time."""
    name = cluster_name(stack, Path(folder))
    assert len(name) <= NAME_LENGTH_MAX
    assert name.startswith("trn-")
    assert not name.endswith("-")
    assert "--" not in name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert name == cluster_name(stack, Path(folder))


def test_stacks_of_one_name_in_two_folders_have_two_clusters():
    """Two checkouts of one project, say."""
    assert cluster_name("dev", Path("/a")) != cluster_name("dev", Path("/b"))


def test_a_listing_names_its_clusters():
    """k3d prints columns; kind nothing where there is none."""
    assert names("trn-dev-1a2b3c   1/1       0/0      false\nother 1/1 0/0 true\n") == {"trn-dev-1a2b3c", "other"}
    assert names("\n") == set()


@pytest.mark.parametrize("way", [way for way in WAYS if way.makes_clusters], ids=lambda way: way.name)
def test_every_command_names_the_cluster(way):
    """None acts on a default one, or on all; and none is sent to the user's own kubeconfig."""
    for arguments in (way.create, way.kubeconfig, way.delete):
        command = way.command(arguments, "trn-dev-1a2b3c", OWN)
        assert command[0] == way.name
        assert command.count("trn-dev-1a2b3c") == 1
        assert "--all" not in command
    written = way.command(way.create, "trn-dev-1a2b3c", OWN)
    assert str(OWN) in written or "--kubeconfig-update-default=false" in written
    assert "{" not in " ".join(written)
    assert way.delete_hint("one") in (f"{way.name} delete cluster --name one", f"{way.name} cluster delete one")
    assert named(way.name) == way


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--kubernetes", "there is nothing to make a control plane with"),
        ("--kubernetes=k3d", "there is no k3d on PATH"),
        ("--kubernetes=docker", "`docker` is no way to a control plane"),
    ],
)
def test_the_option_takes_a_name_or_none(option: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Before the stack's name or behind it; what is refused makes nothing."""
    copy_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    for words in (f"{option} dev", f"dev {option}"):
        code, _, errors = trn(f"practice up {words} --quiet")
        assert code == 2
        assert said in errors
    assert not (tmp_path / "build/practice/dev/kubernetes").exists()
