/* message_args.c: see message_args.h. */
#include "analyze/comm/message_args.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyze/names/number_type.h"
#include "base/buf.h"

/* No message is larger; what is was not meant as a number of elements. */
#define MOST_ELEMENTS 1e15

static double message_args_elements(const struct jdoc *d, const char *key)
{
    double n = jdoc_number(d, key, -1);
    return n >= 0 && n <= MOST_ELEMENTS ? n : -1;
}

static int64_t message_args_whole(const struct jdoc *d, const char *key, int64_t otherwise)
{
    double n = jdoc_number(d, key, -1);
    return n >= 0 && n < 9e15 ? (int64_t)n : otherwise;
}

void message_args_take(const struct jdoc *d, struct message_args *ret)
{
    double in = message_args_elements(d, "In msg nelems"),
           out = message_args_elements(d, "Out msg nelems");
    double each = number_bytes(number_type_of(str_c(jdoc_text(d, "dtype", ""))));
    *ret = (struct message_args){
        .what = collective_of(str_c(jdoc_text(d, "Collective name", ""))),
        .sized = in >= 0 || out >= 0,
        .bytes = -1,
        .seq = message_args_whole(d, "Seq", -1),
        .ranks = message_args_whole(d, "Group size", 0),
        .grouped = jdoc_text(d, "Process Group Name", NULL) != NULL,
        .name = jdoc_text(d, "Process Group Name", ""),
        .description = jdoc_text(d, "Process Group Description", ""),
        .members = jdoc_text(d, "Process Group Ranks", ""),
        .from = message_args_whole(d, "Src Rank", -1),
        .to = message_args_whole(d, "Dst Rank", -1),
    };
    if (ret->sized && each > 0) ret->bytes = (int64_t)((in > out ? in : out) * each);
}

int message_args_read(struct context *cx, row_t row, struct message_args *ret)
{
    struct buf text;
    struct jdoc *doc = arena_zalloc(cx->mem, 1, sizeof *doc);
    if (!doc) return ERR_NOMEM;
    buf_init(&text);
    bool read = trace_args(cx->t, row, &text, NULL) == 0 && buf_ok(&text) &&
                jdoc_parse(buf_str(&text), cx->mem, doc, NULL) == 0;
    buf_done(&text);
    message_args_take(read ? doc : NULL, ret);
    return 0;
}

str_id message_args_group(struct intern *groups, const struct message_args *a, int64_t rank)
{
    struct buf key;
    char pair[64];
    const char *members = a->members;
    if (a->what == COLLECTIVE_SEND_RECV && (a->from >= 0 || a->to >= 0)) {
        snprintf(pair, sizeof pair, "%" PRId64 " to %" PRId64, a->from >= 0 ? a->from : rank,
                 a->to >= 0 ? a->to : rank);
        members = pair;
    }
    buf_init(&key);
    buf_printf(&key, "%s\n%s\n%s", a->name, a->description, members);
    str_id id = buf_ok(&key) ? intern_add(groups, buf_str(&key)) : STR_NONE;
    buf_done(&key);
    return id;
}

/* A copy of the text up to the end of the line, which is taken off `rest`. */
static int message_args_take_line(struct arena *mem, struct str *rest, struct str *ret)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] != '\n') n++;
    const char *copy = arena_strdup(mem, str_from(rest->p, n));
    if (!copy) return ERR_NOMEM;
    *ret = str_c(copy);
    size_t skip = n < rest->n ? n + 1 : n;
    *rest = str_from(rest->p + skip, rest->n - skip);
    return 0;
}

int message_args_split(struct str group, struct arena *mem, struct str ret[3])
{
    for (int i = 0; i < 3; i++) TRY(message_args_take_line(mem, &group, &ret[i]));
    return 0;
}

void message_args_world(struct context *cx, int64_t *ret_rank, int64_t *ret_world)
{
    struct jdoc d;
    struct str text = trace_meta(cx->t, "distributedInfo");
    struct arena_mark mark = arena_mark(cx->mem);
    *ret_rank = -1;
    *ret_world = 0;
    if (text.p && jdoc_parse(text, cx->mem, &d, NULL) == 0) {
        *ret_rank = message_args_whole(&d, "rank", -1);
        if (message_args_whole(&d, "pg_count", 1) == 1)
            *ret_world = message_args_whole(&d, "world_size", 0);
    }
    arena_reset_to(cx->mem, mark);
}
