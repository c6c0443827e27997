"""The table that stands for a registry."""

import pytest

from tests.kubernetes.kubelet.images import (
    Image,
    NotPulled,
    find_image,
    kept_of_tmp,
    process_arguments,
    read_images,
    repository,
    standard_images,
)


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("busybox", "busybox"),
        ("busybox:1.36", "busybox"),
        ("docker.io/library/busybox:1@sha256:0", "library/busybox"),
        ("public.ecr.aws/neuron/jax-training-neuronx:0.10.0", "neuron/jax-training-neuronx"),
        ("localhost:5000/a/b", "a/b"),
        ("team/image", "team/image"),
    ],
)
def test_a_repository_is_the_name_without_host_tag_and_digest(name, bare):
    """A private mirror serves the same image under another host."""
    assert repository(name) == bare


def test_an_unknown_image_is_not_pulled():
    """With the name, and what would be known."""
    with pytest.raises(NotPulled, match=r"none:1: not found .*busybox") as refused:
        find_image("none:1", standard_images())
    assert refused.value.image == "none:1"


def test_more_images_come_from_a_file_and_win():
    """Patterns stand for many repositories, such as every image of the Neuron registry."""
    more = read_images('{"neuron/*": {"path": ["/venv/bin"], "environment": {"A": "1"}, "command": ["python"]}}')
    found = find_image("public.ecr.aws/neuron/pytorch-training-neuronx:2.9", more | standard_images())
    assert found.environment["PATH"].startswith("/venv/bin:")
    assert (found.environment["A"], found.command) == ("1", ("python",))


@pytest.mark.parametrize(
    ("container", "arguments"),
    [
        ({}, ["entry", "default"]),
        ({"args": ["a"]}, ["entry", "a"]),
        ({"command": ["c"]}, ["c"]),
        ({"command": ["c"], "args": ["a"]}, ["c", "a"]),
    ],
)
def test_command_and_arguments_replace_those_of_the_image(container, arguments):
    """The four cases of Kubernetes's documentation (Define a Command and Arguments)."""
    assert process_arguments(container, Image(entrypoint=("entry",), command=("default",))) == arguments


def test_only_the_folders_of_its_programs_are_kept_of_tmp():
    """A checkout in /tmp brings its Python; a heartbeat that another process left in /tmp itself is in no pod's way."""
    environment = {"PATH": "/tmp/one/.venv/bin:/usr/bin", "PYTHONPATH": "/tmp/two/modules"}
    assert kept_of_tmp(environment, own=["/tmp/one/.venv", "/usr"]) == ["/tmp/one", "/tmp/two"]
    assert kept_of_tmp({"PATH": "/usr/bin"}, own=["/usr"]) == []
