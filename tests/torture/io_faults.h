/* io_faults.h: makes the n-th call of a kind that touches files fail. The calls of everything that
 * is linked statically go through here (-Wl,--wrap). */
#ifndef STRATA_TESTS_IO_FAULTS_H
#define STRATA_TESTS_IO_FAULTS_H

enum io_fault {
    IO_ERROR,    /* EIO */
    IO_FULL,     /* ENOSPC */
    IO_SHORT,    /* half of what is written, then ENOSPC for good */
    IO_FULL_NOW, /* ENOSPC from here on */
    IO_FAULTS
};

const char *io_fault_name(enum io_fault f);

/* The n-th call from now on fails, from 1; none for 0. Counting starts anew. */
void io_fail_at(long n, enum io_fault f);

/* Calls since then. */
long io_count(void);

#endif
