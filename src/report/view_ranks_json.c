/* view_ranks_json.c: many ranks side by side, as JSON. */
#include "base/jout.h"
#include "base/stats.h"
#include "report/view_ranks.h"

static const struct rank_summary *rank_of(const struct rank_set *s, uint32_t i)
{
    return &s->ranks[i];
}

void view_ranks_json_ranks(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "ranks");
    for (uint32_t i = 0; i < s->n; i++) {
        const struct rank_summary *r = rank_of(s, i);
        jout_obj(j, NULL);
        jout_int(j, "rank", r->rank);
        jout_cstr(j, "host", r->host);
        jout_cstr(j, "path", r->path);
        jout_us(j, "wall_us", r->wall_ns);
        jout_us(j, "compute_us", r->compute_ns);
        jout_us(j, "comm_us", r->comm_ns);
        jout_us(j, "exposed_comm_us", r->exposed_ns);
        jout_num(j, "exposed_comm_pct", stats_pct((double)r->exposed_ns, (double)r->wall_ns), 3);
        jout_us(j, "wait_us", s->wait_ns[i]);
        jout_us(j, "idle_us", r->idle_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_source(struct jout *j, const struct rank_place *p)
{
    if (!p->file) {
        jout_null(j, "source");
        return;
    }
    jout_obj(j, "source");
    jout_cstr(j, "file", p->file);
    jout_int(j, "line", p->line);
    jout_cstr(j, "function", p->function);
    jout_end_obj(j);
}

void view_ranks_json_stragglers(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "stragglers");
    for (uint32_t i = 0; i < s->n_stragglers; i++) {
        const struct rank_straggler *x = &s->stragglers[i];
        jout_obj(j, NULL);
        jout_int(j, "rank", rank_of(s, x->rank)->rank);
        jout_us(j, "late_us", x->late_ns);
        jout_uint(j, "collectives", x->collectives);
        jout_cstr(j, "stage", x->place.stage);
        jout_cstr(j, "cause", rank_cause_name(x->cause));
        jout_us(j, "cause_us", x->cause_ns);
        jout_cstr(j, "subject", x->place.name);
        if (x->ratio > 0) jout_num(j, "ratio", x->ratio, 3);
        else jout_null(j, "ratio");
        json_source(j, &x->place);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_collectives(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "collectives");
    for (uint32_t i = 0; i < s->n_list; i++) {
        const struct rank_collective *c = &s->list[i];
        jout_obj(j, NULL);
        jout_cstr(j, "group", c->group);
        jout_int(j, "seq", c->seq);
        jout_cstr(j, "name", collective_name(c->what));
        if (c->bytes >= 0) jout_int(j, "bytes", c->bytes);
        else jout_null(j, "bytes");
        jout_uint(j, "members", c->n);
        jout_us(j, "end_us", c->end_ns);
        jout_us(j, "transfer_us", c->transfer_ns);
        if (rank_collective_bus(c) > 0)
            jout_num(j, "bus_gb_per_s", rank_collective_bus(c) / 1e9, 6);
        else jout_null(j, "bus_gb_per_s");
        jout_cstr(j, "matched_by", c->numbered ? "number" : "order");
        jout_int(j, "last_rank", rank_of(s, c->members[c->last].rank)->rank);
        jout_us(j, "spread_us", c->spread_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_clocks(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "clocks");
    for (uint32_t i = 0; i < s->n; i++) {
        const struct rank_clock *c = &s->clocks[i];
        jout_obj(j, NULL);
        jout_int(j, "rank", s->ranks[i].rank);
        jout_cstr(j, "host", s->ranks[i].host);
        if (c->aligned) {
            jout_num(j, "offset_us", c->offset_ns / 1e3, 3);
            jout_num(j, "drift_ppm", c->drift * 1e6, 3);
            jout_num(j, "error_us", c->error_ns / 1e3, 3);
        } else {
            jout_null(j, "offset_us");
            jout_null(j, "drift_ppm");
            jout_null(j, "error_us");
        }
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_path(struct jout *j, const struct rank_set *s)
{
    jout_arr(j, "critical_path");
    for (uint32_t i = 0; i < s->n_path; i++) {
        const struct rank_hop *h = &s->path[i];
        const struct rank_collective *c = &s->list[h->collective];
        jout_obj(j, NULL);
        jout_int(j, "rank", rank_of(s, c->members[c->last].rank)->rank);
        jout_us(j, "start_us", h->start_ns);
        jout_us(j, "own_us", h->own_ns);
        jout_cstr(j, "collective", collective_name(c->what));
        jout_int(j, "seq", c->seq);
        jout_us(j, "transfer_us", h->transfer_ns);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_who(struct jout *j, const struct rank_set *s)
{
    jout_int(j, "world_size", s->world);
    jout_arr(j, "missing_ranks");
    for (uint32_t i = 0; i < s->n_missing; i++) jout_int(j, NULL, s->missing[i]);
    jout_end_arr(j);
    jout_arr(j, "duplicate_ranks");
    for (uint32_t i = 0; i < s->n_twice; i++) {
        jout_obj(j, NULL);
        jout_int(j, "rank", s->twice[i].rank);
        jout_cstr(j, "path", s->twice[i].path);
        jout_end_obj(j);
    }
    jout_end_arr(j);
}

static void json_pipeline(struct jout *j, const struct rank_set *s)
{
    const struct rank_pipeline *p = &s->pipeline;
    if (!p->ranks) {
        jout_null(j, "pipeline");
        return;
    }
    jout_obj(j, "pipeline");
    jout_uint(j, "ranks", p->ranks);
    jout_num(j, "bubble_pct", p->bubble_pct, 3);
    jout_num(j, "uneven_pct", p->uneven_pct, 3);
    jout_int(j, "slowest_rank", rank_of(s, p->slowest)->rank);
    jout_num(j, "ratio", p->ratio, 3);
    jout_arr(j, "bubble_us");
    for (uint32_t i = 0; i < s->n; i++) jout_us(j, NULL, p->bubble_ns[i]);
    jout_end_arr(j);
    jout_end_obj(j);
}

static void json_experts(struct jout *j, const struct rank_set *s)
{
    const struct rank_experts *x = &s->experts;
    if (!x->found) {
        jout_null(j, "experts");
        return;
    }
    jout_obj(j, "experts");
    jout_num(j, "wait_pct", x->wait_pct, 3);
    jout_num(j, "ratio", x->ratio, 3);
    if (x->size_ratio > 0) jout_num(j, "size_ratio", x->size_ratio, 3);
    else jout_null(j, "size_ratio");
    jout_int(j, "busiest_rank", rank_of(s, x->busiest)->rank);
    jout_num(j, "busiest_share", x->often, 3);
    jout_end_obj(j);
}

void view_ranks_json(struct buf *out, const struct view_ranks *v)
{
    struct jout j;
    jout_init(&j, out, true);
    jout_obj(&j, NULL);
    json_who(&j, v->set);
    jout_us(&j, "step_us", v->set->step_ns);
    if (v->step_without_ns > 0) jout_us(&j, "step_without_straggler_us", v->step_without_ns);
    else jout_null(&j, "step_without_straggler_us");
    view_ranks_json_ranks(&j, v->set);
    view_ranks_json_stragglers(&j, v->set);
    json_collectives(&j, v->set);
    json_clocks(&j, v->set);
    json_path(&j, v->set);
    json_pipeline(&j, v->set);
    json_experts(&j, v->set);
    jout_uint(&j, "unmatched", v->set->unmatched);
    jout_end_obj(&j);
}
