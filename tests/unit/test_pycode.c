/* test_pycode.c: line tables as compilers wrote them, against the lines their interpreters give. */
#include "backend/program/pytable.h"
#include "test.h"

struct piece {
    uint32_t begin, end;
    int line; /* 0 for none */
};

static void check_lines(int minor, const uint8_t *table, size_t n, const struct piece *want,
                        size_t n_want)
{
    for (size_t i = 0; i < n_want; i++)
        for (uint32_t at = want[i].begin; at < want[i].end; at += 2)
            if (!CHECK_EQ_INT(pycode_find_line(minor, table, n, 2, at), want[i].line))
                printf("    at %u\n", at);
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* A function with a split expression, try/except/finally, with, and a line far below. */
TEST(lines_of_python_3_10)
{
    static const uint8_t table[] = {2, 2,   2, 1,   4,  255, 12, 2,   4,  1,  6, 1, 2, 1,
                                    2, 1,   6, 255, 28, 255, 4,  128, 14, 3,  2, 1, 8, 128,
                                    2, 255, 2, 128, 12, 3,   2,  1,   6,  21, 6, 2, 6, 254};
    static const struct piece want[] = {
        {0, 2, 4},      {2, 4, 5},      {4, 8, 4},      {8, 20, 6},     {20, 24, 7},
        {24, 30, 8},    {30, 32, 9},    {32, 34, 10},   {34, 40, 9},    {40, 68, 8},
        {68, 72, 0},    {72, 86, 11},   {86, 88, 12},   {88, 96, 0},    {96, 98, 11},
        {98, 100, 0},   {100, 112, 14}, {112, 114, 15}, {114, 120, 36}, {120, 126, 38},
        {126, 132, 36}, {132, 140, 0},
    };
    check_lines(10, table, sizeof table, want, COUNT(want));
}

TEST(lines_of_python_3_11_and_later)
{
    static const uint8_t table[] = {
        128, 0,   224, 8,   9,   216, 8,   9,   241, 3,   1,   9,   10,  128, 65,  228, 13,
        18,  144, 49,  139, 88,  242, 0,   8,   5,   18,  136, 1,   240, 2,   7,   9,   18,
        216, 17,  18,  241, 0,   2,   13,  24,  216, 21,  22,  216, 21,  22,  240, 3,   1,
        21,  24,  144, 1,   247, 3,   2,   13,  24,  240, 12,  0,   17,  18,  137, 65,  240,
        17,  8,   5,   18,  240, 18,  0,   5,   9,   244, 46,  0,   13,  18,  144, 33,  139,
        72,  246, 5,   2,   12,  22,  216, 16,  17,  242, 3,   0,   13,  14,  242, 0,   2,
        12,  22,  240, 0,   2,   5,   22,  247, 57,  2,   13,  24,  240, 0,   2,   13,  24,
        251, 244, 6,   0,   16,  26,  242, 0,   1,   9,   18,  216, 12,  17,  251, 240, 3,
        1,   9,   18,  251, 240, 6,   0,   17,  18,  137, 65,  252, 242, 44,  2,   12,  22};
    static const struct piece want[] = {
        {0, 2, 2},      {2, 4, 4},      {4, 6, 5},      {6, 12, 4},     {12, 40, 6},
        {40, 42, 7},    {42, 48, 8},    {48, 50, 9},    {50, 52, 10},   {52, 56, 9},
        {56, 72, 8},    {72, 78, 14},   {78, 80, 6},    {80, 82, 15},   {82, 102, 38},
        {102, 116, 36}, {116, 118, 37}, {118, 132, 36}, {132, 150, 8},  {150, 158, 0},
        {158, 174, 11}, {174, 176, 12}, {176, 184, 0},  {184, 186, 11}, {186, 194, 0},
        {194, 200, 14}, {200, 210, 0},  {210, 216, 36}, {216, 230, 0},
    };
    check_lines(12, table, sizeof table, want, COUNT(want));
}

/* Whatever bytes there are: an answer, and nothing read beyond them. */
TEST(broken_tables_have_answers)
{
    uint8_t table[64];
    for (unsigned seed = 1; seed < 2000; seed++) {
        unsigned x = seed;
        size_t n = seed % sizeof table;
        for (size_t i = 0; i < n; i++) table[i] = (uint8_t)((x = x * 1103515245 + 12345) >> 16);
        uint8_t *copy = malloc(n ? n : 1); /* of exactly its size, for the sanitizer */
        memcpy(copy, table, n);
        for (uint32_t at = 0; at < 300; at += 50) {
            (void)pycode_find_line(10, copy, n, 1, at);
            (void)pycode_find_line(13, copy, n, 1, at);
        }
        free(copy);
    }
    CHECK_EQ_INT(pycode_find_line(12, table, 0, 1, 0), 0);
}

TEST_MAIN
