"""Makes SQLite files as `nsys export -t sqlite` writes them, as far as our reader looks at them."""
import sqlite3

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE ThreadNames (nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, totalMemory INTEGER,
  smCount INTEGER, cuDevice INTEGER, maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER,
  maxRegistersPerSm INTEGER, threadsPerWarp INTEGER, maxWarpsPerSm INTEGER, computeMajor INTEGER,
  computeMinor INTEGER);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,
  globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER,
  callchainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER,
  globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER,
  registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER,
  blockY INTEGER, blockZ INTEGER, staticSharedMemory INTEGER, dynamicSharedMemory INTEGER,
  graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,
  copyKind INTEGER, srcKind INTEGER, dstKind INTEGER, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER,
  bytes INTEGER, graphNodeId INTEGER, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  syncType INTEGER, eventId INTEGER);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER,
  contextId INTEGER, address INTEGER, bytes INTEGER, memKind INTEGER,
  memoryOperationType INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL,
  text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
CREATE TABLE PROFILER_OVERHEAD (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER);
"""


def global_pid(pid):
    return (1 << 56) | (pid << 24)


class NsysDb:
    """`with NsysDb(path) as db: db.call(...)`: rows with sensible defaults; times are ns."""

    def __init__(self, path, schema=SCHEMA):
        self.db = sqlite3.connect(path)
        self.db.executescript(schema)
        self.strings = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.db.commit()
        self.db.close()

    def sql(self, text, *values):
        self.db.execute(text, values)

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings) + 1
            self.sql("INSERT INTO StringIds VALUES(?,?)", self.strings[text], text)
        return self.strings[text]

    def insert(self, table, **values):
        names = ",".join(f'"{name}"' for name in values)
        marks = ",".join("?" * len(values))
        self.sql(f"INSERT INTO {table}({names}) VALUES({marks})", *values.values())

    def call(self, name, start, end, correlation, pid=100, tid=100):
        self.insert("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=end, eventClass=0,
                    globalTid=global_pid(pid) | tid, correlationId=correlation,
                    nameId=self.string(name), returnValue=0)

    def kernel(self, name, start, end, correlation, pid=100, stream=7, device=0, **more):
        self.insert("CUPTI_ACTIVITY_KIND_KERNEL", start=start, end=end, deviceId=device,
                    contextId=1, streamId=stream, correlationId=correlation,
                    globalPid=global_pid(pid), demangledName=self.string(name),
                    shortName=self.string(name.split("<")[0]), registersPerThread=32, gridX=4,
                    gridY=2, gridZ=1, blockX=128, blockY=1, blockZ=1, staticSharedMemory=16,
                    dynamicSharedMemory=1024, **more)

    def copy(self, start, end, correlation, kind, source, target, pid=100, size=4096):
        self.insert("CUPTI_ACTIVITY_KIND_MEMCPY", start=start, end=end, deviceId=0, contextId=1,
                    streamId=7, correlationId=correlation, globalPid=global_pid(pid), bytes=size,
                    copyKind=kind, srcKind=source, dstKind=target)

    def nvtx(self, text, start, end, kind=59, pid=100, tid=100, registered=False):
        self.insert("NVTX_EVENTS", start=start, end=end, eventType=kind,
                    text=None if registered else text,
                    textId=self.string(text) if registered else None,
                    globalTid=global_pid(pid) | tid)


def write_sample(path):
    """One process: a step with a launch, a copy, a memset, a sync and what stands around them."""
    with NsysDb(path) as db:
        db.nvtx("step", 1000, 90000)
        db.nvtx("registered", 2000, 50000, registered=True)
        db.nvtx("mark", 3000, None, kind=34)
        db.nvtx("never ended", 60000, None)
        db.nvtx("a domain", 0, None, kind=75)
        db.call("cudaLaunchKernel_v7000", 5000, 9000, 1)
        db.kernel("void gemm<float>(int)", 20000, 30000, 1)
        db.call("cuLaunchKernel", 10000, 12000, 2)
        db.kernel("triton_red", 30000, 35000, 2, graphNodeId=(3 << 32) | 8)
        db.call("cudaMemcpyAsync_ptsz_v7000", 13000, 15000, 3)
        db.copy(36000, 40000, 3, 1, 0, 2)
        db.insert("CUPTI_ACTIVITY_KIND_MEMSET", start=41000, end=42000, deviceId=0, contextId=1,
                  streamId=7, correlationId=4, globalPid=global_pid(100), value=0, bytes=64,
                  memKind=2)
        db.call("cudaStreamSynchronize_v3020", 16000, 43000, 5)
        db.insert("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=16500, end=42900, deviceId=0,
                  contextId=1, streamId=7, correlationId=5, globalPid=global_pid(100), syncType=3,
                  eventId=0)
        for operation in (0, 1):
            db.insert("CUDA_GPU_MEMORY_USAGE_EVENTS", start=4000 + operation,
                      globalPid=global_pid(100), deviceId=0, contextId=1, address=2 ** 40,
                      bytes=1 << 20, memKind=2, memoryOperationType=operation)
        db.insert("OSRT_API", start=50000, end=51000, globalTid=global_pid(100) | 101,
                  nameId=db.string("poll"))
        db.insert("PROFILER_OVERHEAD", start=52000, end=53000, globalTid=global_pid(100) | 100,
                  nameId=db.string("CUDA profiling data flush"))
        db.insert("ThreadNames", nameId=db.string("python3"), globalTid=global_pid(100) | 100)
        db.insert("PROCESSES", globalPid=global_pid(100), pid=100, name="/usr/bin/python3")
        db.insert("TARGET_INFO_GPU", vmId=0, id=0, name="NVIDIA H200", totalMemory=150109880320,
                  smCount=132, cuDevice=0, threadsPerWarp=32, maxWarpsPerSm=64, computeMajor=9,
                  computeMinor=0)
        db.sql("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(1790857026000000000,'','')")
        db.sql("INSERT INTO META_DATA_EXPORT VALUES('EXPORT_PRODUCT_VERSION','2024.6.2')")
        db.sql("INSERT INTO META_DATA_EXPORT VALUES('TARGET_SECRET','hunter2')")


def _varint(n):
    out = [n & 0x7f]
    while n := n >> 7:
        out.append(n & 0x7f | 0x80)
    return bytes(reversed(out))


def _page(kind, cells, rightmost=b"", begin=0, size=512):
    """A page of a b-tree: its cells from the end, and where each of them begins."""
    out, at, places = bytearray(size), size, b""
    for cell in cells:
        at -= len(cell)
        out[at:at + len(cell)] = cell
        places += at.to_bytes(2, "big")
    head = bytes([kind, 0, 0]) + len(cells).to_bytes(2, "big") + at.to_bytes(2, "big") + b"\0"
    head += rightmost + places
    out[begin:begin + len(head)] = head
    return out


def write_shared_pages(path, rows, chain):
    """Kernels with a long value before their times, which goes on in the same `chain` of pages for all of
    them: SQLite goes through those for each row. Python's module writes no such file."""
    sql = b"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(junk BLOB, start INTEGER, end INTEGER)"
    here, more = 39, 508  # bytes of a row that stand with it, and that one page of its rest has
    payload = here + more * chain
    n_head = 3 + len(_varint(2 * payload))  # its own length, the kinds of three values
    head = bytes([n_head]) + _varint(12 + 2 * (payload - n_head - 2)) + b"\1\1"
    assert len(head) == n_head
    pages = [b""]  # the first one, with the schema, comes last
    for i in range(chain):
        following = i + 3 if i + 1 < chain else 0
        pages.append(following.to_bytes(4, "big") + bytes(more - 2) + b"\1\2")
    cells = [_varint(payload) + _varint(r) + head + bytes(here - len(head)) + (2).to_bytes(4, "big")
             for r in range(1, rows + 1)]
    level = []  # (page, last row) of the nodes of a level
    for i in range(0, rows, 9):
        pages.append(_page(13, cells[i:i + 9]))
        level.append((len(pages), min(i + 9, rows)))
    while len(level) > 1:
        above = []
        for i in range(0, len(level), 50):
            *nodes, last = level[i:i + 50]
            cells = [p.to_bytes(4, "big") + _varint(r) for p, r in nodes]
            pages.append(_page(5, cells, last[0].to_bytes(4, "big")))
            above.append((len(pages), last[1]))
        level = above
    texts = [b"table", b"CUPTI_ACTIVITY_KIND_KERNEL", b"CUPTI_ACTIVITY_KIND_KERNEL"]
    types = b"".join(_varint(13 + 2 * len(t)) for t in texts) + b"\4" + _varint(13 + 2 * len(sql))
    entry = bytes([len(types) + 1]) + types + b"".join(texts) + level[0][0].to_bytes(4, "big") + sql
    first = _page(13, [_varint(len(entry)) + b"\1" + entry], begin=100)
    first[:24] = b"SQLite format 3\0" + (512).to_bytes(2, "big") + b"\1\1\0\x40\x20\x20"
    for at, value in ((24, 1), (28, len(pages)), (40, 1), (44, 4), (56, 1), (92, 1), (96, 3045000)):
        first[at:at + 4] = value.to_bytes(4, "big")
    pages[0] = first
    path.write_bytes(b"".join(pages))
