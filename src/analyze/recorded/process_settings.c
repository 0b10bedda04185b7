/* process_settings.c: see process_settings.h. */
#include "analyze/recorded/process_settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/jdoc.h"

/* Values that switch a variable off, as those who read it take them. */
static bool process_settings_is_no(const char *value)
{
    static const char *const no[] = {"", "0", "off", "false", "no"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (strcasecmp(value, no[i]) == 0) return true;
    return false;
}

const char *process_settings_value(const struct process_settings *s, const char *name)
{
    const char *last = NULL;
    for (uint32_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0) last = s->list[i].value;
    return last;
}

static bool process_settings_had(const struct process_settings *s, const char *name, bool no)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0 && process_settings_is_no(s->list[i].value) == no)
            return true;
    return false;
}

bool process_settings_on(const struct process_settings *s, const char *name)
{
    return process_settings_had(s, name, false);
}

bool process_settings_off(const struct process_settings *s, const char *name)
{
    return process_settings_had(s, name, true);
}

double process_settings_number(const struct process_settings *s, const char *name, double otherwise)
{
    const char *value = process_settings_value(s, name);
    char *end = NULL;
    double number = value ? strtod(value, &end) : otherwise;
    return value && (end == value || *end) ? otherwise : number;
}

static bool process_settings_is_pair(const struct jdoc *d)
{
    return d->kind == JDOC_ARRAY && d->n == 2 && d->items[0].kind == JDOC_STRING &&
           d->items[1].kind == JDOC_STRING;
}

static int process_settings_run(struct context *cx, void *ret, struct err *e)
{
    struct process_settings *s = ret;
    struct str text = trace_meta(cx->t, TRACE_META_SETTINGS);
    struct jdoc doc;
    if (!text.p) return 0;
    int rc = jdoc_parse(text, cx->mem, &doc, NULL);
    if (rc == ERR_NOMEM) return err_nomem(e);
    if (rc < 0 || doc.kind != JDOC_ARRAY) return 0; /* not ours, or damaged: nothing is known */
    s->list = arena_zalloc(cx->mem, doc.n + (size_t)1, sizeof *s->list);
    if (!s->list) return err_nomem(e);
    for (uint32_t i = 0; i < doc.n; i++) {
        const struct jdoc *pair = &doc.items[i];
        if (process_settings_is_pair(pair))
            s->list[s->n++] =
                (struct process_setting){pair->items[0].text.p, pair->items[1].text.p};
    }
    return 0;
}

const struct pass process_settings_pass = {
    .id = PASS_PROCESS_SETTINGS,
    .size = sizeof(struct process_settings),
    .run = process_settings_run,
};
