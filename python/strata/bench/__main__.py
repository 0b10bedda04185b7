"""python -m strata.bench: what `strata bench` starts. See `strata bench --help`."""
import sys

from strata.bench.command import main

sys.exit(main(sys.argv[1:]))
