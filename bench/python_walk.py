"""python_walk.py MODULE TRACE: how long a JSON module of Python needs to parse a trace.

MODULE is json, orjson or hta (HolisticTraceAnalysis: parse_trace_file, which makes a data frame).
Prints one JSON object; `seconds` includes reading the file, not importing the module."""
import json
import sys
import time

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


def read_json(module, path):
    with open(path, "rb") as f:
        events = module.loads(f.read())["traceEvents"]
    done = time.perf_counter()
    n = sum(e.get("ph") != "M" for e in events)
    return done, n, sum(e["dur"] for e in events if e.get("cat") in DEVICE)


def read_hta(path):
    """HolisticTraceAnalysis drops rows and rounds times, so there is nothing to compare."""
    from hta.common.trace import parse_trace_file
    parse_trace_file(path)
    return time.perf_counter()


def main():
    which, path = sys.argv[1:]
    if which == "hta":
        import hta.common.trace  # noqa: F401  (imported before the clock starts)
        begin = time.perf_counter()
        print(json.dumps({"seconds": read_hta(path) - begin}))
        return
    module = __import__(which)
    begin = time.perf_counter()
    done, n, device_us = read_json(module, path)
    print(json.dumps({"seconds": done - begin, "events": n, "device_us": device_us}))


main()
