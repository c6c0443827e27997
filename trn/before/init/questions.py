"""The questions of `trn init`, as data: each reads one answer against tables, says what is wrong with it, and has a default.

Nothing here asks, and nothing loads the program: a wrong option is refused at once.
"""

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from facts.address_blocks import DOCUMENTATION_BLOCKS, is_documentation, why_closed
from facts.catalogue import NEURON_TYPES
from facts.names import CLUSTER_NAME, CLUSTER_NAME_LIMIT, CLUSTER_NAME_WORDS
from facts.regions import CONTROL_PLANE_REFUSED_ZONES, near_regions, near_zone, zone_id_prefix, zone_ids
from facts.regions import REGIONS as EKS_REGIONS
from trn.before.init.offers import REGIONS, Offers, capacity_kinds, regions_offering, types_in
from trn.cli.errors import MISUSE, CommandError

ADDONS = ("neuron", "efa", "volcano", "etcd")
"""On without a word, and named in the file where they are off."""
PRIVATE, LATER = "private", "later"
"""Answers to who may reach the API: only the VPC; and an example address, which a rehearsal takes and `pulumi up` refuses."""
EXAMPLE_BLOCK = str(DOCUMENTATION_BLOCKS[2])
RESERVATION = re.compile(r"cr-[0-9a-f]{17}")
MOST_NODES = 1000
"""Above it a typing error is likelier than a wish; the address space ends earlier."""
LUSTRE_STEP_GIB = 2400

Draft = Mapping[str, Any]
"""Answers so far, by key."""


class WrongAnswer(CommandError):
    """An answer that cannot be taken; it can be given again."""

    def __init__(self, wrong: str, allowed: str = "", hint: str = "") -> None:
        super().__init__(f"{wrong}\n  allowed: {allowed}" if allowed else wrong, hint, code=MISUSE)


@dataclass(frozen=True)
class Question:
    """One question."""

    key: str
    option: str
    words: Callable[[Draft, Offers], str]
    """What is asked."""
    read: Callable[[str, Draft, Offers], Any]
    """The answer's value. Raises WrongAnswer."""
    default: Callable[[Draft, Offers], str | None]
    """Taken for an empty answer, and with `--yes`; None where there is none."""
    needs: tuple[str, ...] = ()
    """Keys that must be answered first: without them nothing can be said of it."""
    paths: tuple[str, ...] = ()
    """Configuration keys that the answer sets: whose mistakes lead back to it."""
    changes_cost: bool = False
    applies: Callable[[Draft], bool] = lambda draft: True
    is_slow: bool = False
    """Whether its default is looked up outside, or loads much: not for a command line that is refused anyway."""
    otherwise: Callable[[Draft, Offers], str | None] = lambda draft, offers: None
    """Taken with `--yes` where there is no default. Raises WrongAnswer where it must be given."""


def wrong_value(option: str, value: object, allowed: Sequence[str], why: str = "") -> WrongAnswer:
    """One value that is none of those allowed, with the nearest."""
    near = difflib.get_close_matches(str(value).lower(), allowed, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"take one of {', '.join(allowed)}"
    return WrongAnswer(f"`{option}` is `{value}`{why}", ", ".join(allowed), hint)


def _region(text: str, _draft: Draft, offers: Offers) -> str:
    if text not in EKS_REGIONS:
        near = near_regions(text)
        hint = f"did you mean {near[0]}?" if near else "`aws ec2 describe-regions --all-regions` lists all"
        raise WrongAnswer(f"no region that has EKS is called `{text}`", ", ".join(near or REGIONS), hint)
    if text not in REGIONS and not offers.is_live:
        raise WrongAnswer(
            f"no Neuron instance type was seen in {text}", ", ".join(REGIONS), "take one of these, or add --live to ask the account"
        )
    return text


def _instance_type(text: str, draft: Draft, offers: Offers) -> str:
    region = draft.get("region")
    if text not in NEURON_TYPES:
        here = types_in(region) if region else list(NEURON_TYPES)
        near = next(iter(difflib.get_close_matches(text.lower(), NEURON_TYPES, n=1, cutoff=0.5)), None)
        if near is None or near in here:
            raise wrong_value("--instance-type", text, here)
        hint = f"did you mean {near}? it was seen in {', '.join(regions_offering(near))}, not in {region}"
        raise WrongAnswer(f"`--instance-type` is `{text}`", ", ".join(here), hint)
    if region is None or (offers.zones(text, region) if offers.is_live else region in regions_offering(text)):
        return text
    others = [other for other in regions_offering(text) if other != region]
    seen = f", but seen in {', '.join(others)}" if others else ""
    hint = f"take it in {others[0]} (`--region {others[0]}`), or another type" if others else "take another type or region"
    raise ElsewhereOnly(f"{text} is not offered in {region}{seen}", ", ".join(types_in(region)), hint, others)


class ElsewhereOnly(WrongAnswer):
    """A type that other regions have."""

    def __init__(self, wrong: str, allowed: str, hint: str, regions: Sequence[str]) -> None:
        super().__init__(wrong, allowed, hint)
        self.regions = list(regions)


def _zone(text: str, draft: Draft, offers: Offers) -> str:
    region, offered = draft["region"], offers.zones(draft["instance_type"], draft["region"])
    known = zone_ids(region)
    if text in CONTROL_PLANE_REFUSED_ZONES:
        raise WrongAnswer(f"EKS places no control plane in `{text}`", ", ".join(offered or known), "take another zone of the region")
    if (offers.is_live and text not in offered) or (known and text not in known) or not text.startswith(f"{zone_id_prefix(region)}-az"):
        named = ", ".join(offered or known)
        near = near_zone(text, region)
        meant = f"did you mean {near}? " if near else "zone names such as us-west-2d mean another zone in each account. "
        raise WrongAnswer(f"`{text}` is no zone id of {region} for {draft['instance_type']}", named, f"{meant}take one of {named}")
    return text


def _zone_words(draft: Draft, offers: Offers) -> str:
    offered = offers.zones(draft["instance_type"], draft["region"])
    if offered:
        return f"Zone of the nodes ({', '.join(offered)})"
    zones = ", ".join(zone_ids(draft["region"]))
    return f"Zone of the nodes ({zones}; which of them offer {draft['instance_type']} is not known: --live asks the account)"


def _first_zone(draft: Draft, offers: Offers) -> str | None:
    return next(iter(offers.zones(draft["instance_type"], draft["region"])), None)


def _no_zone(draft: Draft, offers: Offers) -> str:
    """A guess would end in a group that fails after 33 minutes."""
    where = ", ".join(regions_offering(draft["instance_type"])) or "no region"
    wrong = f"the zones of {draft['region']} that offer {draft['instance_type']} are not in the table; it was seen in {where}"
    raise WrongAnswer(
        wrong, ", ".join(offers.usable(draft["region"])), "add --live to ask the account, or --zone with a zone id that you know"
    )


def _no_reservation(draft: Draft, offers: Offers) -> str:
    said, buy = offers.blocks(draft["instance_type"], draft["region"], draft["zone"], draft["count"])
    found = "; ".join(said) if said and not buy else ""
    hint = f"`{buy}` buys the first one on offer; then add --reservation cr-..." if buy else "add --reservation cr-..."
    raise WrongAnswer(f"a capacity block needs its reservation{'; ' if found else ''}{found}", hint=hint)


def _name(text: str, _draft: Draft, _offers: Offers) -> str:
    if not re.fullmatch(CLUSTER_NAME, text):
        raise WrongAnswer(f"`{text}` is no name of a cluster", CLUSTER_NAME_WORDS, f"for example {cluster_name(text)}")
    return text


def cluster_name(text: str) -> str:
    """The nearest name that a cluster can have."""
    plain = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    return (plain if plain[:1].isalpha() and len(plain) > 1 else f"trainium-{plain}")[:CLUSTER_NAME_LIMIT].strip("-")


def _whole_number(text: str, what: str, allowed: str) -> int:
    if not re.fullmatch(r"\d{1,9}", text.strip()):
        raise WrongAnswer(f"`{text}` is no number of {what}", allowed, "write a whole number, without a unit")
    return int(text)


def _count(text: str, _draft: Draft, _offers: Offers) -> int:
    count = _whole_number(text, "nodes", f"0 to {MOST_NODES}")
    if count > MOST_NODES:
        raise WrongAnswer(f"{count} nodes are more than one group can have here", f"0 to {MOST_NODES}", "take fewer")
    return count


def _capacity(text: str, draft: Draft, _offers: Offers) -> str:
    kinds = capacity_kinds(draft["instance_type"])
    if text not in kinds:
        raise wrong_value("--capacity", text, kinds, f", {draft['instance_type']} is not sold so")
    return text


def _reservation(text: str, _draft: Draft, _offers: Offers) -> str:
    if not RESERVATION.fullmatch(text):
        raise WrongAnswer(f"`{text}` is no id of a reservation", "cr- and 17 characters of 0-9 and a-f", "copy it from the EC2 console")
    return text


def _fsx_gib(text: str, _draft: Draft, _offers: Offers) -> int:
    size = _whole_number(text, "GiB", "0, 1200, or a multiple of 2400")
    if size not in (0, 1200) and (size % LUSTRE_STEP_GIB or size == 0):
        below, above = size // LUSTRE_STEP_GIB * LUSTRE_STEP_GIB or 1200, (size // LUSTRE_STEP_GIB + 1) * LUSTRE_STEP_GIB
        raise WrongAnswer(
            f"FSx for Lustre has no size of {size} GiB", "0, 1200, or a multiple of 2400", f"the nearest are {below} and {above}"
        )
    return size


def _allow(text: str, draft: Draft, _offers: Offers) -> tuple[str, ...]:
    if text.strip().lower() in (PRIVATE, LATER):
        return () if text.strip().lower() == PRIVATE else (EXAMPLE_BLOCK,)
    blocks = parts(text)
    if not blocks:
        raise WrongAnswer(
            "no address is named", f"blocks such as 198.51.100.7/32, `{PRIVATE}` or `{LATER}`", "docs/private.md says what private takes"
        )
    for block in blocks:
        refused = why_closed(block)
        if refused is not None:
            raise WrongAnswer(f"`{block}`: {refused.wrong}", refused.allowed, refused.hint)
        # The address that practice offers is one of them.
        if is_documentation(block) and block not in (EXAMPLE_BLOCK, draft.get("own_address")):
            raise WrongAnswer(
                f"`{block}` is reserved for documentation: no host has it", "your own address", f"`{LATER}` writes an example"
            )
    return tuple(blocks)


def _addons(text: str, _draft: Draft, _offers: Offers) -> tuple[str, ...]:
    # Loads the declarations of all add-ons.
    from addons.registry import SWITCHED, with_needs

    wanted = {*parts(text)} - {"none"}
    unknown = sorted(wanted - set(SWITCHED))
    if unknown:
        near = {match for name in unknown for match in difflib.get_close_matches(name, SWITCHED, n=1, cutoff=0.5)}
        hint = f"did you mean {', '.join(sorted(near))}?" if near else "`trn addons` says what each is"
        raise WrongAnswer(f"unknown add-on: {', '.join(unknown)}", f"{', '.join(SWITCHED)}, or none", hint)
    needed = {need for addon in wanted for need in with_needs(addon)}
    return tuple(addon for addon in SWITCHED if addon in needed)


def parts(text: str) -> list[str]:
    """Parts of a list with commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _types_words(draft: Draft, _offers: Offers) -> str:
    return f"Instance type ({', '.join(types_in(draft['region']))})"


def _usual_type(draft: Draft, _offers: Offers) -> str:
    types = types_in(draft.get("region", REGIONS[0]))
    return types[min(1, len(types) - 1)]


def _access_words(draft: Draft, _offers: Offers) -> str:
    own = "your address is offered; " if draft.get("own_address") else ""
    return f"Who may reach the Kubernetes API ({own}blocks with commas, such as 198.51.100.7/32; `{PRIVATE}`: only the VPC; `{LATER}`)"


QUESTIONS = (
    Question("region", "--region", lambda _draft, _offers: f"Region ({', '.join(REGIONS)})", _region, lambda _draft, _offers: REGIONS[0]),
    Question("instance_type", "--instance-type", _types_words, _instance_type, _usual_type),
    Question("zone", "--zone", _zone_words, _zone, _first_zone, needs=("region", "instance_type"), paths=("network.zones",), otherwise=_no_zone),
    Question(
        "name", "--name", lambda _draft, _offers: "Cluster name", _name, lambda draft, _offers: cluster_name(f"trainium-{draft['stack']}"),
        paths=("name",), changes_cost=True,
    ),
    Question("count", "--count", lambda _draft, _offers: "Nodes", _count, lambda _draft, _offers: "2", paths=("nodeGroups", "network.podCidr")),
    Question(
        "capacity", "--capacity", lambda draft, _offers: f"Capacity ({', '.join(capacity_kinds(draft['instance_type']))})", _capacity,
        lambda draft, _offers: capacity_kinds(draft["instance_type"])[0], needs=("instance_type",), changes_cost=True,
    ),
    Question(
        "reservation", "--reservation", lambda _draft, _offers: "Id of the capacity block (cr-...)", _reservation, lambda _draft, _offers: None,
        changes_cost=True, applies=lambda draft: draft.get("capacity") == "capacity-block", otherwise=_no_reservation,
    ),
    Question(
        "fsx_gib", "--fsx-gib", lambda _draft, _offers: "FSx for Lustre, GiB (0 for none)", _fsx_gib, lambda _draft, _offers: "1200",
        paths=("storage",), changes_cost=True,
    ),
    Question(
        "allow", "--allow", _access_words, _allow, lambda draft, _offers: draft.get("own_address"),
        paths=("controlPlane.publicAccessCidrs",), otherwise=lambda _draft, _offers: LATER, is_slow=True,
    ),
    Question("addons", "--addons", lambda _draft, _offers: "Add-ons", _addons, lambda _draft, _offers: ",".join(ADDONS), paths=("addons",),
        is_slow=True,
    ),
)  # fmt: skip
"""In the order in which they are asked."""
