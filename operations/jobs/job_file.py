"""Reads a job file, in YAML as Pulumi reads it."""

from pathlib import Path

from operations.errors import MISUSE, CommandError, CompleteError
from stacks.stack_yaml import MAX_BYTES, YamlError, read_yaml
from training.job import Job, JobFileError, parse_job


def read_job(path: Path) -> Job:
    """The job of a file.

    Raises CommandError for a file that cannot be read, CompleteError with every mistake in it.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise CommandError(f"{path} has more than {MAX_BYTES:,} bytes", "keep data out of the job file", code=MISUSE)
        return parse_job(read_yaml(path.read_text("utf-8-sig")), str(path))
    except YamlError as error:
        raise CommandError(f"{path}: {error}", error.hint, code=MISUSE) from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not UTF-8 text: {error}", "save it as UTF-8", code=MISUSE) from error
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}", "name a job file; docs/jobs.md has one", code=MISUSE) from error
    except JobFileError as error:
        raise CompleteError(str(error), code=MISUSE) from error
