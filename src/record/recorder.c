/* recorder.c: see recorder.h. One lock for everything that happens rarely. */
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/defs.h"
#include "record/guard.h"
#include "record/names.h"
#include "record/rank.h"
#include "record/rundir.h"

#define DEFAULT_BUDGET ((uint64_t)2 << 30)
#define LEAST_RING     ((uint64_t)1 << 20)
#define FIRST_GUESS_NS 200000 /* how long the tick rate is measured before the first record */
#define TOO_MANY_RINGS 4096

__thread struct writer *recorder_mine __attribute__((tls_model("initial-exec")));

enum state { IDLE, STARTED, OPEN, BROKEN };

static struct {
    enum state state;
    char dir[RUNDIR_MAX], out[RUNDIR_MAX], pipeline[RUNDIR_MAX]; /* the request; empty: none */
    atomic_uint_least64_t budget_bytes; /* left for rings, which take from it as they grow */
    double first_hz;
    struct clock_pair first;
    uint32_t name; /* of the process, 0 for none */
    struct procfile proc;
    char folder[RUNDIR_MAX], path[PROCFILE_PATH]; /* the second under the lock, for a moment */
    int n_rings;
    struct writer *all, *free;
    struct writer *inherited; /* the parent's, after fork: not ours to write */
    struct err trouble;
    pthread_key_t at_thread_exit;
    struct guard forking;
} rec;

static _Atomic enum clock_source source;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t n_homeless;            /* records without a ring */
static _Atomic(struct proc_head *) shown_head; /* where they are counted in the file */

static void free_writers(struct writer *w)
{
    while (w) {
        struct writer *next = w->next_all;
        writer_free(w);
        w = next;
    }
}

/* A thread is gone: its ring is the next new thread's. */
static void recorder_thread_exits(void *writer)
{
    struct writer *w = writer;
    struct guard g;
    guard_enter(&g, &lock);
    if (recorder_mine == w) { /* otherwise a forked child that has not noticed the fork: the writer
                                 is the parent's */
        recorder_mine = NULL;
        w->next_free = rec.free;
        rec.free = w;
    }
    guard_leave(&g, &lock);
}

static void recorder_before_fork(void)
{
    struct guard g;
    guard_enter(&g, &lock);
    rec.forking = g;
    names_lock();
    defs_lock();
}

static void recorder_after_fork_in_parent(void)
{
    struct guard g = rec.forking;
    defs_unlock();
    names_unlock();
    guard_leave(&g, &lock);
}

/* The child shares every mapping with the parent and must write to none of them. It starts over
 * with files of its own when it records something; the parent's are let go of then, not now:
 * most children go on to exec. */
static void recorder_start_over(void)
{
    guard_forked();
    shield_forget();
    names_unlock_in_child();
    defs_unlock_in_child();
    pthread_mutex_init(&lock, NULL);
    recorder_mine = NULL;
    pthread_setspecific(rec.at_thread_exit, NULL);
    if (rec.state != OPEN) return;
    rec.state = STARTED;
    rec.inherited = rec.all;
    rec.all = rec.free = NULL;
    rec.n_rings = 0;
    atomic_store(&n_homeless, 0);
    atomic_store(&shown_head, NULL);
    procfile_forget(&rec.proc);
}

static void recorder_after_fork_in_child(void)
{
    struct guard g = rec.forking;
    recorder_start_over();
    guard_leave(&g, NULL);
}

static void at_exit(void)
{
    struct guard g;
    guard_enter(&g, &lock);
    if (rec.state == OPEN) procfile_close(&rec.proc, clock_pair(source));
    guard_leave(&g, &lock);
}

static void recorder_prepare(void)
{
    source = clock_best();
    rec.first = clock_pair(source);
    rundir_note_zone();
    pthread_key_create(&rec.at_thread_exit, recorder_thread_exits);
    pthread_atfork(recorder_before_fork, recorder_after_fork_in_parent,
                   recorder_after_fork_in_child);
    guard_watch_forks(recorder_start_over);
    atexit(at_exit);
}

static int recorder_keep(char field[RUNDIR_MAX], const char *text, struct err *e)
{
    if (snprintf(field, RUNDIR_MAX, "%s", text ? text : "") < RUNDIR_MAX) return 0;
    return FAIL(e, ERR_LIMIT, "the path of the run folder is too long");
}

static const char *recorder_kept(const char *field)
{
    return *field ? field : NULL;
}

void recorder_options_from_env(struct recorder_options *o)
{
    *o = (struct recorder_options){0};
    const char *clock = getenv("STRATA_TEST_CLOCK"), *mb = getenv("STRATA_RING_MB");
    const char *run = getenv("STRATA_RUN"), *out = getenv("STRATA_OUT");
    const char *pipeline = getenv("STRATA_PIPELINE");
    o->where.dir = run && *run ? run : NULL;
    o->where.out = out && *out ? out : NULL;
    o->where.pipeline = pipeline && *pipeline ? pipeline : NULL;
    o->os_clock = clock && strcmp(clock, "os") == 0;
    char *end;
    long n = mb ? strtol(mb, &end, 10) : 0;
    if (n > 0 && n < (1 << 20) && *end == 0) o->budget_bytes = (uint64_t)n << 20;
}

int recorder_start(const struct recorder_options *o, struct err *e)
{
    pthread_once(&once, recorder_prepare);
    struct guard g;
    guard_enter(&g, &lock);
    int rc = 0;
    if (rec.state == IDLE) {
        rc = recorder_keep(rec.dir, o->where.dir, e);
        if (rc == 0) rc = recorder_keep(rec.out, o->where.out, e);
        if (rc == 0) rc = recorder_keep(rec.pipeline, o->where.pipeline, e);
        if (o->os_clock) {
            source = CLOCK_OS;
            rec.first = clock_pair(CLOCK_OS);
        }
        atomic_store(&rec.budget_bytes, o->budget_bytes ? o->budget_bytes : DEFAULT_BUDGET);
        if (rc == 0) rec.state = STARTED;
    }
    guard_leave(&g, &lock);
    return rc;
}

void recorder_set_place(const struct rundir_request *where)
{
    struct guard g;
    guard_enter(&g, &lock);
    if (where->dir) (void)(recorder_keep(rec.dir, where->dir, NULL) == 0);
    if (where->out) (void)(recorder_keep(rec.out, where->out, NULL) == 0);
    if (where->pipeline) (void)(recorder_keep(rec.pipeline, where->pipeline, NULL) == 0);
    guard_leave(&g, &lock);
}

bool recorder_started(void)
{
    struct guard g;
    guard_enter(&g, &lock);
    bool yes = rec.state != IDLE;
    guard_leave(&g, &lock);
    return yes;
}

static int recorder_open_folder(struct err *e)
{
    if (!rec.folder[0]) {
        struct rundir_request where = {recorder_kept(rec.dir), recorder_kept(rec.out),
                                       recorder_kept(rec.pipeline)};
        TRY(rundir_make(&where, rec.folder, e));
    }
    snprintf(rec.path, sizeof rec.path, "%s/rings", rec.folder);
    struct stat st;
    bool made = mkdir(rec.path, 0700) == 0;
    if (made || (errno == EEXIST && lstat(rec.path, &st) == 0 && S_ISDIR(st.st_mode))) return 0;
    err_at(e, rec.path, ERR_NO_OFFSET);
    return FAIL(e, ERR_IO, "cannot create the folder: %s", strerror(errno));
}

/* With the lock held. */
static int open_files(void)
{
    if (rec.state == OPEN) return 0;
    if (rec.state == BROKEN) return rec.trouble.code;
    if (rec.state == IDLE) return FAIL(&rec.trouble, ERR_USAGE, "recording was not started");
    free_writers(rec.inherited);
    rec.inherited = NULL;
    if (!rec.first_hz) rec.first_hz = clock_measure_hz(source, FIRST_GUESS_NS);
    int rc = recorder_open_folder(&rec.trouble);
    struct rank r = rank_find();
    struct procfile_facts facts = {source, rec.first_hz, r.rank, r.world};
    if (rc == 0) rc = procfile_open(&rec.proc, rec.folder, &facts, &rec.trouble);
    rec.state = rc == 0 ? OPEN : BROKEN;
    if (rc == 0) {
        __atomic_store_n(&rec.proc.head->name, rec.name, __ATOMIC_RELEASE);
        atomic_store(&shown_head, rec.proc.head);
    }
    return rc;
}

int recorder_open(struct err *e)
{
    struct guard g;
    guard_enter(&g, &lock);
    int rc = open_files();
    if (rc < 0 && e) *e = rec.trouble;
    guard_leave(&g, &lock);
    return rc;
}

/* A ring begins small: most threads record little. */
static struct writer *new_writer(void)
{
    if (rec.n_rings >= TOO_MANY_RINGS) return NULL;
    procfile_ring_path(&rec.proc, rec.n_rings, rec.path);
    struct writer_options o = {source, rec.first_hz, LEAST_RING, &rec.budget_bytes};
    struct writer *w = writer_new(rec.path, &o, &rec.trouble);
    if (!w) return NULL;
    rec.n_rings++;
    uint64_t left = atomic_load(&rec.budget_bytes), less;
    do less = left < LEAST_RING ? 0 : left - LEAST_RING;
    while (!atomic_compare_exchange_weak(&rec.budget_bytes, &left, less));
    w->next_all = rec.all;
    rec.all = w;
    return w;
}

static void recorder_put_thread(struct writer *w, uint32_t name)
{
    writer_put(w, (struct ring_record){.kind = RING_THREAD, .name = (uint16_t)name},
               (uint64_t)syscall(SYS_gettid));
}

static uint32_t thread_name(void)
{
    char name[32] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    return names_id(str_c(name));
}

/* With the lock held. */
static struct writer *take_writer(void)
{
    if (open_files() < 0) return NULL;
    struct writer *w = rec.free;
    if (!w) return new_writer();
    rec.free = w->next_free;
    return w;
}

/* A thread for which no ring could be made asks again only after many records. */
static __thread unsigned refusals __attribute__((tls_model("initial-exec")));

/* From asking for a writer to having it no handler may run: it would ask for one of its own. (Where
 * the program has more than 31 keys of its own, pthread_setspecific may take memory of the heap.)
 */
struct writer *recorder_adopt(void)
{
    if (refusals & 1023) {
        refusals++;
        return NULL;
    }
    uint32_t name = thread_name();
    struct guard g;
    guard_enter(&g, &lock);
    struct writer *w = recorder_mine ? recorder_mine : take_writer();
    if (w && !recorder_mine) {
        recorder_mine = w;
        pthread_setspecific(rec.at_thread_exit, w);
        recorder_put_thread(w, name);
    }
    guard_leave(&g, &lock);
    if (!w) refusals++;
    return w;
}

uint64_t recorder_lose(void)
{
    struct proc_head *h = atomic_load_explicit(&shown_head, memory_order_acquire);
    atomic_fetch_add_explicit(&n_homeless, 1, memory_order_relaxed);
    if (h) __atomic_fetch_add(&h->n_lost, 1, __ATOMIC_RELAXED);
    return clock_ticks(recorder_clock());
}

const char *recorder_dir(void)
{
    struct guard g;
    guard_enter(&g, &lock);
    const char *dir = rec.state == OPEN ? rec.folder : NULL;
    guard_leave(&g, &lock);
    return dir;
}

const char *recorder_trouble(void)
{
    struct guard g;
    guard_enter(&g, &lock);
    const char *why = rec.trouble.code ? rec.trouble.msg : NULL;
    if (!why && shield_was_hit()) why = "a file of the recording was cut short by another process";
    guard_leave(&g, &lock);
    return why;
}

uint64_t recorder_lost(void)
{
    uint64_t n = atomic_load(&n_homeless);
    struct guard g;
    guard_enter(&g, &lock);
    for (struct writer *w = rec.all; w; w = w->next_all)
        n += __atomic_load_n(&w->head->n_lost, __ATOMIC_RELAXED);
    guard_leave(&g, &lock);
    return n;
}

enum clock_source recorder_clock(void)
{
    pthread_once(&once, recorder_prepare);
    return source;
}

double recorder_ticks_per_second(void)
{
    pthread_once(&once, recorder_prepare);
    struct guard g;
    guard_enter(&g, &lock);
    struct clock_pair first = rec.first, now = clock_pair(source);
    guard_leave(&g, &lock);
    if (source == CLOCK_OS || now.mono_ns == first.mono_ns) return 1e9;
    return (double)(now.ticks - first.ticks) * 1e9 / (double)(now.mono_ns - first.mono_ns);
}

void recorder_set_rank(int rank, int world)
{
    struct proc_head *h = atomic_load(&shown_head);
    if (!h) return;
    __atomic_store_n(&h->rank, rank, __ATOMIC_RELAXED);
    __atomic_store_n(&h->world, world, __ATOMIC_RELAXED);
}

void recorder_set_process_name(uint32_t name)
{
    struct guard g;
    guard_enter(&g, &lock);
    rec.name = name;
    if (rec.state == OPEN) __atomic_store_n(&rec.proc.head->name, name, __ATOMIC_RELEASE);
    guard_leave(&g, &lock);
}

void recorder_set_thread_name(uint32_t name)
{
    struct writer *w = recorder_mine ? recorder_mine : recorder_adopt();
    if (w) recorder_put_thread(w, name);
}
