/* copy.c: the words vendors use for directions and memory. */
#include "analyze/names/copy.h"

struct copy copy_parse(struct str name)
{
    static const struct {
        const char *word;
        enum copy_way way;
    } ways[] = {
        {"HtoD", COPY_TO_DEVICE},
        {"DtoH", COPY_TO_HOST},
        {"DtoD", COPY_INSIDE},
        {"PtoP", COPY_INSIDE},
        {"HostToDevice", COPY_TO_DEVICE},
        {"DeviceToHost", COPY_TO_HOST},
        {"DeviceToDevice", COPY_INSIDE},
        {"H2D", COPY_TO_DEVICE},
        {"D2H", COPY_TO_HOST},
        {"D2D", COPY_INSIDE},
        {"M2D", COPY_TO_DEVICE},
        {"D2M", COPY_TO_HOST},
    };
    struct copy c = {COPY_UNKNOWN, str_has(name, "Pageable")};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!str_has(name, ways[i].word)) continue;
        c.way = ways[i].way;
        break;
    }
    return c;
}
