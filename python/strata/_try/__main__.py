"""python -m strata._try: what `strata try` starts. See `strata try --help`."""
import sys

from strata._try.command import main

sys.exit(main(sys.argv[1:]))
