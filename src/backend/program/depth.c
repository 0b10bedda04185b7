/* depth.c: see depth.h. One unit is open at a time, of one thread: the owner. Where another thread
 * enters a unit meanwhile, nothing happens. */
#include "backend/program/depth.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backend/program/torch_ops.h"
#include "format/ring.h"
#include "record/names.h"
#include "record/recorder.h"

/* What a recording may spend: FIRST_S at once, later this part of its time. */
#define FIRST_S      1.0
#define LATER_PARTS  200
#define LONGEST_S    1.0 /* of one unit */
#define WINDOW_S     0.1
#define WINDOWS_S    3.0  /* without a unit so long after the first launches, windows begin, */
#define SOON_S       0.05 /* or so long, if the program ran before; the second window later */
#define FEWEST_CALLS 20   /* launches of a program that works */

/* Units of a kind after the first one in depth: a short recording keeps most of its units as they
 * are. Their number is even, so that of two branches that alternate both are seen. The other units
 * in depth follow each other: what tensors hold is known from one to the next only. */
#define USUAL_BETWEEN 2

enum { MOST_KINDS = 256 }; /* a power of two; half of them are used */

struct depth_kind {
    uint64_t key;
    unsigned n_seen, n_deep;
    unsigned n_usual; /* since the last one in depth */
};

atomic_bool depth_now, depth_listening;
atomic_uint depth_n_launches;
__thread bool depth_waiting __attribute__((tls_model("initial-exec")));

static __thread bool wanted __attribute__((tls_model("initial-exec"))); /* by depth_turn */

static struct {
    unsigned units;         /* of each kind */
    uint64_t second;        /* in ticks */
    uint64_t kept, renewed; /* ticks: what a recording keeps, or 0; when units were last renewed */
    uint64_t began, spent;  /* ticks: the recording, units in depth */
    uint64_t opened;        /* the unit that is open */
    uint64_t first_launch;  /* seen, or 0 */
    double windows_s;       /* how long after that they begin */
    unsigned n_windows;
    int owner; /* thread of the open unit; 0: a window's */
    bool units_seen;
    bool rested; /* the next start goes on: what was recorded in depth is not wanted again */
    struct depth_kind kinds[MOST_KINDS];
    unsigned n_kinds;
} depth;

static void (*_Atomic wait_for_device)(void);
static atomic_bool on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void depth_after_fork_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    atomic_store(&on, false);
    atomic_store(&depth_now, false);
    atomic_store(&depth_listening, false);
}

static void depth_prepare(void)
{
    pthread_atfork(NULL, NULL, depth_after_fork_in_child);
}

void depth_wait_by(void (*wait)(void))
{
    atomic_store(&wait_for_device, wait);
}

/* Not while anything is captured: a wait would break the capture. */
static void depth_wait(void)
{
    void (*wait)(void) = atomic_load(&wait_for_device);
    if (!wait || torch_ops_captures()) return;
    depth_waiting = true;
    wait();
    depth_waiting = false;
}

static void depth_mark(const char *name, uint64_t ticks)
{
    struct ring_record r = {
        .kind = RING_INSTANT, .name = (uint16_t)names_id(str_c(name)), .ticks = ticks};
    recorder_put(r, 0);
}

/* ---- with the lock held ---- */

static struct depth_kind *depth_find(uint64_t key)
{
    uint32_t i = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) % MOST_KINDS;
    while (depth.kinds[i].key && depth.kinds[i].key != key) i = (i + 1) % MOST_KINDS;
    if (depth.kinds[i].key) return &depth.kinds[i];
    if (depth.n_kinds >= MOST_KINDS / 2) return NULL;
    depth.n_kinds++;
    depth.kinds[i].key = key;
    return &depth.kinds[i];
}

/* Of a kind: the first one, and `units` more, if that is not only one. */
static unsigned depth_most(void)
{
    return depth.units > 1 ? depth.units + 1 : depth.units;
}

static bool depth_can_pay(uint64_t now)
{
    uint64_t later = (now - depth.began) / LATER_PARTS;
    return depth.spent < (uint64_t)(FIRST_S * (double)depth.second) + later;
}

static void depth_open(int owner)
{
    uint64_t now = clock_ticks(recorder_clock());
    torch_ops_depth(true);
    depth.owner = owner;
    depth.opened = now;
    depth_mark(RING_DEPTH_BEGINS, now);
    atomic_store(&depth_now, true);
}

static void depth_close(void)
{
    uint64_t now = clock_ticks(recorder_clock());
    atomic_store(&depth_now, false);
    torch_ops_depth(false);
    depth_mark(RING_DEPTH_ENDS, now);
    depth.spent += now - depth.opened;
    depth.owner = 0;
}

/* Whether the unit that begins is to be recorded in depth, if none is. */
static bool depth_is_wanted(uint64_t warm, uint64_t kind, bool free)
{
    struct depth_kind *class = depth_find(warm | 1), *own = depth_find(kind & ~UINT64_C(1));
    depth.units_seen = true;
    if (!class || !own || class->n_seen++ == 0 || !free) return false;
    if (own->n_deep >= depth_most() || !depth_can_pay(clock_ticks(recorder_clock()))) return false;
    if (own->n_deep == 1 && own->n_usual++ < USUAL_BETWEEN) return false;
    own->n_deep++;
    own->n_usual = 0;
    return true;
}

/* ---- units ---- */

static bool depth_is_owner(void)
{
    return depth_is_on() && depth.owner == (int)syscall(SYS_gettid);
}

bool depth_unit(uint64_t warm, uint64_t kind)
{
    if (!atomic_load_explicit(&on, memory_order_relaxed)) return false;
    pthread_mutex_lock(&lock);
    bool mine = depth_is_owner(), free = mine || !depth_is_on();
    wanted = depth_is_wanted(warm, kind, free) && !torch_ops_captures();
    pthread_mutex_unlock(&lock);
    return mine || wanted;
}

bool depth_unit_ends(void)
{
    wanted = false;
    if (!depth_is_on()) return false;
    pthread_mutex_lock(&lock);
    bool mine = depth_is_owner();
    pthread_mutex_unlock(&lock);
    return mine;
}

/* The wait is part of what was launched before the unit, and at its end of the unit. No thread
 * holds the lock meanwhile: it may be long, and the unit may have ended by then. */
void depth_turn(void)
{
    bool begins = wanted;
    wanted = false;
    depth_wait();
    pthread_mutex_lock(&lock);
    if (depth_is_owner()) depth_close();
    if (begins && atomic_load(&on) && !depth_is_on()) depth_open((int)syscall(SYS_gettid));
    pthread_mutex_unlock(&lock);
}

/* ---- on our own thread ---- */

static void depth_end_long(uint64_t now)
{
    double most = depth.owner ? LONGEST_S : WINDOW_S;
    if ((double)(now - depth.opened) > most * (double)depth.second) depth_close();
}

static void depth_look_for_windows(uint64_t now)
{
    if (!torch_ops_on()) return; /* there is nothing to see in depth */
    if (depth.units_seen || depth.n_windows >= depth.units) {
        atomic_store(&depth_listening, false);
        return;
    }
    if (atomic_exchange(&depth_n_launches, 0) < FEWEST_CALLS) return;
    if (!depth.first_launch) depth.first_launch = now;
    if ((double)(now - depth.first_launch) < depth.windows_s * (double)depth.second) return;
    depth.n_windows++;
    depth.first_launch = now;
    depth.windows_s = 1;
    depth_open(0);
}

/* A recording that keeps its last seconds only loses its units in depth, and needs others. */
static void depth_renew(uint64_t now)
{
    if (!depth.kept || now - depth.renewed < depth.kept / 2) return;
    depth.renewed = now;
    depth.n_windows = 0;
    for (int i = 0; i < MOST_KINDS; i++) depth.kinds[i].n_deep = 0;
    atomic_store(&depth_listening, !depth.units_seen);
}

void depth_chore(void)
{
    if (!atomic_load(&on) || pthread_mutex_trylock(&lock) != 0) return;
    uint64_t now = clock_ticks(recorder_clock());
    depth_renew(now);
    if (depth_is_on()) depth_end_long(now);
    else if (atomic_load(&depth_listening) && !torch_ops_captures()) depth_look_for_windows(now);
    pthread_mutex_unlock(&lock);
}

/* With the lock held. */
static void depth_begin_anew(bool late)
{
    depth.windows_s = late ? SOON_S : WINDOWS_S;
    depth.began = clock_ticks(recorder_clock());
    depth.spent = depth.first_launch = 0;
    depth.n_windows = 0;
    for (int i = 0; i < MOST_KINDS; i++) depth.kinds[i].n_deep = 0;
}

static double depth_kept_s(void)
{
    const char *ms = getenv("STRATA_KEEP");
    return ms ? strtod(ms, NULL) / 1000 : 0;
}

void depth_start(unsigned units, bool late)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, depth_prepare);
    pthread_mutex_lock(&lock);
    if (!atomic_load(&on) && units && atomic_load(&wait_for_device)) {
        depth.units = units;
        depth.second = (uint64_t)recorder_ticks_per_second();
        if (!depth.rested) depth_begin_anew(late);
        depth.rested = false;
        depth.renewed = clock_ticks(recorder_clock());
        depth.kept = (uint64_t)(depth_kept_s() * (double)depth.second);
        atomic_store(&depth_listening, !depth.units_seen && depth.n_windows < units);
        atomic_store(&on, true);
    }
    pthread_mutex_unlock(&lock);
}

void depth_rest(void)
{
    depth_stop();
    pthread_mutex_lock(&lock);
    depth.rested = true;
    pthread_mutex_unlock(&lock);
}

void depth_stop(void)
{
    pthread_mutex_lock(&lock);
    atomic_store(&on, false);
    atomic_store(&depth_listening, false);
    if (depth_is_on()) depth_close();
    pthread_mutex_unlock(&lock);
}
