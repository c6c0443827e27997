"""Every order of words on a line has one reading, or is refused with both."""

from typing import Any

import pytest
import typer.main

from trn.app import app
from trn.cli.placement import Line, Slot, StackUse, Unplaced, Words, guessed, place
from trn.commands import Command
from trn.commands import line_of as line_taken

STACKS = ("dev", "night")


def every(group: Any, before: str = "trn") -> dict[str, Any]:
    """All commands by their whole names."""
    found = {}
    for name, entry in group.commands.items():
        if isinstance(entry, Command):
            found[f"{before} {name}"] = entry
        found |= every(entry, f"{before} {name}") if hasattr(entry, "commands") else {}
    return found


COMMANDS = every(typer.main.get_command(app))
FILES = ("job.yaml", "src", "night")
"""Files and folders that there are."""


def line_of(command: str) -> Line:
    """What a command takes; a word is a file where it is one of FILES."""
    line = line_taken(COMMANDS[command], command)
    slots = [
        Slot(**{**vars(slot), "exists": FILES.__contains__}) if slot.name in ("FILE", "FOLDER", "SOURCE") else slot for slot in line.slots
    ]
    return Line(command, tuple(slots), line.stack)


def words_of(text: str) -> Words:
    """A line without its options."""
    words, stack = text.split(), None
    if "--stack" in words:
        at = words.index("--stack")
        stack = words[at + 1]
        words[at : at + 2] = []
    if "--" in words:
        at = words.index("--")
        return Words(tuple(words[:at]), tuple(words[at + 1 :]), stack)
    return Words(tuple(words), None, stack)


READ: dict[str, dict[str, tuple[Any, ...]]] = {
    **{
        f"trn {name}": {"dev": ("dev",), "--stack night": ("night",), "": ("dev",), "dev --stack dev": ("dev",), "nosuch": ("nosuch",)}
        for name in (
            "check", "cost", "plan", "upgrade", "iam", "status", "verify", "kubeconfig", "drain", "recover", "destroy", "sweep", "bundle", "addons", "images",
            "jobs",
            "network describe", "capacity find", "capacity calendar", "practice up", "practice down", "practice export", "rehearse crash", "rehearse change",
            "rehearse upgrade", "rehearse calendar",
        )
    },
    **{f"trn {name}": {"dev": ("dev",), "--stack new": ("new",), "new": ("new",)} for name in ("init", "import")},
    **{
        f"trn {name}": {
            "dev bert": ("dev", "bert"), "night bert": ("night", "bert"), "bert --stack night": ("night", "bert"), "bert": ("dev", "bert"),
            "nosuch bert": ("nosuch", "bert"), "dev dev": ("dev", "dev"), "dev --stack night": ("night", "dev"),
        }
        for name in ("logs", "why", "cancel")
    },
    "trn roll": {
        "dev trn1-32xl": ("dev", "trn1-32xl"), "trn1-32xl": ("dev", "trn1-32xl"), "trn1-32xl --stack night": ("night", "trn1-32xl"),
    },
    **{
        f"trn {name}": {
            "dev": ("dev", None), "dev bert": ("dev", "bert"), "bert": ("dev", "bert"), "bert --stack night": ("night", "bert"),
            "--stack night": ("night", None), "": ("dev", None),
        }
        for name in ("top", "watch", "data status")
    },
    "trn scale": {
        "dev trn1-32xl 0": ("dev", "trn1-32xl", "0"), "trn1-32xl 0 --stack night": ("night", "trn1-32xl", "0"),
        "trn1-32xl 0": ("dev", "trn1-32xl", "0"),
    },
    **{
        f"trn {name}": {
            "dev job.yaml": ("dev", "job.yaml"), "job.yaml": ("dev", "job.yaml"), "job.yaml --stack night": ("night", "job.yaml"),
            "-": ("dev", "-"), "night other.yaml": ("night", "other.yaml"),
        }
        for name in ("submit", "precompile")
    },
    "trn run": {
        "dev train.py": ("dev", "train.py", None), "train.py": ("dev", "train.py", None), "train.py --stack night": ("night", "train.py", None),
        "train.py -- --lr 1": ("dev", "train.py", ("--lr", "1")), "night train.py -- night": ("night", "train.py", ("night",)),
        "night train.py --": ("night", "train.py", None),
    },
    "trn lint": {"job.yaml": (None, "job.yaml"), "dev job.yaml": ("dev", "job.yaml"), "job.yaml --stack dev": ("dev", "job.yaml")},
    "trn image push": {"dev src": ("dev", "src"), "src": ("dev", "src"), "src --stack night": ("night", "src"), "night night": ("night", "night")},
    "trn image build": {"dev src": ("dev", "src"), "src": ("dev", "src"), "src --stack night": ("night", "src")},
    "trn data stage": {
        "s3://b/set/ /fsx/set": ("dev", "s3://b/set/", "/fsx/set"), "night s3://b/set/ /fsx/set": ("night", "s3://b/set/", "/fsx/set"),
        "job.yaml": ("dev", "job.yaml", None), "night job.yaml": ("night", "job.yaml", None), "nosuch job.yaml": ("nosuch", "job.yaml", None),
        "tokens /fsx/set": ("dev", "tokens", "/fsx/set"),
        "job.yaml /fsx/set": ("dev", "job.yaml", "/fsx/set"), "s3://b/set/ /fsx/set --stack night": ("night", "s3://b/set/", "/fsx/set"),
    },
    "trn data prepare": {"dev job.yaml": ("dev", "job.yaml"), "job.yaml": ("dev", "job.yaml"), "job.yaml --stack night": ("night", "job.yaml")},
    **{
        f"trn data {name}-weights": {
            "dev a /fsx/b": ("dev", "a", "/fsx/b"), "a /fsx/b": ("dev", "a", "/fsx/b"), "a /fsx/b --stack night": ("night", "a", "/fsx/b"),
        }
        for name in ("import", "export")
    },
    "trn data export": {"dev /fsx/out": ("dev", "/fsx/out"), "/fsx/out": ("dev", "/fsx/out"), "/fsx/out --stack night": ("night", "/fsx/out")},
    "trn practice job": {"dev": ("dev", None), "dev bert": ("dev", "bert"), "bert": ("dev", "bert"), "": ("dev", None)},
    "trn practice event": {
        "dev": ("dev", None), "dev claim-in-use": ("dev", "claim-in-use"), "claim-in-use": ("dev", "claim-in-use"), "nosuch": ("nosuch", None),
    },
    "trn engine": {
        "-- up --yes": ("dev", ("up", "--yes")), "night -- up": ("night", ("up",)), "--stack night -- up": ("night", ("up",)),
        "up --yes": ("dev", ("up", "--yes")), "night up --yes": ("night", ("up", "--yes")), "nosuch -- up": ("nosuch", ("up",)),
        "preview": ("dev", ("preview",)), "night config set -- --x": ("night", ("config", "set", "--", "--x")),
    },
    "trn shell": {
        "": ("dev", None), "night": ("night", None), "-- ls -l": ("dev", ("ls", "-l")), "night -- ls": ("night", ("ls",)),
        "--stack night -- ls": ("night", ("ls",)), "night ls": ("night", ("ls",)), "nosuch": ("nosuch", None),
    },
    "trn capacity buy": {"dev cb-1": ("dev", "cb-1"), "cb-1": ("dev", "cb-1"), "cb-1 --stack night": ("night", "cb-1")},
    "trn rehearse rules": {"": (None,)},
    "trn rehearse chaos": {"": (None,)},
}  # fmt: skip
"""By command: lines, and the stack and the arguments that they name."""
REFUSED: dict[str, dict[str, tuple[str, ...]]] = {
    **{
        f"trn {name}": {"dev night": ("too many words: `night`",), "dev --stack night": ("two stacks are named, `dev` and `night`",)}
        for name in (
            "check", "cost", "plan", "upgrade", "iam", "status", "verify", "kubeconfig", "drain", "recover", "destroy", "sweep", "bundle", "addons", "images",
            "jobs",
            "network describe", "capacity find", "capacity calendar", "practice up", "practice down", "practice export", "rehearse crash", "rehearse change",
            "rehearse upgrade", "rehearse calendar",
        )
    },
    **{f"trn {name}": {"": ("the stack has no name", f"`trn {name} STACK`"), "a b": ("too many words: `b`",)} for name in ("init", "import")},
    **{
        f"trn {name}": {
            "": ("JOB is missing", f"`trn {name} STACK JOB`"),
            "dev": ("`dev` is a stack here, and JOB is missing", f"`trn {name} dev JOB`; with `dev` as JOB: `trn {name} dev dev`"),
            "bert dev": ("the stack comes first, and `bert` is no stack here", f"`trn {name} dev bert`"),
            "dev bert x": ("too many words: `x`", f"`trn {name} dev JOB`"),
            "--stack dev": ("JOB is missing", f"`trn {name} dev JOB`"),
        }
        for name in ("logs", "why", "cancel")
    },
    "trn roll": {
        "dev": ("`dev` is a stack here, and GROUP is missing", "`trn roll dev GROUP`; with `dev` as GROUP: `trn roll dev dev`"),
        "trn1-32xl dev": ("the stack comes first", "`trn roll dev trn1-32xl`"), "dev trn1-32xl x": ("too many words: `x`",),
    },
    **{
        f"trn {name}": {
            "dve": ("did you mean `dev`?", f"`trn {name} dev`; with `dve` as JOB: `trn {name} --stack dev dve`"),
            "bert dev": ("the stack comes first", f"`trn {name} dev bert`"),
            "dev bert x": ("too many words: `x`",),
        }
        for name in ("top", "watch", "data status")
    },
    "trn scale": {
        "dev 0": ("`dev` is a stack here, and GROUP is missing", "`trn scale dev GROUP 0`; with `dev` as GROUP: `trn scale dev dev 0`"),
        "trn1-32xl": ("COUNT is missing", "`trn scale STACK trn1-32xl COUNT`"),
        "dev": ("GROUP and COUNT is missing", "`trn scale dev GROUP COUNT`"),
        "trn1-32xl 0 dev": ("the stack comes first", "`trn scale dev trn1-32xl 0`"),
        "dev trn1-32xl 0 1": ("too many words: `1`",),
    },
    **{
        f"trn {name}": {
            "night": ("`night` is a stack here, and FILE is missing", f"`trn {name} night FILE`; with `night` as FILE: `trn {name} night night`"),
            "job.yaml dev": ("the stack comes first, and `job.yaml` is no stack here", f"`trn {name} dev job.yaml`"),
            "": ("FILE is missing",),
        }
        for name in ("submit", "precompile", "lint")
    },
    "trn run": {
        "night": ("`night` is a stack here, and SCRIPT is missing",), "train.py dev": ("the stack comes first", "`trn run dev train.py`"),
        "dev train.py 1": ("too many words: `1`",), "-- train.py": ("SCRIPT is missing",),
    },
    **{
        f"trn image {name}": {
            "night": ("`night` is a stack here, and FOLDER is missing", f"with `night` as FOLDER: `trn image {name} night night`"),
            "src dev": ("the stack comes first", f"`trn image {name} dev src`"),
        }
        for name in ("push", "build")
    },
    "trn data stage": {"": ("SOURCE is missing",), "night": ("`night` is a stack here, and SOURCE is missing",), "a b c d": ("too many words: `d`",)},
    "trn data prepare": {"": ("FILE is missing",), "dev": ("`dev` is a stack here, and FILE is missing",)},
    **{
        f"trn data {name}-weights": {"dev a": ("`dev` is a stack here, and SOURCE is missing",), "a /fsx/b dev": ("the stack comes first",)}
        for name in ("import", "export")
    },
    "trn data export": {"dev": ("`dev` is a stack here, and PATH is missing",), "/fsx/out dev": ("the stack comes first",)},
    "trn practice job": {"dve": ("did you mean `dev`?",), "dev a b": ("too many words: `b`",)},
    "trn practice event": {
        "claim-in-us": ("`claim-in-us` is no stack here, and no WHAT", "did you mean `trn practice event claim-in-use`?"),
        "dev claim-in-use x": ("too many words: `x`",),
    },
    "trn engine": {
        "": ("ARGUMENTS is missing", "`trn engine STACK -- ARGUMENTS`"),
        "dev": ("ARGUMENTS is missing", "`trn engine dev -- ARGUMENTS`"),
        "dve up": ("did you mean `dev`?",),
        "dev --stack night -- up": ("two stacks are named",),
    },
    "trn shell": {"dev --stack night -- ls": ("two stacks are named",)},
    "trn capacity buy": {
        "dev": ("`dev` is a stack here, and OFFER is missing", "`trn capacity buy dev OFFER`"),
        "cb-1 dev": ("the stack comes first", "`trn capacity buy dev cb-1`"),
    },
    "trn rehearse rules": {"dev": ("too many words: `dev`", "`trn rehearse rules`")},
    "trn rehearse chaos": {"dev": ("too many words: `dev`",)},
}  # fmt: skip
"""By command: lines, and what their refusal says."""


def cases(table: dict[str, dict[str, Any]]) -> list[Any]:
    """A case for each line, named by it."""
    return [pytest.param(name, line, wanted, id=f"{name} {line}") for name, lines in table.items() for line, wanted in lines.items()]


@pytest.mark.parametrize(("command", "line", "wanted"), cases(READ))
def test_a_line_has_one_reading(command: str, line: str, wanted: tuple[Any, ...]):
    """The stack first, by its option, or left out."""
    placed = place(line_of(command), words_of(line), STACKS)
    assert (placed.stack, *placed.values) == wanted


@pytest.mark.parametrize(("command", "line", "wanted"), cases(REFUSED))
def test_a_line_without_one_reading_is_refused_with_what_to_type(command: str, line: str, wanted: tuple[str, ...]):
    """The reason, and each reading."""
    with pytest.raises(Unplaced) as refusal:
        place(line_of(command), words_of(line), STACKS)
    for text in wanted:
        assert text in f"{refusal.value} {refusal.value.hint}"


@pytest.mark.parametrize("table", [READ, REFUSED])
def test_every_command_is_in_the_table(table: dict[str, Any]):
    """Also the next one."""
    assert sorted(table) == sorted(COMMANDS)


def test_what_is_shown_is_read_as_it_is_meant():
    """A hint that is refused, or read in another way, would be worse than none."""
    for command, line, stack in (
        ("trn logs", "dev", "dev"),
        ("trn top", "dve", "dev"),
        ("trn scale", "dev 0", "dev"),
        ("trn submit", "night", "night"),
    ):
        with pytest.raises(Unplaced) as refusal:
            place(line_of(command), words_of(line), STACKS)
        shown = refusal.value.hint.split("`")
        for text in (item for item in shown if item.startswith(command)):
            typed = (
                text.removeprefix(command).replace("JOB", "bert").replace("GROUP", "group").replace("FILE", "file").replace("COUNT", "1")
            )
            assert place(line_of(command), words_of(typed), STACKS).stack == stack


@pytest.mark.parametrize(
    ("stacks", "use", "wanted"),
    [
        ((), StackUse.NEEDED, "dev"),
        (("night",), StackUse.NEEDED, "night"),
        (("dev", "night"), StackUse.NEEDED, "dev"),
        (("dev", "night"), StackUse.OPTIONAL, None),
    ],
)
def test_a_stack_may_be_left_out_where_it_is_clear(stacks: tuple[str, ...], use: StackUse, wanted: str | None):
    """The only one, or dev."""
    placed = place(Line("trn x", stack=use), Words(), stacks)
    assert (placed.stack, placed.is_named) == (wanted, False)


def test_a_stack_is_named_where_several_could_be_meant():
    """None of them is called dev."""
    with pytest.raises(Unplaced, match="several have a file here") as refusal:
        place(Line("trn check"), Words(), ("day", "night"))
    assert "day, night" in refusal.value.hint


def test_a_file_and_a_stack_of_one_name_are_told_apart_by_both_lines():
    """`trn data stage night` alone could be either, where a file has the stack's name."""
    line = Line("trn x", (Slot("FILE", is_required=False, exists=FILES.__contains__),))
    with pytest.raises(Unplaced) as refusal:
        place(line, words_of("night"), STACKS)
    assert refusal.value.hint == "for the stack `night`: `trn x night`; with `night` as FILE: `trn x --stack night night`"


def test_a_line_that_is_not_whole_is_guessed_for_the_shell():
    """What stands there already decides what is offered next."""
    assert guessed(line_of("trn scale"), words_of("dev"), STACKS).stack == "dev"
    assert guessed(line_of("trn scale"), words_of("trn1-32xl"), STACKS).stack is None
    assert guessed(line_of("trn scale"), words_of("trn1-32xl --stack night"), STACKS).values == ("trn1-32xl", None)


def test_no_signature_has_a_stack_of_its_own():
    """A default there would never be used: the placement says which is meant."""
    for command in COMMANDS.values():
        given = [param for param in command.params if param.name == "stack"]
        assert [param.default for param in given] in ([], [None])
