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
