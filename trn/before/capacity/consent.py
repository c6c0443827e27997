"""What has to be said before a capacity block is bought: whose account it is, and the sum, twice."""

import math
import re

from trn.aws.api import Api
from trn.aws.capacity_blocks import Offering
from trn.aws.identity import Caller, caller
from trn.change.ownership import Consent, Ownership
from trn.cli.errors import MISUSE, CommandError, OwnershipError

_SUM = re.compile(r"\$?\s*([0-9][0-9,]*(?:\.[0-9]{1,2})?)\s*(?:USD)?", re.IGNORECASE)
CENT = 0.005


def refuse_limit(*, yes: bool, limit_usd: float | None) -> None:
    """Raises CommandError for `--yes` without the sum that may be spent, and for a sum without end: no switch alone buys anything."""
    if limit_usd is not None and not math.isfinite(limit_usd):
        raise CommandError(f"--limit-usd {limit_usd} is no sum", "name the most that the block may cost, in dollars", code=MISUSE)
    if yes and limit_usd is None:
        raise CommandError("--yes alone buys nothing", "add --limit-usd with the most that the block may cost, in dollars", code=MISUSE)


def refuse_account(ownership: Ownership, who: Caller, named: str, *, needed: bool) -> None:
    """Raises OwnershipError for another account than the one that is meant.

    `named`: the one that the caller named; where the state of the stack names none and no question is asked, it is `needed`.
    """
    if named and named != who.account:
        raise OwnershipError(
            f"these are credentials of account {who.account}, not of {named}", "nothing was bought; check AWS_PROFILE", code=MISUSE
        )
    if needed and not named and not ownership.is_proven:
        wrong = "the stack is not up, so nothing says which account is meant"
        raise OwnershipError(wrong, f"add --account {who.account} if this one is", code=MISUSE)


def refuse_other_account(api: Api, confirmed: Caller) -> None:
    """Raises OwnershipError where the credentials are another account's by now: those of a session are read anew when they end."""
    now = caller(api)
    if now.account != confirmed.account:
        wrong = f"these are credentials of account {now.account} by now, and the purchase was confirmed for {confirmed.account}"
        raise OwnershipError(f"{wrong}; nothing was bought", "check AWS_PROFILE, and run it again")


def agree(consent: Consent, offering: Offering, limit_usd: float | None) -> None:
    """Ask twice: a yes, then the sum. Raises CommandError where the sum is another one, or more than the limit."""
    total = f"{offering.fee:.2f}"
    if limit_usd is not None and (offering.currency != "USD" or not offering.fee <= limit_usd + CENT):
        raise CommandError(
            f"the block costs {total} {offering.currency}, more than --limit-usd {limit_usd:.2f}; nothing was bought",
            f"--limit-usd {total} allows it" if offering.currency == "USD" else "leave --limit-usd out, and answer the questions",
        )
    if consent.yes:
        return
    consent.confirm(f"Buy this block for {offering.fee:,.2f} {offering.currency}? It is paid at once and never paid back.")
    typed = consent.prompt(f"Type the sum, {total}, to buy it")
    if not is_sum(typed, offering.fee):
        raise CommandError(f"`{typed}` is not the sum, {total}; nothing was bought", "run it again to buy it", code=MISUSE)


def is_sum(typed: str, fee: float) -> bool:
    """Whether a text is this sum of dollars, to the cent; a dollar sign and commas do no harm."""
    found = _SUM.fullmatch(typed.strip())
    return found is not None and abs(float(found[1].replace(",", "")) - fee) < CENT
