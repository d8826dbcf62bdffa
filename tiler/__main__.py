"""`python -m tiler`."""

import sys

from tiler.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
