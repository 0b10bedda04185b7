"""Run by test_pywalk.py under every Python there is: calls the probe from as many kinds of frame as
there are, each call with the number of its own line, while other threads keep the allocator, the
collector and the GIL busy. usage: walk_load.py PROBE RUN_FOLDER ROUNDS"""
import ctypes
import gc
import sys
import threading

PROGRAM = '''
class Odd(Exception):
    pass

def plain():
    mark(LINE)
    x = (
        mark(LINE),
        [mark(LINE) for _ in range(2)],
        mark(LINE),
    )
    mark(LINE); mark(LINE)
    return x

def deep(n):
    if n == 0:
        mark(LINE)
        return plain()
    r = deep(n - 1)
    mark(LINE)
    return r

def generator(n):
    for _ in range(n):
        mark(LINE)
        yield n
        mark(LINE)

def delegating(n):
    yield from generator(n)
    mark(LINE)

def failing(n):
    try:
        mark(LINE)
        if n > 1:
            failing(n - 1)
        raise Odd
    except Odd:
        mark(LINE)
    finally:
        mark(LINE)

class Thing:
    def __init__(self):
        mark(LINE)
    def __enter__(self):
        mark(LINE)
    def __exit__(self, *why):
        mark(LINE)
        return True
    @property
    def value(self):
        mark(LINE)
        return lambda y: (y,
                          mark(LINE))

async def coroutine():
    mark(LINE)
    return Thing()

def once():
    deep(3)
    deep(60)
    for _ in delegating(3):
        mark(LINE)
    failing(3)
    with Thing() as t:
        mark(LINE)
        raise Odd
    Thing().value(1)
    c = coroutine()
    try:
        c.send(None)
    except StopIteration:
        mark(LINE)
    sorted([3, 1, 2], key=lambda v: (mark(LINE), v)[1])
    list(map(lambda v:
             mark(LINE), [1, 2]))
'''


def numbered(text):
    return "\n".join(line.replace("LINE", str(n)) for n, line in enumerate(text.split("\n"), 1))


def passing_code(mark, rounds):
    """Functions that are compiled, run and thrown away: the next one takes their place in memory."""
    for i in range(rounds):
        text = "\n" * (i % 97) + "def f():\n" + "    x = 1\n" * (i % 5) + "    mark(LINE)\nf()\n"
        exec(compile(numbered(text), "passing.py", "exec"), {"mark": mark})


def churn(stop):
    while not stop.is_set():
        exec(compile("x = [i for i in range(50)]\n" * 20, "churn.py", "exec"), {})
        sys._current_frames()
        gc.collect(0)


def main():
    probe = ctypes.CDLL(sys.argv[1])
    probe.probe_init.restype = ctypes.c_char_p
    probe.probe_mark.argtypes = [ctypes.c_long]
    if probe.probe_start(sys.argv[2].encode()) < 0:
        sys.exit("cannot record")
    why = probe.probe_init()
    for _ in range(1000):  # the check runs when the interpreter gets to it
        pass
    if why or not probe.probe_ready():
        sys.exit(f"refused: {why.decode()}")
    rounds = int(sys.argv[3])
    names = {"mark": probe.probe_mark}
    exec(compile(numbered(PROGRAM), "program.py", "exec"), names)

    def work():
        for _ in range(rounds):
            names["once"]()
        passing_code(probe.probe_mark, rounds * 10)

    stop = threading.Event()
    threads = [threading.Thread(target=churn, args=(stop,), daemon=True) for _ in range(2)]
    workers = [threading.Thread(target=work) for _ in range(3)]
    for t in threads + workers:
        t.start()
    work()
    for t in workers:
        t.join()
    stop.set()
    for t in threads:
        t.join()


main()
