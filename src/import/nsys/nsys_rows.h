/* nsys_rows.h: the event tables of an Nsight Systems export, and the rows they become. */
#ifndef STRATA_IMPORT_NSYS_NSYS_ROWS_H
#define STRATA_IMPORT_NSYS_NSYS_ROWS_H

#include "base/map.h"
#include "import/sqlite_in.h"
#include "trace/build.h"

/* Where everything is gathered while the tables are read. */
struct nsys {
    struct sqlite_in db;
    struct batch *part;
    struct map strings;  /* StringIds.id -> id in the part */
    struct map named;    /* hash of (process, device, stream) -> 0: streams that have their label */
    bool many_processes; /* ids are unique in a process only: pids carry a prefix */
    uint64_t n_rows;     /* serves as place in the file */
    int64_t last_ns;     /* latest end of any event so far */
    struct buf scratch;
};

struct nsys_table {
    const char *name;
    const char *columns; /* in the order `add` reads them */
    int (*add)(struct nsys *n, sqlite3_stmt *s);
};

extern const struct nsys_table
    nsys_tables[]; /* NULL name at the end; ranges without end come last */

/* Process and thread in a serialized global id. */
int64_t nsys_pid(int64_t global_id);
int64_t nsys_tid(int64_t global_id);

/* How the process's own threads and its devices are named in the trace; .text is STR_NONE when
 * out of memory. */
struct batch_key nsys_process_key(struct nsys *n, int64_t pid);
struct batch_key nsys_device_key(struct nsys *n, int64_t pid, int64_t device);

/* The part's id of StringIds.id, 0 ("") when there is none. */
str_id nsys_string(const struct nsys *n, int64_t id);

#endif
