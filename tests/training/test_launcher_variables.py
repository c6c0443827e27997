"""Each launcher's variables lead to the same place in the job."""

import pytest

from launcher_variables import EntryError, expand, read
from tests.training.launcher_environments import CASES, TWO


@pytest.mark.parametrize(("variables", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_node_finds_its_place_whichever_launcher_started_it(variables, expected):
    place = read({**TWO, **variables})
    assert (place.launcher, place.rank, place.node_count, place.address, place.port, place.worker) == expected


def test_without_a_launcher_one_node_is_the_whole_job():
    """A recipe runs on a laptop without a variable."""
    place = read({})
    assert (place.launcher, place.rank, place.node_count, place.address) == ("local", 0, 1, "127.0.0.1")


def test_mpirun_inside_a_pod_of_a_job_counts_as_mpi():
    """The job controller numbers the launcher's own pod, which says nothing of the ranks."""
    variables = next(variables for name, variables, _ in CASES if name == "mpi, a rank for each node")
    assert read({**TWO, **variables, "JOB_COMPLETION_INDEX": "0"}).rank == 1


def test_the_launchers_port_holds_where_the_job_names_none():
    variables = next(variables for name, variables, _ in CASES if name == "trainjob torch")
    assert read({"TRN_NODES": "2", **variables}).port == 29500


def test_an_address_in_the_job_wins():
    """A launcher that names no host leaves it to the pod."""
    variables = next(variables for name, variables, _ in CASES if name == "jobset")
    assert read({**TWO, **variables, "TRN_ADDRESS": "leader.training.svc"}).address == "leader.training.svc"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"VC_TASK_INDEX": "0", "VC_WORKER_HOSTS": "bert-worker-0.bert"}, "the job has 2 nodes (TRN_NODES), volcano started 1"),
        ({"VC_TASK_INDEX": "2", "VC_WORKER_HOSTS": "a.bert,b.bert"}, "node 2 of 2: the first is 0"),
        ({"VC_TASK_INDEX": "first", "VC_WORKER_HOSTS": "a.bert,b.bert"}, "VC_TASK_INDEX is 'first'; a whole number is needed"),
        (
            {"VC_TASK_INDEX": "0", "VC_A_HOSTS": "a.bert", "VC_B_HOSTS": "b.bert", "HOSTNAME": "c"},
            "this host is 'c', which is none of a, b",
        ),
        ({"SM_HOSTS": '["algo-1","algo-2"]'}, "this host is '', which is none of algo-1, algo-2"),
        ({"JOB_COMPLETION_INDEX": "0"}, "indexed does not say where node 0 is; set TRN_ADDRESS"),
        (
            {"TF_CONFIG": '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "ps", "index": 0}}'},
            "TF_CONFIG has no task ps 0 in its cluster",
        ),
        ({}, "local does not say where node 0 is; set TRN_ADDRESS"),
    ],
)
def test_variables_that_do_not_add_up_are_refused(variables, message):
    """A job that starts with a wrong count waits for ever for a node that never comes."""
    with pytest.raises(EntryError) as refused:
        read({**TWO, **variables})
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("short", "hosts"),
    [
        ("", []),
        ("trn1", ["trn1"]),
        ("trn[1-3,7],head", ["trn1", "trn2", "trn3", "trn7", "head"]),
        ("trn1-st-[08-10]", ["trn1-st-08", "trn1-st-09", "trn1-st-10"]),
        ("rack[1-2]n[1-2]", ["rack1n1", "rack1n2", "rack2n1", "rack2n2"]),
    ],
)
def test_slurms_short_list_of_hosts_is_read(short, hosts):
    """As `scontrol show hostnames` writes it out, which an image need not have."""
    assert expand(short) == hosts
