/* noted_settings.c: settings that our recorder has read in the process and that leave too little in
 * the timeline to be priced: a table, each with what has to be seen for it to matter. What costs
 * nothing here is not mentioned. Nothing is predicted: `strata try` measures what it gains. */
#include "analyze/comm/comm.h"
#include "analyze/device/host_stalls.h"
#include "analyze/findings/findings_constants.h"
#include "analyze/findings/spare_rows.h"
#include "analyze/recorded/process_settings.h"
#include "base/human.h"
#include "base/stats.h"

#define NOTED_NAMES 3

struct noted {
    const struct context *cx;
    const struct process_settings *s;
    const char *seen; /* set by `costs`: what the timeline has to do with it, a sentence */
};

struct noted_setting {
    const char *names[NOTED_NAMES]; /* one of them has to be on; none: `costs` decides */
    const char *subject;            /* NULL: the name that is on */
    const char *title, *what;       /* what it does, a sentence */
    const char *fix, *not_fixed, *tries, *show;
    bool (*costs)(struct noted *x);
};

/* ---- when a setting matters ---- */

static double noted_pct(const struct context *cx, int64_t ns)
{
    return stats_pct((double)ns, (double)wall_of(cx)->wall_ns);
}

/* The device waits for the CPU. */
static bool noted_host_is_late(struct noted *x)
{
    double idle = 100 - wall_of(x->cx)->plain.busy_pct;
    if (!timeline_of(x->cx)->n_devices || idle < noted_idle_pct) return false;
    x->seen = rule_text(x->cx, "The GPU is idle for %.0f %% of the time, so the CPU's time counts.",
                        idle);
    return true;
}

static bool noted_cpu_only(struct noted *x)
{
    x->seen = "The program runs on the CPU, so all of that is its time.";
    return rule_cpu_only(x->cx);
}

static bool noted_device_works(struct noted *x)
{
    double share = process_settings_number(x->s, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", 100);
    if (!(share < 100) || wall_of(x->cx)->busy_pct < noted_busy_pct) return false;
    x->seen = rule_text(x->cx, "It is %.0f %% here, and the GPU works for %.0f %% of the time.",
                        share, wall_of(x->cx)->busy_pct);
    return true;
}

static bool noted_ranks_wait(struct noted *x)
{
    double pct = comm_exposed_pct(comm_of(x->cx));
    if (pct < x->cx->th.value[TH_COMM_SHARE_PCT]) return false;
    x->seen = rule_text(x->cx, "Communication alone takes %.0f %% of the time.", pct);
    return true;
}

static bool noted_far_from_device(struct noted *x)
{
    double copies = noted_pct(x->cx, wall_of(x->cx)->parts.copy_ns);
    if (process_settings_number(x->s, "cpus_beside_gpu", 1) > 0) return false;
    if (noted_host_is_late(x)) return true;
    if (copies < x->cx->th.value[TH_REPORT_GAIN_PCT]) return false;
    x->seen = rule_text(x->cx, "Copies alone take %.0f %% of the time.", copies);
    return true;
}

static bool noted_throttled(struct noted *x)
{
    int64_t lost_ns = host_stalls_of(x->cx)->lost_ns[HOST_STALL_CGROUP];
    const char *limit = process_settings_value(x->s, "cpu_limit");
    if (noted_pct(x->cx, lost_ns) < x->cx->th.value[TH_REPORT_GAIN_PCT]) return false;
    x->seen =
        rule_text(x->cx, "Threads that launch were blocked for %s%s%s.", human_time(lost_ns).s,
                  limit ? "; the limit in processors is " : "", limit ? limit : "");
    return true;
}

/* Operators that compute on the CPU, each long enough that more threads would share it. */
static int64_t noted_cpu_operators_ns(const struct context *cx)
{
    const struct trace *t = cx->t;
    int64_t sum = 0;
    if (!rule_cpu_only(cx)) {
        const struct launchless *l = launchless_of(cx);
        for (uint32_t i = 0; i < l->n_groups; i++)
            if (t->kind[l->groups[i].longest] == KIND_OP &&
                t->dur_ns[l->groups[i].longest] >= noted_shared_op_ns)
                sum += l->groups[i].idle_ns;
        return sum;
    }
    for (row_t r = 0; r < t->n_rows; r++) {
        bool outer = t->parent[r] == ROW_NONE || t->kind[t->parent[r]] != KIND_OP;
        if (t->kind[r] == KIND_OP && outer && t->dur_ns[r] >= noted_shared_op_ns)
            sum += t->dur_ns[r];
    }
    return sum;
}

static bool noted_one_thread(struct noted *x)
{
    double cpus = process_settings_number(x->s, "cpus", 1);
    if (process_settings_number(x->s, "threads", 0) != 1 || cpus < noted_cpus) return false;
    int64_t ns = noted_cpu_operators_ns(x->cx);
    if (noted_pct(x->cx, ns) < noted_cpu_operators_pct) return false;
    x->seen = rule_text(x->cx, "The process may use %.0f processors, and such operators take %s.",
                        cpus, human_time(ns).s);
    return true;
}

static const struct noted_setting noted[] = {
    {.names = {"anomaly_detection"},
     .subject = "torch.autograd.set_detect_anomaly",
     .title = "anomaly detection is on",
     .what = "torch.autograd.set_detect_anomaly(True): the result of every node of the backward "
             "pass is checked for NaN, and the Python stack of every operator is written down.",
     .fix = "Switch it off: torch.autograd.set_detect_anomaly(False), and no detect_anomaly() "
            "around the step. Use it only to look for the operator that makes a NaN.",
     .not_fixed = "NaN in gradients is no longer reported where it arises.",
     .tries = "no_anomaly",
     .show = "steps %s",
     .costs = noted_cpu_only},
    {.names = {"memory_history"},
     .subject = "torch.cuda.memory._record_memory_history",
     .title = "the history of memory is kept",
     .what = "torch.cuda.memory._record_memory_history(): each time that memory is taken or given "
             "back, the stack of the program is written down.",
     .fix = "Switch it off: torch.cuda.memory._record_memory_history(enabled=None). To look at "
            "memory, keep it for a few steps only, or leave stacks out (stacks=\"python\").",
     .not_fixed = "There is no snapshot to look at afterwards.",
     .tries = "no_memory_history",
     .show = "gaps %s",
     .costs = noted_host_is_late},
    {.names = {"emit_nvtx"},
     .subject = "torch.autograd.profiler.emit_nvtx",
     .title = "operators are announced as NVTX ranges",
     .what = "torch.autograd.profiler.emit_nvtx() writes a text for every operator.",
     .fix = "Leave emit_nvtx() out of runs that nothing reads the ranges of.",
     .show = "gaps %s",
     .costs = noted_host_is_late},
    {.names = {"TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE"},
     .title = "torch.compile is switched off",
     .what = "With this variable torch.compile returns the function as it is.",
     .fix = "Remove TORCHDYNAMO_DISABLE=1 and TORCH_COMPILE_DISABLE=1 from the environment, where "
            "the program has torch.compile.",
     .not_fixed = "The first calls take longer: that is when it compiles.",
     .show = "gaps %s",
     .costs = noted_host_is_late},
    {.names = {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE"},
     .title = "a way between GPUs is switched off",
     .what = "NCCL takes a slower way: P2P is the link between GPUs, SHM the memory of the "
             "machine, IB the network.",
     .fix = "Remove the variable from the environment, unless this machine hangs without it "
            "(ACS, IOMMU); NCCL_DEBUG=INFO says which way is taken.",
     .show = "comm %s",
     .costs = noted_ranks_wait},
    {.names = {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE"},
     .title = "the GPU is shared by percentage",
     .what = "Under MPS kernels of this process run on a part of the GPU.",
     .fix = "Raise CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, or leave it out where the other processes do "
            "not need their part.",
     .not_fixed = "The other processes get less.",
     .show = "kernels %s",
     .costs = noted_device_works},
    {.title = "the program runs far from its GPU",
     .what = "None of the processors that it may use are beside the GPU (its NUMA node): launches "
             "and copies cross the machine.",
     .fix = "numactl --cpunodebind=NODE --membind=NODE python ... (nvidia-smi topo -m shows NODE), "
            "or give the container processors of that node.",
     .tries = "near_cpus",
     .show = "memory %s",
     .costs = noted_far_from_device},
    {.title = "the control group holds the program back",
     .what = "Its processors are limited (cpu.max), and the limit was reached.",
     .fix = "Raise the limit (docker --cpus, limits.cpu of Kubernetes), or use fewer threads: "
            "OMP_NUM_THREADS, num_workers, TOKENIZERS_PARALLELISM.",
     .show = "gaps %s",
     .costs = noted_throttled},
    {.subject = "torch.set_num_threads",
     .title = "operators on the CPU use one thread",
     .what =
         "torch computes on the CPU with one thread (OMP_NUM_THREADS=1, as torchrun sets it, or "
         "torch.set_num_threads(1)).",
     .fix = "Set OMP_NUM_THREADS to the processors of the machine over the processes on it, or "
            "call torch.set_num_threads; or compute this on the GPU.",
     .not_fixed = "Too many threads slow each other down: workers of a DataLoader count, too.",
     .tries = "threads:4",
     .show = "gaps %s",
     .costs = noted_one_thread},
};

/* The name that is on; NULL where none is. */
static const char *noted_name(const struct noted_setting *n, const struct process_settings *s)
{
    for (int i = 0; i < NOTED_NAMES && n->names[i]; i++)
        if (process_settings_on(s, n->names[i])) return n->names[i];
    return NULL;
}

static int noted_report(const struct noted *x, const struct noted_setting *n, const char *name,
                        const struct rule *rule, struct findings *out, struct err *e)
{
    struct finding *f = rule_finding(x->cx, out, rule, e);
    if (!f) return ERR_NOMEM;
    f->advice = true;
    f->severity = SEVERITY_LOW;
    f->title = n->title;
    f->subject = n->subject ? n->subject : name ? name : "";
    f->why = rule_text(x->cx, "%s %s What it costs is not seen in the timeline.", n->what, x->seen);
    f->fix = n->fix;
    f->not_fixed = n->not_fixed;
    f->tries = n->tries;
    f->effort = EFFORT_ONE_LINE;
    f->show = n->show;
    return 0;
}

int noted_settings_run(const struct context *cx, const struct rule *rule, struct findings *out,
                       struct err *e)
{
    struct noted x = {.cx = cx, .s = process_settings_of(cx)};
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++) {
        const char *name = noted_name(&noted[i], x.s);
        if ((name || !noted[i].names[0]) && noted[i].costs(&x))
            TRY(noted_report(&x, &noted[i], name, rule, out, e));
    }
    return 0;
}
