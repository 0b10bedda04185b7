/* serve_request.h: who may ask for the file of a serve, and the head of the answer. */
#ifndef STRATA_CLI_SERVE_REQUEST_H
#define STRATA_CLI_SERVE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVE_HEAD 800 /* bytes that every head fits into */

/* What is offered: at this path and port, to pages of this origin. */
struct serve_offer {
    const char *path, *origin;
    uint16_t port;
    uint64_t size_bytes;
};

/* Writes the head of the answer to a whole request to `ret`; true when the file follows it. */
bool serve_request_answer(const struct serve_offer *s, const char *request, char *ret, size_t cap);

#endif
