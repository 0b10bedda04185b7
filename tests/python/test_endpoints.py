"""Servers that have a profiler of their own, as docs/guides/servers.md shows: the endpoints of vLLM and
SGLang, by a server that stands for them, with the commands of that page."""
import json
import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from conftest import PROGRAM, clean_environment

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "servers.md"
SERVER = """
    import http.server, os, sys, threading
    import torch

    profiler = None

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            global profiler
            if self.path == "/start_profile":
                where = torch.profiler.tensorboard_trace_handler("traces", use_gzip=True)
                profiler = torch.profiler.profile(on_trace_ready=where)
                profiler.start()
            elif self.path == "/stop_profile":
                profiler.stop()
            else:
                torch.ones(64, 64) @ torch.ones(64, 64)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    print("ready", flush=True)
    server.serve_forever()
"""


def commands_of_the_guide(port):
    text = GUIDE.read_text(encoding="utf-8")
    found = re.findall(r"^(curl -X POST \S+|strata report traces)\b", text, re.M)
    assert len(found) == 3, found
    return [c.replace("127.0.0.1:8000", f"127.0.0.1:{port}") for c in found]


@pytest.fixture
def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_endpoints_of_a_server_in_standby(tmp_path, port):
    """Its own profiler works under `strata run --level standby`, and its trace is read."""
    script = tmp_path / "server.py"
    script.write_text(textwrap.dedent(SERVER))
    server = subprocess.Popen(
        [PROGRAM, "run", "-o", str(tmp_path / "out"), "--level", "standby", "--", sys.executable, str(script),
         str(port)],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=clean_environment())
    try:
        assert server.stdout.readline() == "ready\n"
        start, stop, report = commands_of_the_guide(port)
        env = {**os.environ, "PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}"}

        def run(command):
            return subprocess.run(command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True,
                                  check=True, timeout=120)
        run(start)
        for _ in range(20):
            run(f"curl -X POST http://127.0.0.1:{port}/generate")
        run(stop)
        assert list((tmp_path / "traces").glob("*.pt.trace.json.gz"))
        assert "No GPU work in this trace" in run(report).stdout
        table = json.loads(run(report.replace("report", "table") + " --json").stdout)
        assert any(row["name"] == "aten::mm" and row["calls"] == 20 for row in table["rows"])
    finally:
        server.send_signal(signal.SIGINT)
        for _ in range(100):
            if server.poll() is not None:
                break
            time.sleep(0.1)
        else:
            server.kill()
