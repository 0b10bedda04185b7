"""strata export --open: the trace goes to the viewer's page on this machine, and to nobody else."""
import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from conftest import PROGRAM

TINY = Path(__file__).parent.parent / "data" / "tiny.json"
PAGE = "https://ui.perfetto.dev"


class Server:
    """A command that serves; `told` is what it said."""

    def __init__(self, *args, **env):
        self.process = subprocess.Popen(
            [PROGRAM, "export", "--open", "--port", "0", "--json", *map(str, args)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **env})
        lines = []
        while not lines or lines[-1] != "}\n":
            lines.append(self.process.stdout.readline())
            assert lines[-1], self.process.stderr.read()
        self.told = json.loads("".join(lines))
        self.port = self.told["port"]
        self.path = self.told["trace_url"].partition(f":{self.port}")[2]

    def ask(self, method="GET", path=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path or self.path,
                           headers={k.replace("_", "-"): v for k, v in headers.items()})
        response = connection.getresponse()
        return response, response.read()

    def end(self, how=signal.SIGINT):
        self.process.send_signal(how)
        return self.process.wait(60)


@pytest.fixture
def server():
    made = Server(TINY)
    yield made
    made.process.kill()
    made.process.wait()


def test_the_page_gets_the_trace(server):
    assert server.told["url"] == f"{PAGE}/#!/?url={server.told['trace_url']}"
    assert server.told["trace_url"].startswith("http://127.0.0.1:")
    response, body = server.ask(Origin=PAGE)
    assert response.status == 200 and body == TINY.read_bytes()
    assert response.headers["Access-Control-Allow-Origin"] == PAGE
    assert response.headers["Cache-Control"] == "no-store"
    response, body = server.ask("HEAD", Origin=PAGE)
    assert (response.status, body) == (200, b"")
    assert int(response.headers["Content-Length"]) == TINY.stat().st_size
    asked = {"Access_Control_Request_Method": "GET", "Access_Control_Request_Private_Network": "true"}
    response, _ = server.ask("OPTIONS", Origin=PAGE, **asked)
    assert response.status == 204
    assert response.headers["Access-Control-Allow-Private-Network"] == "true"


@pytest.mark.parametrize("status,ask", [
    (403, {"Origin": "https://example.com"}),
    (403, {"Origin": PAGE + ".example.com"}),
    (403, {"Origin": "null"}),
    (403, {"Host": "rebound.example.com"}),
    (404, {"path": "/"}),
    (404, {"path": "/tiny.json"}),
    (404, {"path": "/000000000000000000000000/tiny.json"}),
    (404, {"method": "POST", "path": "/status", "Origin": PAGE}),  # the page looks for a helper
    (405, {"method": "POST"}),
])
def test_nobody_else_gets_anything(server, status, ask):
    response, body = server.ask(**ask)
    assert (response.status, body) == (status, b"")
    allowed = response.headers.get("Access-Control-Allow-Origin")
    assert allowed == (None if status == 403 else PAGE)
    assert server.ask()[0].status == 200  # and it goes on


def test_only_this_machine_is_listened_to(server):
    with open("/proc/net/tcp", encoding="ascii") as f:
        rows = [line.split() for line in f.readlines()[1:]]
    mine = [r[1] for r in rows if r[3] == "0A" and int(r[1].split(":")[1], 16) == server.port]
    assert mine == [f"0100007F:{server.port:04X}"]


def test_every_link_is_another(server):
    other = Server(TINY)
    assert other.path != server.path and len(other.path.split("/")[1]) == 24
    assert other.end() == 0


def test_connections_that_say_nothing_hold_nobody_up(server):
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(40)]
    idle[-1].sendall(b"GET / HTTP/1.1\r\n")  # half a request
    assert server.ask()[1] == TINY.read_bytes()
    with socket.create_connection(("127.0.0.1", server.port)) as endless:
        try:
            for _ in range(100):
                endless.sendall(b"X" * 1000)
        except OSError:
            pass  # it has hung up
    assert server.ask()[1] == TINY.read_bytes()
    for s in idle:
        s.close()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_when_told_to(server, how):
    assert server.end(how) == 0
    assert server.process.stderr.read() == ""


@pytest.fixture
def large(tmp_path):
    """A trace of more than the system keeps for a reader, and somebody who asks and does not read."""
    trace = tmp_path / "large.json"
    with open(trace, "wb") as f:
        f.write(b'{"traceEvents": [], "pad": "' + b"x" * (64 << 20) + b'"}')
    made = Server(trace)
    slow = socket.create_connection(("127.0.0.1", made.port))
    slow.sendall(f"GET {made.path} HTTP/1.1\r\nHost: 127.0.0.1:{made.port}\r\n\r\n".encode())
    assert slow.recv(15) == b"HTTP/1.1 200 OK"
    yield made
    slow.close()
    made.process.kill()
    made.process.wait()


def test_a_slow_reader_holds_nobody_up(large):
    connection = http.client.HTTPConnection("127.0.0.1", large.port, timeout=15)
    connection.request("GET", large.path, headers={"Origin": PAGE})
    response = connection.getresponse()
    assert response.status == 200 and len(response.read()) == large.told["size_bytes"]


def test_a_slow_reader_does_not_keep_it_from_ending(large):
    large.process.send_signal(signal.SIGINT)
    assert large.process.wait(15) == 0


def test_many_idle_connections_do_not_cut_a_reader_off(large):
    """The table is full of those who say nothing; who reads stays."""
    reader = socket.create_connection(("127.0.0.1", large.port), timeout=15)
    reader.sendall(f"GET {large.path} HTTP/1.1\r\nHost: 127.0.0.1:{large.port}\r\n\r\n".encode())
    got = len(reader.recv(1 << 16))
    idle = [socket.create_connection(("127.0.0.1", large.port)) for _ in range(40)]
    while piece := reader.recv(1 << 20):
        got += len(piece)
    assert got > large.told["size_bytes"]
    for s in (*idle, reader):
        s.close()


def test_once(server):
    once = Server("--once", TINY)
    once.ask("HEAD")
    once.ask(path="/status")
    assert once.process.poll() is None
    once.ask()
    assert once.process.wait(60) == 0


def test_what_the_page_cannot_read_is_converted(tmp_path):
    trace = tmp_path / "a trace.strata"
    subprocess.run([PROGRAM, "export", TINY, "-o", trace], check=True, capture_output=True)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for options in ([trace], ["--for", "perfetto", TINY]):
        server = Server(*options, TMPDIR=str(scratch))
        assert server.told["converted"] and list(scratch.iterdir()) == []  # nothing to clean up
        events = json.loads(gzip.decompress(server.ask()[1]))["traceEvents"]
        assert len(events) > 5
        assert server.end() == 0
    assert server.path.endswith("/tiny.json.gz")


def test_text(tmp_path):
    shown = subprocess.Popen([PROGRAM, "export", "--open", "--port", "0", TINY], text=True,
                             stdout=subprocess.PIPE)
    lines = [shown.stdout.readline() for _ in range(5)]
    shown.send_signal(signal.SIGINT)
    assert shown.wait(60) == 0
    assert lines[0].startswith("tiny.json ")
    assert lines[2].startswith(f"  {PAGE}/#!/?url=http://127.0.0.1:")
    assert lines[4].startswith("next: ")


def test_a_port_in_use(server):
    done = subprocess.run([PROGRAM, "export", "--open", "--port", str(server.port), TINY], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 3 and done.stdout == ""
    assert "stop the program that uses it" in done.stderr


def test_bad_input(tmp_path):
    page = tmp_path / "page.json"
    page.write_text("<!DOCTYPE html>")
    for path in (page, tmp_path / "missing"):
        done = subprocess.run([PROGRAM, "export", "--open", path], capture_output=True, timeout=60)
        assert done.returncode == 3 and str(path).encode() in done.stderr
