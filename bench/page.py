#!/usr/bin/env python3
"""page.py: how large the HTML page is, how soon one can use it, how smoothly it pans.

    bench/page.py --strata BINARY [--trace FILE] [--big FILE]

Writes pages of the trace as it is and repeated to four million events, opens each in headless
Chromium, and notes: seconds to write it, bytes, seconds from opening it to the first picture that
takes input, and the frames while it is panned, at three zooms: how many a second, and what one costs
the page's main thread, which a busy machine does not change. Goals stand beside the figures; the
figures go to page.csv.

Chromium is driven through its own pipe (--remote-debugging-pipe): nothing else is needed."""
import argparse
import csv
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import inputs

HERE = Path(__file__).parent
DEFAULT_TRACE = HERE.parent / "tests/data/wan/wan_before_compile.json.gz"
MANY_EVENTS = 4_000_000
SIZE = (1400, 900)
ZOOMS = (1, 20, 400)  # of the whole
PAN_S = 2
ROUNDS = 5
GOALS = {"as recorded": (6e6, 1.5, 30), "4 million events": (25e6, 4, None)}

# Pans by one wheel event a frame, to and fro, and returns the time of every frame in ms.
PAN = """new Promise(done => {
  const at = [innerWidth * 0.6, innerHeight * 0.45];
  const target = document.elementFromPoint(...at);
  const wheel = o => target.dispatchEvent(new WheelEvent('wheel',
    {bubbles: true, cancelable: true, clientX: at[0], clientY: at[1], ...o}));
  for (let zoom = 1; zoom < %d; zoom *= Math.exp(0.22)) wheel({deltaY: -100});
  const frames = [];
  let last = 0, begin = 0, n = 0;
  const frame = now => {
    if (!begin) begin = now;
    else frames.push(now - last);
    last = now;
    wheel({deltaX: n++ %% 60 < 30 ? 40 : -40});
    if (now - begin < %d) requestAnimationFrame(frame);
    else done(frames);
  };
  requestAnimationFrame(frame);
})"""
READY = "performance.getEntriesByName('strata-interactive').map(e => e.startTime)[0] || 0"


class Chromium:
    """A headless browser with one page, spoken to in JSON that ends in a zero byte."""

    def __init__(self, program, folder):
        to_read, self.write_end = os.pipe()
        self.read_end, to_write = os.pipe()

        def give_pipes():
            for fd, wanted in ((os.dup(to_read), 3), (os.dup(to_write), 4)):
                os.dup2(fd, wanted)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--remote-debugging-pipe", f"--user-data-dir={folder}/profile",
             f"--window-size={SIZE[0]},{SIZE[1]}", "about:blank"],
            close_fds=False, preexec_fn=give_pipes, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.last_id, self.session = b"", 0, None
        pages = [t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        self.session = self.call("Target.attachToTarget", targetId=pages[0]["targetId"],
                                 flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def call(self, method, **params):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.read_end, 1 << 16)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, expression):
        done = self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                         returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"]["exception"].get("description", expression))
        return done["result"].get("value")

    def open(self, path):
        """Seconds from opening the page until it takes input."""
        self.call("Page.navigate", url=Path(path).resolve().as_uri())
        for _ in range(600):
            ready = self.evaluate(READY)
            if ready:
                return ready / 1000
            time.sleep(0.1)
        raise RuntimeError(f"{path} did not open within a minute")

    def busy(self):
        """CPU seconds of the page's main thread so far, whatever else the machine does."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return next(m["value"] for m in metrics if m["name"] == "TaskDuration")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)


def write_page(strata, trace, page):
    begin = time.perf_counter()
    subprocess.run([strata, "report", trace, "--html", page], check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def slowest_half_second(times):
    """The lowest rate over any half second, in frames per second."""
    rates, first, length = [], 0, 0
    for last, ms in enumerate(times):
        length += ms
        while length - times[first] >= 500:
            length -= times[first]
            first += 1
        if length >= 500:
            rates.append(1000 * (last - first + 1) / length)
    return min(rates)


def pan(browser, page, zoom):
    """Frames per second while panning, in total and in the slowest half second, and CPU ms per frame."""
    browser.open(page)
    busy = browser.busy()
    times = browser.evaluate(PAN % (zoom, PAN_S * 1000))
    busy = 1000 * (browser.busy() - busy) / len(times)
    return 1000 * len(times) / sum(times), slowest_half_second(times), busy


def measure(browser, page):
    """The best of a few rounds: what disturbs is not the page's."""
    ready = min(browser.open(page) for _ in range(ROUNDS))
    frames = {}
    for zoom in ZOOMS:
        rounds = [pan(browser, page, zoom) for _ in range(ROUNDS)]
        frames[zoom] = tuple(best(r[i] for r in rounds) for i, best in enumerate((max, max, min)))
    return ready, frames


def machine():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} cores"
    return platform.machine()


def verdict(value, goal, better):
    return "" if goal is None else "met" if better(value, goal) else "MISSED"


def repeated(trace, folder):
    """The trace, as often as makes four million events."""
    once, often = f"{folder}/once.json", f"{folder}/often.json"
    inputs.repeat(trace, once, os.path.getsize(trace))
    each = os.path.getsize(once) / len(inputs.load(trace)["traceEvents"])
    inputs.repeat(trace, often, int(each * MANY_EVENTS))
    return often


def bench(o, browser, folder):
    big = o.big or repeated(o.trace, folder)
    for name, trace in (("as recorded", str(o.trace)), ("4 million events", big)):
        page = f"{folder}/page.html"
        seconds = write_page(o.strata, trace, page)
        size = os.path.getsize(page)
        ready, frames = measure(browser, page)
        goal_size, goal_ready, goal_fps = GOALS[name]
        slowest = min(low for _, low, _ in frames.values())
        lines = [("page written, s", seconds, None, "")]
        lines.append(("page, bytes", size, goal_size, verdict(size, goal_size, lambda a, b: a < b)))
        lines.append(("interactive, s", ready, goal_ready,
                      verdict(ready, goal_ready, lambda a, b: a < b)))
        for zoom, (mean, low, busy) in frames.items():
            lines.append((f"panning at {zoom}x, frames per second", mean, None, ""))
            lines.append((f"panning at {zoom}x, slowest half second", low, None, ""))
            lines.append((f"panning at {zoom}x, CPU ms per frame", busy, None, ""))
        lines.append(("panning, slowest at any zoom", slowest, goal_fps,
                      verdict(slowest, goal_fps, lambda a, b: a >= b)))
        for what, value, goal, met in lines:
            yield name, what, value, goal, met


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    options.add_argument("--strata", required=True)
    options.add_argument("--trace", type=Path, default=DEFAULT_TRACE)
    options.add_argument("--big", help="a trace of four million events, made before")
    options.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    options.add_argument("--csv", type=Path, default=HERE / "page.csv")
    o = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        browser = Chromium(o.chromium, folder)
        try:
            for name, what, value, goal, met in bench(o, browser, folder):
                text = str(value) if isinstance(value, int) else f"{value:.3g}"
                print(f"{name:18} {what:38} {text:>12} {'' if goal is None else f'{goal:g}':>10} {met}",
                      flush=True)
                rows.append((machine(), name, what, text, "" if goal is None else f"{goal:g}"))
        finally:
            browser.close()
    with open(o.csv, "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(("machine", "trace", "what", "value", "goal"))
        writer.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
