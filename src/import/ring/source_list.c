/* source_list.c: see source_list.h. */
#include "import/ring/source_list.h"

/* A reader of JSON leaves out metas that are longer than this. */
enum { MOST_BYTES = 1000000 };

void source_list_init(struct source_list *l)
{
    l->n = 0;
    buf_init(&l->text);
    jout_init(&l->j, &l->text, false);
    jout_arr(&l->j, NULL);
}

void source_list_add(struct source_list *l, const struct source *s)
{
    size_t more = 8 * (s->module.n + s->kernel.n + s->op.n + s->place.n) + 64;
    if (l->text.n + more > MOST_BYTES) return;
    jout_arr(&l->j, NULL);
    jout_str(&l->j, NULL, s->module);
    jout_str(&l->j, NULL, s->kernel);
    jout_str(&l->j, NULL, s->op);
    jout_str(&l->j, NULL, s->place);
    jout_end_arr(&l->j);
    l->n++;
}

int source_list_end(struct source_list *l, struct builder *b)
{
    jout_end_arr(&l->j);
    int rc = buf_ok(&l->text) ? 0 : ERR_NOMEM;
    if (rc == 0 && l->n) rc = builder_add_meta(b, str_c(TRACE_META_SOURCES), buf_str(&l->text));
    buf_done(&l->text);
    return rc;
}
