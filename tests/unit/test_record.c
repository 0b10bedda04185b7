/* test_record.c: from the marks in a program to the rows of a trace: nesting, details, threads,
 * steps, fork, exec, signals, and death at any moment. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "analyze/compare/timings.h"
#include "base/intern.h"
#include "export/export.h"
#include "import/ring/ring_file.h"
#include "record/recorder.h"
#include "record/schedule.h"
#include "record/spool.h"
#include "recording.h"

static void nested(const char *dir)
{
    strata_begin("before the start"); /* off: leaves no trace */
    strata_end();
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_process_name("pipeline");
    strata_begin("outer");
    strata_arg_int("frames", -3);
    strata_arg_num("scale", 0.1);
    strata_arg_text("mode", "fast \"quoted\"");
    for (int i = 0; i < 3; i++) {
        STRATA_BEGIN("inner");
        STRATA_END();
    }
    strata_begin_in("io", "load");
    strata_end();
    strata_instant("here");
    strata_counter("queue", 2.5);
    {
        STRATA_SCOPE("scoped");
    }
    strata_end();
    strata_begin("left open");
}

TEST(ranges_details_instants_counters)
{
    struct folder f;
    struct trace *t = record_in_child(nested, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_STR(t->format, "strata recording");
    CHECK_EQ_INT(count_rows(t, "before the start"), 0);
    CHECK_EQ_INT(count_rows(t, "inner"), 3);
    row_t outer = find_row(t, "outer"), inner = find_row(t, "inner"), load = find_row(t, "load");
    REQUIRE(outer != ROW_NONE && inner != ROW_NONE && load != ROW_NONE);
    CHECK_EQ_INT(t->kind[outer], KIND_ANNOTATION);
    CHECK_EQ_INT(t->parent[outer], ROW_NONE);
    CHECK_EQ_INT(t->parent[inner], outer);
    CHECK_EQ_INT(t->parent[find_row(t, "scoped")], outer);
    CHECK(t->ts_ns[inner] >= t->ts_ns[outer] && trace_end_ns(t, inner) <= trace_end_ns(t, outer));
    CHECK_EQ_BYTES(trace_str(t, t->cats[t->cat[load]]), "io");
    CHECK_EQ_BYTES(trace_str(t, t->cats[t->cat[inner]]), "user_annotation");
    args_are(t, outer, "{\"frames\":-3,\"scale\":0.1,\"mode\":\"fast \\\"quoted\\\"\"}");
    args_are(t, inner, "{}");
    row_t queue = find_row(t, "queue");
    REQUIRE(queue != ROW_NONE);
    CHECK_EQ_INT(t->kind[queue], KIND_COUNTER);
    args_are(t, queue, "{\"value\":2.5}");
    CHECK_EQ_INT(t->kind[find_row(t, "here")], KIND_INSTANT);
    row_t open = find_row(t, "left open");
    REQUIRE(open != ROW_NONE);
    CHECK(t->flags[open] & ROW_UNFINISHED);
    CHECK_EQ_BYTES(trace_str(t, t->processes[0].name), "pipeline");
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

/* Durations agree with another clock, whichever clock the recorder uses. */
static void timed(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("warm");
    strata_end();
    char name[32];
    uint64_t begin = clock_mono_ns();
    strata_begin("timed");
    usleep(30000);
    strata_end();
    uint64_t took = clock_mono_ns() - begin;
    snprintf(name, sizeof name, "%llu", (unsigned long long)took);
    strata_instant(name);
}

static void timed_by_the_system(const char *dir)
{
    setenv("STRATA_TEST_CLOCK", "os", 1);
    timed(dir);
}

static void check_timed(void (*fn)(const char *dir))
{
    struct folder f;
    struct trace *t = record_in_child(fn, &f);
    REQUIRE(t != NULL);
    row_t r = find_row(t, "timed");
    REQUIRE(r != ROW_NONE);
    int64_t took = 0;
    for (row_t i = 0; i < t->n_rows; i++)
        if (t->kind[i] == KIND_INSTANT) took = strtoll(trace_name(t, i).p, NULL, 10);
    /* The other clock was read outside the range: never less, and little more. */
    CHECK(t->dur_ns[r] <= took + 100000);
    CHECK(t->dur_ns[r] >= 30000000 - 100000);
    trace_free(t);
    folder_done(&f);
}

TEST(the_environment_sets_options)
{
    static const struct {
        const char *mb;
        uint64_t bytes;
    } cases[] = {{"3", 3 << 20}, {"1", 1 << 20}, {"1048575", 1048575ull << 20},
                 {"1048576", 0}, {"0", 0},       {"-1", 0},
                 {"3x", 0},      {"", 0}};
    struct recorder_options o;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("STRATA_RING_MB", cases[i].mb, 1);
        recorder_options_from_env(&o);
        if (!CHECK_EQ_UINT(o.budget_bytes, cases[i].bytes)) printf("%s\n", cases[i].mb);
    }
    unsetenv("STRATA_RING_MB");
    setenv("STRATA_TEST_CLOCK", "os", 1);
    setenv("STRATA_PIPELINE", "", 1);
    setenv("STRATA_OUT", "there", 1);
    recorder_options_from_env(&o);
    CHECK(o.os_clock && !o.where.pipeline && !o.where.dir);
    CHECK_EQ_STR(o.where.out, "there");
    setenv("STRATA_TEST_CLOCK", "tsc", 1);
    unsetenv("STRATA_OUT");
    recorder_options_from_env(&o);
    CHECK(!o.os_clock && !o.where.out && !o.budget_bytes);
    unsetenv("STRATA_TEST_CLOCK");
    unsetenv("STRATA_PIPELINE");
}

TEST(times_are_right)
{
    check_timed(timed);
    check_timed(timed_by_the_system);
}

static void scheduled(const char *dir)
{
    struct strata_schedule s = {.wait = 1, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 1};
    strata_set_schedule(&s);
    CHECK_EQ_INT(strata_start(dir), 0);
    for (int i = 0; i < 12; i++) {
        char name[16];
        snprintf(name, sizeof name, "work %d", i);
        strata_step();
        strata_begin(name);
        strata_end();
        if (i == 4) strata_begin("across the pause");
        if (i == 6) strata_end(); /* its beginning counts, its end is in the pause */
    }
}

TEST(only_scheduled_steps)
{
    struct folder f;
    struct trace *t = record_in_child(scheduled, &f);
    REQUIRE(t != NULL);
    for (int i = 0; i < 12; i++) {
        char name[32];
        bool active = i == 3 || i == 4 || i == 7 || i == 8;
        snprintf(name, sizeof name, "work %d", i);
        CHECK_EQ_INT(count_rows(t, name), active);
        snprintf(name, sizeof name, "ProfilerStep#%d", i);
        CHECK_EQ_INT(count_rows(t, name), active);
    }
    row_t step = find_row(t, "ProfilerStep#4"), across = find_row(t, "across the pause");
    REQUIRE(step != ROW_NONE && across != ROW_NONE);
    CHECK_EQ_INT(trace_end_ns(t, across), trace_end_ns(t, step)); /* both end with the pause */
    CHECK_EQ_INT(t->parent[find_row(t, "work 4")], step);
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

static void stepped(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("loading");
    strata_end();
    for (int i = 0; i < 3; i++) {
        strata_step();
        strata_begin("work");
        strata_end();
    }
}

TEST(a_step_begins_where_it_is_marked)
{
    struct folder f;
    struct trace *t = record_in_child(stepped, &f);
    REQUIRE(t != NULL);
    row_t steps[3];
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", i);
        CHECK_EQ_INT(count_rows(t, name), 1);
        steps[i] = find_row(t, name);
        REQUIRE(steps[i] != ROW_NONE);
    }
    CHECK_EQ_INT(trace_end_ns(t, steps[0]), t->ts_ns[steps[1]]);
    CHECK_EQ_INT(trace_end_ns(t, steps[1]), t->ts_ns[steps[2]]);
    CHECK_EQ_INT(t->parent[find_row(t, "loading")], ROW_NONE);
    CHECK_EQ_INT(count_rows(t, "ProfilerStep#3"), 0);
    int inside[3] = {0};
    for (row_t r = 0; r < t->n_rows; r++)
        for (int i = 0; i < 3; i++) inside[i] += t->parent[r] == steps[i];
    for (int i = 0; i < 3; i++) CHECK_EQ_INT(inside[i], 1);
    trace_free(t);
    folder_done(&f);
}

static void scheduled_from_the_first(const char *dir)
{
    struct strata_schedule s = {.active = 1, .repeat = 1};
    strata_set_schedule(&s);
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("loading");
    strata_end();
    for (int i = 0; i < 2; i++) {
        strata_step();
        strata_begin(i ? "second" : "first");
        strata_end();
    }
}

TEST(a_schedule_records_nothing_before_the_first_step)
{
    struct folder f;
    struct trace *t = record_in_child(scheduled_from_the_first, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "loading"), 0);
    CHECK_EQ_INT(count_rows(t, "first"), 1);
    CHECK_EQ_INT(count_rows(t, "second"), 0);
    CHECK_EQ_INT(count_rows(t, "ProfilerStep#0"), 1);
    trace_free(t);
    folder_done(&f);
}

TEST(schedule_counts_like_torch)
{
    /* skip 2, then cycles of wait 1, warmup 2, active 1, twice */
    struct strata_schedule s = {.wait = 1, .warmup = 2, .active = 1, .repeat = 2, .skip_first = 2};
    const char *want = "..-ww+-ww+......";
    for (int i = 0; want[i]; i++) {
        enum schedule_phase p = schedule_phase(&s, (uint64_t)i);
        char got = p == SCHEDULE_ACTIVE ? '+' : p == SCHEDULE_WARMUP ? 'w' : '.';
        CHECK_EQ_INT(got, want[i] == '-' ? '.' : want[i]);
    }
    struct strata_schedule never = {0};
    CHECK_EQ_INT(schedule_phase(&never, 5), SCHEDULE_SKIPPED);
}

static void stopped(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("open at the stop");
    strata_stop();
    strata_begin("while stopped");
    strata_end();
    strata_end();
    CHECK_EQ_INT(strata_start(NULL), 0);
    strata_begin("after");
    strata_end();
}

TEST(stop_and_start_again)
{
    struct folder f;
    struct trace *t = record_in_child(stopped, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "while stopped"), 0);
    row_t open = find_row(t, "open at the stop"), after = find_row(t, "after");
    REQUIRE(open != ROW_NONE && after != ROW_NONE);
    CHECK(trace_end_ns(t, open) <= t->ts_ns[after]);
    CHECK_EQ_INT(t->parent[after], ROW_NONE);
    trace_free(t);
    folder_done(&f);
}

/* Threads. */

enum { THREADS = 8, RANGES = 2000 };

static pthread_barrier_t all_there;

static void *work(void *arg)
{
    char name[32];
    snprintf(name, sizeof name, "thread %d", (int)(intptr_t)arg);
    strata_thread_name(name);
    pthread_barrier_wait(&all_there); /* or the last would use the ring of the first */
    for (int i = 0; i < RANGES; i++) {
        STRATA_BEGIN("shared name");
        char own[32];
        snprintf(own, sizeof own, "range %d", i % 200); /* the same new names on all threads */
        strata_begin(own);
        strata_end();
        STRATA_END();
    }
    return NULL;
}

static void many_threads(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    pthread_t id[THREADS];
    pthread_barrier_init(&all_there, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&id[i], NULL, work, (void *)(intptr_t)i)) abort();
    for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
}

TEST(threads_have_rings_of_their_own)
{
    struct folder f;
    struct trace *t = record_in_child(many_threads, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "shared name"), THREADS * RANGES);
    CHECK_EQ_INT(count_rows(t, "range 7"), THREADS * RANGES / 200);
    int named = 0;
    for (lane_id l = 0; l < t->n_lanes; l++) {
        if (!str_starts(trace_str(t, t->lanes[l].name), "thread ")) continue;
        if (t->lanes[l].kind == LANE_COUNTER) continue;
        named++;
        CHECK_EQ_INT(t->lanes[l].end - t->lanes[l].begin, 2 * RANGES);
    }
    CHECK_EQ_INT(named, THREADS);
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

static void *one_range(void *arg)
{
    (void)arg;
    strata_begin("short life");
    strata_end();
    return NULL;
}

static void short_threads(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    for (int i = 0; i < 300; i++) {
        pthread_t id;
        if (pthread_create(&id, NULL, one_range, NULL)) abort();
        pthread_join(id, NULL);
    }
}

/* 64 MB are in use while `big` runs, and given back before `small`: to the system, since a
 * sanitizer keeps what is freed. */
static void two_sizes(const char *dir)
{
    enum { SIZE = 64 << 20, PAUSE_US = 100000 }; /* it is looked at every 10 ms, or later */
    CHECK_EQ_INT(strata_start(dir), 0);
    STRATA_BEGIN("big");
    char *held = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (held == MAP_FAILED) abort();
    memset(held, 1, SIZE);
    __asm__ volatile("" ::"r"(held) : "memory"); /* or nothing is held at all */
    usleep(PAUSE_US);
    STRATA_END();
    munmap(held, SIZE);
    usleep(PAUSE_US);
    STRATA_BEGIN("small");
    usleep(PAUSE_US);
    STRATA_END();
}

TEST(stages_know_the_memory_of_the_process)
{
    struct folder f;
    struct arena mem;
    struct timing timing;
    struct trace *t = record_in_child(two_sizes, &f);
    REQUIRE(t != NULL);
    CHECK(count_rows(t, RING_RESIDENT) >= 2);
    arena_init(&mem);
    struct timing_rows_of of = {.since_ns = INT64_MIN, .begin_ns = INT64_MIN};
    REQUIRE(CHECK_EQ_INT(timing_rows_run(t, &of, &mem, &timing, NULL), 0));
    REQUIRE(CHECK_EQ_UINT(timing.n_stages, 2));
    CHECK(timing.stages[0].peak_bytes > timing.stages[1].peak_bytes + (60 << 20));
    CHECK(timing.stages[1].peak_bytes > 0);
    arena_done(&mem);
    trace_free(t);
    folder_done(&f);
}

TEST(rings_of_ended_threads_are_used_again)
{
    struct folder f;
    struct trace *t = record_in_child(short_threads, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "short life"), 300);
    CHECK_EQ_INT(folder_count(&f, ".ring", NULL), 1);
    trace_free(t);
    folder_done(&f);
}

static void too_many_names(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    for (int i = 0; i < (int)RING_NAMES_MAX + 100; i++) {
        char name[32];
        snprintf(name, sizeof name, "n%d", i);
        strata_begin(name);
        strata_end();
    }
}

TEST(more_names_than_fit)
{
    struct folder f;
    struct trace *t = record_in_child(too_many_names, &f);
    REQUIRE(t != NULL);
    int looks = count_rows(t, RING_RESIDENT);
    CHECK_EQ_INT(t->n_rows - looks, RING_NAMES_MAX + 100); /* no range is lost, only its name */
    CHECK_EQ_INT(count_rows(t, "n31000"), 1);
    trace_free(t);
    folder_done(&f);
}

/* Fork. */

static void forks(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("parent");
    for (int i = 0; i < 5; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            strata_begin("child");
            strata_end();
            _exit(0); /* as multiprocessing does: no exit handlers */
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status) abort();
        strata_begin("between");
        strata_end();
    }
    strata_end();
}

TEST(children_get_files_of_their_own)
{
    struct folder f;
    struct trace *t = record_in_child(forks, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(folder_count(&f, ".proc", NULL), 6);
    CHECK_EQ_INT(count_rows(t, "child"), 5);
    CHECK_EQ_INT(count_rows(t, "between"), 5);
    row_t parent = find_row(t, "parent"), child = find_row(t, "child");
    REQUIRE(parent != ROW_NONE && child != ROW_NONE);
    CHECK(t->lane[child] != t->lane[parent]);
    /* One clock for all: the child ran inside the parent's range. */
    CHECK(t->ts_ns[child] > t->ts_ns[parent] && trace_end_ns(t, child) < trace_end_ns(t, parent));
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

static atomic_bool stop_forking;

static void *record_until_told(void *arg)
{
    (void)arg;
    while (!atomic_load(&stop_forking)) {
        strata_begin("busy");
        strata_end();
        usleep(20);
    }
    return NULL;
}

#if defined(__SANITIZE_THREAD__)
enum { EVENTS = 1000000, CHILDREN = 100 };
#else
enum { EVENTS = 10000000, CHILDREN = 1000 };
#endif

/* A thousand children, forked while other threads record: half of them go on to exec, the others
 * record and leave. */
static void forks_a_lot(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    pthread_t id[2];
    for (int i = 0; i < 2; i++) pthread_create(&id[i], NULL, record_until_told, NULL);
    for (int i = 0; i < CHILDREN; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (i % 2) execl("/bin/true", "true", (char *)NULL);
            char name[32];
            snprintf(name, sizeof name, "child %d", i);
            strata_begin(name);
            _exit(0);
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status) abort();
    }
    atomic_store(&stop_forking, true);
    for (int i = 0; i < 2; i++) pthread_join(id[i], NULL);
}

TEST(a_thousand_children_leave_no_broken_file)
{
    struct folder f;
    struct trace *t = record_in_child(forks_a_lot, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(folder_count(&f, ".proc", NULL), CHILDREN / 2 + 1);
    for (int i = 0; i < CHILDREN; i += 2) {
        char name[32];
        snprintf(name, sizeof name, "child %d", i);
        CHECK_EQ_INT(intern_find(&t->strings, str_c(name)) != STR_NONE, 1);
    }
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

/* Signals. */

static _Atomic int *n_handled; /* shared with the child that sends them */

static void on_alarm(int signal)
{
    (void)signal;
    STRATA_BEGIN("in the handler");
    STRATA_END();
    atomic_fetch_add(n_handled, 1);
}

static void interrupted(const char *dir)
{
    n_handled =
        mmap(NULL, sizeof *n_handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK_EQ_INT(strata_start(dir), 0);
    on_alarm(0); /* the name is known before: handlers must not intern */
    struct sigaction a = {.sa_handler = on_alarm};
    sigaction(SIGUSR1, &a, NULL);
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        while (atomic_load(n_handled) < 500 && kill(self, SIGUSR1) == 0) sched_yield();
        _exit(0);
    }
    int status;
    for (int i = 0; waitpid(pid, &status, WNOHANG) == 0; i++) {
        STRATA_BEGIN("interrupted");
        STRATA_END();
    }
}

TEST(signal_handlers_may_record)
{
    struct folder f;
    struct trace *t = record_in_child(interrupted, &f);
    REQUIRE(t != NULL);
    CHECK(count_rows(t, "in the handler") > 1);
    trace_free(t);
    folder_done(&f);
}

/* Every new ring asks for room by this function, with the recorder's lock held: what can happen in
 * the middle of that happens here. */
static void (*in_the_middle)(void);

int posix_fallocate(int fd, off_t offset, off_t n)
{
    void (*what)(void) = in_the_middle;
    in_the_middle = NULL;
    if (what) what();
    return fallocate(fd, 0, offset, n) == 0 ? 0 : errno;
}

static void handle_one(void)
{
    raise(SIGUSR1);
}

static void cancel_myself(void)
{
    pthread_cancel(pthread_self());
}

static void *mark_once(void *arg)
{
    strata_begin("thread");
    strata_end();
    pthread_testcancel();
    return arg;
}

static void run_thread(void)
{
    pthread_t id;
    if (pthread_create(&id, NULL, mark_once, NULL)) abort();
    pthread_join(id, NULL);
}

static void start_with_handler(const char *dir)
{
    alarm(60); /* a deadlock shows as a death */
    n_handled =
        mmap(NULL, sizeof *n_handled, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct sigaction a = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &a, NULL);
    sigaction(SIGPROF, &a, NULL);
    CHECK_EQ_INT(strata_start(dir), 0);
    on_alarm(0);
}

/* The handler comes on the thread that makes its ring, and wants one as well. */
static void handled_while_adopting(const char *dir)
{
    start_with_handler(dir);
    in_the_middle = handle_one;
    run_thread();
    CHECK_EQ_INT(atomic_load(n_handled), 2);
}

static void cancelled_while_adopting(const char *dir)
{
    start_with_handler(dir);
    in_the_middle = cancel_myself;
    run_thread();
    strata_begin("after");
    strata_end();
    run_thread();
}

/* The handler may have interrupted malloc: a ring and its thread's name are made without it. */
static void adopts_without_a_heap(const char *dir)
{
    start_with_handler(dir);
    mem_fail_at(1);
    run_thread();
    strata_begin("a name not seen before");
    strata_end();
    CHECK_EQ_INT(mem_count(), 0);
    mem_fail_at(0);
}

TEST(rings_are_made_in_spite_of_handlers)
{
    static const struct {
        void (*fn)(const char *dir);
        const char *name;
        int calls;
    } cases[] = {{handled_while_adopting, "in the handler", 2},
                 {handled_while_adopting, "thread", 1},
                 {cancelled_while_adopting, "after", 1},
                 {cancelled_while_adopting, "thread", 2},
                 {adopts_without_a_heap, "thread", 1},
                 {adopts_without_a_heap, "a name not seen before", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct folder f;
        struct trace *t = record_in_child(cases[i].fn, &f);
        CHECK(t != NULL && count_rows(t, cases[i].name) == cases[i].calls);
        trace_free(t);
        folder_done(&f);
    }
}

/* Threads begin and end under a rain of signals whose handler marks. */
static void rained_on(const char *dir)
{
    start_with_handler(dir);
    struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_PROF, &often, NULL);
    uint64_t until = clock_mono_ns() + 1000000000;
    while (clock_mono_ns() < until) run_thread();
    struct itimerval never = {0};
    setitimer(ITIMER_PROF, &never, NULL);
}

TEST(threads_come_and_go_under_signals)
{
    struct folder f;
    struct trace *t = record_in_child(rained_on, &f);
    REQUIRE(t != NULL);
    CHECK(folder_count(&f, ".ring", NULL) < 10); /* none got lost on the way */
    trace_free(t);
    folder_done(&f);
}

/* A child that the C library knows nothing of: no fork handler has run in it. */
static void forks_barely(const char *dir)
{
    alarm(60);
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("parent");
    for (int i = 0; i < 3; i++) {
        pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (pid == 0) {
            if (i == 1) strata_instant("a name of the child's");
            strata_begin("child");
            strata_end();
            if (i == 2) exit(0); /* with the parent's exit handlers */
            _exit(0);
        }
        int status;
        if (waitpid(pid, &status, 0) != pid || status) abort();
        strata_begin("between");
        strata_end();
    }
    strata_end();
    strata_begin("left open");
    kill(getpid(), SIGSTOP); /* the test looks at the files before this process ends */
}

TEST(children_of_a_bare_fork_get_files_of_their_own)
{
    struct folder f = folder_new();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        forks_barely(f.path);
        _exit(test_failed_checks != 0);
    }
    int status = 0;
    CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    struct trace *t = NULL;
    CHECK_EQ_INT(import_open(f.path, NULL, &t, NULL), 0);
    kill(pid, SIGCONT);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(folder_count(&f, ".proc", NULL), 4);
    CHECK_EQ_INT(count_rows(t, "child"), 3);
    CHECK_EQ_INT(count_rows(t, "between"), 3);
    CHECK_EQ_INT(count_rows(t, "a name of the child's"), 1);
    row_t parent = find_row(t, "parent"), child = find_row(t, "child");
    REQUIRE(parent != ROW_NONE && child != ROW_NONE);
    CHECK(t->lane[child] != t->lane[parent]);
    CHECK(t->flags[find_row(t, "left open")] & ROW_UNFINISHED);
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

/* Death. */

static _Atomic uint64_t *done_by; /* shared with the parent, one counter a thread */

static void *event_source(void *arg)
{
    uint64_t me = (uint64_t)(intptr_t)arg;
    for (uint64_t i = 0; i < EVENTS / THREADS; i++) {
        strata_counter("event", (double)(me * EVENTS + i));
        atomic_store_explicit(&done_by[me], i + 1, memory_order_release);
    }
    return NULL;
}

static void flood(const char *dir)
{
    strata_start(dir);
    pthread_t id[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&id[i], NULL, event_source, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) pthread_join(id[i], NULL);
    pause();
}

/* The events of one ring: of one thread, without a gap from its first; returns how many. */
static uint64_t check_events(const char *path, uint64_t *ret_thread)
{
    struct ring_file f;
    if (!CHECK_EQ_INT(ring_file_open(&f, path, NULL), 0)) return 0;
    struct ring_cursor c;
    struct ring_entry e;
    uint64_t n = 0;
    ring_cursor_init(&c, &f, 0);
    while (ring_cursor_next(&c, &e)) {
        if (e.r.kind != RING_COUNTER) continue;
        double v;
        memcpy(&v, &e.value, sizeof v);
        uint64_t event = (uint64_t)v;
        if (n == 0) *ret_thread = event / EVENTS;
        if (!CHECK_EQ_UINT(event, *ret_thread * EVENTS + n)) break;
        n++;
    }
    CHECK_EQ_UINT(c.n_missing, 0);
    ring_file_close(&f);
    return n;
}

static uint64_t total_done(void)
{
    uint64_t n = 0;
    for (int i = 0; i < THREADS; i++) n += atomic_load(&done_by[i]);
    return n;
}

TEST(killed_in_the_middle_of_ten_million_events)
{
    struct folder f = folder_new();
    done_by = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(done_by != MAP_FAILED);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        flood(f.path);
        _exit(1);
    }
    while (total_done() < EVENTS / 2) sched_yield();
    kill(pid, SIGKILL);
    int status;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    CHECK(total_done() < EVENTS);

    char path[1024], folder[512];
    snprintf(folder, sizeof folder, "%s/rings", f.path);
    int rings = 0;
    DIR *d = opendir(folder);
    REQUIRE(d != NULL);
    for (struct dirent *e; (e = readdir(d));) {
        if (!str_ends(str_c(e->d_name), ".ring")) continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        uint64_t thread = THREADS, n = check_events(path, &thread);
        REQUIRE(thread < THREADS);
        uint64_t done = atomic_load(&done_by[thread]);
        CHECK(n == done || n == done + 1); /* it may have died before it could say so */
        rings++;
    }
    closedir(d);
    CHECK_EQ_INT(rings, THREADS);
    munmap((void *)done_by, 4096);
    folder_done(&f);
}

/* Trouble. */

static void unwritable(const char *dir)
{
    (void)dir;
    CHECK_EQ_INT(strata_start("/proc/nothing/here"), 0);
    for (int i = 0; i < 5000; i++) {
        strata_begin("lost");
        strata_end();
    }
    CHECK(strata_trouble() != NULL);
    CHECK_EQ_UINT(recorder_lost(), 10000);
}

static void not_a_folder(const char *dir)
{
    char path[128];
    snprintf(path, sizeof path, "%s/file", dir);
    FILE *f = fopen(path, "w");
    if (f) fclose(f);
    CHECK_EQ_INT(strata_start(path), 0);
    strata_begin("lost");
    strata_end();
    CHECK(strata_trouble() != NULL);
}

static void closes_everything(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("daemon");
    for (int fd = 3; fd < 256; fd++) close(fd);
    int mine = open("/dev/null", O_WRONLY); /* may get a number we had */
    for (int i = 0; i < 20000; i++) {
        strata_begin("work");
        strata_end();
    }
    strata_end();
    CHECK(write(mine, "x", 1) == 1);
}

static void folder_vanishes(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("gone");
    struct folder f;
    snprintf(f.path, sizeof f.path, "%s", dir);
    folder_done(&f);
    for (int i = 0; i < 50000; i++) {
        strata_begin("work");
        strata_end();
    }
    CHECK(recorder_lost() > 0);
}

static void no_more_files(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    int last = 2;
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;) last = fd;
    for (int i = 0; i < 5000; i++) {
        strata_begin("work");
        strata_end();
    }
    CHECK_EQ_UINT(recorder_lost(), 10000);
    for (int fd = 3; fd <= last; fd++) close(fd);
}

/* As on a full disk: files stop growing at a size, here by a limit whose signal kills by default.
 */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    CHECK_EQ_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void no_room(const char *dir)
{
    limit_files(1000);
    CHECK_EQ_INT(strata_start(dir), 0);
    for (int i = 0; i < 5000; i++) {
        strata_begin("lost");
        strata_end();
    }
    CHECK(strata_trouble() != NULL);
    CHECK_EQ_UINT(recorder_lost(), 10000);
}

enum { LITTLE_ROOM = 1 << 20, BEYOND_IT = 200000 };

static void little_room(const char *dir)
{
    limit_files(LITTLE_ROOM);
    CHECK_EQ_INT(strata_start(dir), 0);
    for (int i = 0; i < BEYOND_IT; i++) strata_instant("mark");
    CHECK(recorder_lost() > 0 && recorder_lost() < BEYOND_IT);
}

/* What is there is the end: the newest take the place of the oldest, and what went is counted. */
TEST(a_disk_that_fills_up)
{
    struct folder f;
    struct trace *t = record_in_child(little_room, &f);
    REQUIRE(t != NULL && t->n_rows > 0);
    /* a few of those that went were not marks: blocks begin with the time */
    uint64_t known = t->damage.count[DAMAGE_LOST_RECORDS] + (uint64_t)count_rows(t, "mark");
    CHECK(known >= BEYOND_IT && known < BEYOND_IT + 100);
    char ring[512];
    struct stat st;
    folder_count(&f, ".ring", ring);
    CHECK(stat(ring, &st) == 0 && st.st_size <= LITTLE_ROOM);
    trace_free(t);
    folder_done(&f);
}

TEST(trouble_never_reaches_the_program)
{
    void (*cases[])(const char *) = {unwritable,      not_a_folder,  closes_everything,
                                     folder_vanishes, no_more_files, no_room};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct folder f = folder_new();
        CHECK_EQ_INT(in_child(cases[i], f.path), 0);
        folder_done(&f);
    }
}

TEST(closed_descriptors_do_not_matter)
{
    struct folder f;
    struct trace *t = record_in_child(closes_everything, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "work"), 20000);
    trace_free(t);
    folder_done(&f);
}

/* Closed standard streams: their numbers are not ours, whoever still writes to them. */

static int n_arrived;

static void write_to_closed(void)
{
    static const char line[] = "a line of the program's log\n";
    for (int fd = 0; fd <= 2; fd++) n_arrived += write(fd, line, sizeof line - 1) >= 0;
}

static void closes_standard_streams(const char *dir)
{
    fflush(stdout);
    int kept = fcntl(1, F_DUPFD_CLOEXEC, 10);
    for (int fd = 0; fd <= 2; fd++) close(fd);
    int rc = strata_start(dir);
    in_the_middle = write_to_closed; /* of making the file of the process */
    strata_instant("mark");
    in_the_middle = write_to_closed; /* of making another ring */
    run_thread();
    for (int fd = 0; fd <= 2; fd++) dup2(kept, fd);
    CHECK_EQ_INT(rc, 0);
    CHECK(!in_the_middle);
    CHECK_EQ_INT(n_arrived, 0);
}

TEST(closed_standard_streams_stay_closed)
{
    struct folder f;
    struct trace *t = record_in_child(closes_standard_streams, &f);
    REQUIRE(t != NULL);
    CHECK_EQ_INT(count_rows(t, "mark"), 1);
    CHECK_EQ_INT(count_rows(t, "thread"), 1);
    CHECK_EQ_UINT(damage_total(&t->damage), 0);
    trace_free(t);
    folder_done(&f);
}

/* Files that somebody cuts short while they are mapped. */

static void cut_files(const char *dir, const char *ending)
{
    struct folder f;
    char path[512];
    snprintf(f.path, sizeof f.path, "%s", dir);
    CHECK_EQ_INT(folder_count(&f, ending, path), 1);
    CHECK_EQ_INT(truncate(path, 0), 0);
}

static void loses_its_files(const char *dir)
{
    signal(SIGBUS, SIG_DFL); /* a sanitizer has its own */
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("before");
    strata_end();
    cut_files(dir, ".ring");
    cut_files(dir, ".proc");
    for (int i = 0; i < 20000; i++) {
        char name[32];
        snprintf(name, sizeof name, "after %d", i % 100);
        strata_begin(name);
        strata_end();
    }
    CHECK(strata_trouble() != NULL);
}

/* A file of the program's own, mapped at `at` unless that is NULL, is cut short and touched. */
static void lose_own_file(const char *dir, void *at)
{
    char path[128];
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    snprintf(path, sizeof path, "%s/own", dir);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    CHECK_EQ_INT(ftruncate(fd, 4096), 0);
    volatile char *own =
        mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, 0);
    own[0] = 1;
    CHECK_EQ_INT(ftruncate(fd, 0), 0);
    own[0] = 2;
}

/* What is not ours ends the program as ever. */
static void loses_a_file_of_its_own(const char *dir)
{
    signal(SIGBUS, SIG_DFL);
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("work");
    lose_own_file(dir, NULL);
}

/* Nor is what lies where ours was. */
static void loses_a_file_where_ours_was(const char *dir)
{
    char path[128];
    static struct spool s;
    void *window = NULL;
    signal(SIGBUS, SIG_DFL);
    snprintf(path, sizeof path, "%s/ours", dir);
    CHECK_EQ_INT(spool_create(&s, path, NULL), 0);
    CHECK_EQ_INT(spool_map(&s, 0, 4096, &window, NULL), 0);
    spool_unmap(window, 4096);
    lose_own_file(dir, window);
}

TEST(files_that_are_cut_short_do_not_end_the_program)
{
    struct folder f = folder_new();
    CHECK_EQ_INT(in_child(loses_its_files, f.path), 0);
    folder_done(&f);
    void (*const own[])(const char *) = {loses_a_file_of_its_own, loses_a_file_where_ours_was};
    for (int i = 0; i < 2; i++) {
        f = folder_new();
        int status = in_child(own[i], f.path);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
        folder_done(&f);
    }
}

/* The place of the runs may be open to others, who put links where our files will be. */

static void put_links(const char *dir)
{
    char victim[128], link[128];
    snprintf(victim, sizeof victim, "%s/victim", dir);
    snprintf(link, sizeof link, "%s/out", dir);
    CHECK_EQ_INT(mkdir(link, 0777), 0);
    snprintf(link, sizeof link, "%s/out/pipe", dir);
    CHECK_EQ_INT(mkdir(link, 0777), 0);
    int fd = open(victim, O_WRONLY | O_CREAT, 0644);
    CHECK(write(fd, "precious", 8) == 8);
    close(fd);
    for (int i = 0; i < 2000; i++) {
        snprintf(link, sizeof link, "%s/out/pipe/.launch-%ld", dir, (long)getpid() + i);
        CHECK_EQ_INT(symlink(victim, link), 0);
    }
}

static void day_now(char ret[16])
{
    struct tm tm;
    time_t now = time(NULL);
    CHECK(localtime_r(&now, &tm) && strftime(ret, 16, "%Y%m%d_", &tm));
}

static void records_as_a_rank(const char *dir)
{
    char out[128];
    snprintf(out, sizeof out, "%s/out", dir);
    setenv("STRATA_LAUNCH", "a launch of the test", 1);
    setenv("STRATA_OUT", out, 1);
    setenv("STRATA_PIPELINE", "pipe", 1);
    umask(022);
    char before[16], after[16]; /* midnight may be between them */
    day_now(before);
    CHECK_EQ_INT(strata_start(NULL), 0);
    day_now(after);
    strata_begin("work");
    strata_end();
    const char *made = recorder_dir();
    REQUIRE(made != NULL);
    CHECK(strstr(made, before) || strstr(made, after));
    struct stat st;
    CHECK(lstat(made, &st) == 0 && (st.st_mode & 0777) == 0700);
    struct folder f;
    snprintf(f.path, sizeof f.path, "%s", made);
    char file[512];
    static const char *const endings[] = {".proc", ".ring"};
    for (int i = 0; i < 2; i++) {
        CHECK(folder_count(&f, endings[i], file) >= 1);
        CHECK(stat(file, &st) == 0 && (st.st_mode & 0777) == 0600);
    }
}

static int count_runs(const char *dir)
{
    char path[128];
    snprintf(path, sizeof path, "%s/out/pipe", dir);
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

static void is_rank_three(const char *dir)
{
    setenv("RANK", "3", 1);
    setenv("WORLD_SIZE", "8", 1);
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("work");
    strata_end();
}

TEST(a_process_says_who_it_is)
{
    struct folder f = folder_new();
    char file[512];
    struct proc_file p;
    uint64_t before = clock_mono_ns();
    CHECK_EQ_INT(in_child(is_rank_three, f.path), 0);
    REQUIRE(CHECK_EQ_INT(folder_count(&f, ".proc", file), 1));
    REQUIRE(CHECK_EQ_INT(proc_file_open(&p, file, NULL), 0));
    CHECK_EQ_INT(p.head.rank, 3);
    CHECK_EQ_INT(p.head.world, 8);
    CHECK_EQ_UINT(p.head.ppid, (uint32_t)getpid());
    CHECK(p.head.pid != p.head.ppid);
    CHECK_EQ_UINT(p.head.version, RING_VERSION);
    CHECK(p.head.start_mono_ns >= before && p.head.start_mono_ns <= clock_mono_ns());
    CHECK(p.head.ticks_per_second > 0);
    CHECK_EQ_STR(p.head.program, "test_record");
    proc_file_close(&p);
    folder_done(&f);
}

TEST(a_shared_place_of_runs)
{
    struct folder f = folder_new();
    put_links(f.path);
    for (int i = 0; i < 2; i++) CHECK_EQ_INT(in_child(records_as_a_rank, f.path), 0);
    CHECK_EQ_INT(count_runs(f.path), 1); /* both agree */
    char text[16] = "", path[128];
    snprintf(path, sizeof path, "%s/victim", f.path);
    int fd = open(path, O_RDONLY);
    CHECK(read(fd, text, sizeof text - 1) == 8);
    close(fd);
    CHECK_EQ_STR(text, "precious");
    folder_done(&f);
}

/* A note that leads elsewhere is none: neither a link, nor one to a folder that is a link. */
static void put_false_note(const char *dir)
{
    char note[128], text[] = "elsewhere";
    snprintf(note, sizeof note, "%s/out/pipe/%s", dir, text);
    CHECK_EQ_INT(symlink("/tmp", note), 0);
    snprintf(note, sizeof note, "%s/out/pipe/.launch-%016llx", dir,
             (unsigned long long)intern_hash(str_c("a launch of the test")));
    int fd = open(note, O_WRONLY | O_CREAT, 0644);
    CHECK(write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
}

TEST(a_note_that_leads_elsewhere)
{
    struct folder f = folder_new();
    put_links(f.path);
    put_false_note(f.path);
    CHECK_EQ_INT(in_child(records_as_a_rank, f.path), 0);
    CHECK_EQ_INT(count_runs(f.path), 2); /* the link, and a folder of its own */
    folder_done(&f);
}

static void mark_more(const char *dir)
{
    CHECK_EQ_INT(strata_start(dir), 0);
    strata_begin("more");
    strata_end();
}

static int count_in(const struct folder *f, const char *name)
{
    struct trace *t = NULL;
    if (!CHECK_EQ_INT(import_open(f->path, NULL, &t, NULL), 0)) return -1;
    int n = count_rows(t, name);
    trace_free(t);
    return n;
}

/* What was made from the recordings of a run stands for them until they grow. */
TEST(a_trace_that_its_recordings_have_outgrown)
{
    struct folder f;
    struct trace *t = record_in_child(mark_more, &f);
    REQUIRE(t != NULL);
    char made[128];
    snprintf(made, sizeof made, "%s/trace.strata", f.path);
    struct export_options o = {.n_threads = 1};
    CHECK_EQ_INT(export_find("strata")->write(t, made, &o, NULL), 0);
    trace_free(t);
    CHECK_EQ_INT(import_open(f.path, NULL, &t, NULL), 0);
    CHECK_EQ_STR(t->format, "strata");
    trace_free(t);
    CHECK_EQ_INT(in_child(mark_more, f.path), 0);
    CHECK_EQ_INT(count_in(&f, "more"), 2);
    char rings[128];
    snprintf(rings, sizeof rings, "%s/rings", f.path);
    struct folder inner;
    snprintf(inner.path, sizeof inner.path, "%.60s", rings);
    folder_done(&inner);
    CHECK_EQ_INT(count_in(&f, "more"), 1); /* all that is left */
    folder_done(&f);
}

TEST(folder_without_recordings)
{
    struct folder f = folder_new();
    struct trace *t;
    struct err e;
    err_init(&e);
    CHECK_EQ_INT(import_open(f.path, NULL, &t, &e), ERR_USAGE);
    CHECK_EQ_STR(e.file, f.path);
    folder_done(&f);
}

/* Files of a process that died while making them, or that were damaged since, cost only
 * themselves. */
TEST(half_written_files)
{
    struct folder f;
    struct trace *t = record_in_child(many_threads, &f);
    REQUIRE(t != NULL);
    trace_free(t);
    char ring[512], path[600];
    folder_count(&f, ".ring", ring);
    REQUIRE(truncate(ring, 100) == 0);
    snprintf(path, sizeof path, "%s/rings/x-1-1.proc", f.path);
    FILE *empty = fopen(path, "w");
    REQUIRE(empty != NULL);
    fclose(empty);
    snprintf(path, sizeof path, "%s/rings/y-1-1.proc", f.path);
    FILE *other = fopen(path, "w");
    REQUIRE(other != NULL);
    for (int i = 0; i < 5000; i++) fputc('y', other);
    fclose(other);
    REQUIRE(import_open(f.path, NULL, &t, NULL) == 0);
    CHECK_EQ_INT(count_rows(t, "shared name"), (THREADS - 1) * RANGES);
    CHECK_EQ_UINT(t->damage.count[DAMAGE_BAD_EVENT], 1);
    trace_free(t);
    folder_done(&f);
}

/* Without the strings the ranges are still there. */
TEST(strings_cut_anywhere)
{
    struct folder f;
    struct trace *t = record_in_child(nested, &f);
    REQUIRE(t != NULL);
    uint32_t n_rows = t->n_rows;
    trace_free(t);
    char proc[512];
    folder_count(&f, ".proc", proc);
    for (off_t n = RING_HEAD_BYTES + 300; n > 0; n = n > RING_HEAD_BYTES ? n - 7 : n - 500) {
        REQUIRE(truncate(proc, n) == 0);
        REQUIRE(import_open(f.path, NULL, &t, NULL) == 0);
        CHECK_EQ_UINT(t->n_rows, n_rows);
        trace_free(t);
    }
    folder_done(&f);
}

static int import_again(void *ctx)
{
    struct trace *t;
    struct timing timing;
    struct arena mem;
    TRY(import_open(ctx, NULL, &t, NULL));
    arena_init(&mem);
    int rc =
        timing_rows_run(t, &(struct timing_rows_of){.since_ns = INT64_MIN, .begin_ns = INT64_MIN},
                        &mem, &timing, NULL);
    arena_done(&mem);
    trace_free(t);
    return rc;
}

TEST(every_allocation_of_the_import_may_fail)
{
    struct folder f;
    struct trace *t = record_in_child(nested, &f);
    REQUIRE(t != NULL);
    trace_free(t);
    CHECK_EVERY_ALLOC(import_again, f.path);
    folder_done(&f);
}

TEST_MAIN
