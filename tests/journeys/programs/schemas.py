"""schemas.py TRACE: what the views write with --json is what their published schemas say."""
import json
import subprocess
import sys

import jsonschema

for view in ("report", "stages", "steps", "syncs", "gaps", "kernels", "info", "memory"):
    schema = json.loads(subprocess.check_output(["strata", "help", "schema", view]))
    done = subprocess.run(["strata", view, sys.argv[1], "--json"], capture_output=True, text=True)
    jsonschema.validate(json.loads(done.stdout), schema)
    print(view, "ok")
