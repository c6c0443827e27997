"""`trn cost`: the bill of a stack as a table with bars, or two bills side by side."""

from typing import Annotated

import typer

from trn.cli import completion
from trn.cli.options import JsonFile, Stack


def cost(
    stack: Stack,
    hours: Annotated[float, typer.Option("--hours", min=0, help="Length of a training run.")] = 8,
    compare: Annotated[
        str | None,
        typer.Option("--compare", metavar="NAME", help="A second stack to compare with the first.", autocompletion=completion.stacks),
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the Pricing API; needs credentials. Else the table's prices.")] = False,
    json_file: JsonFile = None,
) -> int:
    """What a stack costs by the hour, the day and the run, running and idle, item by item.

    Example: trn cost dev --hours 24, or: trn cost dev --compare night
    """
    from trn.aws.pricing import live_prices
    from trn.before.cost.bill import Bill, bill_of, differences, repriced
    from trn.before.cost.view import CostComparison, CostReport, bill_part, print_bill, print_comparison
    from trn.change.clients import access
    from trn.cli.output import results, tracked, write_json
    from trn.engine.stack_file import read_stack_file

    def with_live_prices(bill: Bill) -> Bill:
        names, api = sorted({line.price for line in bill.lines}), access().aws(bill.stack, bill.region)
        return repriced(bill, dict(next(live_prices(api, [name])) for name in tracked(names, "asking for prices")))

    stacks = [stack, *([compare] if compare else [])]
    bills = [bill_of(read_stack_file(name)) for name in tracked(stacks, "rehearsing")]
    if live:
        bills = [with_live_prices(bill) for bill in bills]
    console = results(json_file)
    if len(bills) == 1:
        write_json(CostReport(**dict(bill_part(bills[0], hours))), json_file)
        print_bill(console, bills[0], hours)
        return 0
    before, after = bills
    changed = differences(before, after)
    write_json(CostComparison(before=bill_part(before, hours), after=bill_part(after, hours), differences=tuple(changed)), json_file)
    print_comparison(console, before, after, changed)
    return 0
