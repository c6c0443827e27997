"""Places that a node group may be moved to: named in the stack file, compared by `trn check --pick`, and never taken by the program itself."""

from facts.section import Section


class Candidate(Section):
    """One place for a node group."""

    zone_id: str
    """Zone id. Of the stack's own region it must be in `network.zones`."""
    region: str | None = None
    """Region of the zone. Without it, the stack's own. In another region the whole stack is another one: cluster, file system, images."""
