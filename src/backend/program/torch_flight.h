/* torch_flight.h: what collectives on the CPU carry, from the flight recorder of torch.distributed.
 *
 * Backends on devices describe a collective while it is handed over (torch_comms.c); gloo does
 * not. But torch keeps the last gloo collectives, started by any code (Python, DDP's reducer,
 * functional collectives), with group, number and sizes, and hands that list out as JSON. It is
 * read occasionally, on our own thread, and at the end: some 30 us of CPU time per collective
 * there. */
#ifndef STRATA_BACKEND_PROGRAM_TORCH_FLIGHT_H
#define STRATA_BACKEND_PROGRAM_TORCH_FLIGHT_H

/* Recording begins: what is older does not count. */
void torch_flight_start(void);

/* A range of that name begins; from any thread. */
void torch_flight_see(const char *name);

/* Reads the list if that is due; or if anything was seen since it was last read. */
void torch_flight_chore(void);
void torch_flight_drain(void);

#endif
