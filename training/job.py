"""The job file as frozen models: every key, its default, and what the default does.

Nothing in it is of one cluster: what it leaves open (node group, queue, claim, toolchain) comes from the stack when it is submitted.
YAML spells the keys in camelCase. What one key alone can get wrong is refused here, what the job and the cluster get wrong
together in `training.check`. `docs/job.schema.json` and the reference of the job file are made from these classes.
"""

import json
from collections.abc import Iterator, Mapping
from posixpath import normpath
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from facts import text_formats
from facts.mistakes import File, problems_of
from facts.problems import Problem, missing
from facts.section import KUBERNETES_NAME, Formed, OneOf, Section
from facts.text_formats import Form
from facts.toolchains import TOOLCHAINS, Start
from facts.typed import typed
from training.duration import DURATION

NAME_LIMIT = 40
"""Longest name of a job: names of pods and services are built from it and must fit 63 characters."""
NAME = rf"[a-z]([a-z0-9-]{{0,{NAME_LIMIT - 2}}}[a-z0-9])?"
OWN_PREFIX = "TRN_"
"""Variables that begin so are set by the program."""
RESERVED = ("/dev", "/proc", "/sys", "/trn")
"""Where a mount would hide devices, the kernel, shared memory or the entry script."""
VARIABLE = Form(
    "name of an environment variable",
    rf"(?!{OWN_PREFIX})[A-Za-z_][A-Za-z0-9_]*",
    f"letters, digits and _, not beginning with a digit or with {OWN_PREFIX}",
    f"take another name: {OWN_PREFIX}... is what the entry script reads",
    256,
)
PATH = Form(
    "path in the container",
    r"/[A-Za-z0-9._/-]*[A-Za-z0-9._-]",
    "an absolute path of letters, digits, ., _, - and /",
    "write it from the root, such as /fsx/checkpoints",
    1024,
)
CACHE = Form(
    "place of a compile cache",
    rf"{PATH.pattern}|s3://[a-z0-9][a-z0-9.-]{{1,61}}[a-z0-9](/[A-Za-z0-9._/-]*)?",
    "an absolute path, or s3://BUCKET/PREFIX",
    "write such as /fsx/neuron-compile-cache/bert, or s3://my-bucket/cache",
    1024,
)
OWN_FILES = Form(
    "path on this machine",
    r"[^\0]*[^\0\s][^\0]*",
    "a folder, or one file, beginning where the job file is",
    "write such as `.` for the job file's own folder, or `../src`",
    1024,
)
_S3, _HUB = text_formats.S3_URI.pattern, r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*"
SOURCE = Form(
    "source of a data set",
    rf"{_S3}|{PATH.pattern}|{_HUB}",
    "s3://BUCKET/PREFIX, the id OWNER/NAME of a Hugging Face data set, or an absolute path on one of the job's mounts",
    "write such as s3://my-bucket/text/, wikimedia/wikipedia, or /fsx/text",
)
TOKENIZER = Form(
    "tokenizer",
    rf"({_S3}|{PATH.pattern})\.json|{_HUB}",
    "the id OWNER/NAME of a Hugging Face model, or a tokenizer.json: s3://BUCKET/KEY.json or an absolute path on one of the job's mounts",
    "write such as google-bert/bert-large-uncased, or /fsx/tokenizer.json",
)
RESUME_EXIT_CODE = 75
"""Exit code of a process that wrote a checkpoint when it was told to stop: start it again and it resumes (sysexits.h, EX_TEMPFAIL)."""
NO_TOOLCHAIN = "none"
SHARED_PATH = "/fsx"
"""Where the stack's file system is mounted unless a job says otherwise; tests and shells have it there too."""
HUNG_EXIT_CODE = 124
"""Exit code of the entry script where no worker made a step for `restarts.hangAfter` (as of timeout(1))."""
Rendezvous = Literal["c10d", "etcd"]


class Mount(Section):
    """One claim in the container."""

    claim: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """PersistentVolumeClaim in the training namespace. Without it, that of the stack's file system."""
    path: Annotated[str, Formed(PATH)]
    """Where it is mounted."""
    read_only: bool = False
    """Refuse writes."""


class Prepare(Section):
    """How the text of `data.source` becomes token shards: `trn data prepare` reads it."""

    tokenizer: Annotated[str, Formed(TOKENIZER)]
    """Hugging Face model whose tokenizer.json is taken, or such a file: in S3, or by its path."""
    files: str | None = Field(default=None, min_length=1)
    """Pattern of the files that count, such as `20231101.en/*.parquet`. Without it, all of text: .txt, .text, .jsonl, .json, .ndjson, each also with .gz or .zst behind it, and .parquet."""
    text: str = Field(default="text", min_length=1)
    """Key of JSON lines, or column of parquet, that has the text."""
    documents: Literal["blank-line", "line", "file"] = "blank-line"
    """What separates the documents of plain text."""
    sentences: bool | None = None
    """Note where sentences begin, as BERT wants it. Without it, where the tokenizer has a mask token."""
    begin: str | None = None
    """Token that every document begins with, as Llama 3 wants it. None by default."""
    end: str | None = None
    """Token that every document ends with. Without it, the tokenizer's own; one with a mask token has none; '' for none."""
    validation: float = Field(default=0.005, ge=0, le=0.5)
    """Share of the documents that is kept for validation."""
    revision: str = Field(default="main", min_length=1)
    """Branch, tag or commit of the Hugging Face data set."""


class Data(Section):
    """The data set."""

    path: Annotated[str, Formed(PATH)]
    """Where the job reads it, on one of its mounts; the job sees it as `TRN_DATA`."""
    source: Annotated[str, Formed(SOURCE)] | None = None
    """Where it comes from. An S3 prefix: `trn data stage` copies it as it is. With `prepare`, text: an S3 prefix, the id of a Hugging Face data set, or a path on one of the mounts."""
    prepare: Prepare | None = None
    """How text becomes tokens. Without it, the set is read as it is."""


class Cache(Section):
    """The compile cache: without one, every start of the job compiles again."""

    path: Annotated[str, Formed(CACHE)]
    """Folder on a mount, or an S3 prefix. One for each job: two that write into one wait for each other's locks."""


class Checkpoints(Section):
    """Where the job saves its state, and how often."""

    path: Annotated[str, Formed(PATH)]
    """Folder on one of the job's mounts; the job resumes from the newest one in it."""
    interval: Annotated[str, Formed(DURATION)] = "30m"
    """Time from one to the next."""
    keep: int = Field(default=3, ge=1, le=1000)
    """Newest ones that stay."""
    grace: Annotated[str, Formed(DURATION)] = "5m"
    """Time that a pod gets to write one when it is stopped."""


class Restarts(Section):
    """What happens when a pod fails: the whole gang starts again and resumes, since no worker trains without the others."""

    max: int = Field(default=3, ge=0, le=1000)
    """How often. 0 lets the job fail at once."""
    exit_codes: tuple[Annotated[int, Field(ge=1, le=255)], ...] = ()
    """Exit codes after which it starts again. Empty means all; 75, a checkpoint on request, is always one, and 124, a hung start, with `hangAfter`."""
    hang_after: Annotated[str, Formed(DURATION)] | None = None
    """Time without a step after which a start counts as failed: a wedged device or a lost peer leaves workers waiting for ever. None by default; compiling takes 40 minutes and more, and counts."""


class Parallel(Section):
    """How the devices share one model. What is left of them after both makes copies of it."""

    tensor: int = Field(default=1, ge=1, le=64)
    """Devices that share the products of each layer, neighbours on one node."""
    fsdp: int | None = Field(default=None, ge=1, le=262_144)
    """Devices that share parameters, gradients and optimizer. Without it, all that `tensor` leaves: one copy of the model."""


class Job(Section):
    """Everything that a job file can say."""

    name: Annotated[str, Field(pattern=f"^{NAME}$")]
    """Name of the job, and of what is made for it. A second job of the name is refused while the first is there."""
    toolchain: Annotated[str, OneOf((*TOOLCHAINS, NO_TOOLCHAIN), "docs/toolchains.md says what each is")] | None = None
    """What the job's image brings. Without it, the stack's `training.toolchain`; `none` for an image that brings something else, of which nothing is checked."""
    image: Annotated[str, Formed(text_formats.IMAGE)] | None = None
    """Image with a tag or a digest. Without it, the toolchain's own."""
    command: tuple[str, ...] = ()
    """What each worker runs, word by word. Either this or `recipe`."""
    recipe: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """Name of a recipe of this program, whose script is run. Either this or `command`."""
    source: Annotated[str, Formed(OWN_FILES)] | None = None
    """Folder, or one file, beside the job file that goes into the pods, where the command begins; what git ignores stays out. Small ones go in a ConfigMap, larger ones as one more layer of the image."""
    args: tuple[str, ...] = ()
    """Further words behind the command, or the recipe's script."""
    start: Start | None = None
    """How the workers find each other. Without it, as the toolchain does; `none` runs the command once on each node."""
    nodes: int = Field(default=1, ge=1, le=4096)
    """Nodes, all at once or none."""
    node_group: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """Node group of the stack. Without it, the first that can run the job."""
    pool: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """Karpenter pool of the stack, in place of a node group."""
    queue: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """Queue of the gang scheduler. Without it, the first of the stack that takes jobs."""
    workers_per_node: int | None = Field(default=None, ge=1, le=256)
    """Processes on each node, of the counts that the toolchain allows. Without it, one for each core, or for JAX one for the node."""
    parameter_servers: int = Field(default=0, ge=0, le=64)
    """Workers that hold parameters and train nothing, the last ones, for TensorFlow's asynchronous training. 0 trains by all-reduce."""
    parallel: Parallel | None = None
    """Mesh of a model that is shared by its devices; the recipe `llama` has one, a script of yours reads `TRN_PARALLEL`. Without it, `llama` takes one copy by FSDP."""
    devices: int | None = Field(default=None, ge=0, le=64)
    """Neuron chips of each node. Without it, all: whole nodes. 0 for a job on processors: it runs on the stack's ordinary nodes, with a core and 4 GiB for each worker, and takes no Neuron node."""
    logical_core_size: int | None = Field(default=None, ge=1, le=2)
    """Physical NeuronCores of each logical one (LNC), on chips that leave a choice. Without it, that of the node group. Another one than the group's needs devices by claims (`addons.neuron.devices: dra`)."""
    efa: bool | None = None
    """Ask for EFA interfaces. Without it, with whole nodes of a group that has them."""
    mounts: tuple[Mount, ...] = (Mount(path=SHARED_PATH),)
    """Claims in the container. By default the stack's file system at /fsx."""
    environment: dict[Annotated[str, Formed(VARIABLE)], str] = Field(default_factory=dict)
    """Further variables, or other values for those that the program sets."""
    data: Data | None = None
    """The data set."""
    cache: Cache | None = None
    """Compile cache. Without it, a folder of the job's own on its first mount."""
    checkpoints: Checkpoints | None = None
    """Checkpoints. None by default: a job that is stopped begins again."""
    restarts: Restarts = Restarts()
    """Restarts."""
    rendezvous: Rendezvous = "c10d"
    """How torchrun's agents meet: at the first pod, or by the stack's etcd."""
    priority: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """PriorityClass of the cluster."""
    time_limit: Annotated[str, Formed(DURATION)] | None = None
    """Longest time that the job may run, all its starts together. None by default."""
    ttl: Annotated[str, Formed(DURATION)] = "1d"
    """How long the job stays to be looked at when it has ended."""
    launcher: str | None = Field(default=None, pattern=f"^{KUBERNETES_NAME}$")
    """What runs it: a name of docs/jobs.md. Without it, `volcano` where the stack has it."""

    @property
    def restart_codes(self) -> tuple[int, ...]:
        """Exit codes after which the job starts again, in order; empty for all."""
        named = self.restarts.exit_codes
        hung = (HUNG_EXIT_CODE,) if self.restarts.hang_after is not None else ()
        return tuple(sorted({RESUME_EXIT_CODE, *hung, *named})) if named else ()

    @property
    def grace(self) -> str:
        """Time that a pod gets between the request to stop and its end."""
        return self.checkpoints.grace if self.checkpoints is not None else "30s"


JOB_FILE = File(
    Job,
    page="docs/job-file.md",
    for_missing={"name": "`name: bert`, or any other name in lower case"},
    for_form={
        "name": f"begin with a letter; letters, digits and hyphens, at most {NAME_LIMIT} characters: names of pods are built from it"
    },
)
"""How its mistakes are worded."""


class JobFileError(Exception):
    """A job cannot be read, or cannot run on a cluster: all that is wrong with it."""

    def __init__(self, problems: list[Problem], where: str) -> None:
        """`where`: what was read, such as the name of its file."""
        self.problems = tuple(problems)
        count = "1 mistake" if len(problems) == 1 else f"{len(problems)} mistakes"
        body = "\n\n".join(map(str, problems))
        super().__init__(f"{count} in {where}; nothing was submitted\n\n{body}")


def parse_job(values: Any, where: str = "the job file") -> Job:
    """A job from plain values, as YAML gives them.

    Raises JobFileError with every mistake that keys make alone.
    """
    if not isinstance(values, Mapping):
        raise JobFileError(
            [
                missing(
                    "", f"{where} is no mapping of keys{': it is empty' if values is None else ''}", hint="see docs/jobs.md for the form"
                )
            ],
            where,
        )
    try:
        job = Job.model_validate_json(json.dumps(values, default=str), strict=True)
    except ValidationError as error:
        raise JobFileError(problems_of(error, JOB_FILE), where) from None
    if problems := list(_between_keys(job)):
        raise JobFileError(problems, where)
    return job


def _between_keys(job: Job) -> list[Problem]:
    """What keys of one job get wrong together, on any cluster."""
    found = list[Problem]()
    if bool(job.command) == (job.recipe is not None):
        wrong = "neither `command` nor `recipe` is there" if job.recipe is None else "both `command` and `recipe` are there"
        found.append(
            missing(
                "command",
                wrong,
                hint=f"`command: [python3, /fsx/train.py]`, or `recipe: NAME`: docs/jobs.md lists them; `{typed('trn run train.py')}` runs a script without a job file",
            )
        )
    if job.source is not None and job.recipe is not None:
        found.append(
            Problem(
                "source",
                job.source,
                "files of your own beside a recipe, which has its script",
                hint="leave `source` out, or set `command` in place of `recipe`",
            )
        )
    if job.node_group is not None and job.pool is not None:
        found.append(Problem("pool", job.pool, "a pool beside a node group", hint="keep one of the two"))
    if job.parameter_servers and job.start != "tensorflow":
        hint = "set `start: tensorflow`, or leave `parameterServers` out"
        found.append(Problem("parameterServers", job.parameter_servers, "only TensorFlow's workers have parameter servers", "0", hint))
    elif job.parameter_servers and job.nodes * (job.workers_per_node or 1) < job.parameter_servers + 2:
        wrong = "too few workers are left: beside them there is a chief and at least one worker"
        hint = f"set `nodes` to {job.parameter_servers + 2} or more"
        found.append(Problem("parameterServers", job.parameter_servers, wrong, hint=hint))
    if job.data is not None and job.data.prepare is not None and job.data.source is None:
        found.append(missing("data.source", "`data.prepare` has no text to read", hint=f"name it: {SOURCE.allowed}"))
    return [*found, *_wrong_paths(job), *_null_characters(job)]


def _wrong_paths(job: Job) -> Iterator[Problem]:
    """Mounts that hide each other, or what every container has; and paths that lead elsewhere than they read."""
    mounted = list[str]()
    for index, mount in enumerate(job.mounts):
        key, path = f"mounts[{index}].path", _plain(mount.path)
        if path in mounted:
            yield Problem(key, mount.path, "a path that another mount has", hint="give it another path")
        if any(path == place or path.startswith(f"{place}/") for place in RESERVED):
            yield Problem(key, mount.path, "a path that every container has for itself", f"none of {', '.join(RESERVED)}", "such as /fsx")
        mounted.append(path)
    sources = (
        {}
        if job.data is None
        else {"data.source": job.data.source, "data.prepare.tokenizer": job.data.prepare and job.data.prepare.tokenizer}
    )
    others = {"data": job.data, "cache": job.cache, "checkpoints": job.checkpoints}
    named = {f"{key}.path": section.path for key, section in others.items() if section is not None}
    named |= {key: path for key, path in sources.items() if path and path.startswith("/")}
    for key, path in ({f"mounts[{index}].path": mount.path for index, mount in enumerate(job.mounts)} | named).items():
        if ".." in path.split("/"):
            yield Problem(key, path, "a path with `..`", hint=f"write where it leads: {_plain(path)}")


def _plain(path: str) -> str:
    """The path without what changes nothing; two slashes at the start are one in a container (POSIX leaves them open)."""
    return normpath(f"/{path.lstrip('/')}")


def _null_characters(job: Job) -> Iterator[Problem]:
    """No process can be started with one in its arguments or environment (POSIX, exec)."""
    texts = {f"{key}[{index}]": text for key in ("command", "args") for index, text in enumerate(getattr(job, key) or ())}
    for key, text in (texts | {f"environment.{name}": value for name, value in job.environment.items()}).items():
        if "\0" in text:
            yield missing(key, f"a null character in `{key}`", hint="leave it out: no process can be started with it")
