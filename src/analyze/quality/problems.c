/* problems.c: see problems.h. A problem is added here, with a function that looks for it in
 * problem_records.c, problem_times.c or problem_order.c. */
#include "analyze/quality/problems.h"

#define SMALLER_WINDOW                                                                          \
    "record fewer steps (schedule(wait=1, warmup=1, active=2)) without stacks and shapes, and " \
    "call torch.cuda.synchronize() before the profiler stops"
#define SHORTER_PART                                                                              \
    "record a shorter part (strata run --only STAGE) with no other profiler in the program, and " \
    "call torch.cuda.synchronize() before it ends; STRATA_BUFFER_MB=512 gives CUPTI more room"
#define SHORTER_TIME "record a shorter time, and synchronize the device before the recording ends"
#define RECORD_AGAIN "record again; if that does not help, update the driver"

const struct figures_word figures_words[N_FIGURES] = {
    {FIGURES_IDLE, "idle"},
    {FIGURES_TIMES, "times"},
    {FIGURES_LINKS, "links"},
};

const char *quality_name(enum quality q)
{
    static const char *const names[] = {"good", "usable", "doubtful", "unusable"};
    return names[q];
}

/* clang-format off */
#define PROBLEM(id_, title_, note_, means_, instead_, ...) \
    {.id = id_, .title = title_, .note = note_, .means = means_, .instead = instead_, __VA_ARGS__}
#define TAKES(figures, from) .takes = (figures), .takes_from = QUALITY_##from

const struct problem_kind problem_kinds[N_PROBLEMS] = {
    [PROBLEM_ONLY_STAGES] = PROBLEM(
        "only_stages", "stages without operators and device work", "",
        "the trace shows how long each stage takes, but not what makes it slow",
        "record with strata run --level timeline, or with torch.profiler"),
    [PROBLEM_EMPTY] = PROBLEM(
        "empty", "a trace without events of the program", "",
        "there is nothing to analyze",
        "call prof.step() at the end of every iteration, and run enough of them for the schedule "
        "to become active",
        .instead_ours = "strata doctor shows what can be recorded here",
        .instead_else = "record the program's operators and its GPU: with strata run, "
                        "torch.profiler, jax.profiler, nsys profile --trace=cuda,nvtx or rocprofv3 "
                        "--sys-trace"),
    [PROBLEM_NO_DEVICE_RECORDS] = PROBLEM(
        "no_device_records", "launches, but no device records at all", "",
        "only the CPU side is known: how long the device worked or was idle is not",
        "record with ProfilerActivity.CUDA; only one profiler can use CUPTI at a time",
        .instead_ours = "run no other profiler in the program: only one can use CUPTI at a time; "
                        "strata doctor shows what can be recorded here",
        .instead_else = "record the GPU's work as well as the calls; only one profiler can record "
                        "a GPU at a time",
        TAKES(FIGURES_IDLE | FIGURES_TIMES, UNUSABLE)),
    [PROBLEM_TRUNCATED] = PROBLEM(
        "truncated", "a file that is cut short", "",
        "device records come last in these files, so they are lost first",
        "wait for the export to finish; a file name ending in .tmp means it has not",
        TAKES(FIGURES_IDLE, DOUBTFUL)),
    [PROBLEM_EVENTS_LOST] = PROBLEM(
        "events_lost", "events that cannot be read",
        "strata info --lint lists where they are in the file",
        "strata info --lint lists where they are in the file",
        ""),
    [PROBLEM_RECORDS_DROPPED] = PROBLEM(
        "records_dropped", "launches in the middle of the trace without a device record",
        "empty copies and memsets leave none, so nothing is lost",
        "device time is too low and idle time too high; idle time cannot be trusted",
        SMALLER_WINDOW, .instead_ours = SHORTER_PART, .instead_else = SHORTER_TIME,
        TAKES(FIGURES_IDLE, DOUBTFUL)),
    [PROBLEM_RECORDS_BEGIN_LATE] = PROBLEM(
        "records_begin_late", "launches before the first device record",
        "normal at the edge of the window",
        "before that the device looks idle but is not",
        SMALLER_WINDOW, .instead_ours = SHORTER_PART, .instead_else = SHORTER_TIME,
        TAKES(FIGURES_IDLE, USABLE)),
    [PROBLEM_RECORDS_STOP_EARLY] = PROBLEM(
        "records_stop_early", "launches after the last device record",
        "normal at the edge of the window",
        "after that the device looks idle but is not: the profiler's buffers were full, or it was "
        "stopped without a synchronize",
        SMALLER_WINDOW, .instead_ours = SHORTER_PART, .instead_else = SHORTER_TIME,
        TAKES(FIGURES_IDLE, USABLE)),
    [PROBLEM_GRAPH_REPLAYS] = PROBLEM(
        "graph_replays_under_recorded", "graph replays with fewer records than the graph has kernels", "",
        "most of the work of these replays is missing: the device looks idle but is not",
        "for kernel times record with graphs off, with CUDA 12.6 or later, or with fewer replays "
        "in the window",
        TAKES(FIGURES_IDLE, DOUBTFUL)),
    [PROBLEM_WAITS_WITHOUT_WORK] = PROBLEM(
        "waits_without_work", "waits of the CPU for a device that shows no work", "",
        "the device was working on something that was not recorded, such as another process's "
        "work: idle time cannot be trusted",
        SMALLER_WINDOW,
        .instead_ours = "record while no other process uses the GPU (nvidia-smi lists them), and "
                        "run no other profiler in the program",
        .instead_else = SHORTER_TIME,
        TAKES(FIGURES_IDLE, USABLE)),
    [PROBLEM_GPU_SHARED] = PROBLEM(
        "gpu_shared", "a GPU that another process has open, too",
        "if that worked on it, kernels and waits took longer than they do alone", "", ""),
    [PROBLEM_WORK_WITHOUT_LAUNCH] = PROBLEM(
        "work_without_launch", "device work without a launch in the trace",
        "they were launched before the window opened, which is normal, but belong to no step or "
        "stage",
        "this work belongs to no operator, stage or step, so their device times are too low",
        "record CPU and device activities together, in one process",
        TAKES(FIGURES_LINKS, DOUBTFUL)),
    [PROBLEM_ONLY_DEVICE] = PROBLEM(
        "only_device", "device work alone, without the calls of the CPU", "",
        "its times are right, but what the GPU waits for is not known",
        "record CPU and device activities together, in one process",
        TAKES(FIGURES_LINKS, USABLE)),
    [PROBLEM_ZERO_TIMES] = PROBLEM(
        "zero_times", "device work without a time stamp or with a duration of zero",
        "their time is missing, which is too little to matter",
        "their time is missing: device time is too low and idle time too high",
        "update the driver or torch; this is a known fault of some CUDA 12.6 to 13.0 builds",
        .instead_ours = "work that never ended has none, as when the GPU fails or the program is "
                        "ended; otherwise update the driver: some CUDA 12.6 to 13.0 builds have "
                        "this fault",
        .instead_else = "update the driver and the program that recorded it",
        TAKES(FIGURES_IDLE | FIGURES_TIMES, DOUBTFUL)),
    [PROBLEM_IMPOSSIBLE_TIMES] = PROBLEM(
        "impossible_times", "device work far outside the trace", "",
        "the device's clock was wrong: windows, idle time and gaps are meaningless",
        RECORD_AGAIN,
        TAKES(FIGURES_IDLE | FIGURES_TIMES, DOUBTFUL)),
    [PROBLEM_CLOCK_SKEW] = PROBLEM(
        "clock_skew", "device work that starts before its launch",
        "the clocks of CPU and device differ slightly, which is normal",
        "launch latencies are wrong, and so are gaps of about that length",
        RECORD_AGAIN,
        TAKES(FIGURES_TIMES, DOUBTFUL)),
    [PROBLEM_SYNC_RETURNED_EARLY] = PROBLEM(
        "sync_returned_early", "device-wide syncs that return while work launched before them still runs",
        "the clocks of CPU and device differ slightly, which is normal",
        "the clocks of CPU and device differ by that much: shorter waits and gaps mean nothing",
        RECORD_AGAIN),
    [PROBLEM_STEPS_WITHOUT_WORK] = PROBLEM(
        "steps_without_work", "steps without device records",
        "their device work ran after the recording had ended; ignore these steps",
        "averages over steps are too low",
        "call torch.cuda.synchronize() before the profiler stops",
        .instead_ours = "call torch.cuda.synchronize() before the program ends",
        .instead_else = "synchronize the device before the recording ends"),
    [PROBLEM_FIRST_COLLECTIVE] = PROBLEM(
        "first_collective", "a first collective that takes much longer than the others", "",
        "it waits for the profilers of other ranks to start, not for their work",
        "leave the first step out, or put a barrier before the profiler starts"),
    [PROBLEM_RECORDING_COST] = PROBLEM(
        "recording_cost", "recording that slows the CPU down a lot", "",
        "CPU times are too long, and the critical path may differ without recording",
        "record without with_stack for times and with it only to find lines; strata whatif "
        "--undistort removes the cost"),
    [PROBLEM_PROFILER_BUFFERS] = PROBLEM(
        "profiler_buffers", "time that the profiler's own buffers take",
        "it leaves one gap in the device's work at the first launch, which the program did not cause",
        "", ""),
    [PROBLEM_CODE_LOADING] = PROBLEM(
        "code_loading", "time that loading code onto the device takes",
        "kernels ran for the first time inside the window: the program was not warmed up",
        "", ""),
    [PROBLEM_GRAPHS_BY_NODE] = PROBLEM(
        "graphs_by_node", "CUDA graphs that were recorded node by node", "",
        "without recording the CPU is faster there, and may not be on the critical path",
        "record with strata run --level timeline --graphs whole: one record per graph, at hardly "
        "any cost"),
    [PROBLEM_NESTED_DEEP] = PROBLEM(
        "nested_deep", "spans that are nested too deep", "",
        "below that level it is not known which of them encloses which",
        "a recursion that never ends looks so, or labels that are never closed"),
    [PROBLEM_IDS_TWICE] = PROBLEM(
        "ids_twice", "operators that share their id with another operator of the process",
        "device work is charged by launching calls instead, so nothing is mixed up",
        "device work refers to operators by this id: some of it may be charged to the wrong one",
        "merge no traces of several runs into one file"),
    [PROBLEM_OVERLAP_ON_STREAM] = PROBLEM(
        "overlap_on_stream", "device work that starts before the previous one on its stream has ended",
        "normal with programmatic dependent launch (Hopper and later) and inside graphs; busy time "
        "is counted once, but viewers that need nesting drop such kernels",
        "", "", .handled = true),
    [PROBLEM_CROSSING] = PROBLEM(
        "crossing", "spans that overlap their neighbour on a thread without nesting",
        "usually Python frames and operators timed by different clocks, off by less than a "
        "microsecond; nothing is dropped: such a span nests one level further out",
        "", "", .handled = true),
    [PROBLEM_UNFINISHED] = PROBLEM(
        "unfinished", "spans still open when the profiler stopped",
        "their duration is cut off at the end of the window; strata table leaves them out, as "
        "torch does",
        "", "", .handled = true),
    [PROBLEM_OUTSIDE_WINDOW] = PROBLEM(
        "outside_window", "spans that start outside the profiler's own window",
        "Python frames that were open when recording began, or work that outlived it",
        "", "", .handled = true),
    [PROBLEM_IDS_REUSED] = PROBLEM(
        "ids_reused", "calls whose correlation id another process also uses",
        "several ranks were merged into one file; Strata matches launches within a process, so "
        "nothing is mixed up, but other tools may mix them up",
        "", "", .handled = true),
    [PROBLEM_IDS_ARE_COPIES] = PROBLEM(
        "ids_are_copies", "External ids that only repeat the correlation ids",
        "written by torch 1.12 to 2.2 (kineto #843); device work is charged to the operator around "
        "the launching call instead",
        "", "", .handled = true),
    [PROBLEM_SAME_THREAD_NAMES] = PROBLEM(
        "same_thread_names", "threads that share their name with another thread of the process",
        "they are kept apart by thread id", "", "", .handled = true),
};
/* clang-format on */
