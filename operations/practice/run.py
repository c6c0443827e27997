"""`trn practice up` and `down`: a stack brought up in its practice account, and taken down."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from operations.access import access
from operations.cluster.destroy.recovery import UNREACHABLE_SWITCH
from operations.engine.project import EngineFolder, practice_folder
from operations.engine.run import EngineOptions
from operations.engine.run import run as run_engine
from operations.errors import MISUSE, CommandError
from operations.output import errors, results, write_json
from operations.practice.account import PracticeAccount
from operations.practice.engines import EngineName, engine_for, engine_of
from operations.practice.pulumi import RehearsalEngine, error_text
from operations.program import record_stack, settings_of
from operations.rehearse.progress import Progress
from operations.stack_file import StackFile, read_stack_file
from simulator.account.allowances import Job
from simulator.account.faults import Faults
from simulator.engine.lifecycle import next_kill
from simulator.engine.run import Phase
from simulator.engine.state import State
from simulator.faults_syntax import parse_fault
from simulator.report.drawing.text import duration
