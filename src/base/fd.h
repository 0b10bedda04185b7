/* fd.h: descriptors that stay clear of 0, 1 and 2. A program may have closed its standard streams
 * and still write to them: what is opened next would get their numbers, and the text with them. */
#ifndef STRATA_BASE_FD_H
#define STRATA_BASE_FD_H

#include <sys/types.h>

/* open, close-on-exec, with a number above 2; -1 and errno when it fails. */
int fd_open(const char *path, int flags, mode_t mode);

/* For a program of ours: standard streams that are closed lead nowhere from now on. */
void fd_fill_standard(void);

#endif
