/* long_run.c: writes the recording of a program that ran for long, for measuring how it is read:
 * long_run FOLDER SECONDS. Steps of 20 ms with 280 records each: two hours are 100 million. */
#include "../tests/long_run.h"

int main(int argc, char **argv)
{
    if (argc != 3) return 2;
    long_run_record(argv[1], (uint32_t)(atof(argv[2]) * 1e9 / LONG_STEP_NS));
    return 0;
}
