"""Makes docs/operations.md: every command of `trn` with its options and its example, from the command line itself."""

from collections.abc import Iterator
from inspect import signature
from typing import Any

import typer.main

from facts.names import FINAL_BACKUP_TAG, LOCK_TAG, STACK_TAG, lock_name, part_lock_name
from trn.app import app
from trn.aws.leftovers import KINDS
from trn.aws.owner_tags import NAME_TAGS, owned_key
from trn.before.check.run import CHECKS
from trn.cli.help import name_of
from trn.cli.placement import StackUse
from trn.cli.usage import EXIT_CODES
from trn.ending.drain.change import PATIENCE, PAUSE_S, ROUNDS
from trn.kubernetes.kinds import KINDS as KINDS_DRAINED
from trn.rights import DRAIN, RIGHTS, WITH_CLAIMS, Rules, drain_rights
from trn.running.verify import collectives, file_system
from trn.running.verify.change import TRIALS
from trn.table import ENTRIES, CommandEntry, InPractice

_BEFORE = """# Operations

What Pulumi does not see. Made from the command line itself by `make docs`.

Every command reads `Pulumi.NAME.yaml` as the program does, asks AWS in the stack's region with the credentials that the AWS CLI would use, and takes
`--json FILE` (`-` for standard output). Results go to standard output, questions and progress to standard error.

The stack is the first word (`trn logs dev bert`), or an option anywhere on the line (`trn logs bert --stack dev`, or `-s`). It may be left out where
one stack has a file here, or one of several is called dev. What can be read in two ways is refused, with both lines. The option `--install-completion` of trn
has the shell complete commands, options, stacks, node groups, faults, scenarios and jobs.
"""


def operations_page() -> str:
    """The page."""
    command: Any = typer.main.get_command(app)
    lines = [line for name, entry in _all(command) for line in _command(name, entry)]
    codes = ["| exit code | cause |", "| --- | --- |", *(f"| {code} | {cause} |" for code, cause in EXIT_CODES), ""]
    codes += ["`trn shell` and `trn engine` end with the exit code of what they ran.", ""]
    return "\n".join([_BEFORE, *codes, *_table(), *lines, *_details()]) + "\n"


_STACKS = {StackUse.NEEDED: "its file is read", StackUse.OPTIONAL: "may be named", StackUse.NEW: "its file is written", StackUse.NONE: ""}
_PRACTICE = {
    InPractice.SIMULATED: "`trn --practice COMMAND`", InPractice.OWN: "acts on it alone", InPractice.SAME: "needs no account", InPractice.NONE: "AWS alone",
}  # fmt: skip


def _table() -> Iterator[str]:
    """What each command is, in a line."""
    yield from (
        "## All commands",
        "",
        "| command | stack | asks | changes a cluster or an account | simulated account | what follows |",
        "| --- | --- | --- | --- | --- | --- |",
    )
    for place, entry in ENTRIES.items():
        follows = ", ".join(f"`trn {name}`" for name in entry.next)
        asks = ", ".join(entry.asks)
        yield f"| `trn {place}` | {_STACKS[entry.stack]} | {asks} | {_consent(entry)} | {_PRACTICE[entry.in_practice]} | {follows} |"
    yield ""


def _consent(entry: CommandEntry) -> str:
    if not entry.changes:
        return ""
    return "yes; `--yes` answers its question" if "yes" in signature(entry.function).parameters else "yes"


def _all(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command with its whole name, a group before the commands below it."""
    for name, entry in group.commands.items():
        yield f"{before}{name}", entry
        if hasattr(entry, "commands"):
            yield from _all(entry, f"{before}{name} ")


def _command(name: str, command: Any) -> Iterator[str]:
    yield from (f"## trn {name}", "", " ".join((command.help or "").split()), "")
    if command.epilog:
        yield from (f"`{command.epilog.removeprefix('Example: ')}`".replace(", then: ", "`, then `").replace(", or: ", "`, or `"), "")
    if not [parameter for parameter in command.params if parameter.name != "help"]:
        return
    yield from ("| option | default | what it does |", "| --- | --- | --- |")
    for parameter in command.params:
        if parameter.name == "help" or getattr(parameter, "hidden", False):
            continue
        if parameter.name == "stack" and parameter.param_type_name == "argument":
            # Its option has the row: it may be named there too.
            continue
        names = ["STACK"] if parameter.name == "stack" else []
        names += [f"`{name}`" for name in parameter.opts] if parameter.param_type_name == "option" else [name_of(parameter)]
        shown = ", ".join(names)
        yield f"| {shown} | {_default(parameter)} | {parameter.help or ''} |"
    yield ""


def _default(parameter: Any) -> str:
    if parameter.required:
        return "**required**"
    return "" if parameter.default in (None, False, ()) else f"`{parameter.default}`"


def _details() -> Iterator[str]:
    yield from ("## What check looks at", "", f"Credentials first, then {', '.join(CHECKS)}. What could not be checked is a failure.", "")
    yield from _owned()
    yield from _drained()
    yield from _verification()
    yield from ("## What sweep looks for", "", f"In the order of deletion: {', '.join(kind.name for kind in KINDS)}.", "")
    tags = ", ".join(f"`{key}=NAME`" for key in NAME_TAGS)
    yield f"An object is the cluster's if it carries exactly one of {tags} or `{owned_key('NAME')}=owned`, or lies in a VPC that does."
    yield "Log groups that EKS and Container Insights make themselves carry no tag and are matched by their whole name. A role must carry the tag"
    yield "and the region in its name. `karpenter.sh/discovery` makes nothing the cluster's own: it marks what Karpenter may use."
    yield "Where an EKS cluster of the name exists that this program did not make, nothing is looked for."
    yield "A snapshot without tags is the cluster's while the volume that it was made of is, and there."
    yield from ("", "What Pulumi's state holds is kept, and while the cluster is in it also what the cluster's own controllers made: their")
    yield "volumes, load balancers, interfaces and instances. Data is kept unless `--data` names its kind or its id: backups, snapshots, and the volumes and"
    yield "file systems that PersistentVolumes stand for, since only the cluster knew their reclaim policy. The stack's own file system is backed"
    yield f"up before where `storage.lustre.finalBackup` or its tag `{FINAL_BACKUP_TAG}` says so."
    yield from ("", "## What the commands do in Kubernetes", "")
    yield "The policy that `controlPlane.accessEntries` gives by default, AmazonEKSClusterAdminPolicy, may do all of it. A role of one's own needs:"
    yield from ("", "| command | resources and verbs |", "| --- | --- |")
    for name, rules in RIGHTS.items():
        yield f"| {name} | {_rules(rules)} |"
    yield f"| drain | {_rules(DRAIN)}, and the rights in the table of what drain does, for the add-ons that are on |"
    yield from (
        "",
        "Where devices are claimed (`addons.neuron.devices: dra`, or EFA's) these besides:",
        "",
        "| command | resources and verbs |",
        "| --- | --- |",
    )
    for name, rules in WITH_CLAIMS.items():
        yield f"| {name} | {_rules(rules)} |"
    yield from ("", "## What the documents of iam leave out", "")
    yield "They were made from the calls of the code and from public lists of what the provider calls, and never run against an account."
    yield "`trn data` also lists and reads the bucket that it is given: s3:ListBucket and s3:GetObject on it, which no document of the stack can name."
    yield "An operator with these documents may delete what carries the cluster's tags; what belongs to it by its VPC alone takes more rights."


def _owned() -> Iterator[str]:
    """How a command knows whose the cluster is."""
    yield from ("## Whose the cluster is", "")
    yield "Before its first change, a command reads Pulumi's state and the account, and compares account, region, ARN, creation time and VPC of the"
    yield f"cluster, and the stack that made it (`{STACK_TAG}`, on everything that takes tags). All of it is shown; any difference ends the command,"
    yield "with both sides. The stack file says what is wanted, never what is there: where the state holds another cluster than `trn:name` and"
    yield "`trn:region` say, or resources that name none, every command that changes something refuses. A state without a cluster, of a run that"
    yield "was killed before it made one, is the stack's where the tags of what it holds, or its component, name the cluster of the file, and EKS"
    yield "was asked and has none of the name. Where the backend cannot be reached, `--state` takes an export of this very stack. Where Pulumi has no such stack, or holds nothing of it, what the objects say is shown and the"
    yield "cluster's name has to be typed, or given with `--name`: `--yes` alone is not enough. Objects of several stacks need `--identity`."
    yield from (
        "",
        "Each object is looked at again right before it is deleted. It stays if its tags name another owner or another stack, if its ARN is of",
    )
    yield "another account or region, if an object of its name was made later, or if it was not in the plan that was confirmed: what appears"
    yield "meanwhile is asked about, and with `--yes` it stays, is reported, and makes the exit code 1. After `pulumi destroy` too: what was"
    yield "there at the question is swept, and no more. The same holds for what a drain deletes in the cluster: a job that appears while it runs is asked about, or stays"
    yield "with the nodes that it may run on, and a destroy then ends before Pulumi deletes anything. Right before each run of Pulumi the state is"
    yield "read again: what came into it since the question is asked about, and with `--yes` the destroy ends there. What comes into it between that"
    yield "and Pulumi's own lock is not seen."
    yield from (
        "",
        "What cannot be seen is not nothing: where the API server does not answer, or may not be asked for a kind of object (401, 403), drain",
    )
    yield "wants the cluster's name typed, which no option replaces, and destroy wants it typed or given with `--name`. In the midst of a drain the name"
    yield "has to be typed; with `--yes` a destroy ends there, before Pulumi."
    yield "`finalBackup: true` that is in the file and not yet in the state is a question of its own, which no option covers."
    yield from (
        "",
        f"sweep --delete, destroy, drain, recover and scale hold a lock while they change something: the EC2 launch template `{lock_name('NAME')}`, which",
    )
    yield f"launches nothing and bills nothing, with who, where, which command and since when, and with the tag `{LOCK_TAG}`. One run can have it, and it"
    yield "is deleted by its id: a run gives up its own lock and no other. It is given up at the end and when the command is interrupted; if that"
    yield "fails, the command says so, and ends with 1 where it would have ended with 0. A command that was killed leaves it; `--break-lock` takes"
    yield "the lock that it has shown. A lock of trn 0.1.0, a parameter of Systems Manager, is respected, and a person deletes it. sweep, destroy and"
    yield "recover also need Pulumi's own lock to be free."
    yield "cancel, precompile and submit hold the name of their job alone, so that others may change other jobs, and need no right to that lock: the"
    yield "Lease `trn-JOB` of Kubernetes in the job's namespace, which the API server makes for one run and deletes by its uid. `--break-lock` takes it."
    yield f"image push, image build --push, data stage and data export hold one of what they change alone, such as `{part_lock_name('image', 'REPOSITORY:TAG')}`,"
    yield "and leave the rest of the cluster to other runs. What they were confirmed to do is looked at again under it, and right before an image is named."
    yield from (
        "",
        "A cluster that is not being deleted is swept only where its stack is gone and its name was typed. destroy drains nothing before it knows",
    )
    yield "that the stack holds this cluster, that neither the stack file nor EKS protects it from deletion, and that no other operator changes it. An API"
    yield "server that cannot be reached counts as gone only where EKS says that there is no such cluster."
    yield ""


def _rules(rules: Rules) -> str:
    return ", ".join(f"`{kind}` ({', '.join(verbs)})" for kind, verbs in rules.items())


def _drained() -> Iterator[str]:
    minutes = PATIENCE * PAUSE_S // 60, ROUNDS * PAUSE_S // 60
    order = (
        f"In this order. Nodes are deleted when all else is gone, or after {minutes[0]} minutes; after {minutes[1]} minutes the drain ends."
    )
    yield from ("## What drain does", "", order, "")
    yield from ("| kind | of | what is done | why | rights |", "| --- | --- | --- | --- | --- |")
    for kind in KINDS_DRAINED:
        yield f"| {kind.resource.kind} | {kind.addon or 'Kubernetes'} | {kind.verb} | {kind.why} | {_rules(drain_rights(kind))} |"
    yield from (
        "",
        "Jobs in the namespaces of add-ons are Pulumi's; an object with an owner is deleted with it. Claims that name no storage class, and those",
    )
    yield "of StatefulSets, stay until Pulumi deletes what mounts them. A queue that was closed is opened by `vcctl queue operate -a open -n NAME`,"
    yield "Kueue's by setting `stopPolicy` back to `None`, a NodeSet by its `replicas`."
    yield ""


def _verification() -> Iterator[str]:
    yield from ("## What verify tries", "", f"After everything that status looks at: {', '.join(TRIALS)}, one after the other.", "")
    yield "A job that holds a Neuron device is not waited for: gang and collectives then fail as not checked. So does what finds no"
    yield "image: not every toolchain has one that is published; for those name one with `--image`. Each object it starts carries the label"
    yield "`trn/verify=NAME`, has a deadline of its own, and is removed after each test, after Ctrl-C and SIGTERM, and by the next run."
    yield from ("", "Speed is a warning, not a failure, since others use the same wires:", "")
    yield f"- throughput warns below {file_system.FRACTION:.0%} of what the file system was bought with, or of {file_system.FLOW_MB_PER_S} MB/s where"
    yield "  that is less: one flow between two instances carries 5 Gbps (EC2 user guide)."
    example = ", ".join(f"{figure:.1f} GB/s on two {name}" for name, figure in collectives.EXAMPLES_GB_PER_S.items())
    yield f"- collectives warns below {collectives.FRACTION:.0%} of what the EFA interfaces carry, a bound and not a promise: network bandwidth divided by"
    yield f"  2 (n - 1) / n for n nodes. AWS's example of nccom-test shows {example}, and says that it is not kept up to date; none is"
    yield from ("  published for other types.", "")
