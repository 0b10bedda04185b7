/* source_out.c: see report_private.h. */
#include "report/report_private.h"

enum { MOST_FRAMES = 64 };

static void source_out_put_source(struct jout *j, struct str name)
{
    struct frame f;
    if (!frame_parse(name, &f)) {
        jout_null(j, "source");
        return;
    }
    jout_obj(j, "source");
    jout_str(j, "file", frame_path(f.file));
    jout_int(j, "line", f.line);
    jout_str(j, "function", f.function);
    jout_end_obj(j);
}

void source_json_frame(struct jout *j, const struct trace *t, row_t frame)
{
    source_out_put_source(j, frame == ROW_NONE ? str_from(NULL, 0) : trace_name(t, frame));
}

static void source_out_put_text(struct jout *j, const char *key, struct str text)
{
    if (text.n) jout_str(j, key, text);
    else jout_null(j, key);
}

void source_json_captured(struct jout *j, const struct graph_origin_node *o)
{
    jout_obj(j, "captured");
    source_out_put_text(j, "op", o->op);
    source_out_put_text(j, "module", o->module);
    source_out_put_source(j, o->place);
    jout_end_obj(j);
}

void source_json(struct jout *j, const struct trace *t, const struct place *p)
{
    source_json_frame(j, t, p->frame);
}

void source_json_stack(struct jout *j, struct source_places *w, row_t r)
{
    row_t frames[MOST_FRAMES];
    size_t n = source_places_stack(w, r, frames, MOST_FRAMES);
    struct buf line;
    buf_init(&line);
    jout_arr(j, "stack");
    for (size_t i = 0; i < n && i < MOST_FRAMES; i++) {
        buf_reset(&line);
        source_places_print_frame(w->t, frames[i], &line);
        jout_str(j, NULL, buf_str(&line));
    }
    jout_end_arr(j);
    if (!buf_ok(&line)) j->out->failed = true;
    buf_done(&line);
}
