/* damage.c: the reasons and their texts. */
#include "trace/damage.h"

static const struct {
    const char *name, *text;
    bool loses;
} reasons[DAMAGE_REASONS] = {
    [DAMAGE_TRUNCATED] = {"truncated", "file cut short", true},
    [DAMAGE_BAD_EVENT] = {"bad_event", "unreadable events, skipped", true},
    [DAMAGE_BAD_STRING] = {"bad_string", "strings with unescaped quotes or backslashes, repaired",
                           false},
    [DAMAGE_CONTROL_CHAR] = {"control_char", "strings with control characters, kept", false},
    [DAMAGE_BARE_WORD] = {"bare_word", "bare words (N/A, inf, nan) as values, ignored", false},
    [DAMAGE_TRAILING_COMMA] = {"trailing_comma", "trailing commas, ignored", false},
    [DAMAGE_BAD_NUMBER] = {"bad_number", "numbers that do not fit or do not parse", false},
    [DAMAGE_NO_TIME] = {"no_time", "spans without a start or duration, kept as instants", false},
    [DAMAGE_ZERO_TIME] = {"zero_time", "device records without a time stamp", false},
    [DAMAGE_NEGATIVE_DURATION] = {"negative_duration", "negative durations, set to 0", false},
    [DAMAGE_DUPLICATE_KEY] = {"duplicate_key", "duplicate keys, first one used", false},
    [DAMAGE_UNMATCHED_END] = {"unmatched_end", "begin or end events without a partner", true},
    [DAMAGE_EXTRA_DATA] = {"extra_data", "data after the end of the trace, ignored", false},
    [DAMAGE_BAD_UTF8] = {"bad_utf8", "names that are not UTF-8, kept", false},
    [DAMAGE_LOST_RECORDS] = {"lost_records", "records lost while recording", true},
};

const char *damage_name(enum damage_reason r)
{
    return reasons[r].name;
}

const char *damage_text(enum damage_reason r)
{
    return reasons[r].text;
}

bool damage_loses(enum damage_reason r)
{
    return reasons[r].loses;
}

void damage_note(struct damage *d, enum damage_reason r, uint64_t offset)
{
    if (d->count[r] < DAMAGE_PLACES) d->place[r][d->count[r]] = offset;
    d->count[r]++;
}

void damage_merge(struct damage *into, const struct damage *from)
{
    for (int r = 0; r < DAMAGE_REASONS; r++) {
        uint64_t have = into->count[r] < DAMAGE_PLACES ? into->count[r] : DAMAGE_PLACES;
        uint64_t more = from->count[r] < DAMAGE_PLACES ? from->count[r] : DAMAGE_PLACES;
        for (uint64_t i = 0; i < more && have < DAMAGE_PLACES; i++)
            into->place[r][have++] = from->place[r][i];
        into->count[r] += from->count[r];
    }
}

uint64_t damage_total(const struct damage *d)
{
    uint64_t n = 0;
    for (int r = 0; r < DAMAGE_REASONS; r++) n += d->count[r];
    return n;
}
