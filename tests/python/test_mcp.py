"""strata mcp, spoken to by the official client: hand-shake, listing, calls, cancellation, wrong
arguments, calls side by side, what must not be read; and by hand where the client is too polite."""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import anyio
import pytest

from conftest import PROGRAM, clean_environment

mcp = pytest.importorskip("mcp")

DATA = Path(__file__).parent.parent / "data"
WAN = "wan/wan_before_compile.json.gz"
PINGPONG = "whatif/pingpong_v0.json.gz"
TOOLS = {"traces", "report", "table", "kernels", "gaps", "syncs", "steps", "stages", "whatif", "diff",
         "ranks", "sql", "evidence"}


@contextlib.asynccontextmanager
async def session(*folders, options=()):
    server = mcp.StdioServerParameters(command=PROGRAM, args=["mcp", *options, *map(str, folders)],
                                       env=clean_environment())
    async with mcp.stdio_client(server) as (read, write):
        async with mcp.ClientSession(read, write) as s:
            await s.initialize()
            yield s


def with_session(body, *folders, **more):
    async def main():
        async with session(*(folders or (DATA,)), **more) as s:
            return await body(s)
    return anyio.run(main)


async def text(s, tool, **arguments):
    answer = await s.call_tool(tool, arguments)
    assert not answer.is_error, answer.content[0].text
    return answer.content[0].text


async def call(s, tool, **arguments):
    return json.loads(await text(s, tool, **arguments))


async def refusal(s, tool, **arguments):
    answer = await s.call_tool(tool, arguments)
    assert answer.is_error, answer.content[0].text
    return answer.content[0].text


def strata(*args):
    done = subprocess.run([PROGRAM, *map(str, args), "--json"], capture_output=True, text=True, cwd=DATA)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_hand_shake_and_listing():
    async def body(s):
        hello = await s.initialize()
        assert hello.server_info.name == "strata" and hello.capabilities.tools
        assert "report" in hello.instructions
        await s.send_ping()
        tools = {t.name: t for t in (await s.list_tools()).tools}
        assert set(tools) == TOOLS
        for tool in tools.values():
            assert tool.description and tool.annotations.read_only_hint
            schema = tool.input_schema
            assert schema["type"] == "object" and schema["additionalProperties"] is False
            assert set(schema["required"]) <= set(schema["properties"])
        assert tools["whatif"].input_schema["properties"]["drop_sync"]["type"] == "array"
        assert tools["table"].input_schema["properties"]["by"]["enum"] == ["shape", "stack", "module"]
    with_session(body)


def test_the_client_without_a_hand_shake():
    """Since 2026-07-28 the client asks what the server speaks, and every request names the version."""
    async def main():
        server = mcp.StdioServerParameters(command=PROGRAM, args=["mcp", str(DATA)],
                                           env=clean_environment())
        async with mcp.Client(mcp.stdio_client(server)) as client:
            assert client.protocol_version == "2026-07-28"
            assert {t.name for t in (await client.list_tools()).tools} == TOOLS
            answer = await client.call_tool("report", {"trace": PINGPONG})
            assert not answer.is_error and "pingpong" in answer.content[0].text
            answer = await client.call_tool("report", {"trace": "../x"})
            assert answer.is_error
            with anyio.move_on_after(0.3) as scope:
                await client.call_tool("sql", {"trace": "tiny.json", "query": ENDLESS})
            assert scope.cancelled_caught
            answer = await client.call_tool("report", {"trace": "tiny.json"})
            assert not answer.is_error
    anyio.run(main)


def test_answers_are_those_of_the_command():
    async def body(s):
        report = await text(s, "report", trace=WAN)
        assert len(report) < 9000 and "drains the queue" in report
        for tool, key, args in [("gaps", "causes", {}), ("syncs", "sites", {}), ("stages", "stages", {}),
                                ("kernels", "rows", {"by": "config"}), ("steps", "steps", {}),
                                ("table", "rows", {"sort": "self_cpu"})]:
            mine = await call(s, tool, trace=WAN, limit=3, full_names=True, **args)
            flags = [f"--{k}={v}" for k, v in args.items()]
            theirs = strata(tool, WAN, *flags)
            for row, other in zip(mine[key], theirs[key][:3], strict=False):
                number = row.pop("number")
                assert number == theirs[key].index(other) + 1
                plain = {k: v for k, v in other.items() if not isinstance(v, (list, dict))}
                assert {k: row[k] for k in plain} == plain
            if len(theirs[key]) > 3:
                assert mine["left_out"][key] == {"shown": 3, "of": len(theirs[key]), "next_offset": 3}
        diff = await call(s, "diff", before=PINGPONG, after="whatif/pingpong_v1.json.gz")
        assert diff["wall"] == strata("diff", PINGPONG, "whatif/pingpong_v1.json.gz")["wall"]
        ranks = await call(s, "ranks", folder="comm/slow_rank")
        assert ranks["world_size"] == 4 and ranks["stragglers"]
        what = await call(s, "whatif", trace=PINGPONG, drop_sync=["1"], wall=36.35)
        theirs = strata("whatif", PINGPONG, "--drop-sync", "1", "--wall", "36.35")
        assert what["predicted_gain_pct"] == theirs["predicted_gain_pct"]
        assert what["without_profiler"] == theirs["without_profiler"]
    with_session(body)


def test_small_at_first_and_deeper_on_request():
    async def body(s):
        for tool in TOOLS - {"traces", "diff", "ranks", "sql", "evidence"}:
            assert len(await text(s, tool, trace=WAN)) < 16000, tool
        first = await call(s, "gaps", trace=WAN, limit=5)
        then = await call(s, "gaps", trace=WAN, limit=5, offset=first["left_out"]["causes"]["next_offset"])
        again = await call(s, "gaps", trace=WAN, limit=10)
        assert [c["number"] for c in again["causes"]] == list(range(1, 11))
        assert again["causes"] == first["causes"] + then["causes"]
        listed = await call(s, "traces", limit=2)
        assert len(listed["traces"]) == 2 and listed["left_out"]["traces"]["next_offset"] == 2
    with_session(body)


def test_evidence_by_number():
    async def body(s):
        theirs = strata("report", WAN)
        for number, finding in enumerate(theirs["findings"], 1):
            mine = await call(s, "evidence", trace=WAN, finding=number)
            assert mine.pop("number") == number and mine == finding
        rows = [e["row"] for f in theirs["findings"] for e in f["evidence"] if "row" in e]
        assert rows
        for row in rows[:4]:
            shown = await call(s, "evidence", trace=WAN, row=row)
            query = f"SELECT name, start_ns, dur_ns FROM events WHERE row = {row}"
            [[name, start, dur]] = (await call(s, "sql", trace=WAN, query=query))["rows"]
            assert shown["row"] == row and shown["name"] == name
            assert round(shown["start_us"] * 1000) == start and round(shown["dur_us"] * 1000) == dur
        site = await call(s, "evidence", trace=WAN, sync=1)
        assert site["sites"][0]["id"] == 1
        gap = await call(s, "evidence", trace=WAN, gap=1)
        assert gap["dur_us"] == max(g["dur_us"] for g in strata("gaps", WAN)["gaps"])
        assert "there is no finding 99" in await refusal(s, "evidence", trace=WAN, finding=99)
        assert "there is no row" in await refusal(s, "evidence", trace=WAN, row=2 ** 31)
        assert "there is no site 99" in await refusal(s, "evidence", trace=WAN, sync=99)
        assert "one of" in await refusal(s, "evidence", trace=WAN)
        assert "one of" in await refusal(s, "evidence", trace=WAN, row=1, sync=1)
    with_session(body)


@pytest.mark.slow
def test_sql_reads_and_nothing_else():
    async def body(s):
        async def ask(query, **more):
            return await call(s, "sql", trace=WAN, query=query, **more)
        kernels = await ask("SELECT count(*), sum(dur_ns) FROM events WHERE kind = 'kernel'")
        theirs = [r for r in strata("kernels", WAN)["rows"] if r["kind"] == "kernel"]
        assert kernels["rows"][0][0] == sum(r["calls"] for r in theirs)
        assert abs(kernels["rows"][0][1] / 1e3 - sum(r["total_us"] for r in theirs)) < 1
        page = await ask("SELECT row FROM events ORDER BY row", limit=3, offset=2)
        assert page == {"columns": ["row"], "rows": [[2], [3], [4]], "more": True, "next_offset": 5}
        findings = await ask("SELECT rule FROM findings ORDER BY place")
        assert [r[0] for r in findings["rows"]] == [f["rule"] for f in strata("report", WAN)["findings"]]
        for query in ["ATTACH '/etc/passwd' AS x", "CREATE TABLE x(y)", "SELECT readfile('/etc/passwd')",
                      "PRAGMA database_list", "SELECT load_extension('x')", "SELECT 1; SELECT 2", "SELEC 1"]:
            await refusal(s, "sql", trace=WAN, query=query)
        assert "longer than" in await refusal(s, "sql", trace=WAN, query=ENDLESS)
    with_session(body)


@pytest.mark.parametrize("tool,arguments,says", [
    ("gaps", {}, "needs 'trace'"),
    ("gaps", {"trace": "tiny.json", "limi": 3}, "Did you mean 'limit'?"),
    ("gaps", {"trace": "tiny.json", "limit": "3"}, "'limit' is an integer"),
    ("gaps", {"trace": "tiny.json", "limit": 0}, "from 1 to 1000"),
    ("gaps", {"trace": "tiny.json", "list": "x"}, "one of causes|gaps"),
    ("table", {"trace": "tiny.json", "sort": "selfcpu"}, "Did you mean 'self_cpu'?"),
    ("kernels", {"trace": "tiny.json", "filter": "("}, "("),
    ("whatif", {"trace": PINGPONG, "drop_sync": ["99"]}, "takes a site from 1 to"),
    ("whatif", {"trace": PINGPONG, "drop_cpu": "no such thing"}, "matches nothing"),
    ("report", {"trace": "no.json"}, "`traces` lists"),
    ("report", {"trace": "tiny\0.json"}, "'trace' is a text"),
    ("report", {"trace": "../python/conftest.py"}, "leads out of the folders"),
    ("report", {"trace": "/etc/passwd"}, "leads out of the folders"),
    ("report", {"trace": "wan/wan_before_compile.txt"}, "not a trace"),
    ("ranks", {"folder": "tiny.json"}, "is not a folder"),
    ("sql", {"trace": "tiny.json"}, "needs 'query'"),
])
def test_wrong_arguments_say_what_to_do(tool, arguments, says):
    async def body(s):
        assert says in await refusal(s, tool, **arguments)
        assert "wall" in await text(s, "report", trace=PINGPONG)  # and the server goes on
    with_session(body)


def test_unknown_tool_and_method():
    async def body(s):
        with pytest.raises(mcp.MCPError, match="unknown tool"):
            await s.call_tool("repotr", {})
        with pytest.raises(mcp.MCPError, match="tools only"):
            await s.list_prompts()
    with_session(body)


def test_calls_side_by_side():
    async def body(s):
        got = {}

        async def one(key, tool, **arguments):
            got[key] = await text(s, tool, **arguments)
        async with anyio.create_task_group() as group:
            for i, trace in enumerate([WAN, PINGPONG, "tiny.json", "flux2/flux2_before_compile.json.gz",
                                       "whatif/pingpong_v1.json.gz", "torch/gpu_streams.json.gz"]):
                for tool in ("report", "gaps", "kernels"):
                    group.start_soon(lambda i=i, tool=tool, trace=trace: one((i, tool), tool, trace=trace))
        assert len(got) == 18
        assert "drains the queue" in got[0, "report"] and "pingpong\\_v0" in got[1, "report"]
        for i in range(6):
            assert json.loads(got[i, "gaps"])["devices"] is not None
    with_session(body, options=("--open", "2"))


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_cancellation():
    async def body(s):
        with anyio.move_on_after(0.3) as scope:
            await s.call_tool("sql", {"trace": "tiny.json", "query": ENDLESS})
        assert scope.cancelled_caught
        # the cancelled call does not stand in the way of the next one, on the same trace or another
        assert "faster" in await text(s, "report", trace="tiny.json")
        assert "faster" in await text(s, "report", trace=PINGPONG)
    with_session(body)


def test_progress(tmp_path):
    """While a trace is read, its client gets the bytes read so far."""
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "dur": 2}
    with open(tmp_path / "large.json", "w") as f:
        f.write('{"traceEvents": [')
        f.write(",".join(json.dumps({**event, "ts": 3 * i}) for i in range(400_000)))
        f.write("]}")
    size, told = (tmp_path / "large.json").stat().st_size, []

    async def note(progress, total, _message):
        told.append((progress, total))

    async def body(s):
        await s.call_tool("steps", {"trace": "large.json"}, progress_callback=note)
    with_session(body, tmp_path)
    assert told and told == sorted(told)
    assert all(0 <= done <= size and total in (None, size) for done, total in told)


def test_a_file_that_changes_is_read_again(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes((DATA / "tiny.json").read_bytes())

    async def body(s):
        before = await call(s, "sql", trace="t.json", query="SELECT count(*) FROM events")
        doc = json.loads(path.read_text())
        events = doc["traceEvents"] if isinstance(doc, dict) else doc
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::new", "pid": 1, "tid": 1,
                       "ts": 1, "dur": 1})
        path.write_text(json.dumps(doc))
        after = await call(s, "sql", trace="t.json", query="SELECT count(*) FROM events")
        assert after["rows"][0][0] == before["rows"][0][0] + 1
        path.unlink()
        assert "is not there" in await refusal(s, "report", trace="t.json")
    with_session(body, tmp_path)


def test_links_that_lead_out(tmp_path):
    inside, outside = tmp_path / "in", tmp_path / "out"
    (inside / "run").mkdir(parents=True)
    outside.mkdir()
    shutil.copy(DATA / "tiny.json", outside / "secret.json")
    shutil.copy(DATA / "tiny.json", inside / "own.json")
    (inside / "link.json").symlink_to(outside / "secret.json")
    (inside / "good.json").symlink_to("own.json")
    (inside / "run" / "trace.strata").symlink_to(outside / "secret.json")
    (inside / "folder").symlink_to(outside)

    async def body(s):
        for name in ["link.json", "folder/secret.json", "folder", "run", "."]:
            tool, key = ("ranks", "folder") if name in (".", "folder") else ("report", "trace")
            assert "out of the folders" in await refusal(s, tool, **{key: name}), name
        assert "faster" in await text(s, "report", trace="good.json")
        names = [t["trace"] for t in (await call(s, "traces"))["traces"]]
        assert "own.json" in names and not {"link.json", "good.json"} & set(names)
    with_session(body, inside)


def test_nothing_is_written(tmp_path):
    for name in ("whatif/pingpong_v0.json.gz", "tiny.json"):
        shutil.copy(DATA / name, tmp_path)
    before = {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in tmp_path.rglob("*")}

    async def body(s):
        for tool in ("report", "table", "gaps", "syncs", "kernels", "steps", "stages", "whatif"):
            await text(s, tool, trace="pingpong_v0.json.gz")
    with_session(body, tmp_path)
    assert {p: (p.stat().st_mtime_ns, p.stat().st_size) for p in tmp_path.rglob("*")} == before


# ---- by hand

class Raw:
    def __init__(self, *folders):
        self.process = subprocess.Popen([PROGRAM, "mcp", *map(str, folders)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=clean_environment())

    def send(self, *lines):
        for line in lines:
            self.process.stdin.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        return self.process.wait(30)


@pytest.fixture
def raw():
    made = Raw(DATA)
    yield made
    made.process.kill()
    made.process.wait()


def message(id, method, **params):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


@pytest.mark.parametrize("asked,got", [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"),
                                       ("1999-01-01", "2025-11-25"), (None, "2025-11-25")])
def test_versions(raw, asked, got):
    raw.send(message(1, "initialize", **({"protocolVersion": asked} if asked else {})))
    assert raw.read()["result"]["protocolVersion"] == got
    assert raw.end() == 0


def test_a_version_that_is_not_spoken(raw):
    raw.send(message(1, "tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2031-01-01"}))
    error = raw.read()["error"]
    assert error["code"] == -32022 and error["data"]["supported"] == ["2026-07-28"]


def test_hostile_lines(raw):
    raw.send(b"{", b"", b"[" * 5000, b"\xff\xfe", b'"' + b"x" * (3 << 20) + b'"', b"[]", message(7, "ping"))
    codes = [raw.read()["error"]["code"] for _ in range(5)]
    assert codes == [-32700, -32700, -32700, -32600, -32600]
    assert raw.read() == {"jsonrpc": "2.0", "id": 7, "result": {}}
    raw.send(message(8, "tools/call", name="report", arguments={"trace": "tiny.json"}),
             message(8, "tools/call", name="report", arguments={"trace": "tiny.json"}))
    answers = [raw.read(), raw.read()]
    assert sorted("error" in a for a in answers) == [False, True]
    assert raw.end() == 0


def test_too_many_calls(raw):
    for i in range(66):
        raw.send(message(i, "tools/call", name="sql", arguments={"trace": "tiny.json", "query": ENDLESS}))
    for _ in range(2):
        answer = raw.read()["result"]
        assert answer["isError"] and "too many calls" in answer["content"][0]["text"]
    for i in range(64):
        raw.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": i}})
    raw.send(message("after", "ping"))
    assert raw.read()["id"] == "after"
    assert raw.end() == 0


def children(pid):
    done = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(p) for p in done.stdout.split()]


def test_a_cancelled_call_ends_and_a_trace_stays_open(raw):
    def ask(id, tool, **arguments):
        raw.send(message(id, "tools/call", name=tool, arguments={"trace": "tiny.json", **arguments}))
    ask(1, "report")
    raw.read()
    workers = children(raw.process.pid)
    ask(2, "gaps")
    raw.read()
    assert children(raw.process.pid) == workers and len(workers) == 1
    ask(3, "sql", query=ENDLESS)
    raw.send(message("begun", "ping"))  # answered when the call before it is under way
    assert raw.read()["id"] == "begun"
    raw.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}},
             message(4, "ping"))
    assert raw.read()["id"] == 4
    assert children(raw.process.pid) == []
    ask(5, "gaps")
    assert raw.read()["id"] == 5


def test_a_worker_that_dies_breaks_nothing(raw):
    raw.send(message(1, "tools/call", name="report", arguments={"trace": "tiny.json"}))
    assert "result" in raw.read()
    raw.send(message(2, "tools/call", name="sql", arguments={"trace": "tiny.json", "query": ENDLESS}))
    time.sleep(0.3)
    [worker] = children(raw.process.pid)
    os.kill(worker, signal.SIGSEGV)
    answer = raw.read()["result"]
    assert answer["isError"] and re.search("signal|status", answer["content"][0]["text"])
    raw.send(message(3, "tools/call", name="report", arguments={"trace": "tiny.json"}))
    assert not raw.read()["result"]["isError"]
    [worker] = children(raw.process.pid)
    assert raw.end() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_workers_write_nothing_and_gain_no_rights(raw):
    """What they can read is the kernel's business as well (tests/unit/test_mcp_jail.c)."""
    raw.send(message(1, "tools/call", name="report", arguments={"trace": "tiny.json"}))
    assert not raw.read()["result"]["isError"]
    [worker] = children(raw.process.pid)
    assert "NoNewPrivs:\t1" in Path(f"/proc/{worker}/status").read_text()
    assert re.search(r"Max file size +0 +0 ", Path(f"/proc/{worker}/limits").read_text())
    assert raw.end() == 0


def test_an_expression_that_takes_all_memory(tmp_path):
    """35 bytes: compiled, it has a hundred million states."""
    shutil.copy(DATA / "tiny.json", tmp_path)

    async def body(s):
        why = await refusal(s, "kernels", trace="tiny.json", filter="(((a{1,100}){1,100}){1,100}){1,100}")
        assert "regular expression" in why or "memory" in why or "processor time" in why
        assert (await call(s, "kernels", trace="tiny.json"))["rows"]

    with_session(body, tmp_path)
