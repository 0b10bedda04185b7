/* shield.h: mappings of files that somebody may cut short while we write to them. Touching what is
 * no longer there is a SIGBUS, and would be the end of the program: instead memory takes its place,
 * and what is written from then on is lost.
 *
 * A handler of the program's own for that signal is left alone, before as after. */
#ifndef STRATA_RECORD_SHIELD_H
#define STRATA_RECORD_SHIELD_H

#include <stdbool.h>
#include <stddef.h>

/* Whole pages of a mapping; as many as there are rings can be held at once. */
void shield_add(void *p, size_t n);
void shield_remove(const void *p);

/* In a forked child: none of them is its own. */
void shield_forget(void);

/* Whether it was needed. */
bool shield_was_hit(void);

#endif
