"""Ready-made stack files that `trn init --from` opens, and what each leaves to its user: the name, who may reach the API, a reservation."""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from trn.before.init.answers import quoted, quoted_list
from trn.before.init.questions import EXAMPLE_BLOCK, WrongAnswer

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE_RESERVATION = "cr-0123456789abcdef0"
_NAME = re.compile(r"(?m)^  trn:name: .*$")
_ACCESS = re.compile(rf"(?m)^(?:    #.*documentation address.*\n)?    publicAccessCidrs: \[{re.escape(EXAMPLE_BLOCK)}\]$")


@dataclass(frozen=True)
class Sample:
    """One file."""

    path: str
    """Below the repository."""
    says: str

    @property
    def text(self) -> str:
        """As it is shipped."""
        return (ROOT / self.path).read_text("utf-8")


SAMPLES = {
    "learn": Sample("Pulumi.learn.yaml", "one trn1.2xlarge, the cheapest that can learn on it"),
    "capacity-block": Sample("docs/samples/capacity-block.yaml", "16 trn1.32xlarge from a capacity block"),
    "trn2-karpenter": Sample("docs/samples/trn2-karpenter.yaml", "trn2.48xlarge that Karpenter makes when jobs ask"),
    "trn2": Sample("docs/samples/trn2.yaml", "4 trn2.48xlarge from a capacity block, for native PyTorch"),
    "trn2-small": Sample("docs/samples/trn2-small.yaml", "one trn2.3xlarge, the smallest with Trainium2"),
    "ultraserver": Sample("docs/samples/ultraserver.yaml", "an UltraServer: 4 trn2u.48xlarge from a capacity block"),
    "private": Sample("docs/samples/private.yaml", "no public endpoint, no NAT gateway"),
    "slurm": Sample("docs/samples/slurm.yaml", "Slurm on two trn1.32xlarge"),
    "many-teams": Sample("docs/samples/many-teams.yaml", "three teams that share the nodes by quotas of Kueue"),
}
"""By the name that `--from` takes."""


def sample_of(name: str) -> Sample:
    """Raises WrongAnswer for a name that there is not."""
    if name not in SAMPLES:
        near = difflib.get_close_matches(name, SAMPLES, n=1, cutoff=0.5)
        listed = "; ".join(f"{known}: {sample.says}" for known, sample in SAMPLES.items())
        raise WrongAnswer(f"there is no sample `{name}`", ", ".join(SAMPLES), f"did you mean {near[0]}?" if near else listed)
    return SAMPLES[name]


def asks(text: str) -> tuple[str, ...]:
    """Keys of the questions that a sample leaves open."""
    found = ["name"]
    if EXAMPLE_RESERVATION in text:
        found.append("reservation")
    return (*found, "allow") if _ACCESS.search(text) else tuple(found)


def filled(text: str, name: str, allow: tuple[str, ...] | None, reservation: str | None) -> str:
    """The sample with its user's answers; comments stay, but for the one on an example address that is replaced."""
    text = text.replace("$schema=../config.schema.json", "$schema=docs/config.schema.json")
    text = _NAME.sub(lambda _: f"  trn:name: {quoted(name)}", text)
    if allow is not None and allow != (EXAMPLE_BLOCK,):
        text = _ACCESS.sub(lambda _: f"    publicAccessCidrs: {quoted_list(allow)}", text)
    return text.replace(EXAMPLE_RESERVATION, reservation) if reservation else text
