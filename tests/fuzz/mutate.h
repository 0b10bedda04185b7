/* mutate.h: other inputs from an input, knowing what JSON looks like: values of the same key are
 * swapped between events, numbers go to extremes, events and fields are dropped, doubled and
 * nested, names are exchanged. In a .strata file numbers of its
 * sections change. What is neither gets random changes of its bytes. */
#ifndef STRATA_TESTS_MUTATE_H
#define STRATA_TESTS_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* The state of a generator of random numbers; any value but 0. */
uint64_t mutate_random(uint64_t *state);

/* Changes the `n` bytes at `p`, where there is room for `most`, and returns how many there are
 * now. The same state makes the same change. */
size_t mutate(uint8_t *p, size_t n, size_t most, uint64_t *state);

#endif
