/* glossary.c: the table. Sorted by term, ignoring case; a test checks that. */
#include "base/glossary.h"

#include <stddef.h>

const struct glossary_term glossary[] = {
    {"blocked", "blocks",
     "CPU time inside calls that wait for the GPU, a copy or a lock. It costs nothing while the "
     "GPU has queued work."},
    {"break-even", NULL, "The number of steps after which a change pays off."},
    {"busy", "GPU busy", "Time in which the GPU runs at least one kernel, copy or memset."},
    {"checklist", NULL,
     "The usual questions about a run (is the GPU busy, does the CPU wait), each answered from the "
     "trace: strata report -v."},
    {"cold", NULL,
     "A first call, which is slower because it includes one-time work: loading code, compiling, "
     "growing the allocator."},
    {"constant upload", NULL,
     "A copy of a few bytes from the CPU to the GPU, made again in every step."},
    {"CPU-bound", NULL, "The GPU waits for Python and other CPU work."},
    {"critical path", NULL,
     "The chain of CPU and GPU work that determines the wall time. Making anything else faster "
     "gains nothing."},
    {"CUDA graph", "CUDA graphs", "A recorded sequence of kernels that is launched with one call."},
    {"derived", NULL,
     "Found from the trace itself (modules, functions, repeating launches) instead of being "
     "labelled by the program."},
    {"device", NULL, "The GPU or another accelerator, as opposed to the host."},
    {"drain", "drains|drained",
     "To wait until the GPU has finished everything queued. Afterwards the GPU is idle until the "
     "CPU launches new work."},
    {"DtoD", NULL, "Device to device: a copy inside GPU memory, or between GPUs."},
    {"DtoH", NULL,
     "Device to host: a copy from GPU memory to CPU memory. Reading a value in Python (.item(), "
     "print, if tensor) needs one, and the CPU waits for it."},
    {"eager", NULL, "Running operators one by one as Python reaches them, without torch.compile."},
    {"effort", NULL,
     "How much of the program a fix changes: one line, some lines, or a larger change."},
    {"exposed", NULL,
     "GPU idle time that a wait or CPU work causes in the trace. Time in which a transfer runs "
     "without other work is called alone or not overlapped; JSON keys say exposed for both."},
    {"fused", NULL,
     "Several operations compiled into one kernel, which saves launches and memory traffic."},
    {"gain", "gains",
     "How much shorter the run would be, predicted by replaying the trace with the fix applied and "
     "the findings above it fixed."},
    {"gap", "gaps", "A time between the first and the last work of a GPU in which it is idle."},
    {"GEMM", NULL, "General matrix multiplication."},
    {"GPU-bound", NULL, "The GPU is busy nearly all the time. Only faster or fewer kernels help."},
    {"guard check", "guard checks",
     "The test before each call of compiled code whether it still fits its inputs (TorchDynamo "
     "cache lookup)."},
    {"headroom", "could save", "The time that a kernel would save if it ran at the roofline."},
    {"host", NULL, "The CPU and its memory, as opposed to the device."},
    {"HtoD", NULL, "Host to device: a copy from CPU memory to GPU memory."},
    {"idle", "GPU idle", "Time in which the GPU runs nothing."},
    {"Inductor", NULL,
     "The compiler behind torch.compile. It fuses operations into Triton kernels."},
    {"kernel", "kernels", "A function that runs on the GPU."},
    {"label", "labels",
     "A range that the program names itself: record_function, an NVTX range, or a stage."},
    {"ladder", NULL,
     "The wall time that is left as one finding after the other is fixed, down to what the GPU's "
     "work alone takes, and to the roofline."},
    {"launch", "launches",
     "The call with which the CPU queues work on the GPU. It returns at once; the work runs when "
     "the work before it in its stream has finished."},
    {"launch delay", NULL,
     "The time from the start of the launch call to the start of the work on the GPU: launch "
     "latency plus queue wait."},
    {"launch latency", "latency",
     "The launch delay on an idle stream: what a launch costs when nothing is queued."},
    {"launch overhead", NULL, "The CPU time that a launch call takes."},
    {"launch-bound", NULL,
     "The GPU waits for launches: kernels are so short that launching each one takes longer than "
     "running it."},
    {"lint", NULL,
     "To check a trace for missing and damaged records. strata info --lint does, strata help "
     "problems lists what it can find."},
    {"looks slow and is not", NULL,
     "Calls that block the CPU for long while the GPU works: removing them gains next to nothing."},
    {"median", NULL, "Half of the values are smaller, half are larger."},
    {"MFU", NULL,
     "Model FLOP utilization: the operations of the model's products, convolutions and attention "
     "per second, as a share of the dense rate on the GPU's datasheet."},
    {"occupancy", NULL, "The share of a multiprocessor's warp slots that a kernel can fill."},
    {"operator", "operators",
     "A PyTorch operation such as aten::mul, as the framework dispatches it."},
    {"overlap", "overlaps",
     "To run at the same time. A copy that overlaps with a kernel costs no wall time."},
    {"p95", NULL, "The 95th percentile: 19 of 20 values are smaller."},
    {"pageable", NULL,
     "Ordinary host memory. The driver stages copies of it through pinned memory, which is slow "
     "and blocks the CPU."},
    {"pinned", NULL,
     "Host memory that the system may not move. The GPU copies it directly, fast and without "
     "blocking the CPU."},
    {"prefetch", NULL, "To copy data to the GPU before it is needed, while other work runs."},
    {"queue depth", NULL,
     "How many launches have not started on the GPU yet. Deep is healthy; empty means that the GPU "
     "waits for the CPU."},
    {"queue wait", NULL,
     "The part of the launch delay in which the stream was busy with earlier work. It is healthy: "
     "the CPU runs ahead."},
    {"readback", NULL, "A copy of a value from the GPU to the CPU because the program reads it."},
    {"replay", NULL,
     "A simulation of the trace as CPU work, launches, device work and waits, with changes "
     "applied. The replay error on the unchanged trace shows how far to trust it."},
    {"reserved", NULL, "Memory that the allocator holds from the device, used or not."},
    {"resident", NULL, "Kept in device memory between steps instead of being copied there again."},
    {"roofline", NULL,
     "The most FLOP/s a kernel can reach on a GPU, given how many FLOP it computes per byte it "
     "moves."},
    {"self", "itself", "Excluding the time of the calls it makes."},
    {"site", "sites",
     "A place in the program where the CPU waits: a line of code, an operator or a call."},
    {"snapshot", "snapshots",
     "The last seconds of a timeline, written out by strata run --keep. The contents of torch's "
     "allocator at one moment are a memory snapshot."},
    {"stage", "stages",
     "A part of the pipeline that the program labels, such as transformer_forward."},
    {"stall", "stalls|stalled", "To leave the GPU idle until something finishes."},
    {"step", "steps",
     "One iteration of the main loop: a denoising step, a training step, a token."},
    {"straggler", NULL, "A rank that is slower than the others, which wait for it."},
    {"stream", "streams",
     "A queue of work on the GPU. Work in one stream runs in order; streams may overlap."},
    {"sync", "syncs", "A call that makes the CPU wait for the GPU."},
    {"sync-bound", NULL, "The CPU and the GPU take turns waiting for each other."},
    {"timeline", NULL, "A recording of every kernel, copy and sync with its time."},
    {"trace quality", NULL,
     "How far the recording itself can be trusted: good, usable, doubtful or unusable."},
    {"transfer-bound", NULL, "Copies between host and device take the time."},
    {"wall", "wall time|wall clock",
     "Elapsed time, as a stopwatch shows it, of the recorded window."},
    {"warm-up", "warmed up|warm up",
     "Calls that run before measuring so that one-time work is not included."},
    {"window", NULL, "The time between the start and the end of a recording."},
    {"without it", "at most",
     "What the wall time would lose if that work never ran: no change of it can gain more."},
    {NULL, NULL, NULL},
};
