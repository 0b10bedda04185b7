/* pulse.c: see cuda_private.h. */
#include "backend/cuda/cuda_private.h"

#include "base/clock.h"

#define MISSED_ENOUGH 5
#define SILENT_NS     1000000000u

atomic_uint_fast64_t pulse_launched, pulse_waited_for;
_Atomic uint32_t pulse_newest_launch, pulse_newest_record;
atomic_int pulse_capturing;

/* One that began unseen ends all the same. */
void pulse_capture(bool begins)
{
    int n = atomic_load(&pulse_capturing), least = begins ? 0 : 1, by = begins ? 1 : -1;
    while (n >= least && !atomic_compare_exchange_weak(&pulse_capturing, &n, n + by)) {}
}

struct pulse_look pulse_count(void)
{
    /* In this order: waits come after the launches they wait for. */
    uint64_t waited_for = atomic_load_explicit(&pulse_waited_for, memory_order_acquire);
    return (struct pulse_look){
        .launched = atomic_load_explicit(&pulse_launched, memory_order_relaxed),
        .waited_for = waited_for,
        .now_ns = clock_mono_ns(),
    };
}

bool pulse_is_lost(struct pulse *p, const struct pulse_look *look)
{
    if (look->signs != p->signs || !p->alive_ns) {
        *p = (struct pulse){look->signs, look->now_ns, look->launched, look->launched, 0};
        return false;
    }
    if (look->waited_for > p->launched_before) p->missed++; /* else there was nothing to expect */
    p->launched_before = look->launched;
    if (look->last) return p->missed > 0;
    return p->missed >= MISSED_ENOUGH && look->now_ns - p->alive_ns >= SILENT_NS;
}
