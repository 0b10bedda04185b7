/* schedule.c: see schedule.h. */
#include "record/schedule.h"

#include "record/guard.h"

static struct strata_schedule schedule;
static bool has_schedule;
static uint64_t begun; /* steps so far: the current one is begun - 1 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum schedule_phase schedule_phase(const struct strata_schedule *s, uint64_t n)
{
    uint64_t cycle = (uint64_t)s->wait + s->warmup + s->active;
    if (n < s->skip_first || cycle == 0) return SCHEDULE_SKIPPED;
    n -= s->skip_first;
    if (s->repeat && n / cycle >= s->repeat) return SCHEDULE_SKIPPED;
    n %= cycle;
    if (n < s->wait) return SCHEDULE_SKIPPED;
    return n < (uint64_t)s->wait + s->warmup ? SCHEDULE_WARMUP : SCHEDULE_ACTIVE;
}

static enum schedule_phase phase_now(void)
{
    if (!has_schedule) return SCHEDULE_ACTIVE;
    return begun ? schedule_phase(&schedule, begun - 1) : SCHEDULE_SKIPPED;
}

void schedule_set(const struct strata_schedule *s)
{
    struct guard g;
    guard_enter(&g, &lock);
    has_schedule = s != NULL;
    if (s) schedule = *s;
    begun = 0;
    guard_leave(&g, &lock);
}

bool schedule_active(void)
{
    struct guard g;
    guard_enter(&g, &lock);
    bool active = phase_now() == SCHEDULE_ACTIVE;
    guard_leave(&g, &lock);
    return active;
}

struct schedule_change schedule_next(void)
{
    struct schedule_change c = {0};
    struct guard g;
    guard_enter(&g, &lock);
    c.was_active = phase_now() == SCHEDULE_ACTIVE;
    c.number = begun++;
    c.active = phase_now() == SCHEDULE_ACTIVE;
    c.getting_ready = phase_now() == SCHEDULE_WARMUP;
    guard_leave(&g, &lock);
    return c;
}
