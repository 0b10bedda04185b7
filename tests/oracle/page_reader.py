"""Reads the data out of an HTML page, as docs/format/page.md describes it."""
import base64
import json
import re
import zlib

WORK = ("kernel", "gpu_memcpy", "gpu_memset")
BYTES = ("depth", "kind", "flags", "gpu_how", "gpu_family", "string_kind", "string_bytes")
SIGNED = ("gpu_delay", "gpu_after")
IDS = ("gpu_launch", "gpu_correlation", "call_correlation", "op_external")


def varints(data, offset, n):
    values = []
    for _ in range(n):
        value = shift = 0
        while True:
            byte = data[offset]
            offset += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        values.append(value)
    return values


def signed(value):
    return (value >> 1) ^ -(value & 1)


def summed(values):
    total, out = 0, []
    for v in values:
        total += signed(v)
        out.append(total)
    return out


def ids(values):
    last, out = 0, []
    for v in values:
        if v:
            last += signed(v - 1)
        out.append(last if v else None)
    return out


def element(text, name):
    """What stands inside the script element, which must be there exactly once."""
    (found,) = re.findall(rf'<script type="[^"]*" id="strata-{name}">([^<]*)</script>', text)
    return found


class Set:
    """One trace of a page, its columns unpacked."""

    def __init__(self, head, blob):
        self.head, self.page = head, head["page"]
        columns = self.page["columns"]
        packed = blob[columns["offset"]:columns["offset"] + columns["packed_bytes"]]
        stream = zlib.decompressobj(-15)
        self.plain = stream.decompress(packed)
        assert stream.eof and not stream.unused_data
        assert len(self.plain) == columns["plain_bytes"]
        self.columns = {name: self.column(name, c) for name, c in columns["list"].items()}
        self.strings = self.read_strings()
        self.place_spans()

    def column(self, name, c):
        if name in BYTES:
            return self.plain[c["offset"]:c["offset"] + c["bytes"]]
        values = varints(self.plain, c["offset"], c["n"])
        if name in SIGNED:
            return [signed(v) for v in values]
        return ids(values) if name in IDS else values

    def read_strings(self):
        at, strings = 0, []
        for n in self.columns["string_len"]:
            strings.append(self.columns["string_bytes"][at:at + n].decode("utf-8", "replace"))
            at += n
        assert at == len(self.columns["string_bytes"])
        return strings

    def place_spans(self):
        """Absolute starts; and the index into the gpu_ columns of each span of work."""
        self.start = []
        for track in self.page["tracks"]:
            assert track["first"] == len(self.start)
            at = 0
            for delta in self.columns["start"][track["first"]:track["first"] + track["n"]]:
                at += delta
                self.start.append(at)
        assert len(self.start) == len(self.columns["dur"]) == self.page["detail"]["kept"]
        self.kind = [self.page["kinds"][k] for k in self.columns["kind"]]
        self.work = {}
        for span, kind in enumerate(self.kind):
            if kind in WORK:
                self.work[span] = len(self.work)
        assert len(self.work) == len(self.columns["gpu_how"])

    def name(self, span):
        return self.strings[self.columns["name"][span]]

    def end(self, span):
        return self.start[span] + self.columns["dur"][span]

    def level(self, level):
        """Shares and names (None where nothing is) of the buckets."""
        busy = self.plain[level["busy"]:level["busy"] + level["n"]]
        names = iter(varints(self.plain, level["name"], sum(b > 0 for b in busy)))
        return busy, [self.strings[next(names)] if b else None for b in busy]

    def series(self, offset, n):
        return summed(varints(self.plain, offset, n))


def read(path):
    """The head and the sets of the page in the file."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    head = json.loads(element(text, "head"))
    blob = base64.b64decode(element(text, "columns"), validate=True)
    return head, [Set(s, blob) for s in head["sets"]]
