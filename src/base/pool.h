/* pool.h: running one function over many independent items on a few threads. */
#ifndef STRATA_BASE_POOL_H
#define STRATA_BASE_POOL_H

/* Threads worth using here: the CPUs this process may run on, at most 64; STRATA_TEST_THREADS
 * overrides.
 */
int pool_size(void);

/* Calls fn(ctx, item, worker) for item = 0 .. n_items-1, each once, on up to n_threads threads
 * (the caller's among them), and returns when all are done. `worker` is in [0, n_threads). Falls
 * back to fewer threads when some cannot be started. */
void pool_run(int n_threads, int n_items, void (*fn)(void *ctx, int item, int worker), void *ctx);

#endif
