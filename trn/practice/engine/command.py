"""`trn engine`: the real Pulumi CLI on the real program, with the simulated cloud in place of AWS."""

from pathlib import Path
from typing import Annotated

import typer

from facts.typed import typed
from trn.cli import completion
from trn.cli.options import Stack, WithKubernetes
from trn.cli.slots import ANY


def engine(
    stack: Stack,
    arguments: Annotated[list[str], typer.Argument(metavar="ARGUMENTS", help="Anything that the Pulumi CLI takes, behind --.")],
    time_scale: Annotated[
        float,
        typer.Option("--time-scale", min=0, help="Real seconds for each virtual one; 0.001 makes a ten-minute control plane in 0.6 s."),
    ] = 0,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            "--fault",
            metavar="NAME@RESOURCE[:TIMES]",
            autocompletion=completion.faults,
            help="A fault to inject, once or TIMES; may be repeated. RESOURCE is a logical name, or KIND/NAME where two share"
            " one: NodeGroup/trn1-32xl.",
        ),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where state and simulated cloud are kept.", show_default="build/practice/STACK")
    ] = None,
    kubernetes: WithKubernetes = "",
) -> int:
    """Run the real Pulumi CLI on the program, with the simulated cloud in place of AWS. No account is touched.

    State and objects are kept in a folder of their own; the project is not written to. Delete a file under its account/ to lose an object.

    Rules and faults are those of the rehearsal: `trn rehearse rules` lists both. An update takes as long as a create would.

    Examples: trn engine dev -- up --yes | trn engine dev --time-scale 0.01 -- up
    | trn engine dev --fault no-capacity@trn1-32xl -- up --yes | trn engine dev -- destroy --yes
    """
    from trn.cli.output import errors
    from trn.engine.program import settings_of
    from trn.engine.stack_file import read_stack_file
    from trn.practice.engine.process import Providers, run_cli
    from trn.practice.engine.project import EngineFolder, environment, practice_folder, refuse_secrets
    from trn.practice.engine.run import (
        find_cli,
        make_stack,
        refuse_arguments,
        refuse_targets,
        report,
        requested_faults,
        with_event_log,
        writing,
    )
    from trn.practice.seeding import seed

    pulumi = find_cli()
    requests = requested_faults(fault or ())
    refuse_arguments(arguments, stack)
    place = EngineFolder(folder.absolute()) if folder else practice_folder(stack)
    stack_file = read_stack_file(stack)
    refuse_secrets(stack_file)
    # A value of the command line may make what the file does not name.
    if not {"-c", "--config"} & set(arguments):
        refuse_targets(requests, stack_file, place)
    if kubernetes or place.has_control_plane:
        from trn.practice.control_plane import start

        lacks = start(place, stack_file, has_stack=place.has_stack(stack_file), by_pulumi=True, wanted=kubernetes or ANY)
        if lacks:
            errors().print(
                f"note     the API server is a new one: `{typed('pulumi up --refresh')}` makes again what the state has", markup=False
            )
    with writing():
        seed(place, settings_of(stack_file))
        providers = Providers(place, time_scale=time_scale, faults=fault or ())
        try:
            variables = environment(place, stack, providers.attach())
            place.prepare(stack_file)
            make_stack(pulumi, place, stack_file, variables)
            code = run_cli([pulumi, *with_event_log(arguments, place.events)], variables, place.project)
        finally:
            died = providers.stop() < 0
        return report(code, place, requests, died=died)
