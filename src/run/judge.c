/* judge.c - whether what was read may be published (docs/format/outputs.md) */

/*
 * The safeguards around publishing. Before the run: no output may be a file that is read, unless it
 * is the only input and the run may replace it. After it: too many bad records, nothing readable,
 * or an input that would lose something by being rewritten make the run fail, and nothing is
 * published.
 */
#include "run/run_parts.h"

#include "report/mirror.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Note all files, including those found below folders. */
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

enum nd_status nd_run_note_reads(struct nd_run *run, const char *const *paths, size_t n,
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
        status = note_files(&run->outputs.publisher, input, err);
    nd_input_close(input);
    return status;
}

static enum nd_status note_all(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_options *o = run->options;
    enum nd_status status = nd_reading_list(run->reading, err);

    if (status == ND_OK)
        status = note_files(&run->outputs.publisher, nd_reading_input(run->reading), err);
    for (unsigned i = 0; status == ND_OK && run->tables.table[i]; i++)
        if (run->tables.path[i] != o->df_auto)
            status = nd_publisher_read_path(&run->outputs.publisher, run->tables.path[i], err);
    for (size_t i = 0; status == ND_OK && i + o->append < o->n_against; i++)
        status = nd_publisher_read_path(&run->outputs.publisher, o->against[i], err);
    for (size_t i = 0; status == ND_OK && i < o->n_known_sketches; i++)
        status = nd_publisher_read_path(&run->outputs.publisher, o->known_sketches[i], err);
    for (size_t i = 0; status == ND_OK && i < o->n_also_read; i++)
        status = nd_publisher_read_path(&run->outputs.publisher, o->also_read[i], err);
    return status == ND_OK ? nd_run_note_reads(run, run->request->reads, run->request->n_reads, err)
                           : status;
}

/* Check that the file which the output would replace is the only input. */
static enum nd_status check_only(const struct nd_run *run, struct nd_error *err)
{
    const struct nd_input *input = nd_reading_input(run->reading);
    const char *name = run->options->output ? run->options->output : "-";

    for (size_t i = 0; i < nd_input_files(input); i++) {
        const struct nd_file_mark mark = nd_input_file_mark(nd_input_file(input, i));

        if (!nd_file_mark_is_one(&mark, &run->outputs.replaced))
            continue;
        if (nd_input_files(input) == 1)
            return ND_OK;
        return nd_fail(err, ND_EINVAL,
                       "'%s' is one of several inputs and would be replaced by the records of all: "
                       "choose another output",
                       name);
    }
    return nd_fail(err, ND_EINVAL,
                   "'%s' is read by this run and would be overwritten: choose another output",
                   name);
}

/* Find an input that a file of --output-dir would replace. */
static enum nd_status find_mirrored(const struct nd_run *run, const struct nd_input_file **found,
                                    struct nd_error *err)
{
    const struct nd_input *input = nd_reading_input(run->reading);
    enum nd_status status = ND_OK;
    bool would = false;

    for (size_t i = 0; status == ND_OK && !*found && i < nd_input_files(input); i++) {
        const struct nd_input_file *file = nd_input_file(input, i);

        status = nd_mirror_would_replace(run->options->output_dir, file, &would, err);
        *found = would ? file : NULL;
    }
    return status;
}

static bool keeps_others(const struct nd_run *run)
{
    return run->options->force || (run->request->writes_evidence && run->options->removed);
}

/* An input that is replaced loses records: check that this is wanted, or that it can be asked. */
static enum nd_status check_consent(const struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_request *r = run->request;
    const struct nd_input_file *found = NULL;
    enum nd_status status = ND_OK;

    if (keeps_others(run) || run->reporter.to->replace || !r->may_replace || r->is_dry)
        return ND_OK;
    if (run->outputs.replaced.inode)
        found = nd_input_file(nd_reading_input(run->reading), 0);
    else if (r->writes_survivors && run->options->output_dir)
        status = find_mirrored(run, &found, err);
    if (status != ND_OK || !found)
        return status;
    return nd_fail(
        err, ND_EINVAL,
        "'%s' is an input and would be replaced by what is kept of it: %s--force, or choose "
        "another output",
        found->path,
        r->writes_evidence ? "add --removed FILE, which keeps the other records, or " : "add ");
}

enum nd_status nd_run_claim(struct nd_run *run, struct nd_error *err)
{
    const struct nd_run_request *r = run->request;
    const struct nd_run_options *o = run->options;
    const bool has_evidence = r->writes_evidence && !r->is_dry;
    const char *const evidence[] = {r->writes_summary ? o->summary : NULL,
                                    has_evidence || r->writes_manifest ? o->manifest : NULL,
                                    has_evidence ? o->clusters : NULL,
                                    has_evidence ? o->report : NULL,
                                    has_evidence ? o->removed : NULL,
                                    has_evidence ? o->revisit : NULL};
    const char *output = o->output ? o->output : "-";
    enum nd_status status = note_all(run, err);

    if (status == ND_OK)
        status = nd_run_check_counted(run, err);
    if (status == ND_OK)
        status = nd_publisher_claim(&run->outputs.publisher, o->df_auto, NULL, err);
    if (status == ND_OK && o->append)
        status =
            nd_publisher_claim(&run->outputs.publisher, o->against[o->n_against - 1], NULL, err);
    if (status == ND_OK && nd_outputs_has_output(&run->outputs))
        status = nd_publisher_claim(
            &run->outputs.publisher, output,
            r->may_replace && !run->sketches ? &run->outputs.replaced : NULL, err);
    for (size_t i = 0; status == ND_OK && i < sizeof evidence / sizeof *evidence; i++)
        status = nd_publisher_claim(&run->outputs.publisher, evidence[i], NULL, err);
    if (status == ND_OK && run->outputs.replaced.inode)
        status = check_only(run, err);
    return status == ND_OK ? check_consent(run, err) : status;
}

typedef unsigned __int128 wide;

/* Whether too many of the records are bad. `one`: a single bad record is always allowed. */
static bool too_many(uint64_t bad, uint64_t records, struct nd_ratio max, bool one)
{
    if (one && bad <= 1 && max.p)
        return false;
    return (wide)bad * max.q > (wide)records * max.p;
}

static enum nd_status refuse_bad(const struct nd_run *run, const char *of, uint64_t bad,
                                 uint64_t records, struct nd_ratio max, struct nd_error *err)
{
    return nd_fail(err, ND_EINPUT,
                   "%s%s%" PRIu64 " of %" PRIu64 " records %s bad, more than --max-bad %.4g; the "
                   "first: %s",
                   of ? of : "", of ? " would be replaced, and " : "", bad, records,
                   bad == 1 ? "is" : "are", (double)max.p / (double)max.q, run->reporter.first_bad);
}

static enum nd_status judge_replaced(const struct nd_run *run, const struct nd_input_file *f,
                                     struct nd_error *err)
{
    const struct nd_ratio none = {0, 1},
                          max = run->options->max_bad.q ? run->options->max_bad : none;

    if (!nd_input_file_is_whole(f))
        return nd_fail(err, ND_EINPUT, "%s: could not be read to its end, so it is not replaced",
                       f->path);
    if (f->lacks_rewritten)
        return nd_fail(err, ND_EINPUT, "%s: is not replaced, because %s would be lost", f->path,
                       f->lacks_rewritten);
    if (too_many(f->bad_records, f->records, max, false))
        return refuse_bad(run, f->path, f->bad_records, f->records, max, err);
    return ND_OK;
}

static enum nd_status judge_bad(struct nd_run *run, struct nd_error *err)
{
    const struct nd_ratio usual = {1, 20},
                          max = run->options->max_bad.q ? run->options->max_bad : usual;
    const struct nd_input *input = nd_reading_input(run->reading);
    uint64_t bad = 0, records = 0;

    if (run->outputs.hands_on_bad)
        return ND_OK;
    for (size_t i = 0; i < nd_input_files(input); i++) {
        bad += nd_input_file(input, i)->bad_records;
        records += nd_input_file(input, i)->records;
    }
    if (too_many(bad, records, max, true))
        return refuse_bad(run, NULL, bad, records, max, err);
    run->summary->left_out = run->options->max_bad.q ? 0 : run->summary->bad_records;
    return ND_OK;
}

static bool writes_summary_alone(const struct nd_run *run)
{
    return run->request->is_rehearsal && run->request->writes_summary;
}

/* The output that an empty input would leave empty. */
static const char *result_name(const struct nd_run *run)
{
    const struct nd_run_options *o = run->options;
    const char *name = writes_summary_alone(run) ? o->summary : o->output;

    return name ? name : "-";
}

static bool writes_result(const struct nd_run *run)
{
    return (nd_outputs_has_output(&run->outputs) || writes_summary_alone(run)) &&
           !run->outputs.hands_on_bad && !run->options->input.part.of &&
           !run->outputs.replaced.inode;
}

/* Nothing was read: check whether the inputs are really empty. */
static enum nd_status judge_nothing(struct nd_run *run, struct nd_error *err)
{
    const struct nd_input *input = nd_reading_input(run->reading);
    const char *name = result_name(run);
    bool is_skipped = false;

    for (size_t i = 0; i < nd_input_files(input); i++)
        is_skipped |= nd_input_file(input, i)->state == ND_READ_SKIPPED;
    nd_reporter_tell_others(&run->reporter);
    if (run->summary->bad_records && !run->outputs.hands_on_bad)
        return nd_fail(err, ND_EINPUT, "no record could be read as a document; the first: %s",
                       run->reporter.first_bad);
    if (run->summary->failed_inputs)
        return nd_fail(err, ND_EINPUT, "no input could be read; the first: %s",
                       run->reporter.failed_input);
    if (is_skipped)
        return nd_fail(err, ND_EINPUT, "no file contains text");
    if (run->outputs.replaced.inode && !nd_input_sources(input))
        return nd_fail(err, ND_EINPUT, "%s: contains no documents, so it is not replaced",
                       nd_input_file(input, 0)->path);
    if (writes_result(run) && nd_output_descriptor(name) < 0 && nd_file_mark_at(name).bytes)
        return nd_fail(err, ND_EINPUT,
                       "the input has no documents, and '%s' is not empty, so it is not replaced",
                       name);
    return ND_OK;
}

enum nd_status nd_run_judge(struct nd_run *run, struct nd_error *err)
{
    const struct nd_input *input = nd_reading_input(run->reading);
    enum nd_status status = nd_reporter_check(&run->reporter, err);

    if (status == ND_OK && !run->summary->documents)
        status = judge_nothing(run, err);
    if (status == ND_OK && run->outputs.replaced.inode)
        status = judge_replaced(run, nd_input_file(input, 0), err);
    return status == ND_OK && !run->request->is_rehearsal ? judge_bad(run, err) : status;
}

enum nd_status nd_run_judge_mirror(const struct nd_run *run, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    const struct nd_input_file *f;

    if (!run->outputs.survivors)
        return ND_OK;
    for (size_t i = 0; status == ND_OK && (f = nd_survivors_replaced(run->outputs.survivors, i));
         i++)
        if (nd_input_file_is_whole(f)) /* otherwise it is not replaced */
            status = judge_replaced(run, f, err);
    return status;
}

static void count_replaced(struct nd_run_replaced *r, const struct nd_input_file *f)
{
    if (!r->inputs++)
        snprintf(r->first, sizeof r->first, "%s", f->path);
    r->records += f->records;
    r->gone += f->records - f->kept_records;
}

enum nd_status nd_run_ask(struct nd_run *run, struct nd_error *err)
{
    struct nd_run_replaced *replaced = &run->summary->replaced;
    const struct nd_run_events *to = run->reporter.to;
    const struct nd_input_file *f;

    if (run->outputs.replaced.inode)
        count_replaced(replaced, nd_input_file(nd_reading_input(run->reading), 0));
    for (size_t i = 0;
         run->outputs.survivors && (f = nd_survivors_replaced(run->outputs.survivors, i)); i++)
        if (nd_input_file_is_whole(f))
            count_replaced(replaced, f);
    if (!replaced->gone || keeps_others(run) || !to->replace || to->replace(to->context, replaced))
        return ND_OK;
    return nd_fail(err, ND_ECANCELLED, "%s: is not replaced", replaced->first);
}
