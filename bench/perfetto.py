"""perfetto.py: Perfetto's trace_processor as a peer: its WebAssembly build, run by node.

There is no native build in a package. The 32-bit build has 4 GB of memory, which a .pftrace of some 400 MB
fills; the 64-bit build needs node 24, which bench/run.sh fetches where node is older."""
import json
import subprocess
from pathlib import Path

HERE = Path(__file__).parent


def node(folder):
    own = folder / "node/bin/node"
    return str(own) if own.exists() else "node"


def command(folder):
    return [node(folder), str(HERE / "perfetto_walk.mjs"), str(folder / "perfetto")]


def load(folder, trace, bits):
    """Seconds, seconds of processor time, slices and bits; None where it cannot load the trace."""
    try:
        done = subprocess.run([*command(folder), trace, str(bits)], capture_output=True)
    except OSError:
        return None
    found = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
    return found if found and found["bits"] == bits else None
