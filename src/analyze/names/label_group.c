/* label_group.c: counts the names that are alike but for their numbers. */
#include "analyze/names/label.h"

#include <ctype.h>

#include "analyze/names/names_constants.h"
#include "base/mem.h"

struct counting {
    struct intern stems;
    struct buf text;
    uint32_t *n_names; /* by stem id */
    str_id *stem_of;   /* by name id, STR_NONE for what is not a label or has no number */
};

static bool label_group_is_digit(struct str s, size_t i)
{
    return isdigit((unsigned char)s.p[i]);
}

/* Writes the name with '*' for each number; false when it has none. */
static bool make_stem(struct buf *out, struct str name)
{
    bool numbered = false;
    buf_reset(out);
    for (size_t i = 0; i < name.n; i++) {
        if (!label_group_is_digit(name, i)) buf_addc(out, name.p[i]);
        else if (i == 0 || !label_group_is_digit(name, i - 1)) buf_addc(out, '*');
        numbered |= label_group_is_digit(name, i);
    }
    return numbered;
}

static int count_name(struct counting *c, const struct trace *t, str_id name)
{
    if (!make_stem(&c->text, trace_str(t, name))) return 0;
    str_id stem = buf_ok(&c->text) ? intern_add(&c->stems, buf_str(&c->text)) : STR_NONE;
    if (stem == STR_NONE) return ERR_NOMEM;
    c->stem_of[name] = stem;
    c->n_names[stem]++;
    return 0;
}

static int count_names(struct counting *c, const struct trace *t)
{
    enum { SEEN = 0 }; /* the stem of the empty name: no label has it */
    for (str_id i = 0; i < t->strings.n; i++) c->stem_of[i] = STR_NONE;
    for (row_t r = 0; r < t->n_rows; r++) {
        str_id name = t->name[r];
        if (t->kind[r] != KIND_ANNOTATION || c->stem_of[name] != STR_NONE) continue;
        c->stem_of[name] = SEEN;
        TRY(count_name(c, t, name));
    }
    return 0;
}

static int label_group_fill(struct counting *c, struct label_groups *s, struct arena *mem)
{
    const struct trace *t = s->t;
    TRY(count_names(c, t));
    struct str *shown = arena_zalloc(mem, c->stems.n, sizeof *shown);
    if (!shown) return ERR_NOMEM;
    for (str_id i = 0; i < t->strings.n; i++) {
        str_id stem = c->stem_of[i];
        if (stem == STR_NONE || stem == 0) continue;
        struct str name = intern_get(&c->stems, stem);
        uint32_t enough = label_says_round(name) ? label_group_rounds_of_step : label_group_rounds;
        if (c->n_names[stem] < enough) continue;
        if (!shown[stem].p) shown[stem] = (struct str){arena_strdup(mem, name), name.n};
        if (!shown[stem].p) return ERR_NOMEM;
        s->by_name[i] = shown[stem];
    }
    return 0;
}

int label_groups_init(struct label_groups *s, const struct trace *t, struct arena *mem,
                      struct err *e)
{
    struct counting c = {0};
    size_t n = (size_t)t->strings.n + 1;
    *s = (struct label_groups){t, arena_zalloc(mem, n, sizeof *s->by_name)};
    buf_init(&c.text);
    c.n_names = mem_zalloc(n + 1, sizeof *c.n_names); /* a stem more than there are names: "" */
    c.stem_of = mem_zalloc(n, sizeof *c.stem_of);
    int rc = ERR_NOMEM;
    if (!intern_init(&c.stems) && s->by_name && c.n_names && c.stem_of)
        rc = label_group_fill(&c, s, mem);
    intern_done(&c.stems);
    buf_done(&c.text);
    mem_free(c.n_names);
    mem_free(c.stem_of);
    return err_grow(e, rc);
}
