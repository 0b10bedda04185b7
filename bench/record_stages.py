"""What a stage costs a Python program, beside torch.profiler.record_function in the same process;
prints one JSON object, in nanoseconds a call. Started twice by record.py: with STRATA on and off."""
import json
import sys
import time

import strata

ROUNDS = 25


def bare(x):
    return x


decorated = strata.stage("decorated")(bare)


def loop_nothing(n):
    for _ in range(n):
        pass


def loop_stage(n):
    for _ in range(n):
        with strata.stage("vae_decode"):
            pass


def loop_held(n):
    held = strata.stage("vae_decode")
    for _ in range(n):
        with held:
            pass


def loop_bare(n):
    for _ in range(n):
        bare(None)


def loop_decorated(n):
    for _ in range(n):
        decorated(None)


def best(fn, n, rounds=ROUNDS):
    """Of short rounds: what the code costs, not what else the machine does."""
    found = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        fn(n)
        found.append((time.perf_counter_ns() - begin) / n)
    return min(found)


def main():
    found = {"loop": best(loop_nothing, 20000)}
    if strata.enabled:
        import torch
        from torch.profiler import ProfilerActivity, profile, record_function

        def loop_record_function(n):
            for _ in range(n):
                with record_function("vae_decode"):
                    pass

        # alternately, so that both meet the same moments of the machine
        found["record_function_off"] = found["stage"] = 1e18
        for _ in range(5):
            found["stage"] = min(found["stage"], best(loop_stage, 5000, 5))
            found["record_function_off"] = min(found["record_function_off"],
                                               best(loop_record_function, 500, 5))
        found["stage_held"] = best(loop_held, 5000)
        found["record_function_on"] = 1e18
        for _ in range(3):
            with profile(activities=[ProfilerActivity.CPU]):
                found["record_function_on"] = min(found["record_function_on"],
                                                  best(loop_record_function, 500, 3))
            found["stage"] = min(found["stage"], best(loop_stage, 5000, 5))
        found["torch"] = torch.__version__
    else:
        found["same_function"] = decorated is bare
        found["bare"] = found["decorated_off"] = 1e18
        for _ in range(10):
            found["bare"] = min(found["bare"], best(loop_bare, 20000, 5))
            found["decorated_off"] = min(found["decorated_off"], best(loop_decorated, 20000, 5))
        found["stage_off"] = best(loop_stage, 20000)
    json.dump(found, sys.stdout)


main()
