"""Nsight Systems exports: what their tables become, in every version, and hostile files."""
import csv
import io
import os
import sqlite3
import subprocess

import pytest

from nsys_db import SCHEMA, NsysDb, write_sample, write_shared_pages


def strata(*args, stdin=None):
    program = os.path.join(os.environ["STRATA_BUILD"], "src", "strata")
    return subprocess.run([program, *map(str, args)], capture_output=True, timeout=60, stdin=stdin)


def rows(path):
    done = strata("export", path, "-o", "-", "--to", "csv", "--args")
    assert done.returncode == 0, done.stderr.decode()
    return list(csv.DictReader(io.StringIO(done.stdout.decode(), newline="")))


def by_name(path):
    return {row["name"]: row for row in rows(path)}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "report.sqlite"


def test_sample(path):
    write_sample(path)
    found = by_name(path)
    assert set(found) == {
        "step", "registered", "mark", "never ended", "[memory]", "cudaLaunchKernel",
        "cuLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "poll",
        "void gemm<float>(int)", "triton_red", "Memcpy HtoD (Pageable -> Device)",
        "Memset (Device)", "Stream Sync", "CUDA profiling data flush"}
    gemm = found["void gemm<float>(int)"]
    assert (gemm["ts_ns"], gemm["dur_ns"], gemm["kind"]) == ("20000", "10000", "kernel")
    assert (gemm["device"], gemm["stream"], gemm["lane_name"]) == ("0", "7", "stream 7")
    assert (gemm["grid"], gemm["block"], gemm["shared_bytes"]) == ("4x2x1", "128x1x1", "1040")
    launch = found["cudaLaunchKernel"]
    assert gemm["launch_row"] == launch["row"]
    assert (launch["pid"], launch["tid"], launch["lane_name"]) == ("100", "100", "python3")
    assert found["cuLaunchKernel"]["kind"] == "cuda_driver"
    assert '"graph id":3' in found["triton_red"]["args"]
    assert found["registered"]["parent"] == found["step"]["row"]
    assert launch["parent"] == found["registered"]["row"]
    assert (found["mark"]["kind"], found["mark"]["phase"]) == ("instant", "i")
    assert found["never ended"]["dur_ns"] == "30000"
    assert '"finished":false' in found["never ended"]["args"]
    assert found["Stream Sync"]["kind"] == "cuda_sync"
    assert found["poll"]["tid"] == "101"
    assert [r["bytes"] for r in rows(path) if r["name"] == "[memory]"] == ["1048576", "-1048576"]


@pytest.mark.parametrize("name", ["copy.strata", "copy.json", "copy.json.gz"])
def test_other_formats_say_the_same(path, tmp_path, name):
    write_sample(path)
    assert strata("export", path, "-o", tmp_path / name).returncode == 0
    assert rows(tmp_path / name) == rows(path)


def test_json_has_devices_time_and_no_secrets(path):
    write_sample(path)
    text = strata("export", path, "-o", "-", "--to", "chrome").stdout.decode()
    assert '"name":"NVIDIA H200"' in text
    assert '"baseTimeNanoseconds":1790857026000000000' in text
    assert '"EXPORT_PRODUCT_VERSION":"2024.6.2"' in text
    assert "hunter2" not in text


def test_ids_are_unique_in_a_process_only(path):
    with NsysDb(path) as db:
        for pid, name in ((100, "first"), (200, "second")):
            db.call("cudaLaunchKernel", 1000, 2000, 1, pid=pid, tid=pid)
            db.kernel(name, 5000, 6000, 1, pid=pid)
    found = by_name(path)
    calls = {row["row"]: row for row in rows(path) if row["name"] == "cudaLaunchKernel"}
    for pid, name in ((100, "first"), (200, "second")):
        assert calls[found[name]["launch_row"]]["pid_text"] == f"[{pid}] {pid}"
        assert found[name]["pid_text"] == f"[{pid}] 0"
    assert found["first"]["lane"] != found["second"]["lane"]


def test_old_schema_with_few_columns(path):
    schema = """
        CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, shortName INT);
        CREATE TABLE NVTX_EVENTS (start INT, end INT, text TEXT, globalTid INT);
        INSERT INTO StringIds VALUES(1, 'k');
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(10, 20, 1);
        INSERT INTO NVTX_EVENTS VALUES(1, 30, 'range', 5);
        INSERT INTO NVTX_EVENTS VALUES(2, NULL, 'mark', 5);
    """
    with NsysDb(path, schema):
        pass
    found = by_name(path)
    assert set(found) == {"k", "range", "mark"}
    assert found["k"]["dur_ns"] == "10"
    assert found["range"]["kind"] == "user_annotation"
    assert found["mark"]["kind"] == "instant"


def test_cuda_visible_devices(path):
    with NsysDb(path) as db:
        db.sql("CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT)")
        db.sql("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(1, 0, 100)")
        db.insert("TARGET_INFO_GPU", id=0, name="hidden", cuDevice=0)
        db.insert("TARGET_INFO_GPU", id=1, name="visible", cuDevice=1)
        db.kernel("k", 1, 2, 1)
    text = strata("export", path, "-o", "-", "--to", "chrome").stdout.decode()
    assert '"deviceProperties":[{"id":0,"name":"visible"' in text
    assert "hidden" not in text


def test_wrong_types_and_nulls(path):
    with NsysDb(path) as db:
        db.kernel("good", 100, 200, 1)
        db.kernel("text for a time", "soon", 200, 2)
        db.kernel("no time", None, None, 3)
        db.kernel("backwards", 300, 250, 4)
        db.kernel("real times", 400.0, 500.0, 5)
        db.kernel("far", 2 ** 62 + 2 ** 61, 2 ** 63 - 1, 6)
        db.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX='x', blockX=-1, registersPerThread=1e300,"
               " deviceId=NULL, streamId=x'00ff' WHERE start=100")
        db.sql("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, demangledName) VALUES(7, 8, 999)")
        db.sql("INSERT INTO StringIds VALUES(500, x'deadbeef')")
        db.nvtx(None, 10, 20)
    done = strata("export", path, "-o", "-", "--to", "csv")
    assert done.returncode == 0
    names = [row["name"] for row in rows(path)]
    assert sorted(names) == ["", "", "backwards", "good", "real times"]
    assert b"unreadable events, skipped: 3" in done.stderr


def test_views_triggers_and_virtual_tables_are_not_run(path):
    schema = SCHEMA.replace("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL", "CREATE TABLE real_kernels")
    with NsysDb(path, schema) as db:
        db.sql("CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE r(start) AS"
               " (SELECT 1 UNION ALL SELECT start + 1 FROM r) SELECT start, start + 1 AS end FROM r")
        db.nvtx("range", 1, 2)
    assert set(by_name(path)) == {"range"}


def test_a_write_ahead_log_is_not_needed(path, tmp_path):
    write_sample(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    db.close()
    assert len(rows(path)) == 17


def test_from_a_pipe(path):
    write_sample(path)
    with open(path, "rb") as file:
        done = strata("export", "-", "-o", "-", "--to", "csv", stdin=file)
    assert done.returncode == 0
    assert done.stdout.count(b"\r\n") == 18


def test_another_database(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE t(x)")
    db.commit()
    db.close()
    done = strata("export", path, "-o", "-", "--to", "csv")
    assert done.returncode == 3
    assert b"neither from Nsight Systems nor rocprofv3" in done.stderr


def test_what_the_recorder_warned_of_is_said(path):
    with NsysDb(path) as db:
        db.call("cudaGetDevice", 1000, 2000, 1)
        db.sql("CREATE TABLE DIAGNOSTIC_EVENT (severity INT, text TEXT)")
        for severity, text in ((1, "CUDA injection initialized"), (2, "No NVTX events collected."),
                               (2, "CUDA driver \x1b[31m13.3 is not supported."),
                               (2, "CUDA driver \x1b[31m13.3 is not supported.")):
            db.sql("INSERT INTO DIAGNOSTIC_EVENT VALUES(?, ?)", severity, text)
    said = " ".join(strata("report", path).stdout.decode().split())
    assert "The recorder warned: CUDA driver" in said
    assert said.count("is not supported.") == 1 and "\x1b" not in said
    assert "injection" not in said and "No NVTX" not in said


def test_an_export_without_events(path):
    with NsysDb(path, "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INT)"):
        pass
    done = strata("report", path)
    assert done.returncode == 3
    assert b"an export of Nsight Systems without events" in done.stderr


def test_the_file_is_not_touched(path, tmp_path):
    write_sample(path)
    before = path.read_bytes()
    rows(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.sqlite"]


def test_damaged_files_do_no_harm(path, tmp_path):
    write_sample(path)
    whole = path.read_bytes()
    bad = tmp_path / "bad.sqlite"
    for cut in range(16, len(whole), 3001):
        bad.write_bytes(whole[:cut])
        assert strata("export", bad, "-o", "-", "--to", "csv").returncode in (0, 3)
    for at in range(16, len(whole), 997):
        flipped = bytearray(whole)
        flipped[at] ^= 1 << at % 8
        flipped[-at] = 0xff
        bad.write_bytes(flipped)
        assert strata("export", bad, "-o", "-", "--to", "csv").returncode in (0, 3)


def test_a_tree_that_never_ends(path, tmp_path):
    """Interior pages whose children are all one page: more rows than the file can hold."""
    with NsysDb(path) as db:
        db.sql("PRAGMA page_size=512")
        for i in range(20000):
            db.nvtx("x" * 40, i, i + 1)
    data = bytearray(path.read_bytes())
    size = int.from_bytes(data[16:18], "big")
    for page in range(0, len(data), size):
        at = page + (100 if page == 0 else 0)
        if data[at] != 5:
            continue
        cells = int.from_bytes(data[at + 3:at + 5], "big")
        child = int.from_bytes(data[at + 8:at + 12], "big")
        for cell in range(cells):
            offset = int.from_bytes(data[at + 12 + 2 * cell:at + 14 + 2 * cell], "big")
            data[page + offset:page + offset + 4] = child.to_bytes(4, "big")
    bomb = tmp_path / "bomb.sqlite"
    bomb.write_bytes(data)
    assert strata("export", bomb, "-o", "-", "--to", "csv").returncode in (0, 3)


@pytest.mark.parametrize("how, read", [("STORED", True), ("VIRTUAL", False)])
def test_columns_that_the_schema_computes_are_not_read(path, how, read):
    """Each value of such a column may take any time and memory: a few kB of file took minutes and GB."""
    computed = f"value TEXT GENERATED ALWAYS AS ('gemm' || id) {how}"
    with NsysDb(path, SCHEMA.replace("value TEXT NOT NULL", computed, 1)) as db:
        db.sql("INSERT INTO StringIds(id) VALUES (7)")
        db.sql("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, shortName) "
               "VALUES (7, 8, 0, 7, 7)")
    assert [row["name"] for row in rows(path)] == ["gemm7" if read else ""]


def test_texts_that_the_file_does_not_hold(path):
    """A default value stands in the schema once and in every row."""
    with NsysDb(path, SCHEMA.replace(", value TEXT NOT NULL", "", 1)) as db:
        for i in range(2000):
            db.sql(f"INSERT INTO StringIds(id) VALUES ({i})")
        db.sql(f"ALTER TABLE StringIds ADD COLUMN value TEXT DEFAULT '{'n' * 40000}'")
    done = strata("info", path)
    assert done.returncode == 3 and b"texts are longer than the file can hold" in done.stderr


def test_rows_that_share_their_pages(path):
    write_shared_pages(path, 40, 40)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*), sum(start), sum(end), sum(length(junk)) FROM"
                          " CUPTI_ACTIVITY_KIND_KERNEL").fetchone()[:3] == (40, 40, 80)
    assert strata("info", path).returncode == 0
    write_shared_pages(path, 4000, 1000)
    done = strata("info", path)
    assert done.returncode == 3 and b"its rows share their pages" in done.stderr
