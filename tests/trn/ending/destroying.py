"""`trn destroy` in an account that a test brings, carried out as the command is."""

import tempfile
from dataclasses import replace
from json import loads
from pathlib import Path
from typing import Any

from trn.change.consent import Person
from trn.change.executor import carry_out
from trn.change.ownership import Consent
from trn.change.whose import Site
from trn.ending.destroy.change import Destroy
from trn.ending.drain.change import Drain
from trn.ending.sweep.change import Sweep


def destroy(
    site: Site, consent: Consent, *, data: frozenset[str] = frozenset(), final_backup: bool = False, is_protected: bool = False
) -> int:
    """Its exit code."""
    stack = site.subject.stack
    change = Destroy(stack, Drain(stack), Sweep(stack, data, final_backup, consent.identity), is_protected)
    return carry_out(change, site, Person(consent, site.tell))


def reported(site: Site, consent: Consent, **more: Any) -> tuple[dict[str, Any], BaseException | None]:
    """Its report, and what ended it."""
    with tempfile.TemporaryDirectory() as folder:
        file, ended = Path(folder) / "report.json", None
        try:
            destroy(replace(site, json_file=file), consent, **more)
        except BaseException as error:
            ended = error
        return loads(file.read_text()), ended
