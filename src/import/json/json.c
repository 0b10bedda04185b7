/* json.c: the document around the events: an object with "traceEvents" among other keys, or a bare
 * array. What comes before and after the events is small and read by one thread. */
#include "import/importer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "import/bytes/inflate.h"
#include "import/json/json_private.h"

/* Of usual traces: how much they compress, and the shortest average event. */
enum { USUAL_RATIO = 16, EVENT_BYTES = 160 };

struct document {
    struct builder *builder;
    const struct import_options *options;
    struct block_reader reader; /* its scan is the cursor */
    bool found_events;
};

static void json_note(struct document *d, enum damage_reason reason, const char *at)
{
    damage_note(&builder_trace(d->builder)->damage, reason, (uint64_t)(at - d->reader.scan.text));
}

static void note_cut(struct document *d)
{
    if (!builder_trace(d->builder)->damage.count[DAMAGE_TRUNCATED])
        json_note(d, DAMAGE_TRUNCATED, d->reader.scan.end);
}

/* The events, the cursor after their opening bracket; it ends after the closing one. */
static int read_events(struct document *d, struct err *e)
{
    struct scan *s = &d->reader.scan;
    uint64_t end;
    d->found_events = true;
    TRY(blocks_read(d->reader.plain, (uint64_t)(s->p - s->text), d->options, d->builder, &end, e));
    s->end = s->text + plain_wait(d->reader.plain, end, &d->reader.all);
    scan_begin(s, s->text + end, SCAN_STRICT);
    return 0;
}

/* A key, and its value unless that is the events: then the cursor is left inside their array. */
static enum scan_result scan_member(struct scan *s, struct scan_text *key, struct str *value)
{
    if (scan_peek(s) != SCAN_STRING) return s->p >= s->end ? SCAN_CUT : SCAN_BAD;
    TRY(scan_string(s, true, key));
    TRY(scan_expect(s, ':'));
    scan_blanks(s);
    const char *begin = s->p;
    *value = (struct str){NULL, 0};
    if (s->p < s->end && *s->p == '[' && str_is(str_from(key->p, key->n), "traceEvents")) {
        s->p++;
        return SCAN_OK;
    }
    TRY(scan_skip(s));
    *value = str_from(begin, (size_t)(s->p - begin));
    return s->p < s->end ? SCAN_OK : SCAN_CUT;
}

/* One member of the top-level object. */
static int read_member(struct document *d, enum scan_result *ret, struct err *e)
{
    struct scan *s = &d->reader.scan;
    const char *begin = s->p;
    struct scan_text key;
    struct str value;
    do {
        scan_begin(s, begin, SCAN_STRICT);
        *ret = scan_member(s, &key, &value);
    } while (*ret == SCAN_CUT && block_more_text(&d->reader, (uint64_t)(begin - s->text)));
    if (*ret != SCAN_OK) return 0;
    scan_accept(s, &builder_trace(d->builder)->damage);
    if (!value.p) return read_events(d, e);
    if (head_add(d->builder, str_from(key.p, key.n), value) == 0) return 0;
    return err_nomem(e);
}

/* What follows a member: a comma (*ret_more) or the closing brace. */
static enum scan_result after_member(struct document *d, bool *ret_more)
{
    struct scan *s = &d->reader.scan;
    const char *begin = s->p;
    enum scan_result rc;
    do {
        scan_begin(s, begin, SCAN_STRICT);
        rc = scan_next(s, '}', ret_more);
    } while (rc == SCAN_CUT && block_more_text(&d->reader, (uint64_t)(begin - s->text)));
    scan_accept(s, &builder_trace(d->builder)->damage);
    return rc;
}

/* The rest of the top-level object, from the end of a member on; *ret says how far it is sound. */
static int read_rest(struct document *d, enum scan_result *ret, struct err *e)
{
    bool more;
    while ((*ret = after_member(d, &more)) == SCAN_OK && more) {
        TRY(read_member(d, ret, e));
        if (*ret != SCAN_OK) return 0;
    }
    return 0;
}

static int read_object(struct document *d, enum scan_result *ret, struct err *e)
{
    struct scan *s = &d->reader.scan;
    *ret = SCAN_OK;
    s->p++;
    scan_blanks(s);
    if (s->p < s->end && *s->p == '}') {
        s->p++;
        return 0;
    }
    TRY(read_member(d, ret, e));
    return *ret == SCAN_OK ? read_rest(d, ret, e) : 0;
}

/* Moves the cursor to the events when the keys before them cannot be read. */
static bool find_events(struct document *d)
{
    static const char key[] = "\"traceEvents\"";
    struct scan *s = &d->reader.scan;
    const char *begin = s->p;
    do {
        const char *p = begin;
        while ((p = memmem(p, (size_t)(s->end - p), key, sizeof key - 1))) {
            p += sizeof key - 1;
            scan_begin(s, p, SCAN_STRICT);
            if (scan_expect(s, ':') == SCAN_OK && scan_expect(s, '[') == SCAN_OK) return true;
        }
    } while (block_more_text(&d->reader, (uint64_t)(begin - s->text)));
    return false;
}

static int read_top(struct document *d, struct err *e)
{
    struct scan *s = &d->reader.scan;
    enum scan_result rc = SCAN_OK;
    if (*s->p == '[') {
        s->p++;
        TRY(read_events(d, e));
    } else {
        TRY(read_object(d, &rc, e));
    }
    const char *at = s->p;
    if (!d->found_events) {
        if (rc == SCAN_OK || !find_events(d))
            return FAIL(e, ERR_FORMAT, "not a trace: it has no \"traceEvents\"");
        json_note(d, DAMAGE_BAD_EVENT, at);
        TRY(read_events(d, e));
        TRY(read_rest(d, &rc, e));
    }
    while (block_more_text(&d->reader, 0)) {}
    scan_blanks(s);
    if (rc == SCAN_CUT) note_cut(d);
    else if (s->p < s->end) json_note(d, DAMAGE_EXTRA_DATA, s->p);
    return 0;
}

static int fail_head(struct str text, struct err *e)
{
    char found[32];
    size_t n = 0;
    for (size_t i = 0; i < text.n && n < 24 && text.p[i] != '\n'; i++)
        found[n++] = text.p[i] >= 0x20 && text.p[i] < 0x7f ? text.p[i] : '?';
    found[n] = 0;
    bool page = strncasecmp(found, "<!doctype", 9) == 0 || strncasecmp(found, "<html", 5) == 0;
    return FAIL(e, ERR_FORMAT, "not a trace: expected '{' or '[' at byte 0, found \"%s\"%s", found,
                page ? " (a saved web page?)" : "");
}

static int json_read_document(struct document *d, struct plain *plain, struct err *e)
{
    block_init(&d->reader, plain);
    struct scan *s = &d->reader.scan;
    s->p = s->text;
    block_more_text(&d->reader, 0);
    if (str_starts(str_from(s->p, (size_t)(s->end - s->p)), "\xef\xbb\xbf")) s->p += 3;
    do scan_blanks(s);
    while (s->p >= s->end && block_more_text(&d->reader, 0));
    if (s->p >= s->end) return FAIL(e, ERR_FORMAT, "the file is empty, expected a trace");
    if (*s->p != '{' && *s->p != '[') return fail_head(str_from(s->p, (size_t)(s->end - s->p)), e);
    return read_top(d, e);
}

/* Reads all of `plain`. A failure to unpack is the reason for whatever went wrong after it. */
static int json_read_plain(struct document *d, struct plain *plain, struct err *e)
{
    struct err reading;
    err_init(&reading);
    int rc = json_read_document(d, plain, &reading);
    block_done(&d->reader);
    bool whole, all;
    TRY(plain_result(plain, &whole, e));
    if (rc == ERR_FORMAT && !whole)
        return FAIL(e, rc, "the compressed file is cut short before the first event of a trace");
    if (rc < 0 && e) *e = reading;
    if (rc == 0 && !whole) note_cut(d);
    builder_trace(d->builder)->source_bytes = plain_wait(plain, 0, &all);
    return rc;
}

static int json_build(struct builder *b, const struct file_map *file,
                      const struct import_options *o, struct err *e)
{
    struct plain *plain;
    struct document *d = mem_zalloc(1, sizeof *d);
    if (!d) return err_nomem(e);
    d->builder = b;
    d->options = o;
    builder_expect(b, file->n * (codec_find(str_from(file->p, file->n)) ? USUAL_RATIO : 1) /
                          EVENT_BYTES);
    int rc = plain_open(&plain, file, o, e);
    if (rc == 0) {
        rc = json_read_plain(d, plain, e);
        plain_close(plain);
    }
    mem_free(d);
    return rc;
}

static bool json_sniff(struct str head)
{
    if (codec_find(head)) return true;
    if (str_starts(head, "\xef\xbb\xbf")) head = str_from(head.p + 3, head.n - 3);
    while (head.n && scan_is_blank(*head.p)) head.p++, head.n--;
    return head.n && (*head.p == '{' || *head.p == '[');
}

static int open_json(struct file_map *file, const char *path, const struct import_options *o,
                     struct trace **ret, struct err *e)
{
    struct args_source *args = json_args_new(file);
    struct builder *b = args ? builder_new(e) : NULL;
    if (!b) {
        if (args) args->free(args);
        return err_nomem(e);
    }
    struct trace *t = builder_trace(b);
    t->args = args;
    t->format = "kineto json";
    t->path = mem_strdup(path);
    int rc = t->path ? json_build(b, json_args_file(args), o, e) : err_nomem(e);
    if (rc < 0) {
        builder_free(b);
        return rc;
    }
    return builder_freeze(b, o->n_threads, ret, e);
}

const struct importer import_json = {"kineto json", json_sniff, open_json, .inflates = true};
