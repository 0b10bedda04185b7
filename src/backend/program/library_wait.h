/* library_wait.h: waits of a thread that makes no call of the driver: its library has threads of
 * its own for that, as JAX does when a value is read. Who waits says so, from Python. */
#ifndef STRATA_BACKEND_LIBRARY_WAIT_H
#define STRATA_BACKEND_LIBRARY_WAIT_H

#include <stdint.h>

/* Ticks of now; 0 when nothing is recorded. */
uint64_t library_wait_begin(void);

/* It is over: a call on the calling thread, with its Python stack. `begin` is what the other
 * returned; 0 is nothing to write. */
void library_wait_end(uint64_t begin, const char *name);

#endif
