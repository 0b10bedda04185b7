"""Stages in plain code, on threads, in coroutines and generators: counts, times, paths."""
import asyncio
import contextlib
import copy
import gc
import inspect
import pickle
import threading
import time

import pytest


def stages(strata):
    return strata.report()["stages"]


def test_with_statement(strata):
    for _ in range(3):
        with strata.stage("a"):
            with strata.stage("b"):
                pass
    with strata.stage("b"):
        pass
    found = stages(strata)
    assert {path: s["count"] for path, s in found.items()} == {"a": 3, "a/b": 3, "b": 1}
    assert found["a"]["duration_ms"] >= found["a/b"]["duration_ms"]
    assert found["a"]["self_ms"] == pytest.approx(
        found["a"]["duration_ms"] - found["a/b"]["duration_ms"], abs=1e-6)


def test_times_hold_against_another_clock(strata):
    """Never less than what is measured inside, never more than what is measured outside."""
    inside, outside = [], []
    for pause in (0.02, 0.005, 0.01):
        began = time.perf_counter()
        with strata.stage("timed"):
            entered = time.perf_counter()
            time.sleep(pause)
            inside.append((time.perf_counter() - entered) * 1e3)
        outside.append((time.perf_counter() - began) * 1e3)
    s = stages(strata)["timed"]
    assert s["count"] == 3
    for key, pick in (("duration_ms", sum), ("first_ms", lambda v: v[0]), ("max_ms", max),
                      ("min_ms", min), ("median_ms", lambda v: sorted(v)[1])):
        assert pick(inside) * 0.9999 <= s[key] <= pick(outside) * 1.0001, key


def test_the_total_counts_nothing_twice(strata):
    with strata.stage("outer"):
        with strata.stage("inner"):
            time.sleep(0.01)
    report = strata.report()
    assert report["total_stages_ms"] == pytest.approx(
        report["stages"]["outer"]["duration_ms"], abs=1e-6)


def test_recursion_is_one_stage(strata):
    @strata.stage("factorial")
    def factorial(n):
        with strata.stage("work"):
            time.sleep(0.001)
        return 1 if n <= 1 else n * factorial(n - 1)

    assert factorial(5) == 120
    found = stages(strata)
    assert set(found) == {"factorial", "factorial/work"}
    assert found["factorial"]["count"] == 1
    assert found["factorial"]["recursions"] == 4
    assert found["factorial/work"]["count"] == 5
    # all of the inner work lies inside the one outermost call, none of it twice
    assert found["factorial"]["duration_ms"] >= found["factorial/work"]["duration_ms"]
    assert found["factorial"]["self_ms"] < found["factorial"]["duration_ms"]


def test_the_same_object_again_and_again(strata):
    s = strata.stage("same")
    assert strata.stage("same") is s
    with s:
        with s:
            with s:
                pass
    assert stages(strata)["same"]["count"] == 1
    assert stages(strata)["same"]["recursions"] == 2


def test_an_exception_is_counted_apart_and_passes_through(strata):
    error = ValueError("mine")
    with pytest.raises(ValueError) as caught:
        with strata.stage("fails"):
            time.sleep(0.005)
            raise error
    assert caught.value is error
    s = stages(strata)["fails"]
    assert (s["count"], s["errors"]) == (0, 1)
    assert s["error_ms"] >= 5
    assert s["duration_ms"] == 0  # the failed call is no measurement
    with strata.stage("fails"):
        pass
    assert stages(strata)["fails"]["count"] == 1


def test_exceptions_leave_nested_stages_in_order(strata):
    for _ in range(3):
        with contextlib.suppress(KeyError):
            with strata.stage("a"):
                with strata.stage("b"):
                    raise KeyError
    with strata.stage("c"):
        pass
    found = stages(strata)
    assert set(found) == {"a", "a/b", "c"}
    assert found["a"]["errors"] == found["a/b"]["errors"] == 3


def test_functions_keep_what_they_are(strata):
    @strata.stage("documented")
    def add(a: int, b: int = 2) -> int:
        """Adds."""
        return a + b

    assert add(1) == 3 and add(1, b=5) == 6
    assert add.__name__ == "add" and add.__doc__ == "Adds."
    assert str(inspect.signature(add)) == "(a: 'int', b: 'int' = 2) -> 'int'" or \
        str(inspect.signature(add)) == "(a: int, b: int = 2) -> int"
    assert stages(strata)["documented"]["count"] == 2


def test_methods(strata):
    class Model:
        scale = 3

        @strata.stage("forward")
        def forward(self, x):
            return x * self.scale

        @strata.stage("made")
        @staticmethod
        def make():
            return Model()

        @strata.stage("named")
        @classmethod
        def name(cls):
            return cls.__name__

        @property
        @strata.stage("asked")
        def half(self):
            return self.scale / 2

    m = Model.make()
    assert m.forward(2) == 6 and Model.name() == "Model" and m.half == 1.5
    assert {p: s["count"] for p, s in stages(strata).items()} == {
        "made": 1, "forward": 1, "named": 1, "asked": 1}


def test_a_stage_has_a_name(strata):
    with pytest.raises(TypeError, match="takes a name"):
        strata.stage()


def test_names_of_any_kind(strata):
    for name in ("", "ümläut", "a/b", "line\nbreak", "x" * 5000, "\ud800"):
        with strata.stage(name):
            pass
    assert len(stages(strata)) >= 5


def test_stages_can_be_sent_to_other_processes(strata):
    s = strata.stage("sent")
    assert pickle.loads(pickle.dumps(s)) is s
    waits = strata.stage("a", sync=True)
    assert waits is not s and pickle.loads(pickle.dumps(waits)) is waits
    assert copy.deepcopy(waits) is waits
    assert copy.deepcopy(s) is s


def test_threads(strata):
    gate = threading.Barrier(8)

    def work(n):
        gate.wait()
        for _ in range(200):
            with strata.stage("shared"):
                with strata.stage(f"own {n}"):
                    time.sleep(0)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    found = stages(strata)
    assert found["shared"]["count"] == 1600
    assert all(found[f"shared/own {n}"]["count"] == 200 for n in range(8))
    assert len(found) == 9


# Coroutines.


def test_coroutine_knows_active_from_awaited(strata):
    awaited = 0.0

    @strata.stage("mixed")
    async def mixed():
        nonlocal awaited
        time.sleep(0.02)
        began = time.perf_counter()
        await asyncio.sleep(0.05)
        awaited = (time.perf_counter() - began) * 1e3
        time.sleep(0.01)
        return 7

    assert inspect.iscoroutinefunction(mixed)
    assert asyncio.run(mixed()) == 7
    s = stages(strata)["mixed"]
    assert s["count"] == 1
    assert s["active_ms"] >= 30
    assert awaited * 1.0001 >= s["awaited_ms"] > 0
    assert s["duration_ms"] == pytest.approx(s["active_ms"] + s["awaited_ms"], abs=1e-6)


def test_tasks_keep_their_stages_apart(strata):
    async def request(n):
        with strata.stage(f"request {n}"):
            await asyncio.sleep(0.001 * (5 - n))
            with strata.stage("inner"):
                await asyncio.sleep(0.002)
            await asyncio.sleep(0)

    async def main():
        await asyncio.gather(*(request(n) for n in range(5)))

    with strata.stage("serve"):
        asyncio.run(main())
    found = stages(strata)
    want = {"serve"} | {f"serve/request {n}" for n in range(5)} | {
        f"serve/request {n}/inner" for n in range(5)}
    assert set(found) == want
    assert all(s["count"] == 1 for s in found.values())


def test_tasks_inherit_the_stage_they_were_made_in(strata):
    async def child():
        with strata.stage("child"):
            await asyncio.sleep(0.001)

    async def main():
        with strata.stage("parent"):
            tasks = [asyncio.create_task(child()) for _ in range(3)]
            await asyncio.sleep(0)
            with strata.stage("meanwhile"):
                await asyncio.sleep(0.005)
            await asyncio.gather(*tasks)

    asyncio.run(main())
    found = stages(strata)
    assert found["parent/child"]["count"] == 3
    assert found["parent/meanwhile"]["count"] == 1


def test_decorated_coroutines_nest(strata):
    @strata.stage("leaf")
    async def leaf():
        await asyncio.sleep(0.001)

    @strata.stage("node")
    async def node():
        await leaf()
        with strata.stage("block"):
            await leaf()

    async def main():
        await asyncio.gather(*(node() for _ in range(4)))

    asyncio.run(main())
    assert {p: s["count"] for p, s in stages(strata).items()} == {
        "node": 4, "node/leaf": 4, "node/block": 4, "node/block/leaf": 4}


def test_cancelled_coroutine(strata):
    @strata.stage("slow")
    async def slow():
        await asyncio.sleep(10)

    async def main():
        task = asyncio.create_task(slow())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    s = stages(strata)["slow"]
    assert (s["count"], s["errors"]) == (0, 1)


def test_coroutine_that_fails(strata):
    @strata.stage("fails")
    async def fails():
        await asyncio.sleep(0)
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        asyncio.run(fails())
    assert stages(strata)["fails"]["errors"] == 1


def test_coroutine_that_never_runs(strata):
    @strata.stage("never")
    async def never():
        pass

    coroutine = never()
    coroutine.close()
    assert "never" not in stages(strata)


def test_async_with(strata):
    async def main():
        async with strata.stage("outer"):
            async with strata.stage("inner"):
                await asyncio.sleep(0.001)

    asyncio.run(main())
    assert set(stages(strata)) == {"outer", "outer/inner"}


def test_plain_stages_inside_a_loop(strata):
    def plain():
        with strata.stage("plain"):
            pass

    async def main():
        with strata.stage("around"):
            plain()
            await asyncio.to_thread(plain)

    asyncio.run(main())
    found = stages(strata)
    assert found["around/plain"]["count"] == 1
    assert found["plain"]["count"] == 1  # another thread: not inside anything there


# Generators.


def test_generator_is_timed_only_while_it_runs(strata):
    inside = used = 0.0

    @strata.stage("produce")
    def produce():
        nonlocal inside
        for i in range(3):
            began = time.perf_counter()
            time.sleep(0.005)
            with strata.stage("prepare"):
                time.sleep(0.001)
            inside += time.perf_counter() - began
            yield i

    assert inspect.isgeneratorfunction(produce)
    whole = time.perf_counter()
    with strata.stage("consume"):
        for _ in produce():
            began = time.perf_counter()
            with strata.stage("use"):
                time.sleep(0.01)
            used += time.perf_counter() - began
    whole = time.perf_counter() - whole
    found = stages(strata)
    assert found["consume/produce"]["count"] == 1
    assert found["consume/produce/prepare"]["count"] == 3
    assert found["consume/use"]["count"] == 3  # not inside the generator
    took = found["consume/produce"]["duration_ms"] / 1e3
    assert inside * 0.9999 <= took <= (whole - used) * 1.0001


def test_generator_protocol(strata):
    log = []

    @strata.stage("echo")
    def echo():
        got = yield "ready"
        while got != "stop":
            try:
                got = yield f"echo {got}"
            except ValueError as e:
                got = f"caught {e}"
                log.append(got)
        return "done"

    g = echo()
    assert next(g) == "ready"
    assert g.send("a") == "echo a"
    assert g.throw(ValueError("v")) == "echo caught v"
    with pytest.raises(StopIteration) as stop:
        g.send("stop")
    assert stop.value.value == "done"
    assert log == ["caught v"]
    assert stages(strata)["echo"]["count"] == 1


def test_generators_that_are_dropped(strata):
    cleaned = []

    @strata.stage("endless")
    def endless():
        try:
            n = 0
            while True:
                with strata.stage("open across the yield"):
                    yield n
                n += 1
        finally:
            cleaned.append(1)

    for item in endless():
        if item == 2:
            break
    gc.collect()
    assert cleaned == [1]
    with strata.stage("after"):
        pass
    found = stages(strata)
    assert found["endless"]["count"] == 1
    assert "errors" not in found["endless"]
    assert "after" in found  # nothing is left open


def test_generators_take_turns(strata):
    @strata.stage("left")
    def left():
        for i in range(3):
            with strata.stage("l"):
                yield i

    @strata.stage("right")
    def right():
        for i in range(3):
            with strata.stage("r"):
                yield i

    assert list(zip(left(), right())) == [(0, 0), (1, 1), (2, 2)]
    found = stages(strata)
    assert set(found) == {"left", "left/l", "right", "right/r"}
    assert found["left/l"]["count"] == 3


def test_generator_that_fails(strata):
    @strata.stage("breaks")
    def breaks():
        yield 1
        raise OSError("broken")

    with pytest.raises(OSError, match="broken"):
        list(breaks())
    assert stages(strata)["breaks"]["errors"] == 1


def test_async_generator(strata):
    used = 0.0

    @strata.stage("stream")
    async def stream(n):
        for i in range(n):
            await asyncio.sleep(0.001)
            time.sleep(0.002)
            yield i

    assert inspect.isasyncgenfunction(stream)

    async def main():
        nonlocal used
        got = []
        async for item in stream(3):
            began = time.perf_counter()
            with strata.stage("use"):
                await asyncio.sleep(0.01)
            used += time.perf_counter() - began
            got.append(item)
        return got

    whole = time.perf_counter()
    assert asyncio.run(main()) == [0, 1, 2]
    whole = time.perf_counter() - whole
    found = stages(strata)
    assert found["stream"]["count"] == 1
    assert 6 <= found["stream"]["duration_ms"] <= (whole - used) * 1e3  # without its user's time
    assert found["use"]["count"] == 3


def test_async_generator_lasts_while_it_awaits(strata):
    """A stream that waits for the network or a model takes as long as its user waits for it."""
    @strata.stage("stream")
    async def stream(n):
        for i in range(n):
            with strata.stage("item"):
                await asyncio.sleep(0.02)
            yield i

    async def main():
        waited = 0.0
        items = stream(3)
        for _ in range(3):
            began = time.perf_counter()
            await items.__anext__()
            waited += time.perf_counter() - began
            await asyncio.sleep(0.05)
        await items.aclose()
        return waited

    waited_ms = asyncio.run(main()) * 1e3
    found = stages(strata)["stream"]
    assert found["count"] == 1
    assert 60 <= found["duration_ms"] <= waited_ms + 40  # nothing of the 150 ms of its user
    assert found["active_ms"] < found["awaited_ms"] <= found["duration_ms"]
    assert stages(strata)["stream/item"]["count"] == 3


def test_async_generator_protocol(strata):
    @strata.stage("asend")
    async def echo():
        got = None
        while True:
            try:
                got = yield got
            except ValueError:
                got = "caught"

    async def main():
        g = echo()
        assert await g.__anext__() is None
        assert await g.asend("a") == "a"
        assert await g.athrow(ValueError()) == "caught"
        await g.aclose()

    asyncio.run(main())
    assert stages(strata)["asend"]["count"] == 1


# Limits.


def test_more_names_than_any_program_needs(program):
    done = program("""
        import strata
        for i in range(40000):
            with strata.stage(f"name {i}"):
                pass
    """, STRATA_TABLE="off")
    assert done.status == 0, done.stderr
    found = done.json()["stages"]
    assert found["(more stages)"]["count"] > 1000
    assert sum(s["count"] for s in found.values()) == 40000


def test_deep_nesting(strata):
    with contextlib.ExitStack() as stack:
        for i in range(500):
            stack.enter_context(strata.stage(f"level {i % 50}"))
    found = stages(strata)
    assert len(found) == 50  # the same names again are the same stages


def test_leaving_what_was_not_entered(strata):
    strata.stage("nothing").__exit__(None, None, None)
    with strata.stage("real"):
        strata.stage("nothing").__exit__(None, None, None)
    assert set(stages(strata)) == {"real"}


def test_no_references_leak(strata):
    import sys
    s = strata.stage("counted")
    for _ in range(1000):  # warm
        with s:
            pass
    before = sys.getrefcount(s)
    for _ in range(1000):
        with s:
            with s:
                pass
        with contextlib.suppress(ValueError):
            with s:
                raise ValueError
    assert sys.getrefcount(s) == before

    async def main():
        for _ in range(100):
            with s:
                await asyncio.sleep(0)

    asyncio.run(main())
    gc.collect()
    assert sys.getrefcount(s) == before
