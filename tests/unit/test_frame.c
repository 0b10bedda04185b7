/* test_frame.c: names of Python frames, as torch writes them and as hostile input may. */
#include "test.h"

#include "analyze/names/frame.h"

static struct str shown(const char *file)
{
    return frame_path(str_c(file));
}

TEST(takes_a_name_apart)
{
    struct frame f;
    REQUIRE(frame_parse(str_c("diffusers/schedulers/unipc.py(1100): index_for_timestep"), &f));
    CHECK_EQ_BYTES(f.file, "diffusers/schedulers/unipc.py");
    CHECK_EQ_BYTES(f.function, "index_for_timestep");
    CHECK_EQ_INT(f.line, 1100);
}

TEST(finds_the_line_from_the_right)
{
    struct frame f;
    REQUIRE(frame_parse(str_c("/home/x (old)/a(2): b/run.py(7): <lambda>"), &f));
    CHECK_EQ_BYTES(f.file, "/home/x (old)/a(2): b/run.py");
    CHECK_EQ_BYTES(f.function, "<lambda>");
    CHECK_EQ_INT(f.line, 7);
}

TEST(other_names_are_not_frames)
{
    static const char *const names[] = {
        "",           "aten::add", "nn.Module: Linear_0",  "<built-in function len>",
        "a.py(): f",  "(1): f",    "a.py(x1): f",          "a.py(1):f",
        "a.py 1): f", "): ",       "a.py(99999999999): f",
    };
    struct frame f;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!CHECK(!frame_parse(str_c(names[i]), &f))) printf("  for \"%s\"\n", names[i]);
}

TEST(paths_start_at_the_package)
{
    CHECK_EQ_BYTES(shown("/opt/venv/lib/python3.12/site-packages/diffusers/a.py"),
                   "diffusers/a.py");
    CHECK_EQ_BYTES(shown("/usr/lib/python3/dist-packages/yaml/loader.py"), "yaml/loader.py");
    CHECK_EQ_BYTES(shown("/home/me/diffusers/src/diffusers/pipe.py"), "diffusers/pipe.py");
    CHECK_EQ_BYTES(shown("C:\\py\\Lib\\site-packages\\torch\\nn.py"), "torch\\nn.py");
    CHECK_EQ_BYTES(shown("/usr/lib/python3.12/json/decoder.py"), "json/decoder.py");
    CHECK_EQ_BYTES(shown("jax/_src/lib/x.py"), "jax/_src/lib/x.py");
    CHECK_EQ_BYTES(shown("/srv/app/pipe.py"), "/srv/app/pipe.py");
    CHECK_EQ_BYTES(shown("pipe.py"), "pipe.py");
}

static enum frame_class class_of(const char *name)
{
    return frame_class(str_c(name));
}

TEST(tells_whose_code_it_is)
{
    CHECK_EQ_INT(class_of("diffusers/pipelines/wan/pipeline_wan.py(381): __call__"), FRAME_USER);
    CHECK_EQ_INT(class_of("/srv/app/torch_tools/pipe.py(3): run"), FRAME_USER);
    CHECK_EQ_INT(class_of("pipes.py(53): w"), FRAME_USER); /* also a module of old Pythons */
    CHECK_EQ_INT(class_of("<ipython-input-3-ab>(1): <module>"), FRAME_USER);
    CHECK_EQ_INT(class_of("torch/nn/modules/module.py(1783): _call_impl"), FRAME_LIBRARY);
    CHECK_EQ_INT(class_of("/x/site-packages/torch/_tensor.py(9): f"), FRAME_LIBRARY);
    CHECK_EQ_INT(class_of("triton/runtime/jit.py(5): run"), FRAME_LIBRARY);
    CHECK_EQ_INT(class_of("build/python/strata/_stage.py(48): wrapper"), FRAME_RECORDER);
    CHECK_EQ_INT(class_of("/x/site-packages/strata/_hooks.py(91): _enter"), FRAME_RECORDER);
    CHECK_EQ_INT(class_of("strata\\_stage.py(48): wrapper"), FRAME_RECORDER);
    CHECK_EQ_INT(class_of("/srv/strata_tools/_stage.py(4): wrapper"), FRAME_USER);
    CHECK_EQ_INT(class_of("my_strata/_stage.py(4): wrapper"), FRAME_USER);
    CHECK_EQ_INT(class_of("/home/me/strata/pipe.py(4): main"), FRAME_USER);
    CHECK_EQ_INT(class_of("contextlib.py(141): __exit__"), FRAME_STDLIB);
    CHECK_EQ_INT(class_of("/usr/lib/python3.12/timeit.py(1): f"), FRAME_STDLIB);
    CHECK_EQ_INT(class_of("<frozen importlib._bootstrap>(1349): f"), FRAME_STDLIB);
    CHECK_EQ_INT(class_of("<string>(2): __init__"), FRAME_STDLIB);
    CHECK_EQ_INT(class_of("/tmp/torchinductor_me/4w/c4w.py(90): call"), FRAME_GENERATED);
    CHECK_EQ_INT(class_of("/c/4o/c4ooo4csqdiwd5p5grz5gfpimgyidret2mhyj3o46g7f72cnyhkj.py(9): call"),
                 FRAME_GENERATED);
    CHECK_EQ_INT(class_of("/c/4x/c4ooo4csqdiwd5p5grz5gfpimgyidret2mhyj3o46g7f72cnyhkj.py(9): call"),
                 FRAME_USER);
    CHECK_EQ_INT(class_of("c4.py(9): call"), FRAME_USER);
    CHECK_EQ_INT(class_of("torch/profiler/profiler.py(872): start"), FRAME_PROFILER);
    CHECK_EQ_INT(class_of("torch/autograd/profiler.py(403): __exit__"), FRAME_PROFILER);
    CHECK_EQ_INT(class_of("<built-in function len>"), FRAME_BUILTIN);
    CHECK_EQ_INT(class_of("nn.Module: Linear_0"), FRAME_MODULE);
}

TEST(names_functions_in_c)
{
    struct frame_builtin b;
    REQUIRE(frame_builtin(str_c("<built-in method nonzero of Tensor object at 0x7f3b>"), &b));
    CHECK_EQ_BYTES(b.method, "nonzero");
    CHECK_EQ_BYTES(b.owner, "Tensor");
    REQUIRE(frame_builtin(str_c("<built-in function _cuda_synchronize>"), &b));
    CHECK_EQ_BYTES(b.method, "_cuda_synchronize");
    CHECK_EQ_BYTES(b.owner, "");
    CHECK(!frame_builtin(str_c("pipe.py(1): f"), &b));
    /* extensions made with pybind11 keep the names of their functions to themselves */
    REQUIRE(frame_builtin(
        str_c("<built-in method  of pybind11_builtins.pybind11_record_abi_1 object at 0x7f92>"),
        &b));
    CHECK_EQ_BYTES(b.method, "(a C++ function)");
    CHECK_EQ_INT(b.owner.n, 0);
    CHECK(!frame_builtin(str_c("<built-in method "), &b));
}

TEST_MAIN
