/* result_energy.c: the energy that the devices took. */
#include "analyze/answer/energy.h"

#include "results/results.h"

static const struct energy_stage *energy_stage_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

static const struct energy *energy_at(const struct rows *r, uint32_t i)
{
    return rows_at(r, i);
}

VALUE_OF(energy_path, value_cstr(energy_stage_at(r, i)->stage->path))
VALUE_OF(energy_calls, value_int(energy_stage_at(r, i)->stage->calls))
VALUE_OF(energy_measured_by, value_cstr(energy_by_name(energy_at(r, i)->by)))
ROWS_OF(energy_stages, .list = energy_at(r, i)->stages, .n = energy_at(r, i)->n_stages)

/* clang-format off */
static const struct field energy_stage_fields[] = {
    FIELD_GET(TEXT, "path", "stage", energy_path, "the stage, with those around it"),
    FIELD_GET(COUNT, "calls", "calls", energy_calls, "how often it ran"),
    FIELD(NUM, "joules", "energy", struct energy_stage, joules, "what the device took while the work ran that the stage launched", .decimals = 3),
    FIELD(NUM, "joules_per_call", "per call", struct energy_stage, per_call, "the same per call", .decimals = 3),
};
static const struct result result_energy_stages = RESULT("energy_stages", "energy by stage", energy_stage_fields, struct energy_stage);

static const struct field energy_fields[] = {
    FIELD_GET(WORD, "measured_by", "", energy_measured_by, "`counter`: NVML's counter of all energy; `power`: its power, added up over time"),
    FIELD(COUNT, "devices", "", struct energy, devices, "how many were measured"),
    FIELD(NUM, "joules", "", struct energy, joules, "what all of them took during the wall clock, in all processes", .decimals = 3),
    FIELD(NUM, "mean_watts", "", struct energy, mean_w, "the same per second", .decimals = 1),
    FIELD(NUM, "most_watts", "", struct energy, most_w, "the highest power that was read of one device", .decimals = 1),
    FIELD(NUM, "joules_per_step", "", struct energy, per_step, "per step of the loop; null where nothing repeats", .decimals = 3),
    FIELD(NUM, "joules_per_token", "", struct energy, per_token, "of a server of language models; null where tokens are not known", .decimals = 4),
    FIELD(NS, "every_us", "", struct energy, every_ns, "how far readings lie apart: what is shorter has a share by time"),
    FIELD_IN(LIST, "stages", "", &result_energy_stages, energy_stages, "the same by stage"),
};
/* clang-format on */

const struct result result_energy =
    RESULT("energy", "the energy that the devices took", energy_fields, struct energy);

struct rows rows_in_energy(const struct rows *r, uint32_t i)
{
    (void)i;
    const struct energy *x = energy_of(r->cx);
    return (struct rows){.of = &result_energy, .cx = r->cx, .list = x, .n = x->devices > 0};
}
