"""`trn check --pick`: one of a group's candidates, asked about and written into the stack file."""

from datetime import datetime

from trn.aws.identity import caller
from trn.before.capacity.pick import candidates_of, edits, lines, pick, refuse_move
from trn.before.capacity.region import look_everywhere
from trn.before.capacity.wanted import wanted_of
from trn.change.clients import access
from trn.change.ownership import Consent
from trn.cli.errors import CommandError
from trn.cli.output import errors
from trn.engine.early import no_group
from trn.engine.program import settings_of
from trn.engine.stack_edit import as_yaml, edit_stack
from trn.engine.stack_file import StackFile, read_stack_file, with_edits
from trn.engine.stack_state import ask_state


def picked(stack_file: StackFile, group: str, hours: int, now: datetime, consent: Consent) -> StackFile:
    """The stack file with the best candidate of a group, after asking; the same one where the group is there already.

    Raises CommandError where no candidate works, where the stack is up and the best is in another region, and where the answer is no;
    ConfigurationError where the stack file would be refused with it.
    """
    stack, progress, settings = stack_file.stack, errors(), settings_of(stack_file)
    if group not in settings.node_groups:
        raise no_group(stack, group, list(settings.node_groups))
    regions = dict.fromkeys(region for region, _ in candidates_of(settings, group))
    wanted = wanted_of(settings, stack, group=group, instance_type=None, count=None, hours=hours, day=None, now=now)
    who = caller(access().aws(stack, settings.region))
    apis = {region: access().aws(stack, region) for region in regions}
    told = pick(settings, wanted, look_everywhere(apis, wanted, settings.name, settings.region), who.account)
    progress.print(f"pick     {wanted}, for `nodeGroups.{group}`", markup=False, soft_wrap=True)
    for line in lines(told, settings):
        progress.print(line, markup=False, soft_wrap=True)
    best = told.best
    if best is None:
        hint = "`trn capacity find` looks everywhere; the stack file is as it was"
        raise CommandError(f"no candidate of `nodeGroups.{group}` works now", hint)
    changes = edits(settings, group, best)
    if not changes:
        progress.print(f"{group} stays in {best.zone_id}: it is the best of them", markup=False)
        return stack_file
    if best.region != settings.region:
        refuse_move(settings, best, ask_state(access().pulumi(stack), stack, settings.name), stack)
    settings_of(with_edits(stack_file, changes))
    for line in as_yaml(changes):
        progress.print(f"         {line}", markup=False, soft_wrap=True)
    consent.agree(f"Write this into Pulumi.{stack}.yaml?")
    edit_stack(stack, changes, stack_file.root)
    if best.kind == "reservation":
        keys = f"`nodeGroups.{group}.capacityReservationId: {best.id}`"
        progress.print(f"next     {keys}, as `trn capacity find {stack} --group {group}` prints it", markup=False, soft_wrap=True)
    if best.kind == "block":
        progress.print(
            f"next     trn capacity buy {stack} {best.id} --group {group} --instances {wanted.count} --hours {hours}", markup=False
        )
    return read_stack_file(stack)
