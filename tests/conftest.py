"""Settings for all tests."""

from __future__ import annotations

import os

from hypothesis import settings

from ccrawl.cli import COMMANDS
from ccrawl.cli.settings import SHARED

# What the machine's user has set as their own defaults is not what is tested.
OWN = tuple(
    f"CCRAWL_{word}".replace("-", "_").upper() for word in (*SHARED, *(f"{name}_" for name in COMMANDS))
)
for variable in [name for name in os.environ if name.startswith(OWN)]:
    del os.environ[variable]
os.environ["CCRAWL_CONFIG"] = ""

# In CI the same examples each time: a new failure is then the change's own. Elsewhere they are random, so that
# working on the project goes on looking.
settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")
