/* commands.h: whole commands on fuzzed files, in this process.
 *
 * An input is one or more parts with the line "---" between them; each becomes a file, and in a
 * command line @0, @1 ... stand for their names. A command may refuse what it reads (exit status
 * 3) or the options that stand for $ (2), but must not fail by itself (4); what it prints is valid
 * JSON, or text that commands no terminal. Contradictions in an analysis end the program
 * (cli/input/consistent.h). */
#ifndef STRATA_TESTS_COMMANDS_H
#define STRATA_TESTS_COMMANDS_H

#include <stddef.h>
#include <stdint.h>

/* `suffixes`: how the names of the parts end, with a NULL after the last. Where the first of a
 * line's words is $ of a part, as in "whatif @1 $0", its words stand there. Lines that need a part
 * which the input does not have are left out. */
void commands_run(const char *const *lines, const char *const *suffixes, const uint8_t *p,
                  size_t n);

/* Every command that takes one trace, as text and JSON, on @0. */
void commands_run_all(const uint8_t *p, size_t n);

#endif
