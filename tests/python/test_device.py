"""Device time and memory of stages, on a device whose every move the test decides."""
import os
import textwrap

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
START = f"""
    import sys, time
    sys.path.insert(0, {HERE!r})
    import fake_torch
    device = fake_torch.install()
    import torch, strata

    def settle():
        time.sleep(0.002)  # the next stage looks again whether a device is in use
"""


def run(program, text, **env):
    done = program(textwrap.dedent(START) + textwrap.dedent(text), STRATA_TABLE="off", **env)
    assert done.status == 0, done.stderr
    assert done.stderr == ""
    return done


def test_device_time_without_waiting(program):
    done = run(program, """
        for ms in (5, 7, 30):
            with strata.stage("decode"):
                with strata.stage("inner"):
                    device.work(ms)
                device.work(1)
            assert device.synchronized == 0
        assert device.done_ms == 0  # nobody asked the device for anything
    """)
    stages = done.json()["stages"]
    assert stages["decode"]["gpu_ms"] == 45 and stages["decode"]["gpu_count"] == 3
    assert stages["decode"]["gpu_median_ms"] == 8
    assert stages["decode/inner"]["gpu_ms"] == 42


def test_results_are_read_as_the_device_gets_there(program):
    run(program, """
        from strata._record import hooks
        for i in range(hooks.FREE_CALLS):  # looked at whatever they cost
            with strata.stage("a"):
                device.work(1)
            device.done_ms = device.given_ms
        assert hooks.gpu_time.stages[1].count >= hooks.FREE_CALLS - 1  # without any report
        assert device.events < hooks.FREE_CALLS  # events are used again
    """)


def test_sync_waits_at_both_ends(program):
    done = run(program, """
        with strata.stage("warm"):
            pass
        device.work(3)
        device.log.clear()
        with strata.stage("exact", sync=True):
            assert device.synchronized == 1
            device.work(4)
        assert device.synchronized == 2
        assert device.log == ["wait", "mark", "work", "mark", "wait"]  # no wait between the marks
        with strata.stage("loose"):
            pass
        assert device.synchronized == 2
    """)
    assert done.json()["stages"]["exact"]["gpu_ms"] == 4


@pytest.mark.parametrize("door, asked", [("/somewhere/libstrata_inject.so", False),
                                         ("/opt/other_tool.so", True)])
def test_a_timeline_is_not_asked_for_what_it_knows(program, door, asked):
    """Under `strata run --level timeline` kernels and memory are recorded: no events, no peaks."""
    done = run(program, f"""
        import os
        os.environ.update(STRATA_LEVEL="timeline", CUDA_INJECTION64_PATH={door!r})
        device.allocate(100)
        for _ in range(2):
            with strata.stage("decode"):
                device.work(4)
    """)
    decode = done.json()["stages"]["decode"]
    assert decode["count"] == 2
    assert ("gpu_ms" in decode) == asked and ("devices" in decode["memory"]) == asked


def test_nested_stages_keep_their_own_peaks(program):
    done = run(program, """
        device.allocate(100)
        with strata.stage("warm"):
            pass
        with strata.stage("outer"):
            device.allocate(500); device.free(500)
            with strata.stage("small"):
                device.allocate(50)
            with strata.stage("large"):
                device.allocate(900); device.free(900)
                with strata.stage("leaf"):
                    device.allocate(10)
            with strata.stage("small"):
                pass
        with strata.stage("after"):
            pass
    """)
    found = {p: s["memory"]["devices"]["cuda:0"] for p, s in done.json()["stages"].items()}
    peaks = {p: m["peak_allocated_bytes"] for p, m in found.items()}
    assert peaks == {"warm": 100, "outer": 1050, "outer/small": 160, "outer/large": 1050,
                     "outer/large/leaf": 160, "after": 160}
    assert found["outer/large"]["allocated_bytes"] == 160
    assert found["outer/large"]["peak_reserved_bytes"] == 2100


def test_peaks_of_threads(program):
    done = run(program, """
        import threading
        device.allocate(1)
        with strata.stage("warm"):
            pass
        inside, done = threading.Event(), threading.Event()

        def other():
            with strata.stage("other"):
                inside.set()
                done.wait(10)

        t = threading.Thread(target=other)
        t.start()
        inside.wait(10)
        with strata.stage("main"):
            device.allocate(999); device.free(999)
        done.set()
        t.join()
    """)
    stages = done.json()["stages"]
    for path in ("main", "other"):  # both ran while the memory was in use
        assert stages[path]["memory"]["devices"]["cuda:0"]["peak_allocated_bytes"] == 1000


def test_the_programs_own_peaks_stay_right(program):
    run(program, """
        device.allocate(70)
        with strata.stage("a"):
            device.allocate(1000); device.free(1000)
        with strata.stage("b"):
            pass
        assert torch.cuda.max_memory_allocated() == 1070
        assert torch.cuda.memory_stats()["allocated_bytes.all.peak"] == 1070
        torch.cuda.reset_peak_memory_stats()
        assert torch.cuda.max_memory_allocated() == 70
        with strata.stage("b"):
            device.allocate(30)
        assert torch.cuda.max_memory_allocated() == 100
        assert torch.cuda.max_memory_allocated(1) == 0
    """)


def test_nothing_is_asked_while_a_graph_is_captured(program):
    done = run(program, """
        with strata.stage("warm"):
            pass
        before = device.events
        device.capturing = True
        with strata.stage("captured", sync=True):
            pass
        device.capturing = False
        assert device.synchronized == 0
    """)
    assert "gpu_ms" not in done.json()["stages"]["captured"]


def test_a_device_that_comes_into_use_later(program):
    done = run(program, """
        device.initialized = False
        with strata.stage("load"):
            pass
        assert device.events == 0
        device.initialized = True
        settle()
        with strata.stage("run"):
            device.work(2)
    """)
    stages = done.json()["stages"]
    assert "gpu_ms" not in stages["load"]
    assert stages["run"]["gpu_ms"] == 2


def test_a_device_that_fails_does_no_harm(program):
    done = program(textwrap.dedent(START) + textwrap.dedent("""
        def broken(*args, **kwargs):
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

        with strata.stage("good"):
            device.work(1)
        torch.cuda.Event.record = broken
        torch.cuda.memory_stats_as_nested_dict = broken
        torch.cuda.Event.synchronize = broken
        for _ in range(3):
            with strata.stage("bad"):
                pass
        print("reached the end")
    """), STRATA_TABLE="off")
    assert done.status == 0 and done.stdout == "reached the end\n"


def test_many_small_stages_stay_cheap(program):
    done = run(program, """
        from strata._record import hooks
        with strata.stage("warm"):
            pass
        events = 0
        for _ in range(5000):
            with strata.stage("tiny"):
                device.work(0.001)
            device.done_ms = device.given_ms
        looked = hooks.gpu_time.stages[2].count
        assert hooks.FREE_CALLS - 1 <= looked < 5000, looked  # the last may still be under way
    """)
    tiny = done.json()["stages"]["tiny"]
    assert tiny["count"] == 5000 > tiny["gpu_count"]
    assert abs(tiny["gpu_ms"] - 5) < 1e-6  # those looked at stand for the others


def test_a_hot_stage_does_not_spend_what_others_may(program):
    """On a clock of the test's own: looking at a stage takes 2 ms of it."""
    run(program, """
        from strata._record import hooks
        class Clock:
            now = 0.0
            @classmethod
            def perf_counter(cls):
                cls.now += 0.001
                return cls.now
        with strata.stage("wake"):
            pass
        strata.reset()
        hooks.time, hooks._began, hooks._spent = Clock, 0.0, 0.0
        for _ in range(3000):
            with strata.stage("hot"):
                device.work(1)
        (hot,) = hooks._budgets.values()
        assert hot.calls < hooks.FREE_CALLS + 3000 / hooks.UNHEARD  # most were never asked about
        assert hot.spent <= max(0.01 * Clock.now, 0.1)
        for _ in range(50):
            Clock.now += 1
            with strata.stage("step"):
                device.work(1)
        assert strata.report()["stages"]["step"]["gpu_count"] == 50
    """)


def test_memory_checkpoints(program):
    done = run(program, """
        device.allocate(1000)
        strata.memory.baseline()
        device.allocate(500)
        strata.memory.snapshot("loaded")
        device.allocate(250); device.free(300)
        with strata.stage("a"):
            pass
        text = strata.memory.table()
        assert "loaded" in text and "held but not in use" in text
    """)
    found = done.json()["memory"]
    assert found["snapshots"]["loaded"]["increase"]["devices"]["cuda:0"]["allocated_bytes"] == 500
    assert found["increase"]["devices"]["cuda:0"]["allocated_bytes"] == 450
    assert found["baseline"]["devices"]["cuda:0"]["allocated_bytes"] == 1000
    pool = found["pools"]["cuda:0"]
    assert pool["pool_overhead_bytes"] == 1450 and pool["pool_overhead_pct"] == 50
    assert pool["remaining_bytes"] == 10**9 + 1450


def test_forked_children_leave_the_device_alone(program):
    done = run(program, """
        import os
        with strata.stage("parent"):
            device.work(1)
        before = device.events
        pid = os.fork()
        if pid == 0:
            device.initialized = False  # as torch says in a forked child
            with strata.stage("child"):
                pass
            os._exit(0 if device.events == before else 1)
        assert os.waitpid(pid, 0)[1] == 0
    """)
    assert set(done.json()["stages"]) == {"parent"}


def test_switched_off(program):
    done = run(program, """
        with strata.stage("a"):
            device.work(1)
        assert device.events == 0
    """, STRATA_TEST_GPU="off", STRATA_TEST_MEMORY="off")
    assert "gpu_ms" not in done.json()["stages"]["a"]


def test_host_memory(program):
    done = program("""
        import strata, time
        with strata.stage("small"):
            pass
        with strata.stage("large"):
            block = bytearray(80_000_000)
            block[::4096] = b"x" * len(block[::4096])
            time.sleep(0.02)
        del block
    """, STRATA_TABLE="off")
    stages = done.json()["stages"]
    grown = stages["large"]["memory"]["rss_peak_bytes"] - stages["small"]["memory"]["rss_peak_bytes"]
    assert grown > 60_000_000
