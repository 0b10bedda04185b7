/* test_to_csv.c: the table to the byte, quoting, and cells that would run as formulas. */
#include "export/export.h"
#include "kit.h"
#include "scratch.h"

static struct buf written(struct trace *t, const struct export_options *o)
{
    struct buf text = {0};
    struct file_map f;
    CHECK_EQ_INT(export_find("csv")->write(t, scratch("out.csv"), o, NULL), 0);
    if (file_map(&f, scratch("out.csv"), NULL) == 0) {
        buf_add(&text, f.p, f.n);
        file_unmap(&f);
    }
    return text;
}

static const char head[] =
    "row,ts_ns,dur_ns,name,category,kind,phase,pid,tid,lane,lane_name,device,stream,parent,depth,"
    "correlation,external_id,launch_row,bytes,grid,block,registers,shared_bytes,occupancy_pct,"
    "input_dims,pid_text,tid_text";

static void check_csv(struct trace *t, bool with_args, const char *want)
{
    struct export_options o = {.n_threads = 1, .with_args = with_args};
    struct buf text = written(t, &o), expected = {0};
    buf_printf(&expected, "%s%s\r\n%s", head, with_args ? ",args" : "", want);
    CHECK_EQ_STR(buf_c(&text), buf_c(&expected));
    buf_done(&text);
    buf_done(&expected);
    trace_free(t);
}

TEST(to_the_byte)
{
    struct kit k = kit_begin();
    kit_label(&k, "step", 0, 100);
    kit_launch(&k, 1, "gemm", 20, 50);
    kit_memory(&k, 3, -1024, 2048, 4096);
    check_csv(
        kit_end(&k), false,
        "0,0,100000,\"step\",\"user_annotation\",\"user_annotation\",\"X\",100,1,0,,,,,0,,,,,,,,,,,"
        ",\r\n"
        "1,1000,5000,\"cudaLaunchKernel\",\"cuda_runtime\",\"cuda_runtime\",\"X\",100,1,0,,,,"
        "0,1,1,,,,,,,,,,,\r\n"
        "2,3000,0,\"[memory]\",\"memory\",\"memory\",\"i\",100,1,0,,,,1,2,,,,-1024,,,,,,,,\r\n"
        "3,20000,50000,\"gemm\",\"kernel\",\"kernel\",\"X\",0,7,1,,0,7,,0,1,,1,,,,0,0,,,,\r\n");
}

TEST(every_line_has_every_cell)
{
    struct kit k = kit_begin();
    kit_python(&k, "f.py(1): f", 0, 100);
    kit_op(&k, "op", 1, 5);
    kit_launch(&k, 7, "gemm", 20, 50);
    kit_work(&k, KIND_MEMCPY, "copy", 90, 5);
    kit_memory(&k, 3, 1, 2, 3);
    kit_row(&k, KIND_INSTANT, "mark", 4, 0, NULL);
    struct trace *t = kit_end(&k);
    struct export_options o = {.n_threads = 1};
    struct buf text = written(t, &o);
    int commas = 0, lines = 0;
    for (size_t i = 0; i < text.n; i++) {
        commas += text.p[i] == ',';
        if (text.p[i] != '\n') continue;
        CHECK_EQ_INT(commas, 26);
        commas = 0;
        lines++;
    }
    CHECK_EQ_INT(lines, 8);
    buf_done(&text);
    trace_free(t);
}

TEST(quotes_and_formulas)
{
    struct kit k = kit_begin();
    kit_row(&k, KIND_INSTANT, "a,b \"c\"\nd", 0, 0, NULL);
    kit_row(&k, KIND_INSTANT, "=cmd|' /C calc'!A1", 1, 0, NULL);
    kit_row(&k, KIND_INSTANT, "@x,y", 2, 0, NULL);
    kit_row(&k, KIND_INSTANT, "bad \xff byte", 3, 0, NULL);
    check_csv(
        kit_end(&k), true,
        "0,0,0,\"a,b \"\"c\"\"\nd\",\"instant\",\"instant\",\"i\",100,1,0,,,,,0,,,,,,,,,,,,,\r\n"
        "1,1000,0,\"'=cmd|' /C "
        "calc'!A1\",\"instant\",\"instant\",\"i\",100,1,0,,,,,0,,,,,,,,,,,,,\r\n"
        "2,2000,0,\"'@x,y\",\"instant\",\"instant\",\"i\",100,1,0,,,,,0,,,,,,,,,,,,,\r\n"
        "3,3000,0,\"bad \xef\xbf\xbd "
        "byte\",\"instant\",\"instant\",\"i\",100,1,0,,,,,0,,,,,,,,,,,,,\r\n");
}

TEST(args)
{
    struct kit k = kit_begin();
    kit_call(&k, "cudaLaunchKernel", 1, 2);
    check_csv(kit_end(&k), true,
              "0,1000,2000,\"cudaLaunchKernel\",\"cuda_runtime\",\"cuda_runtime\",\"X\",100,1,0,,,,"
              ",0,1,,,,,,,,,,,,"
              "\"{\"\"correlation\"\":1}\"\r\n");
}

static int write_oom(void *ctx)
{
    struct export_options o = {.n_threads = 1, .with_args = true};
    return export_find("csv")->write(ctx, scratch("oom.csv"), &o, NULL);
}

TEST(out_of_memory)
{
    struct kit k = kit_begin();
    kit_launch(&k, 1, "bad \xff byte", 20, 50);
    struct trace *t = kit_end(&k);
    scratch_clear();
    CHECK_EVERY_ALLOC(write_oom, t);
    CHECK_EQ_INT(scratch_count(), 1);
    trace_free(t);
}

TEST_MAIN
