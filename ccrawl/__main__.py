"""`python -m ccrawl` and the `ccrawl` script."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    try:
        from ccrawl.cli import main as run
    except KeyboardInterrupt:  # before there is anything to say
        sys.exit(130)
    sys.exit(run())


if __name__ == "__main__":
    main()
