"""A chip that does not exist, in the catalogue alone: rules, nodes, jobs, figures and pages follow, or say what they lack of it."""

import json
from dataclasses import replace

import pytest

from addons.slurm.values import gres_conf
from facts.catalogue import NEURON_TYPES, Chip, InstanceType
from facts.names import NEURON_CORE_RESOURCE
from facts.toolchains import TOOLCHAINS, allowed_workers
from simulator.kubernetes_endpoint.server import ApiServer
from stacks.config import parse_settings
from stacks.problems import ConfigurationError
from tests.simulator.account.standing import standing
from tests.support import dev_configuration, merged
from tests.training.sites import EVERYTHING, NEEDED, group, job
from tools.pages.pages import hardware_page
from training.launchers import launchers
from trn.engine.job_site import site_of
from trn.jobs.watch.progress import hardware, read
from trn.jobs.watch.view import figures
from trn.running.subject import core_count

CHIP = Chip("Trainium9", physical_cores=6, logical_sizes=(2, 1), memory_gib=100, peak_bf16_tflops=None)
TYPE = "trn1.32xlarge"
"""Of the shipped stack: what it is made of is another chip here."""


@pytest.fixture(autouse=True)
def invented(monkeypatch: pytest.MonkeyPatch) -> InstanceType:
    """The type with 16 of them."""
    made = replace(NEURON_TYPES[TYPE], chip=CHIP)
    monkeypatch.setitem(NEURON_TYPES, TYPE, made)
    return made


def test_its_figures_are_those_of_its_chips(invented: InstanceType):
    """Nothing of them is written a second time."""
    assert (invented.physical_core_count, invented.logical_core_count, invented.cores_at(1)) == (96, 48, 96)
    assert invented.device_memory_gib == 1600


@pytest.mark.parametrize("size", [1, 2])
def test_rules_let_a_group_choose_what_the_chip_leaves_to_choose(size: int):
    """A chip with one size is refused any."""
    configuration = merged(dev_configuration(), nodeGroups={"trn1-32xl": {"logicalCoreSize": size}})
    settings = parse_settings(configuration, "invented", rehearsal=True)
    assert core_count(settings.node_groups["trn1-32xl"]) == 96 // size
    assert site_of(settings, "invented").node_groups["trn1-32xl"].instance.chip_name == "Trainium9"


def test_rules_refuse_a_size_that_the_chip_has_not(monkeypatch: pytest.MonkeyPatch):
    """And name the chips that have a choice."""
    monkeypatch.setitem(NEURON_TYPES, TYPE, replace(NEURON_TYPES[TYPE], chip=replace(CHIP, logical_sizes=(2,))))
    configuration = merged(dev_configuration(), nodeGroups={"trn1-32xl": {"logicalCoreSize": 1}})
    with pytest.raises(ConfigurationError, match=r"no logical cores of that size(.|\n)*Trainium2 types only"):
        parse_settings(configuration, "invented", rehearsal=True)


def test_every_launcher_starts_what_its_node_has(invented: InstanceType):
    """One process for each logical core is allowed as well, and the runtime is told the size."""
    on = replace(EVERYTHING, node_groups={"trn1-32xl": group("trn1-32xl", TYPE)}, gang=False)
    assert max(allowed_workers(TOOLCHAINS["xla-2.30"], invented, 16)) == 48
    of_kubernetes = [each for each in launchers() if each.resource is not None]
    assert len(of_kubernetes) > 5
    for each in of_kubernetes:
        rendered = str(each.render(job(launcher=each.name, **NEEDED.get(each.name, {})), on))
        assert "{'name': 'TRN_CORES_PER_NODE', 'value': '48'}" in rendered, each.name
        assert "{'name': 'NEURON_LOGICAL_NC_CONFIG', 'value': '2'}" in rendered, each.name


def test_slurm_and_the_page_call_it_by_its_name(invented: InstanceType):
    """Its name, its memory, its cores."""
    assert gres_conf(invented) == "Name=neuron Type=trainium9 File=/dev/neuron[0-15]\n"
    assert f"| {TYPE} | 16 Trainium9 | 96 / 48 | 1600 GiB" in hardware_page()


def test_its_nodes_offer_its_cores():
    """As a rehearsal's API server shows them."""
    nodes = ApiServer(standing()).answer("GET", "/api/v1/nodes").body
    offered = {node["status"]["allocatable"].get(NEURON_CORE_RESOURCE) for node in json.loads(nodes)["items"]}
    assert "48" in offered


def test_a_share_of_a_peak_that_nobody_published_is_not_made_up(invented: InstanceType):
    """It says what is missing, and not that the log lacks something."""
    shown = dict(figures(read([]), hardware(invented, 2)))
    assert shown["share of peak"] == "not known: no peak of its chip is published"
