/* strata_file.c: the one computation that the writer and the reader of a .strata file share. */
#include "format/strata_file.h"

#include <stddef.h>
#include <string.h>

#include "format/xxh64.h"

uint64_t strata_file_checksum(const struct strata_head *head, const struct strata_foot *foot)
{
    enum { COVERED = offsetof(struct strata_foot, checksum) };
    char both[sizeof *head + COVERED];
    memcpy(both, head, sizeof *head);
    memcpy(both + sizeof *head, foot, COVERED);
    return xxh64(both, sizeof both);
}
