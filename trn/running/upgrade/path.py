"""The minors that an upgrade goes through, or why it may not."""

from addons.versions import SUPPORTED_KUBERNETES
from facts.kubernetes_versions import minors_behind, minors_between
from trn.cli.errors import MISUSE, CommandError


def refuse_unknown(target: str) -> None:
    """Raises CommandError for a minor that this version of the program has no pins for."""
    if target not in SUPPORTED_KUBERNETES:
        allowed = ", ".join(SUPPORTED_KUBERNETES)
        hint = "in quotes where a shell would read it as a number; a newer minor needs a newer version of this program, with its pins"
        raise CommandError(f"`--to {target}` is no minor that this program has pinned versions for; allowed: {allowed}", hint, code=MISUSE)


def minors_to(current: str, target: str) -> tuple[str, ...]:
    """Each minor after `current`, up to the target; the target alone where the control plane is there already.

    Raises CommandError for a downgrade, and where the way leads through a minor without pins.
    """
    if minors_behind(target, current) < 0:
        wrong = f"the control plane is of {current}: EKS never takes it back to {target}"
        raise CommandError(wrong, "what can be taken back is a new cluster of the older minor, with the jobs moved there", code=MISUSE)
    between = minors_between(current, target)
    for minor in between:
        refuse_unknown(minor)
    return between or (target,)
