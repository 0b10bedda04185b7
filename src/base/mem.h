/* mem.h: the one allocator. Every heap block of the program comes from here, so that a test can
 * make the k-th allocation fail and walk through every out-of-memory path. */
#ifndef STRATA_BASE_MEM_H
#define STRATA_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* Like malloc/calloc/realloc, but NULL also when the countdown says so. `n * size` is checked. */
void *mem_alloc(size_t size);
void *mem_zalloc(size_t n, size_t size);
void *mem_grow(void *p, size_t n, size_t size);
char *mem_strdup(const char *s);
void mem_free(void *p);

/* From now on large blocks go back to the system when they are freed: for a command that keeps
 * little of each of many large inputs. */
void mem_return_large(void);

/* What is free goes back to the system now. */
void mem_trim(void);

/* The k-th allocation from now on (1 = the next) and all later ones fail; 0 switches it off.
 * Also set by STRATA_TEST_FAIL_ALLOC in the environment of a command built with the torture option.
 */
void mem_fail_at(long k);

/* The k-th alone fails, and the blocks of arenas count as allocations of their own: a large block
 * may be refused where a small one is not, so each has to be examined. */
void mem_fail_at_block(long k);

/* Whether an arena must refuse the block that is requested of it; false unless mem_fail_at_block.
 */
bool mem_refuses_block(void);

/* Allocations since mem_fail_at or mem_fail_at_block was last called. */
long mem_count(void);

#endif
