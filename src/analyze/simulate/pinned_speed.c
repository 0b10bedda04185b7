/* pinned_speed.c: large copies added up by the memory of their host side. */
#include "analyze/simulate/pinned_speed.h"

#include "analyze/names/copy.h"
#include "analyze/simulate/simulate_constants.h"

double pinned_speed_guess(int major)
{
    if (major >= 9) return 55;
    return major == 8 || major <= 0 ? 25 : 12;
}

struct speed {
    double bytes, ns;
};

static double pinned_speed_rate(struct speed s)
{
    return s.ns > 0 ? s.bytes / s.ns : 0;
}

struct pinned_speed pinned_speed(const struct trace *t)
{
    struct speed pageable = {0}, pinned = {0};
    for (row_t r = 0; r < t->n_rows; r++) {
        const struct gpu_info *g = t->kind[r] == KIND_MEMCPY ? trace_gpu(t, r) : NULL;
        if (!g || g->bytes < pinned_speed_copy_bytes) continue;
        enum copy_memory memory = copy_of(t, r).memory;
        if (memory == MEMORY_UNKNOWN) continue;
        struct speed *s = memory == MEMORY_PINNED ? &pinned : &pageable;
        s->bytes += (double)g->bytes;
        s->ns += (double)t->dur_ns[r];
    }
    bool seen = pinned.ns > 0;
    double speed = seen ? pinned_speed_rate(pinned)
                        : pinned_speed_guess(t->n_devices ? t->devices[0].major : 0);
    return (struct pinned_speed){
        speed > pinned_speed_rate(pageable) ? speed : pinned_speed_rate(pageable), seen};
}
