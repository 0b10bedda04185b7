/* file_temps.h: what writing files whole (file.h) would leave behind. */
#ifndef STRATA_BASE_FILE_TEMPS_H
#define STRATA_BASE_FILE_TEMPS_H

/* Removes the temporary names of what is being written, of the whole process: for a signal handler
 * that ends it. */
void file_temps_remove(void);

#endif
