/* cmd_bench.c: `strata bench`: a front end for the Python package, where the stage and torch are.
 * It checks the options, starts `python -m strata.bench` with them and returns its exit status. */
#include "cli/cli.h"
#include "cli/recording/child.h"

static const struct opt opts[] = {
    {"stage", 's', "NAME", "the stage to run alone, by its annotated name", NULL},
    {"entry", 'e', "MODULE:NAME",
     "function that returns the pipeline; without a signature, what to call", NULL},
    {"load", 0, "MODULE:NAME",
     "function that returns the argument of a whole call (default: load in the same module)", NULL},
    {"list", 'l', NULL, "list the stages of the signature file, and whether they can run alone",
     NULL},
    {"signature", 0, "N", "signature of the stage to use, or all (default: the most frequent)",
     NULL},
    {"target", 0, "PATH", "attribute path of the stage in the pipeline, if its name does not say",
     NULL},
    {"inputs", 'i', "FILE", "real inputs, saved by strata.stage(..., save_inputs=True)", NULL},
    {"arg", 0, "NAME=MODULE:NAME", "function that returns an argument that cannot be generated",
     NULL},
    {"types", 0, "MODULE", "allow the signature to build the dataclasses of this module", NULL},
    {"modes", 0, "LIST", "modes to alternate between: eager, compile, compile:reduce-overhead ...",
     NULL},
    {"regional", 0, NULL, "compile the repeated blocks of a model, not the whole model", NULL},
    {"fullgraph", 0, NULL, "treat a graph break as an error", NULL},
    {"compare", 'c', "OTHER", "compare with another entry, a git revision or a compile mode", NULL},
    {"metric", 0, "WHAT", "metric that decides a comparison (default wall; cpu on a busy machine)",
     "wall|gpu|cpu"},
    {"threshold", 0, "PCT", "ignore differences below this (default 1)", NULL},
    {"trace", 't', NULL, "record a timeline of every mode and show what changed", NULL},
    {"iterations", 'n', "N", "number of calls to measure (default: as many as the time allows)",
     NULL},
    {"time", 0, "TIME", "time to measure for (default 10s; a comparison may end earlier)", NULL},
    {"warmup", 'w', "N", "warm-up calls before measuring (default: until times are steady)", NULL},
    {"device", 'd', "DEVICE", "run on this device instead of the recorded one", NULL},
    {"seed", 0, "N", "seed of random numbers (default 0)", NULL},
    {"against", 0, "TRACE", "timeline of the full run to check against", NULL},
    {"tolerance", 0, "PCT", "allowed difference from the full run (default 3)", NULL},
    {"output", 'o', "DIR", "output folder (default: a new folder inside the run's)", NULL},
    {"python", 0, "PROGRAM", "the Python that has torch (default python3)", NULL},
    {0},
};

static const char *const examples[] = {
    "strata bench strata_out/pipe/20260105_101502/timing_io_signature.json --list",
    "what was recorded, and what can run alone",
    "strata bench RUN/timing_io_signature.json --stage vae_decode --entry my_pipe:load",
    "one stage alone with inputs like the recorded ones; load() returns the pipeline",
    "strata bench RUN/timing_io_signature.json -s unet_forward -e my_pipe:load --compare main~1",
    "the same stage at another commit, alternating: is the difference real?",
    "strata bench --entry my_pipe:call --modes eager,compile,compile:reduce-overhead --trace",
    "the whole call in several modes, and what each changes",
    NULL,
};

static const struct python_front front = {"strata.bench", "a Python that has torch"};

static int cmd_bench_run(struct cli *cli, const struct opts *o, struct err *e)
{
    if (o->n_args == 0 && !opt_has(o, "entry"))
        return FAIL(e, ERR_USAGE,
                    "give a timing_io_signature.json and --stage, or only --entry for a whole "
                    "call; strata bench --help has examples");
    int64_t ns = 0;
    TRY(opt_time_ns(o, "time", 1000000, 86400 * 1000000000LL, &ns, e));
    return python_front_run(&front, cli, o, e);
}

const struct cmd cmd_bench = {
    .name = "bench",
    .summary = "measure one stage alone, or a call in several modes",
    .args = "[SIGNATURE]",
    .about =
        "Runs one stage of a recorded run alone. SIGNATURE is the run's timing_io_signature.json "
        "(or its folder), --entry names the function that returns the pipeline, module or "
        "function, and the stage is found by its annotated name. Inputs are generated from the "
        "signature, or are the real ones of --inputs. Warms up until times are steady, measures "
        "GPU and CPU time separately, checks the stage against the full run, and writes "
        "{stage}_trace.json.gz, {stage}_breakdown.json and profile_{stage}.py, a script that "
        "repeats the measurement.\n"
        "Without SIGNATURE the entry is called as a whole, in the given --modes. --compare runs "
        "two variants alternately, in random order, and says whether their difference is real.",
    .examples = examples,
    .opts = opts,
    .group = GROUP_RECORD,
    .min_args = 0,
    .max_args = 1,
    .run = cmd_bench_run,
};
