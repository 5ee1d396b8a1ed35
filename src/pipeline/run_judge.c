/* run_judge.c - whether what was read may be published (docs/format/outputs.md) */
#include "pipeline/run_state.h"

#include <inttypes.h>
#include <string.h>

/* Files below folders among them. */
static enum nd_status note_files(struct nd_publisher *publisher, const struct nd_input *input,
                                 struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (size_t i = 0; status == ND_OK && i < nd_input_files(input); i++) {
        const struct nd_file_mark mark = nd_input_file_mark(nd_input_file(input, i));

        status = nd_publisher_read(publisher, &mark, err);
    }
    return status;
}

/* What is read beside the inputs: files and folders. */
static enum nd_status note_reads(struct nd_run *run, const char *const *paths, size_t n,
                                 struct nd_error *err)
{
    struct nd_input *input;
    enum nd_status status;

    if (!n)
        return ND_OK;
    input = nd_input_open(paths, n, &run->input, NULL, NULL, err);
    if (!input)
        return err->status;
    status = nd_input_list(input, err);
    if (status == ND_OK)
        status = note_files(&run->publisher, input, err);
    nd_input_close(input);
    return status;
}

static enum nd_status note_all(struct nd_run *run, const struct nd_run_files *files,
                               struct nd_error *err)
{
    const struct nd_run_options *o = run->options;
    enum nd_status status = nd_reading_list(run->reading, err);

    if (status == ND_OK)
        status = note_files(&run->publisher, nd_reading_input(run->reading), err);
    for (unsigned i = 0; status == ND_OK && run->table[i]; i++)
        status = nd_publisher_read_path(&run->publisher, run->table_path[i], err);
    for (size_t i = 0; status == ND_OK && i < o->n_also_read; i++)
        status = nd_publisher_read_path(&run->publisher, o->also_read[i], err);
    return status == ND_OK ? note_reads(run, files->reads, files->n_reads, err) : status;
}

/* What stands where the output goes is the only input. */
static enum nd_status check_only(const struct nd_run *run, struct nd_error *err)
{
    const struct nd_input *input = nd_reading_input(run->reading);
    const char *name = run->options->output;

    for (size_t i = 0; i < nd_input_files(input); i++) {
        const struct nd_file_mark mark = nd_input_file_mark(nd_input_file(input, i));

        if (!nd_file_mark_is_one(&mark, &run->replaced))
            continue;
        if (nd_input_files(input) == 1)
            return ND_OK;
        return nd_fail(err, ND_EINVAL,
                       "'%s' is one of several inputs, and would be replaced by records of all: "
                       "write elsewhere",
                       name);
    }
    return nd_fail(err, ND_EINVAL, "'%s' is read by this run, and would be lost: write elsewhere",
                   name);
}

enum nd_status nd_run_claim(struct nd_run *run, const struct nd_run_files *files,
                            struct nd_error *err)
{
    const struct nd_run_options *o = run->options;
    const char *const evidence[] = {o->summary, o->dry_run ? NULL : o->manifest,
                                    o->dry_run ? NULL : o->clusters,
                                    o->dry_run ? NULL : o->removed};
    const char *output = o->output ? o->output : "-";
    enum nd_status status = note_all(run, files, err);

    if (status == ND_OK && files->writes_output)
        status = nd_publisher_claim(&run->publisher, output,
                                    files->may_replace ? &run->replaced : NULL, err);
    for (size_t i = 0; status == ND_OK && i < sizeof evidence / sizeof *evidence; i++)
        status = nd_publisher_claim(&run->publisher, evidence[i], NULL, err);
    run->writes_output = files->writes_output;
    run->may_replace = files->may_replace;
    return status == ND_OK && run->replaced.inode ? check_only(run, err) : status;
}

/* Of so many records; `one`: of few records one may be bad. */
static bool too_many(uint64_t bad, uint64_t records, struct nd_ratio most, bool one)
{
    if (one && bad <= 1 && most.p)
        return false;
    return (double)bad * (double)most.q > (double)records * (double)most.p;
}

static enum nd_status refuse_bad(const struct nd_run *run, const char *of, uint64_t bad,
                                 uint64_t records, struct nd_ratio most, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT,
                   "%s%s%" PRIu64 " of %" PRIu64 " records %s bad, more than --max-bad %.4g; the "
                   "first: %s",
                   of ? of : "", of ? " would be replaced, and " : "", bad, records,
                   bad == 1 ? "is" : "are", (double)most.p / (double)most.q, run->first_bad);
}

static enum nd_status judge_replaced(const struct nd_run *run, const struct nd_input_file *f,
                                     struct nd_error *err)
{
    const struct nd_ratio none = {0, 1},
                          most = run->options->max_bad.q ? run->options->max_bad : none;

    if (!nd_input_file_is_whole(f))
        return nd_fail(err, ND_EINPUT,
                       "%s: could not be read to its end, and is not replaced by what was read of "
                       "it",
                       f->path);
    if (f->lacks_rewritten)
        return nd_fail(err, ND_EINPUT, "%s: is not replaced: %s would be lost", f->path,
                       f->lacks_rewritten);
    if (too_many(f->bad_records, f->records, most, false))
        return refuse_bad(run, f->path, f->bad_records, f->records, most, err);
    return ND_OK;
}

static enum nd_status judge_bad(struct nd_run *run, struct nd_error *err)
{
    const struct nd_ratio usual = {1, 20},
                          most = run->options->max_bad.q ? run->options->max_bad : usual;
    const struct nd_input *input = nd_reading_input(run->reading);
    uint64_t bad = 0, records = 0;

    if (run->hands_on_bad)
        return ND_OK;
    for (size_t i = 0; i < nd_input_files(input); i++) {
        bad += nd_input_file(input, i)->bad_records;
        records += nd_input_file(input, i)->records;
    }
    if (too_many(bad, records, most, true))
        return refuse_bad(run, NULL, bad, records, most, err);
    run->summary->left_out = run->options->max_bad.q ? 0 : run->summary->bad_records;
    return ND_OK;
}

/* Nothing was read: whether that is what the inputs hold. */
static enum nd_status judge_nothing(const struct nd_run *run, struct nd_error *err)
{
    const struct nd_input *input = nd_reading_input(run->reading);
    const char *name = run->options->output ? run->options->output : "-";
    bool is_skipped = false;

    for (size_t i = 0; i < nd_input_files(input); i++)
        is_skipped |= nd_input_file(input, i)->state == ND_READ_SKIPPED;
    if (run->summary->bad_records && !run->hands_on_bad)
        return nd_fail(err, ND_EINPUT, "no record could be read as a document; the first: %s",
                       run->first_bad);
    if (run->summary->failed_inputs)
        return nd_fail(err, ND_EINPUT, "no input could be read");
    if (is_skipped)
        return nd_fail(err, ND_EINPUT, "no file holds text");
    if (run->replaced.inode && !nd_input_sources(input))
        return nd_fail(err, ND_EINPUT, "%s: holds no document, and is not replaced",
                       nd_input_file(input, 0)->path);
    if (run->writes_output && !run->hands_on_bad && !run->replaced.inode &&
        nd_output_descriptor(name) < 0 && nd_file_mark_at(name).bytes)
        return nd_fail(err, ND_EINPUT,
                       "there is no document in the input, and '%s' is not empty: it is not "
                       "replaced by nothing",
                       name);
    return ND_OK;
}

enum nd_status nd_run_judge(struct nd_run *run, struct nd_error *err)
{
    const struct nd_input *input = nd_reading_input(run->reading);
    enum nd_status status = nd_run_check_strict(run, err);

    if (status == ND_OK && !run->summary->documents)
        status = judge_nothing(run, err);
    if (status == ND_OK && run->replaced.inode)
        status = judge_replaced(run, nd_input_file(input, 0), err);
    return status == ND_OK ? judge_bad(run, err) : status;
}

enum nd_status nd_run_judge_mirror(const struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    const struct nd_input_file *f;

    if (!run->survivors)
        return ND_OK;
    for (size_t i = 0; status == ND_OK && (f = nd_survivors_replaced(run->survivors, i)); i++)
        if (nd_input_file_is_whole(f)) /* else it is not replaced */
            status = judge_replaced(run, f, err);
    return status;
}
