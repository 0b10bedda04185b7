/* other.h: another profiler in the same process, which uses CUPTI's records as torch.profiler does:
 * without asking who else does. */
#ifndef STRATA_TESTS_OTHER_H
#define STRATA_TESTS_OTHER_H

/* It registers its buffers and its clock, the time of day, and switches its kinds on. */
void other_begin(void *libcupti);

/* It switches its kinds off, fetches the rest, and prints how many kernels it got, how many of them
 * had a time that is not its clock's, and how many buffers it was handed that are not its own. */
void other_end(void);

/* It wants to be the subscriber, and prints CUPTI's answer. */
void other_subscribe(void *libcupti);

#endif
