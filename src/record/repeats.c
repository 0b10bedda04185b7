/* repeats.c: see repeats.h. */
#include "record/repeats.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "record/names.h"
#include "record/recorder.h"

enum {
    MOST_NAMES = 128,
    LOOK_EVERY = 4, /* calls of the unit, once it is known */
    FEW = 3,        /* calls are enough where they are this long together: */
};
#define LONG_NS        10000000000u
#define LARGEST_SPREAD 0.25 /* of the middle half, of the median */

atomic_bool repeats_watched;

static struct repeat_times all[MOST_NAMES];
static struct repeats_seen seen;
static double ns_per_tick;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool repeats_rest(void)
{
    return atomic_load_explicit(&seen.rests, memory_order_relaxed);
}

struct repeats_seen *repeats_watch(void)
{
    ns_per_tick = 1e9 / recorder_ticks_per_second();
    atomic_store(&repeats_watched, true);
    return &seen;
}

void repeat_add(struct repeat_times *t, uint64_t ns)
{
    t->ns[t->n++ % REPEATS_KEPT] = ns;
    t->total_ns += ns;
}

static int repeats_by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The first call is cold. */
uint64_t repeat_usual(const struct repeat_times *t, bool *ret_steady)
{
    uint64_t sorted[REPEATS_KEPT], sum = 0;
    uint32_t n = t->n < REPEATS_KEPT ? t->n : REPEATS_KEPT,
             first = t->n > 1 && t->n <= REPEATS_KEPT;
    *ret_steady = false;
    if (!n) return 0;
    n -= first;
    memcpy(sorted, t->ns + first, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, repeats_by_value);
    for (uint32_t i = 0; i < n; i++) sum += sorted[i];
    uint64_t usual = sorted[n / 2], spread = sorted[n * 3 / 4] - sorted[n / 4];
    bool alike = (double)spread <= LARGEST_SPREAD * (double)usual;
    *ret_steady = alike && (t->n >= REPEATS_ENOUGH || (n >= FEW && sum >= LONG_NS));
    return usual;
}

static struct repeat_times *repeats_times_of(uint32_t name)
{
    for (uint32_t i = 0; i < MOST_NAMES; i++) {
        struct repeat_times *t = &all[(name * 2654435761u + i) % MOST_NAMES];
        if (!t->name) t->name = name;
        if (t->name == name) return t;
    }
    return NULL;
}

static void repeats_show(const struct repeat_times *t)
{
    bool other = atomic_load(&seen.name) != t->name, steady = false;
    atomic_store(&seen.total_ns, t->total_ns);
    atomic_store(&seen.n, t->n);
    if (!other && t->n > REPEATS_ENOUGH && t->n % LOOK_EVERY) return;
    atomic_store(&seen.usual_ns, repeat_usual(t, &steady));
    atomic_store(&seen.steady, steady);
    atomic_store(&seen.name, t->name);
}

void repeats_add(uint32_t name, uint64_t begin, uint64_t end)
{
    if (!name || end < begin || pthread_mutex_trylock(&lock) != 0) return; /* one less to know */
    struct repeat_times *t = repeats_times_of(name);
    if (t) repeat_add(t, (uint64_t)((double)(end - begin) * ns_per_tick));
    if (t && t->total_ns >= atomic_load(&seen.total_ns)) repeats_show(t);
    pthread_mutex_unlock(&lock);
}

void repeats_step(void)
{
    static _Atomic uint64_t began;
    if (!atomic_load_explicit(&repeats_watched, memory_order_relaxed)) return;
    uint64_t now = clock_ticks(recorder_clock()), before = atomic_exchange(&began, now);
    if (before) repeats_add(names_id(str_c("step")), before, now);
}
