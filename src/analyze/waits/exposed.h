/* exposed.h: how much idle time of the devices each wait caused.
 *
 * A wait takes time from its thread: that is its debt. Idle time of a device in which nothing had
 * been launched yet, and whose end the same thread launched later, pays off the debt of the waits
 * before it, the latest first; what exceeds their debts has other causes. When a wait drains the
 * queue, the CPU had been ahead of the device until then: older debts are forgotten.
 *
 *     thread   launch launch [wait, 564 ms------------------]  python   launch  launch ...
 *     device   ############################################.............#####..####
 *                                                           exposed          exposed
 *
 * So no idle time counts twice, a wait never exposes more than it blocked, and a wait on a deep
 * queue exposes only what follows it. This is what was observed, not what a fix would gain: the
 * next wait may take the place of a removed one. */
#ifndef STRATA_ANALYZE_WAITS_EXPOSED_H
#define STRATA_ANALYZE_WAITS_EXPOSED_H

#include "analyze/device/device_idle.h"
#include "analyze/waits/waits.h"

#define EXPOSED_NO_WAIT UINT32_MAX

struct exposed {
    int64_t *ns;       /* by wait: idle time of devices it caused; 0 for the profiler's own */
    uint32_t **payers; /* by device and gap: the wait that caused most of it, or EXPOSED_NO_WAIT */
};

extern const struct pass exposed_pass;

static inline const struct exposed *exposed_of(const struct context *cx)
{
    return context_kept(cx, PASS_EXPOSED);
}

#endif
