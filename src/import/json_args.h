/* json_args.h: the args of an event, read again from the file when somebody asks for them. */
#ifndef STRATA_IMPORT_JSON_ARGS_H
#define STRATA_IMPORT_JSON_ARGS_H

#include "base/file.h"
#include "trace/trace.h"

/* Takes the file over, also on failure, which is NULL: out of memory. */
struct args_source *json_args_new(struct file_map *file);

/* The file, which stays with the source. */
const struct file_map *json_args_file(const struct args_source *a);

#endif
