/* callbacks.h: what the program asked of the driver, and how long it waited: callbacks around the
 * few driver calls that launch, copy, allocate or wait. Each becomes a RING_CALL on the ring of the
 * thread that made it. */
#ifndef STRATA_BACKEND_CALLBACKS_H
#define STRATA_BACKEND_CALLBACKS_H

#include "backend/backend.h"
#include "backend/cuda/cupti_api.h"

/* Becomes the one subscriber of the process; says who is when another holds the place. */
int callbacks_start(const struct cupti_api *api, const struct backend_options *o,
                    struct err *e) MUST_USE;

/* `fn` is called before a call that ends a context, on the thread that makes it. */
void callbacks_at_context_end(void (*fn)(void));

/* Calls get no callback until they are wanted again. */
void callbacks_pause(bool paused);

/* Records no more; the subscription is kept where `detach` is false: giving it up while other
 * threads are in calls is not safe. */
void callbacks_stop(bool detach);

#endif
