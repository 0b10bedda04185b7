/* view_ranks_page.c: many ranks side by side, as the document that the page draws. Times are
 * nanoseconds since the begin of what is drawn. */
#include "analyze/answer/answer.h"
#include "base/stats.h"
#include "report/ranks/ranks_parts.h"
#include "report/ranks/view_ranks.h"

#define MOST_HOPS 400

/* A sentence as the value of `key`; null where there is none. */
static void view_ranks_page_put_words(struct jout *j, const char *key, struct buf *words)
{
    if (words->n) jout_str(j, key, buf_str(words));
    else jout_null(j, key);
    if (!buf_ok(words)) j->out->failed = true;
    buf_reset(words);
}

/* What there is to gain, from how much shorter a step would be. */
static enum opportunity view_ranks_page_opportunity(const struct view_ranks *v, bool found,
                                                    bool shorter)
{
    const struct rank_set *r = v->set;
    if (!found) return ranks_no_answer(r) ? OPPORTUNITY_UNKNOWN : OPPORTUNITY_NONE;
    double pct =
        shorter ? stats_pct((double)(r->step_ns - v->step_without_ns), (double)r->step_ns) : 0;
    return pct >= threshold_default(TH_HIGH_GAIN_PCT) ? OPPORTUNITY_LARGE : OPPORTUNITY_SOME;
}

static void put_sentences(struct jout *j, const struct view_ranks *v)
{
    const struct rank_set *r = v->set;
    struct buf words;
    buf_init(&words);
    ranks_who(&words, r);
    view_ranks_page_put_words(j, "who", &words);
    jout_arr(j, "doubts");
    for (uint32_t i = 0; ranks_doubt(&words, r, i); i++) view_ranks_page_put_words(j, NULL, &words);
    jout_end_arr(j);
    jout_cstr(j, "no_answer", ranks_no_answer(r));
    ranks_headline(&words, r);
    view_ranks_page_put_words(j, "headline", &words);
    ranks_gain(&words, r, v->step_without_ns);
    view_ranks_page_put_words(j, "gain", &words);
    jout_arr(j, "late");
    for (uint32_t i = 0; ranks_late(&words, r, i); i++) view_ranks_page_put_words(j, NULL, &words);
    jout_end_arr(j);
    jout_arr(j, "schedule");
    bool found = r->n_stragglers > 0;
    ranks_bubbles(&words, r);
    found |= words.n > 0;
    if (words.n) view_ranks_page_put_words(j, NULL, &words);
    ranks_experts(&words, r);
    found |= words.n > 0;
    if (words.n) view_ranks_page_put_words(j, NULL, &words);
    jout_end_arr(j);
    bool shorter = v->step_without_ns > 0 && r->n_stragglers;
    if (shorter) {
        jout_us(j, "step_us", r->step_ns);
        jout_us(j, "step_without_us", v->step_without_ns);
    }
    jout_cstr(j, "opportunity",
              answer_opportunity_name(view_ranks_page_opportunity(v, found, shorter)));
    ranks_path(&words, r);
    view_ranks_page_put_words(j, "path_words", &words);
    ranks_clocks(&words, r);
    view_ranks_page_put_words(j, "clocks_words", &words);
    buf_done(&words);
}

/* ---- what is drawn */

static void put_since(struct jout *j, const char *key, const struct rank_chart *c, int64_t ns)
{
    jout_int(j, key, ns - c->window.begin_ns);
}

static void put_window(struct jout *j, const struct rank_chart *c)
{
    jout_int(j, "begin_ns", c->window.begin_ns);
    jout_int(j, "length_ns", span_ns(c->window));
    jout_uint(j, "first_step", c->first_step);
    jout_uint(j, "of_steps", c->steps ? c->of_steps : 0);
    jout_arr(j, "steps");
    for (uint32_t i = 0; i < c->steps; i++) put_since(j, NULL, c, c->step_begin_ns[i]);
    jout_end_arr(j);
}

static void view_ranks_page_put_rows(struct jout *j, const struct rank_set *s,
                                     const struct rank_chart *c)
{
    jout_arr(j, "rows");
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct rank_row *row = &c->rows[i];
        jout_obj(j, NULL);
        jout_int(j, "rank", s->ranks[row->rank].rank);
        jout_cstr(j, "host", s->ranks[row->rank].host);
        jout_cstr(j, "path", s->ranks[row->rank].path);
        jout_arr(j, "compute"); /* begin, length, begin, length ... */
        for (uint32_t k = 0; k < row->n_compute; k++) {
            put_since(j, NULL, c, row->compute[k].begin_ns);
            jout_int(j, NULL, span_ns(row->compute[k]));
        }
        jout_end_arr(j);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static bool is_drawn(const struct rank_chart *c, uint32_t rank)
{
    for (uint32_t i = 0; i < c->n_rows; i++)
        if (c->rows[i].rank == rank) return true;
    return false;
}

/* [rank, begin, wait, end] of each member that has a row. */
static void put_members(struct jout *j, const struct rank_set *s, const struct rank_chart *c,
                        const struct rank_collective *x)
{
    jout_arr(j, "arrivals");
    for (uint32_t i = 0; i < x->n; i++) {
        const struct rank_member *m = &x->members[i];
        const struct rank_event *e = &s->ranks[m->rank].events[m->event];
        if (!is_drawn(c, m->rank)) continue;
        jout_arr(j, NULL);
        jout_int(j, NULL, s->ranks[m->rank].rank);
        put_since(j, NULL, c, rank_set_time(s, m->rank, e->begin_ns));
        jout_int(j, NULL, m->wait_ns);
        put_since(j, NULL, c, rank_set_time(s, m->rank, e->end_ns));
        jout_end_arr(j);
    }
    jout_end_arr(j);
}

/* The rank that is most late by its own doing: who came last may have waited for it elsewhere. */
static void put_late(struct jout *j, const struct rank_set *s, const struct rank_collective *x)
{
    const struct rank_member *late = NULL;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->members[i].late_ns > (late ? late->late_ns : 0)) late = &x->members[i];
    if (late) jout_int(j, "late_rank", s->ranks[late->rank].rank);
    else jout_null(j, "late_rank");
}

static void put_collective(struct jout *j, const struct rank_set *s, const struct rank_chart *c,
                           const struct rank_collective *x)
{
    jout_obj(j, NULL);
    jout_cstr(j, "name", collective_name(x->what));
    jout_cstr(j, "group", x->group);
    jout_int(j, "seq", x->seq);
    if (x->bytes >= 0) jout_int(j, "bytes", x->bytes);
    else jout_null(j, "bytes");
    jout_uint(j, "members", x->n);
    put_since(j, "end_ns", c, x->end_ns);
    jout_us(j, "transfer_us", x->transfer_ns);
    jout_us(j, "spread_us", x->spread_ns);
    jout_int(j, "last_rank", s->ranks[x->members[x->last].rank].rank);
    put_late(j, s, x);
    put_members(j, s, c, x);
    jout_end_obj(j);
}

static void put_path(struct jout *j, const struct rank_set *s, const struct rank_chart *c)
{
    uint32_t n = 0;
    jout_arr(j, "path");
    for (uint32_t i = 0; i < s->n_path && n < MOST_HOPS; i++) {
        const struct rank_hop *h = &s->path[i];
        const struct rank_collective *x = &s->list[h->collective];
        if (!rank_chart_shows(c, x)) continue;
        jout_obj(j, NULL);
        jout_int(j, "rank", s->ranks[x->members[x->last].rank].rank);
        put_since(j, "start_ns", c, h->start_ns);
        jout_us(j, "own_us", h->own_ns);
        jout_us(j, "transfer_us", h->transfer_ns);
        jout_cstr(j, "collective", collective_name(x->what));
        jout_cstr(j, "group", x->group);
        jout_int(j, "seq", x->seq);
        jout_end_obj(j);
        n++;
    }
    jout_end_arr(j);
}

static void put_chart(struct jout *j, const struct rank_set *s, const struct rank_chart *c)
{
    uint32_t n = 0;
    jout_obj(j, "chart");
    put_window(j, c);
    view_ranks_page_put_rows(j, s, c);
    jout_arr(j, "collectives");
    for (uint32_t i = 0; i < s->n_list && n < RANK_CHART_COLLECTIVES; i++) {
        if (!rank_chart_shows(c, &s->list[i])) continue;
        put_collective(j, s, c, &s->list[i]);
        n++;
    }
    jout_end_arr(j);
    put_path(j, s, c);
    jout_end_obj(j);
}

void view_ranks_page(struct buf *out, const struct view_ranks *v, const struct rank_chart *c)
{
    struct jout j;
    jout_init(&j, out, false);
    jout_obj(&j, NULL);
    put_sentences(&j, v);
    view_ranks_json_ranks(&j, v->set);
    view_ranks_json_stragglers(&j, v->set);
    if (c) put_chart(&j, v->set, c);
    jout_end_obj(&j);
}
