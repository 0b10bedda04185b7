/* file.h: files as mapped bytes, and files written whole or not at all. */
#ifndef STRATA_BASE_FILE_H
#define STRATA_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum { FILE_PADDING = 64 }; /* zero bytes that may be read after the last one */

struct file_map {
    const char *p; /* never NULL, also of an empty file */
    uint64_t n;
    bool mapped; /* false when read into memory: a pipe, or nothing to map */
};

/* Maps `path` for reading; "-" and pipes are read to the end instead. */
int file_map(struct file_map *f, const char *path, struct err *e) MUST_USE;
/* The same for a file that was found in a folder, not named by the user: the one who packed
 * the folder may have put a pipe or a device there, which is refused without waiting for what
 * comes. */
int file_map_found(struct file_map *f, const char *path, struct err *e) MUST_USE;
void file_unmap(struct file_map *f);

/* Writes to a temporary name beside `path`, syncs, renames. On failure nothing is left behind. What
 * is not a regular file ("-": standard output, a pipe) is written to directly; a link is followed.
 */
int file_write_whole(const char *path, const void *p, size_t n, struct err *e) MUST_USE;

/* That name: of this process, also where several hosts write to one folder. */
enum { FILE_TEMP_MORE = 72 }; /* bytes it is longer */
void file_temp_name(const char *path, char *out, size_t cap);

/* The same in pieces: begin, write ..., commit or abort. */
struct file_out {
    int fd;
    char *path, *temp; /* temp is NULL when `path` is written directly */
    char *buffer;
    size_t used;
    uint64_t written;
};
int file_out_begin(struct file_out *f, const char *path, struct err *e) MUST_USE;
int file_out_write(struct file_out *f, const void *p, size_t n, struct err *e) MUST_USE;
int file_out_commit(struct file_out *f, struct err *e) MUST_USE;
void file_out_abort(struct file_out *f);

#endif
