/* speedscope.c: the JSON of speedscope.app: frames once, stacks as lists of their numbers. */
#include "base/jout.h"
#include "profiles/profiles.h"

static void put_frames(struct jout *j, const struct flame *f)
{
    jout_obj(j, "shared");
    jout_arr(j, "frames");
    for (uint32_t i = 0; i < f->n_frames; i++) {
        jout_obj(j, NULL);
        jout_str(j, "name", f->frames[i].name);
        if (f->frames[i].file.n) {
            jout_str(j, "file", f->frames[i].file);
            jout_int(j, "line", f->frames[i].line);
        }
        jout_end_obj(j);
    }
    jout_end_arr(j);
    jout_end_obj(j);
}

static void put_samples(struct jout *j, const struct flame *f)
{
    uint32_t stack[FLAME_DEEPEST];
    jout_arr(j, "samples");
    for (uint32_t i = 1; i < f->n; i++) {
        if (!f->nodes[i].self_ns) continue;
        uint32_t n = flame_stack(f, i, stack);
        jout_arr(j, NULL);
        for (uint32_t k = 0; k < n; k++) jout_uint(j, NULL, stack[k]);
        jout_end_arr(j);
    }
    jout_end_arr(j);
    jout_arr(j, "weights");
    for (uint32_t i = 1; i < f->n; i++)
        if (f->nodes[i].self_ns) jout_int(j, NULL, f->nodes[i].self_ns);
    jout_end_arr(j);
}

static int speedscope_put(const struct flame *f, const char *title, struct buf *out, struct err *e)
{
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    jout_cstr(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    jout_cstr(&j, "exporter", "strata");
    jout_cstr(&j, "name", title);
    jout_uint(&j, "activeProfileIndex", 0);
    put_frames(&j, f);
    jout_arr(&j, "profiles");
    jout_obj(&j, NULL);
    jout_cstr(&j, "type", "sampled");
    jout_cstr(&j, "name", flame_words(f->of));
    jout_cstr(&j, "unit", "nanoseconds");
    jout_uint(&j, "startValue", 0);
    jout_int(&j, "endValue", f->nodes[0].total_ns);
    put_samples(&j, f);
    jout_end_obj(&j);
    jout_end_arr(&j);
    jout_end_obj(&j);
    return buf_status(out, e);
}

const struct profile profile_speedscope = {
    .name = "speedscope",
    .extensions = ".speedscope.json .speedscope.json.gz .speedscope",
    .next = "open %s in https://www.speedscope.app",
    .put = speedscope_put,
};
