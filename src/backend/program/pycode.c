/* pycode.c: see pytable.h. */
#include "backend/program/pytable.h"

#include "backend/program/pyread.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { MOST_LINES = 4 << 20, MOST_CHARS = 1024, UCS4 = 4 };

bool pycode_read(const struct pyapi *api, uintptr_t address, struct pycode *ret)
{
    const struct pylayout *l = api->layout;
    char code[200];
    uintptr_t type;
    uint32_t first = 0;
    if (!pyread(code, address, l->code_bytes)) return false;
    memcpy(&type, code + sizeof(void *), sizeof type);
    if (type != (uintptr_t)api->code_type) return false;
    memcpy(&ret->file, code + l->code_file, sizeof ret->file);
    memcpy(&ret->name, code + l->code_name, sizeof ret->name);
    memcpy(&ret->lines, code + l->code_lines, sizeof ret->lines);
    memcpy(&ret->first_line, code + l->code_first_line, sizeof ret->first_line);
    if (l->code_first != PYLAYOUT_NONE) memcpy(&first, code + l->code_first, sizeof first);
    ret->first = first * 2;
    return pyread(&ret->n_lines, ret->lines + PYCODE_BYTES_SIZE, sizeof ret->n_lines) &&
           pyread(&ret->lines_begin, ret->lines + PYCODE_BYTES_DATA, sizeof ret->lines_begin);
}

/* 3.10: pairs of bytes, how far the code goes on and how many lines it goes on by (-128: the
 * piece has no line). */
static int line_310(const uint8_t *table, size_t n, int line, uint32_t offset)
{
    enum { NO_LINE = -128 };
    uint32_t at = 0;
    for (size_t i = 0; i + 1 < n; i += 2) {
        int delta = table[i + 1] < 128 ? table[i + 1] : table[i + 1] - 256;
        if (delta != NO_LINE) line += delta;
        at += table[i];
        if (offset < at) return delta == NO_LINE ? 0 : line;
    }
    return 0;
}

static uint32_t pycode_varint(const uint8_t *table, size_t n, size_t *i)
{
    uint32_t v = 0;
    for (unsigned shift = 0; *i < n && shift < 32; shift += 6) {
        uint8_t b = table[(*i)++];
        v |= (uint32_t)(b & 63) << shift;
        if (!(b & 64)) break;
    }
    return v;
}

static int signed_varint(const uint8_t *table, size_t n, size_t *i)
{
    uint32_t v = pycode_varint(table, n, i);
    return v & 1 ? -(int)(v >> 1) : (int)(v >> 1);
}

/* 3.11 on: an entry begins with a byte above 127: four bits of form, three of how many code units
 * it covers, less one. The form says how the line moves and how much follows. */
static int line_311(const uint8_t *table, size_t n, int line, uint32_t offset)
{
    enum { SHORT = 10, ONE_LINE = 12, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
    uint32_t at = 0;
    for (size_t i = 0; i < n;) {
        uint8_t head = table[i++];
        int form = head >> 3 & 15;
        if (form == NO_COLUMNS || form == LONG) line += signed_varint(table, n, &i);
        else if (form >= SHORT && form <= ONE_LINE) line += form - SHORT;
        at += ((head & 7u) + 1) * 2;
        if (offset < at) return form == NONE ? 0 : line;
        while (i < n && table[i] < 128) i++;
    }
    return 0;
}

int pycode_find_line(int minor, const uint8_t *table, size_t n, int first_line, uint32_t offset)
{
    return minor == 10 ? line_310(table, n, first_line, offset)
                       : line_311(table, n, first_line, offset);
}

int pycode_line(const struct pyapi *api, const struct pycode *c, uint32_t offset)
{
    uint8_t small[4096], *table = small;
    if (c->n_lines > MOST_LINES) return 0;
    if (c->n_lines > sizeof small && !(table = mem_alloc(c->n_lines))) return 0;
    int line = 0;
    if (pyread(table, c->lines + PYCODE_BYTES_DATA, c->n_lines))
        line = pycode_find_line(api->layout->minor, table, c->n_lines, c->first_line, offset);
    if (table != small) mem_free(table);
    return line;
}

/* Head of a str: its length in characters, and bits that say how they are stored. */
struct str_head {
    char object[16];
    int64_t length;
    int64_t hash;
    uint32_t state;
};

static size_t pycode_put_utf8(char *out, size_t cap, uint32_t c)
{
    char b[4];
    size_t n = utf8_put(b, c);
    if (n >= cap) return 0;
    memcpy(out, b, n);
    return n;
}

size_t pycode_text(const struct pyapi *api, uintptr_t str, char *out, size_t cap)
{
    enum { COMPACT = 32, ASCII = 64, WIDE_HEAD = 24 };
    struct str_head h;
    uint8_t chars[MOST_CHARS];
    out[0] = 0;
    if (!pyread(&h, str, sizeof h) || h.length <= 0 || !(h.state & COMPACT)) return 0;
    /* Up to 3.11 the head ends in a pointer, and what is not ASCII has three words more. */
    size_t head = api->layout->str_ascii, width = h.state >> 2 & 7, n = 0;
    if (!(h.state & ASCII)) head += api->layout->minor < 12 ? WIDE_HEAD : 16;
    if (width != 1 && width != 2 && width != UCS4) return 0;
    size_t n_chars =
        (size_t)h.length < sizeof chars / width ? (size_t)h.length : sizeof chars / width;
    if (!pyread(chars, str + head, n_chars * width)) return 0;
    for (size_t i = 0; i < n_chars; i++) {
        uint32_t c = 0;
        memcpy(&c, chars + i * width, width);
        size_t put = pycode_put_utf8(out + n, cap - n, c);
        if (!put) break;
        n += put;
    }
    out[n] = 0;
    return n;
}
