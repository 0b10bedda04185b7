/* backend.c: options of backends, and what they have to say. */
#include "backend/backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/program/python_side.h"
#include "record/defs.h"
#include "record/recorder.h"

static uint64_t backend_number(const char *variable, uint64_t usual, uint64_t least, uint64_t most)
{
    const char *text = getenv(variable);
    char *end;
    long long n = text && *text ? strtoll(text, &end, 10) : -1;
    if (n < 0 || *end) return usual;
    return (uint64_t)n < least ? least : (uint64_t)n > most ? most : (uint64_t)n;
}

void backend_options_from_env(struct backend_options *o)
{
    const char *graphs = getenv("STRATA_GRAPHS"), *syncs = getenv("STRATA_TEST_SYNC_RECORDS");
    const char *clocks = getenv("STRATA_TEST_CLOCKS");
    *o = (struct backend_options){
        .wait_ns = backend_number("STRATA_TEST_WAIT_US", 1, 0, 1000000) * 1000,
        .whole_graphs = graphs && strcmp(graphs, "whole") == 0,
        .sync_records = syncs && strcmp(syncs, "on") == 0,
        .clocks = !clocks || strcmp(clocks, "off") != 0,
        .flush_ms = (uint32_t)backend_number("STRATA_TEST_FLUSH_MS", 100, 5, 10000),
        .most_bytes = backend_number("STRATA_BUFFER_MB", 128, 8, 4096) << 20,
    };
}

static void backend_define(enum def_type type, const char *start, const char *fmt, va_list ap)
{
    char text[600];
    int n = snprintf(text, sizeof text, "%s", start);
    vsnprintf(text + n, sizeof text - (size_t)n, fmt, ap);
    (void)defs_id(type, str_c(text));
}

/* Works even if nothing else is recorded: the files are then created for the note. */
void backend_note(const char *fmt, ...)
{
    if (recorder_open(NULL) < 0) return;
    va_list ap;
    va_start(ap, fmt);
    backend_define(DEF_NOTE, "", fmt, ap);
    va_end(ap);
}

void backend_note_python(void)
{
    static const struct {
        const char *part, *means;
    } parts[] = {
        {"stacks", "no Python lines"},
        {"samples", "no Python samples"},
        {"ops", "no torch operators"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *why = python_side_trouble(parts[i].part);
        if (why) backend_note("%s: %s", parts[i].means, why);
    }
}

void backend_fact(const char *key, const char *fmt, ...)
{
    char start[64];
    snprintf(start, sizeof start, "%s=", key);
    va_list ap;
    va_start(ap, fmt);
    backend_define(DEF_FACT, start, fmt, ap);
    va_end(ap);
}
