/* ring_devices.h: which device is which, over the processes of a run.
 *
 * A process numbers the devices it may use from 0. Where two processes mean different devices by
 * one number (torchrun with CUDA_VISIBLE_DEVICES per rank), devices get the machine's numbers, as
 * CUDA_VISIBLE_DEVICES has them; else the numbers stay as the program knows them. Processes that
 * share a device share its number. */
#ifndef STRATA_IMPORT_RING_DEVICES_H
#define STRATA_IMPORT_RING_DEVICES_H

#include "import/ring_set.h"

/* Sets device_number of every process. */
int ring_devices_number(struct ring_set *s) MUST_USE;

/* Adds every device once, with its UUID and the user's number of it as metas. */
int ring_devices_add(struct builder *b, const struct ring_set *s) MUST_USE;

#endif
