"""Settings for all tests: the program knows that it meets a simulated cloud, and chance repeats itself."""

import gc
import os

from hypothesis import settings

from stacks.config import REHEARSAL_VARIABLE

os.environ[REHEARSAL_VARIABLE] = "1"
# One recording makes some 100,000 short-lived objects; the collector's default takes most of the time.
gc.freeze()
gc.set_threshold(100_000, 50, 50)
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
