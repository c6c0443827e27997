"""Command lines of everything that meets AWS: names, options, help. What they do is loaded when they run.

Exit codes: 0 done, 1 refused or failed, 2 misuse, unusable credentials or region, or no such cluster.
"""

from pathlib import Path
from typing import Annotated

import typer


def stack_names(incomplete: str) -> list[str]:
    """Stacks with a file in the nearest project, for the shell to complete. Loads nothing: it runs at every press of the key."""
    here = Path.cwd()
    root = next((folder for folder in (here, *here.parents) if (folder / "Pulumi.yaml").is_file()), None)
    found = root.glob("Pulumi.*.yaml") if root else ()
    return sorted(name for path in found if (name := path.name.removeprefix("Pulumi.").removesuffix(".yaml")).startswith(incomplete))


Stack = Annotated[str, typer.Argument(help="Stack, as in Pulumi.NAME.yaml.", autocompletion=stack_names)]
StackOption = Annotated[str, typer.Option("--stack", "-s", help="Stack, as in Pulumi.NAME.yaml.", autocompletion=stack_names)]
BlockHours = Annotated[int, typer.Option("--block-hours", help="Length of the capacity blocks that are looked for: whole days or weeks.")]
JsonFile = Annotated[Path | None, typer.Option("--json", help="Also write the result here as JSON; - for standard output.")]


def register(app: typer.Typer) -> None:
    """Add the commands to `trn`, in the order in which a cluster's life needs them."""
    app.command(epilog="Example: trn init night --region us-west-2 --instance-type trn1.32xlarge --count 0 --yes")(init)
    app.command(epilog="Example: trn check dev --json check.json")(check)
    app.command(epilog="Example: trn cost dev --hours 24, or: trn cost dev --compare night")(cost)
    app.command(epilog="Example: trn iam dev --deployer --output build/iam")(iam)
    app.command(epilog="Example: trn status dev --junit build/status.xml")(status)
    app.command(epilog="Example: trn verify dev --junit build/verify.xml, or: trn verify dev --only gang --only collectives")(verify)
    app.command(epilog="Example: trn kubeconfig dev --output ~/.kube/trn, or: trn kubeconfig dev")(kubeconfig)
    app.command(epilog="Example: trn shell dev, or: trn shell dev --neuron -- neuron-ls")(shell)
    app.command(epilog="Example: trn top dev, or: trn top dev bert --every 2")(top)
    app.command(epilog="Example: trn logs bert --stack dev --tail 20")(logs)
    app.command(epilog="Example: trn scale trn1-32xl 0 --stack dev")(scale)
    app.command(epilog="Example: trn drain dev --yes")(drain)
    app.command(epilog="Example: trn recover dev, or: trn recover dev --orphans")(recover)
    app.command(epilog="Example: trn destroy dev")(destroy)
    app.command(epilog="Example: trn sweep dev, then: trn sweep dev --delete")(sweep)


def init(
    stack: Annotated[str, typer.Argument(help="Stack to make; its file is Pulumi.NAME.yaml.")],
    name: Annotated[str | None, typer.Option("--name", help="Cluster name.")] = None,
    region: Annotated[str | None, typer.Option("--region", help="AWS region.")] = None,
    instance_type: Annotated[str | None, typer.Option("--instance-type", help="Neuron instance type.")] = None,
    count: Annotated[int | None, typer.Option("--count", min=0, help="Nodes.")] = None,
    capacity: Annotated[str | None, typer.Option("--capacity", help="on-demand, spot or capacity-block.")] = None,
    reservation: Annotated[str | None, typer.Option("--reservation", help="Capacity reservation or block, cr-...")] = None,
    zone: Annotated[str | None, typer.Option("--zone", help="Zone id of the nodes, such as usw2-az4.")] = None,
    allow: Annotated[list[str] | None, typer.Option("--allow", help="Block that may reach the API; may be repeated.")] = None,
    fsx_gib: Annotated[int | None, typer.Option("--fsx-gib", min=0, help="FSx for Lustre, GiB; 0 for none.")] = None,
    addons: Annotated[
        str | None,
        typer.Option("--addons", help="With commas, as `trn addons --json` names them: neuron, efa, volcano, etcd, kueue, ...; or none."),
    ] = None,
    live: Annotated[
        bool,
        typer.Option("--live", help="Ask the account which zones offer the type, and which capacity blocks are sold; needs credentials."),
    ] = False,
    block_hours: BlockHours = 24,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing: defaults for what no option says.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Write a stack file from a few answers, and show what it costs as it goes. The same answers write the same file."""
    from operations.cluster.init.command import InitOptions, run
    from operations.errors import run_command

    options = InitOptions(
        stack,
        name,
        region,
        instance_type,
        count,
        capacity,
        reservation,
        zone,
        allow,
        fsx_gib,
        addons,
        live,
        block_hours,
        yes,
        force,
        json_file,
    )
    raise typer.Exit(run_command(lambda: run(options)))


def check(
    stack: Stack = "dev",
    block_hours: BlockHours = 24,
    json_file: JsonFile = None,
) -> None:
    """Check before money flows: permissions, quotas, capacity, versions, tools, cost. Exits with 1 where anything fails.

    What could not be checked is a failure, never a pass.

    Where a group's capacity block is missing, wrong or near its end, blocks on offer are listed with prices and what buys them.
    """
    from operations.cluster.check.command import CheckOptions, run
    from operations.errors import run_command

    options = CheckOptions(stack, block_hours, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def cost(
    stack: Stack = "dev",
    hours: Annotated[float, typer.Option("--hours", min=0, help="Length of a training run.")] = 8,
    compare: Annotated[str | None, typer.Option("--compare", help="A second stack, set beside the first.")] = None,
    live: Annotated[bool, typer.Option("--live", help="Ask the Pricing API; needs credentials. Else the table's prices.")] = False,
    json_file: JsonFile = None,
) -> None:
    """What a stack costs by the hour, the day and the run, running and idle, item by item."""
    from operations.cluster.cost.command import CostOptions, run
    from operations.errors import run_command

    options = CostOptions(stack, hours, compare, live, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def iam(
    stack: Stack = "dev",
    deployer: Annotated[bool, typer.Option("--deployer", help="What `pulumi up`, `pulumi destroy` and `trn check` take.")] = False,
    operator: Annotated[bool, typer.Option("--operator", help="What the commands of trn take.")] = False,
    output: Annotated[Path | None, typer.Option("--output", help="Folder for one file per document.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Least-privilege IAM documents for a stack, made from the calls the program and `trn` make."""
    from operations.cluster.iam.command import IamOptions, run
    from operations.errors import run_command

    options = IamOptions(stack, deployer, operator, output, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def sweep(
    stack: Stack = "dev",
    state: Annotated[
        Path | None, typer.Option("--state", help="What `pulumi stack export` wrote: what it holds is kept, the rest are orphans.")
    ] = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete what is listed, after a question.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    backups: Annotated[bool, typer.Option("--backups", help="Delete backups of file systems too.")] = False,
    json_file: JsonFile = None,
) -> None:
    """List what a cluster left in the account and what it costs a day; with --delete, take it away. Exits with 1 if something stays.

    Found by exact tags and the cluster's own VPC, never by a name that looks alike.
    """
    from operations.cluster.sweep.command import SweepOptions, run
    from operations.errors import run_command

    options = SweepOptions(stack, state, delete, yes, backups, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def status(
    stack: Stack = "dev",
    junit: Annotated[Path | None, typer.Option("--junit", help="Also write the findings here as JUnit XML.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Whether a cluster that is up has what it should: nodes, devices, EFA, queues, etcd, file system. Exits with 1 where anything fails.

    Reads only, starts no pod. What could not be checked is a failure; what is off in the configuration is said and skipped.
    """
    from operations.cluster.status.command import StatusOptions, run
    from operations.errors import run_command

    options = StatusOptions(stack, junit, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def verify(
    stack: Stack = "dev",
    only: Annotated[
        list[str] | None, typer.Option("--only", help="A check of status, or driver, throughput, gang, collectives; may be given again.")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(
            "--image", help="Image of the collective test, with nccom-test, Open MPI and sshd. Else AWS's of `training.neuronSdk`."
        ),
    ] = None,
    junit: Annotated[Path | None, typer.Option("--junit", help="Also write the findings here as JUnit XML.")] = None,
    json_file: JsonFile = None,
) -> None:
    """Whether one can train on a cluster that is up: all that status looks at, then pods that try it. Exits with 1 where anything fails.

    Drivers on every node, FSx mounted and measured, a gang of the cluster's full size, all-reduce across all nodes.

    Takes every Neuron device for some minutes and starts nothing while a job holds one.

    What it starts is labelled, ends by itself, and is removed.
    """
    from operations.cluster.verify.command import VerifyOptions, run
    from operations.errors import run_command

    options = VerifyOptions(stack, tuple(only or ()), image, junit, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def kubeconfig(
    stack: Stack = "dev",
    output: Annotated[Path | None, typer.Option("--output", help="File to write, readable by you alone. Else standard output.")] = None,
    json_file: JsonFile = None,
) -> None:
    """A kubeconfig of the cluster that asks the AWS CLI for tokens and holds no secret. Your own kubeconfig is not touched."""
    from operations.cluster.kubeconfig import KubeconfigOptions, run
    from operations.errors import run_command

    options = KubeconfigOptions(stack, output, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def shell(
    stack: Stack = "dev",
    command: Annotated[list[str] | None, typer.Argument(help="Run this in place of a shell; put -- before it.")] = None,
    node_group: Annotated[str | None, typer.Option("--node-group", help="Neuron node group to run on. Else any node.")] = None,
    neuron: Annotated[bool, typer.Option("--neuron", help="With all devices of a Neuron node, in AWS's training image.")] = False,
    image: Annotated[str | None, typer.Option("--image", help="Image of the pod. Else a small one with Python.")] = None,
    hours: Annotated[float, typer.Option("--hours", min=0.1, help="The pod ends after this, whatever becomes of this machine.")] = 8,
    json_file: JsonFile = None,
) -> None:
    """A shell in a pod in the training namespace, with FSx mounted at /fsx. The pod goes when the shell ends.

    Exits with the shell's own exit code. kubectl and the AWS CLI must be on PATH.
    """
    from operations.cluster.shell import ShellOptions, run
    from operations.errors import run_command

    options = ShellOptions(stack, tuple(command or ()), node_group, neuron, image, hours, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def top(
    stack: Stack = "dev",
    job: Annotated[str | None, typer.Argument(help="Volcano Job or Kubernetes Job. Else every Neuron node.")] = None,
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Instead of the stack's training namespace.")] = None,
    every: Annotated[float, typer.Option("--every", min=1, help="Seconds between two looks; the exporter itself looks every 5.")] = 5,
    once: Annotated[bool, typer.Option("--once", help="Look once; so it does in a pipe, and with --json.")] = False,
    json_file: JsonFile = None,
) -> None:
    """NeuronCore use, device memory and errors of a job's nodes, or of all, in one view until Ctrl-C.

    Asks neuron-monitor's exporter (`addons.neuronMonitor`); where it is off, neuron-monitor in the job's pods.

    Exits with 1 where a node gave no answer.
    """
    from operations.cluster.top.command import TopOptions, run
    from operations.errors import run_command

    options = TopOptions(stack, job, namespace, every, once, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def logs(
    job: Annotated[
        str, typer.Argument(help="Name of a job of any kind: Volcano Job, PyTorchJob, MPIJob, TrainJob, RayJob, Kubernetes Job, ...")
    ],
    stack: StackOption = "dev",
    namespace: Annotated[str | None, typer.Option("--namespace", "-n", help="Instead of the stack's training namespace.")] = None,
    tail: Annotated[int, typer.Option("--tail", min=1, help="Lines of each container.")] = 100,
    json_file: JsonFile = None,
) -> None:
    """The last lines of every worker of a job, with its node, and why one has not started."""
    from operations.cluster.logs import LogsOptions, run
    from operations.errors import run_command

    options = LogsOptions(job, stack, namespace, tail, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def scale(
    group: Annotated[str, typer.Argument(help="Neuron node group, as in the stack file.")],
    count: Annotated[int, typer.Argument(min=0, help="Nodes wanted; 0 empties the group.")],
    stack: StackOption = "dev",
    json_file: JsonFile = None,
) -> None:
    """Set the size of a node group, down to zero for the night, and list what goes on billing. Exits with 1 where EKS fails."""
    from operations.cluster.scale.command import ScaleOptions, run
    from operations.errors import run_command

    options = ScaleOptions(stack, group, count, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def drain(
    stack: Stack = "dev",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Close queues, empty Slurm's nodes, delete jobs of all kinds, load balancers, claims and NodePools, so that a destroy finds an idle cluster.

    What would be done is listed first. Add-ons that are not installed are named and left out. Exits with 1 if something stays.
    """
    from operations.cluster.drain.command import DrainOptions, run
    from operations.errors import run_command

    options = DrainOptions(stack, yes, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def recover(
    stack: Stack = "dev",
    orphans: Annotated[
        bool,
        typer.Option("--orphans", help="Without operations that have no end: import what `pulumi up` would make and is there already."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Find what a killed `pulumi up` had made, wait until it is ready, and import it. Exits with 1 where a person must look first.

    What is found is the cluster's by its exact name, place or tags. Nothing is changed while anything is unclear.
    """
    from operations.cluster.recover.command import RecoverOptions, run
    from operations.errors import run_command

    options = RecoverOptions(stack, orphans, yes, json_file)
    raise typer.Exit(run_command(lambda: run(options)))


def destroy(
    stack: Stack = "dev",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    backups: Annotated[bool, typer.Option("--backups", help="Delete backups of file systems too.")] = False,
    json_file: JsonFile = None,
) -> None:
    """Drain, `pulumi destroy`, sweep, and say what is left. May be run again after any failure. Exits with 1 if something stays."""
    from operations.cluster.destroy.command import DestroyOptions, run
    from operations.errors import run_command

    options = DestroyOptions(stack, yes, backups, json_file)
    raise typer.Exit(run_command(lambda: run(options)))
