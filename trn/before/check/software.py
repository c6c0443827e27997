"""Checks of versions: AMI releases and their drivers, Kubernetes, add-ons, and the tools on this machine."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta

from addons.batch import BatchSettings
from facts.catalogue import NEURON_TYPES
from facts.names import BATCH_ROLE
from facts.neuron_releases import RELEASE_PATTERN, ami_driver, version_text
from facts.toolchains import TOOLCHAINS, Toolchain, driver_conflict, hardware_conflict
from facts.typed import typed
from trn.aws.eks import addon_versions, support_dates
from trn.aws.identity import has_role
from trn.aws.releases import recommended_release, release_exists
from trn.before.check.subject import Subject
from trn.cli.findings import Finding, failed, passed, warned

SUPPORT_MARGIN = timedelta(days=60)
PULUMI_MINIMUM, AWS_MINIMUM = (3, 260), (2, 7)
"""Oldest that were tried: error hooks need the first, the control-plane component the second."""
Version = tuple[int, ...]


def ami_releases(subject: Subject) -> Iterator[Finding]:
    """Pinned releases exist, unpinned groups get one, and the Neuron driver fits the training image."""
    settings = subject.settings
    minor = settings.control_plane.kubernetes_version
    yield _release(subject, "coreNodes", "standard", minor, settings.core_nodes.release_version)
    for name, group in settings.node_groups.items():
        found = _release(subject, f"nodeGroups.{name}", "neuron", minor, group.release_version)
        yield found
        release = group.release_version or recommended_release(subject.api, minor, "neuron")
        if found.verdict != "fail" and release is not None:
            yield _driver(subject, name, release)


def _release(subject: Subject, path: str, variant: str, minor: str, pinned: str | None) -> Finding:
    if pinned is None:
        newest = recommended_release(subject.api, minor, variant)
        if newest is None:
            return failed("AMI", f"AWS publishes no {variant} AMI for Kubernetes {minor} in {subject.region}", "take another minor")
        return passed("AMI", f"{path} takes the newest {variant} release, today {newest}")
    if release_exists(subject.api, pinned, variant):
        return passed("AMI", f"{path} pins {variant} release {pinned}, which is there")
    do = f"`{path}.releaseVersion`: pin one of `aws ec2 describe-images --owners amazon --filters 'Name=name,Values=*{variant}-{minor}-*'`"
    return failed("AMI", f"{variant} release {pinned} is not in {subject.region}", do)


def _driver(subject: Subject, name: str, release: str) -> Finding:
    if RELEASE_PATTERN.fullmatch(release) is None:
        do = f"pin `nodeGroups.{name}.releaseVersion`: `{typed('trn check')}` then knows the driver"
        return failed("driver", f"AWS's newest release is called {release}, which this version of trn cannot read", do)
    driver, name_of_toolchain = ami_driver(release), subject.settings.training.toolchain
    brings = f"release {release} of nodeGroups.{name} brings driver {version_text(driver)}"
    if name_of_toolchain is None:
        return warned("driver", f"{brings}; the toolchain of the jobs is not known", "set `training.toolchain` to have them compared")
    toolchain = TOOLCHAINS[name_of_toolchain]
    if hardware := hardware_conflict(toolchain, NEURON_TYPES[subject.settings.node_groups[name].instance_type]):
        do = "jobs there name another toolchain; docs/toolchains.md says which"
        return warned("driver", f"{brings}; {hardware}", do)
    conflict = driver_conflict(toolchain, driver)
    if conflict:
        what = f"{brings}, an image of {toolchain.name} has runtime {version_text(toolchain.sdk.runtime)}: {conflict}"
        return failed("driver", what, f"pin `nodeGroups.{name}.releaseVersion`; docs/hardware.md has the drivers")
    return passed("driver", f"{brings}, which runs images of {toolchain.name}{_unknown_driver(toolchain)}")


def _unknown_driver(toolchain: Toolchain) -> str:
    """What is not established of the drivers that a toolchain starts on."""
    return f", as far as is known: {toolchain.marks['driver']}" if "driver" in toolchain.marks else ""


def kubernetes_support(subject: Subject) -> Iterator[Finding]:
    """The minor is offered, and for how long it stays in standard support."""
    minor = subject.settings.control_plane.kubernetes_version
    found = support_dates(subject.api, minor)
    if found is None or found.standard_ends is None:
        yield failed(
            "Kubernetes", f"EKS in {subject.region} does not offer {minor}", "set `controlPlane.kubernetesVersion` to another minor"
        )
        return
    what = f"{minor} is in standard support until {found.standard_ends}"
    if found.standard_ends < subject.today:
        what = f"{minor} left standard support on {found.standard_ends} and costs six times as much"
        yield warned("Kubernetes", what, "set `controlPlane.kubernetesVersion` to a newer minor")
    elif found.standard_ends < subject.today + SUPPORT_MARGIN:
        yield warned("Kubernetes", what, "take a newer minor for a new cluster")
    else:
        yield passed("Kubernetes", what)


def addons(subject: Subject) -> Iterator[Finding]:
    """Each managed add-on of the program has its pinned version on this minor."""
    minor = subject.settings.control_plane.kubernetes_version
    for item in subject.recording.of_type("aws:eks/addon:Addon"):
        name, version = item.inputs["addonName"], item.inputs.get("addonVersion")
        there = addon_versions(subject.api, name, minor)
        if version is None or version in there:
            yield passed("add-on", f"{name} {version or 'newest'} is there for {minor}")
        else:
            newest = ", ".join(there[:3]) or "none"
            do = f"pin one of them in addons/versions.py: {newest}"
            yield failed("add-on", f"{name} has no {version} for Kubernetes {minor} in {subject.region}", do)
    if subject.settings.addons.of(BatchSettings).enabled:
        yield _batch_role(subject)


def _batch_role(subject: Subject) -> Finding:
    """Batch makes its role by itself for managed environments only; the program's is not."""
    if has_role(subject.api, BATCH_ROLE):
        return passed("add-on", f"AWS Batch has its {BATCH_ROLE}")
    do = "aws iam create-service-linked-role --aws-service-name batch.amazonaws.com"
    return failed("add-on", f"AWS Batch has no {BATCH_ROLE} in this account", do)


def tools(subject: Subject) -> Iterator[Finding]:
    """pulumi, aws and kubectl are here and new enough."""
    yield _tool(subject, "pulumi", ["pulumi", "version"], lambda text: text, PULUMI_MINIMUM)
    yield _tool(subject, "aws", ["aws", "--version"], lambda text: text.removeprefix("aws-cli/"), AWS_MINIMUM)
    found = _tool(subject, "kubectl", ["kubectl", "version", "--client", "--output=json"], _kubectl_version, (1, 0))
    if found.verdict == "pass":
        minor = int(subject.settings.control_plane.kubernetes_version.split(".")[1])
        version = _version(_kubectl_version(subject.tool_answer(["kubectl", "version", "--client", "--output=json"])))
        if abs(version[1] - minor) > 1:
            do = f"install kubectl 1.{minor}: it works with servers one minor away at most"
            found = warned("kubectl", f"kubectl {version[0]}.{version[1]} for a control plane of 1.{minor}", do)
    yield found


def _tool(subject: Subject, name: str, command: list[str], cut: Callable[[str], str], minimum: Version) -> Finding:
    wanted = ".".join(map(str, minimum))
    try:
        version = _version(cut(subject.tool_answer(command)))
    except (OSError, ValueError, KeyError) as error:
        return failed(name, f"could not ask `{' '.join(command)}`: {error}", f"install {name} {wanted} or later")
    shown = ".".join(map(str, version))
    if version < minimum:
        return failed(name, f"{name} {shown} is too old", f"install {name} {wanted} or later")
    return passed(name, f"{name} {shown}")


def _kubectl_version(text: str) -> str:
    return str(json.loads(text)["clientVersion"]["gitVersion"])


def _version(text: str) -> Version:
    match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", text)
    if match is None:
        raise ValueError(f"no version in {text[:40]!r}")
    return tuple(int(part) for part in match.groups(default="0"))
