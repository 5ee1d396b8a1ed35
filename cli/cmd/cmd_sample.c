/* cmd_sample.c - neardup sample: pairs drawn for people to judge, and the page to judge them on */
#include "figure_file.h"

#include <inttypes.h>
#include <stdlib.h>

static bool fits(const struct settings *s)
{
    if (s->paths.count != 1) {
        say("sample needs one file of pairs, or - for standard input; see neardup help sample");
        return false;
    }
    if (s->use.page && s->use.sample.only_plans) {
        say("--dry-run writes no page");
        return false;
    }
    if (is_given(s, "size") && is_given(s, "half-width")) {
        say("only one of --size and --half-width can be given");
        return false;
    }
    return true;
}

static void say_drawn(const struct settings *s, const struct nd_sample_summary *x)
{
    const struct nd_ratio *expected = &s->use.sample.expected;

    if (s->use.sample.recalls)
        fprintf(stderr,
                "%" PRIu64 " of %" PRIu64 " documents drawn; %" PRIu64 " have pairs, %" PRIu64
                " to judge\n",
                x->documents_drawn, x->documents, x->documents_paired, x->drawn);
    else
        fprintf(stderr,
                "%" PRIu64 " of %" PRIu64 " pairs to judge, from %" PRIu64
                " %s: the share of right "
                "ones to within %.1f%%, if it is %.0f%%\n",
                x->drawn, x->pairs, x->strata, x->strata == 1 ? "stratum" : "strata",
                100 * x->half_width, 100.0 * expected->p / expected->q);
}

static int draw(struct settings *s, struct results *to, struct results *page)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary = {.found = 1};
    struct nd_sample_summary drawn;
    struct nd_error err;
    enum nd_status status =
        nd_run_sample(s->run, &s->use.sample, &events, to->file, page->file, &drawn, &err);

    report_end(&report);
    if (status == ND_OK && !s->quiet)
        say_drawn(s, &drawn);
    return report_use(s, status, &err, &summary);
}

/* Open the rows and the page, which must be neither what is read nor each other. */
static bool open_outputs(struct settings *s, struct words *reads, struct results *to,
                         struct results *page)
{
    bool good = words_add(reads, s->use.sample.pairs);

    for (size_t i = 0; good && i < s->use.documents.count; i++)
        good = words_add(reads, s->use.documents.at[i]);
    if (!good || !open_figure(page, s->use.page, s, reads))
        return false;
    if ((!s->use.page || words_add(reads, s->use.page)) &&
        results_open(to, run_option(s, "output"), reads->at, reads->count))
        return true;
    if (page->file)
        (void)results_close(page, 2);
    return false;
}

int cmd_sample(struct settings *s)
{
    struct words reads = {NULL, 0};
    struct results to = {.file = NULL}, page = {.file = NULL};
    int status = 2;

    if (!fits(s))
        return 2;
    s->use.sample.pairs = s->paths.at[0];
    s->use.sample.seed = s->use.eval.seed;
    if ((!s->use.documents.count ||
         run_reads(s->run, s->use.documents.at, s->use.documents.count)) &&
        open_outputs(s, &reads, &to, &page)) {
        status = results_close(&to, draw(s, &to, &page));
        if (page.file)
            status = results_close(&page, status);
    }
    free(reads.at);
    return status;
}
