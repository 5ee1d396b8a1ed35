/* commands.c - the table of commands; those that are one call of the library */
#include "base/system/descriptor.h"
#include "base/system/naming.h"
#include "report.h"

#include <neardup/result_file.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Without a path, read the standard input, unless it is a terminal. */
bool use_standard_input(struct settings *s)
{
    if (!s->paths.count && nd_descriptor_is_terminal(0)) {
        say("no input: name files or folders, or - for standard input");
        return false;
    }
    if (!s->paths.count && !words_add(&s->paths, "-"))
        return false;
    return run_reads(s->run, s->paths.at, s->paths.count);
}

/*
 * ---- Commands that are one function of <neardup/uses.h> -----------------------------------------
 *
 * Each is a row of the table: what refuses options that do not fit together, and the call, which
 * leaves in summary->found what the exit status depends on.
 */

static int run_use(const struct command *command, struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary = {.found = 0};
    struct nd_error err;
    enum nd_status status;

    if ((command->fits && !command->fits(s)) || !use_standard_input(s))
        return 2;
    status = command->use(s, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK)
        report_replaced(s, &summary);
    return report_use(s, status, &err, &summary);
}

static int run_summarised(const struct command *command, struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s))
        return 2;
    status = command->summarised(s, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK && !s->quiet)
        print_summary(&summary);
    return report_run(s, status, &err, &summary, !summary.lists_pairs || summary.pairs > 0);
}

int run_command(const struct command *command, struct settings *s)
{
    return command->use          ? run_use(command, s)
           : command->summarised ? run_summarised(command, s)
                                 : command->run(s);
}

static enum nd_status use_anchors(const struct settings *s, const struct nd_run_events *events,
                                  struct nd_use_summary *summary, struct nd_error *err)
{
    return nd_run_anchors(s->run, &s->use.anchors, events, summary, err);
}

static bool anchors_fits(const struct settings *s)
{
    if (s->paths.count == 0)
        say("anchors needs files or folders: it reads them three times");
    return s->paths.count > 0;
}

static enum nd_status use_collapse(const struct settings *s, const struct nd_run_events *events,
                                   struct nd_use_summary *summary, struct nd_error *err)
{
    enum nd_status status = nd_run_collapse(s->run, &s->use.collapse, events, summary, err);

    summary->found = summary->documents;
    return status;
}

static enum nd_status use_mirrors(const struct settings *s, const struct nd_run_events *events,
                                  struct nd_use_summary *summary, struct nd_error *err)
{
    return nd_run_mirrors(s->run, &s->use.mirrors, events, summary, err);
}

static bool perturb_fits(const struct settings *s)
{
    const bool fits = is_given(s, "insert") || is_given(s, "delete") || is_given(s, "swap") ||
                      is_given(s, "replace");

    if (!fits)
        say("no edits: give --insert, --delete, --swap or --replace");
    return fits;
}

static enum nd_status use_perturb(const struct settings *s, const struct nd_run_events *events,
                                  struct nd_use_summary *summary, struct nd_error *err)
{
    struct nd_perturb_params params = s->use.perturb;
    enum nd_status status;

    params.seed = s->use.eval.seed;
    status = nd_run_perturb(s->run, &params, events, summary, err);
    summary->found = summary->documents;
    return status;
}

/* ---- repeats, which has counts of its own ------------------------------------------------------ */

/* Print the domains that lost most. */
static void print_domains(const struct nd_repeats_summary *r)
{
    enum { SHOWN = 10 };
    char cut[32];

    if (!r->n_domains || !r->domain[0].cut_bytes)
        return;
    fprintf(stderr, "Most was cut of\n");
    for (size_t i = 0; i < r->n_domains && i < SHOWN && r->domain[i].cut_bytes; i++) {
        const struct nd_repeats_domain *d = &r->domain[i];

        fprintf(stderr, "  %-24s %12s  %.2f %%, in %llu of %llu documents\n", d->name,
                bytes_text((double)d->cut_bytes, cut),
                100 * (double)d->cut_bytes / (double)d->text_bytes, (unsigned long long)d->changed,
                (unsigned long long)d->documents);
    }
}

static void print_repeats(const struct nd_repeats_summary *r, const struct nd_use_summary *s)
{
    char text[32], cut[32];

    fprintf(stderr, "Documents\n  %-24s %12llu\n  %-24s %12llu\n  %-24s %12llu\n", "read",
            (unsigned long long)s->documents, "of which parts were cut",
            (unsigned long long)r->changed, "no word is left", (unsigned long long)r->emptied);
    fprintf(stderr, "Texts\n  %-24s %12s\n  %-24s %12s  %.2f %%\n", "read",
            bytes_text((double)r->text_bytes, text), "cut", bytes_text((double)r->cut_bytes, cut),
            r->text_bytes ? 100 * (double)r->cut_bytes / (double)r->text_bytes : 0.0);
    print_domains(r);
}

/* Copy all that a pipe gives to a file without a name.  Negative: it cannot be written. */
static int copy_pipe(int from, const char *folder)
{
    const int file = nd_descriptor_scratch(folder);
    bool ok = file >= 0;
    char piece[1 << 16];
    ssize_t got = 1;

    while (ok && got > 0) {
        got = nd_descriptor_read(from, piece, sizeof piece);
        ok = got >= 0 && nd_descriptor_write(file, piece, (size_t)got);
    }
    if (ok && nd_descriptor_seek(file, 0))
        return file;
    if (file >= 0)
        (void)nd_descriptor_close(file);
    return -1;
}

/* Return the descriptor of an input that is already open: the standard input, and <(…), which is
 * /dev/fd/63.  Negative: it is a name. */
static int open_input(const char *path)
{
    return strcmp(path, "-") == 0 ? 0 : nd_path_descriptor(path);
}

/* Have a file take the place of each pipe that is already open, so that it can be read twice. */
static bool hold_pipes(const struct settings *s)
{
    const char *const folder = nd_run_options_get(s->run, "tmp", 0);
    struct nd_file_about about;

    for (size_t i = 0; i < s->paths.count; i++) {
        const int open = open_input(s->paths.at[i]);
        int file;

        if (open < 0 || !nd_descriptor_about(open, &about) || about.kind != ND_FILE_PIPE)
            continue;
        file = copy_pipe(open, folder);
        if (file < 0 || nd_descriptor_replace(open, file) != 0) {
            say("%s: cannot be copied to a file in %s: %s", s->paths.at[i], folder,
                strerror(errno));
            return false;
        }
        (void)nd_descriptor_close(file);
    }
    return true;
}

static int cmd_repeats(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_repeats_summary repeats;
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!use_standard_input(s) || !hold_pipes(s))
        return 2;
    status = nd_run_repeats(s->run, &s->use.repeats, &events, &repeats, &summary, &err);
    report_end(&report);
    if (status == ND_OK && !s->quiet)
        print_repeats(&repeats, &summary);
    summary.found = summary.documents;
    return report_use(s, status, &err, &summary);
}

static enum nd_status use_template(const struct settings *s, const struct nd_run_events *events,
                                   struct nd_use_summary *summary, struct nd_error *err)
{
    return nd_run_template(s->run, &s->use.template, events, summary, err);
}

static bool template_fits(const struct settings *s)
{
    bool fits = !s->use.template.cluster == !s->use.template.clusters;

    if (!fits)
        say("--cluster and --clusters FILE must be given together; see neardup help template");
    return fits;
}

static enum nd_status use_track(const struct settings *s, const struct nd_run_events *events,
                                struct nd_use_summary *summary, struct nd_error *err)
{
    enum nd_status status = nd_run_track(s->run, &s->use.track, events, summary, err);

    summary->found = summary->documents;
    return status;
}

static bool track_fits(const struct settings *s)
{
    const struct nd_track_params *p = &s->use.track;

    if (p->duplicate_score && !p->plan)
        say("--duplicates requires --plan; see neardup help track");
    else if (p->max_age && (!p->duplicate_score || !p->time))
        say("--max-age requires --duplicates, --plan and --time; see neardup help track");
    else
        return true;
    return false;
}

static enum nd_status use_audit(const struct settings *s, const struct nd_run_events *events,
                                struct nd_use_summary *summary, struct nd_error *err)
{
    struct nd_audit_params params = s->use.audit;
    enum nd_status status;

    params.json = s->use.json;
    status = nd_run_audit(s->run, &params, events, summary, err);
    summary->found = 1;
    return status;
}

static bool audit_fits(const struct settings *s)
{
    if (!s->use.audit.removed)
        say("audit needs --removed FILE; see neardup help audit");
    return s->use.audit.removed != NULL;
}

/* A name that ends so is that of a sketch file; other outputs are rows of JSON. */
static bool is_sketch_file(const char *name)
{
    static const char end[] = ".sketch";
    size_t len = name ? strlen(name) : 0, n = sizeof end - 1;

    return len > n && strcmp(name + len - n, end) == 0;
}

static enum nd_status use_sketch(const struct settings *s, const struct nd_run_events *events,
                                 struct nd_use_summary *summary, struct nd_error *err)
{
    struct nd_run_summary whole;
    enum nd_status status =
        is_sketch_file(run_option(s, "output"))
            ? nd_run_sketch_file(s->run, !s->use.no_shingles, events, &whole, err)
            : nd_run_sketch(s->run, events, &whole, err);

    *summary = summary_of_run(&whole, true);
    return status;
}

static bool sketch_fits(const struct settings *s)
{
    if (s->use.no_shingles && !is_sketch_file(run_option(s, "output")))
        say("--no-shingles requires --output FILE.sketch; see neardup help sketch");
    else if (run_option(s, "part") && run_option(s, "df-auto"))
        say("--part does not go with --df auto=FILE, which would count this part only: count all "
            "with "
            "neardup df build, and name the table by --df");
    else
        return true;
    return false;
}

static int cmd_sketch(struct settings *s)
{
    static const struct command documents = {.fits = sketch_fits, .use = use_sketch};
    const char *part = s->paths.count ? s->paths.at[0] : NULL;

    return is_part(find_command("sketch"), part) ? cmd_sketch_file(s, part)
                                                 : run_use(&documents, s);
}

/* ---- Commands whose summary is printed ------------------------------------------------------- */

static enum nd_status run_dedup(const struct settings *s, const struct nd_run_events *events,
                                struct nd_run_summary *summary, struct nd_error *err)
{
    return nd_run_dedup(s->run, events, summary, err);
}

static enum nd_status run_pairs(const struct settings *s, const struct nd_run_events *events,
                                struct nd_run_summary *summary, struct nd_error *err)
{
    return nd_run_pairs(s->run, &s->use.pairs, events, summary, err);
}

/* ---- filter, which may only count ------------------------------------------------------------ */

/* Write the count to --output, which the run has checked not to be an input. */
static enum nd_status write_count(const struct settings *s, uint64_t found, struct nd_error *err)
{
    const char *name = run_option(s, "output");
    struct nd_result_file *file;
    enum nd_status status = nd_result_file_open(&file, name ? name : "-", NULL, 0, err);

    if (status != ND_OK)
        return status;
    fprintf(nd_result_file_stream(file), "%llu\n", (unsigned long long)found);
    return nd_result_file_publish(file, err);
}

static bool filter_fits(const struct settings *s)
{
    if (!s->use.prototypes.count)
        say("filter needs --prototypes FILE; see neardup help filter");
    else if (s->use.json && s->use.filter.output != ND_FILTER_ROWS)
        say("--json requires --annotate; see neardup help filter");
    else if (run_option(s, "output-dir") && s->use.filter.output == ND_FILTER_NOTHING)
        say("--count writes nothing to --output-dir; see neardup help filter");
    else
        return true;
    return false;
}

static int cmd_filter(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_filter_params *params = &s->use.filter;
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!filter_fits(s) || !use_standard_input(s))
        return 2;
    params->prototypes = s->use.prototypes.at;
    params->n_prototypes = s->use.prototypes.count;
    params->text_fields = s->use.prototypes_text.at;
    params->n_text_fields = s->use.prototypes_text.count;
    status = nd_run_filter(s->run, params, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK && params->output == ND_FILTER_NOTHING)
        status = write_count(s, summary.removed, &err);
    if (status == ND_OK && !s->quiet)
        print_summary(&summary);
    return report_run(s, status, &err, &summary,
                      params->output == ND_FILTER_OTHERS ? summary.kept : summary.removed);
}

/* ---- apply, whose first path is what was decided ----------------------------------------------- */

static int cmd_apply(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct words documents = {s->paths.at + 1, s->paths.count ? s->paths.count - 1 : 0};
    struct nd_apply_params *params = &s->use.apply;
    struct nd_run_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!s->paths.count) {
        say("apply needs what was decided, a manifest or a file of clusters; see neardup help "
            "apply");
        return 2;
    }
    params->decisions = s->paths.at[0];
    if (documents.count) {
        if (!run_reads(s->run, documents.at, documents.count))
            return 2;
    } else {
        s->paths.count = 0;
        if (!use_standard_input(s))
            return 2;
    }
    status = nd_run_apply(s->run, params, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK && !s->quiet)
        print_summary(&summary);
    return report_run(s, status, &err, &summary, true);
}

/* ---- report, whose first path is a manifest ---------------------------------------------------- */

static int cmd_report(struct settings *s)
{
    struct report report = {.settings = s};
    struct nd_run_events events = report_events(&report);
    struct nd_use_summary summary;
    struct nd_error err;
    enum nd_status status;

    if (!s->paths.count) {
        say("report needs a manifest; see neardup help report");
        return 2;
    }
    s->use.report.manifest = s->paths.at[0];
    if (s->paths.count > 1 && !run_reads(s->run, s->paths.at + 1, s->paths.count - 1))
        return 2;
    status = nd_run_report(s->run, &s->use.report, &events, &summary, &err);
    report_end(&report);
    if (status == ND_OK && summary.left_out)
        caution("done, but the texts of %" PRIu64 " of %" PRIu64
                " pairs were not found; the page says so",
                summary.left_out, summary.found + summary.left_out);
    if (status == ND_OK)
        return summary.left_out ? 3 : 0;
    return report_use(s, status, &err, &summary);
}

/* ---- sources, whose first path is the text ----------------------------------------------------- */

static enum nd_status use_sources(const struct settings *s, const struct nd_run_events *events,
                                  struct nd_use_summary *summary, struct nd_error *err)
{
    struct nd_sources_params params = s->use.sources;

    params.json = s->use.json;
    params.texts = s->use.source_texts.at;
    params.n_texts = s->use.source_texts.count;
    return nd_run_sources(s->run, &params, events, summary, err);
}

static int cmd_sources(struct settings *s)
{
    static const struct command corpus = {.use = use_sources};

    if (s->use.source_texts.count)
        return run_use(&corpus, s);
    if (!s->paths.count) {
        say("sources needs a text, then the corpus; see neardup help sources");
        return 2;
    }
    s->use.sources.text = s->paths.at[0];
    s->paths.count--;
    memmove(s->paths.at, s->paths.at + 1, s->paths.count * sizeof *s->paths.at);
    return run_use(&corpus, s);
}

/* ---- The table ------------------------------------------------------------------------------- */

const struct command command_table[] = {
    {"dedup", FOR_DEDUP, "[OPTION…] [FILE|DIR|-]…",
     "Remove near-duplicate documents, and report which ones and why.",
     "  neardup dedup corpus.jsonl.zst -o unique.jsonl.zst --manifest removed.jsonl\n"
     "  zcat part-*.gz | neardup dedup --format jsonl > unique.jsonl\n"
     "  neardup dedup --shingle 5 --keep longest DIR/ -o kept.txt\n"
     "  find . -name '*.txt' -print0 | neardup dedup --files-from - -0 | xargs -0 ls\n"
     "  neardup dedup shards/*.jsonl.gz --output-dir clean/ --within lang\n",
     .summarised = run_dedup},
    {"apply", FOR_APPLY, "[OPTION…] MANIFEST|CLUSTERS [FILE|DIR|-]…",
     "Write the survivors of documents by what dedup decided, here or elsewhere.",
     "  neardup apply removed.jsonl corpus.jsonl.zst -o unique.jsonl.zst\n"
     "  neardup apply removed.jsonl shards/*.jsonl.gz --output-dir clean/\n"
     "  neardup apply --partial removed.jsonl shards/07.jsonl.gz -o clean-07.jsonl.gz\n",
     .run = cmd_apply},
    {"plan", FOR_PLAN, "[OPTION…] FILE|DIR…",
     "Predict what dedup with these options would take and find, from a sample of the documents.",
     "  neardup plan corpus.jsonl.zst\n"
     "  neardup plan corpus.jsonl --threshold 0.9 --threads 1\n"
     "  neardup plan corpus.jsonl -o plan.json\n",
     .run = cmd_plan},
    {"pairs", FOR_PAIRS, "[OPTION…] [FILE|DIR|-]…",
     "List every pair of near-duplicates, with its resemblance.",
     "  neardup pairs corpus.jsonl --threshold 0.9 > pairs.tsv\n"
     "  neardup pairs corpus.jsonl --near-misses 0.6 --json > pairs.jsonl\n",
     .summarised = run_pairs},
    {"eval", FOR_EVAL, "--truth FILE [OPTION…] [FILE|-]…",
     "Measure pairs, clusters and manifests, of neardup and of other tools, against the truth.",
     "  neardup eval --truth labels.tsv --universe labelled pairs.tsv\n"
     "  neardup eval --truth truth.tsv removed.jsonl clusters.tsv\n"
     "  neardup eval --truth exact.tsv --at 0.8 --universe all --documents corpus.jsonl "
     "pairs.tsv\n"
     "  neardup eval --truth labels.tsv --universe labelled --curve resemblance listed.tsv\n",
     .run = cmd_eval},
    {"audit", FOR_AUDIT, "--removed FILE [OPTION…] FILE|DIR…",
     "Check what another tool removed: how much has no kept match, and what was missed.",
     "  neardup audit corpus.jsonl --removed removed-ids.txt\n"
     "  neardup audit corpus.jsonl --removed 000000.remove --clusters 000000.clusters --report "
     "audit.html\n"
     "  neardup audit shards/*.jsonl.gz --removed clusters.tsv --unmatched restore.tsv "
     "--false-clusters false.tsv\n",
     .fits = audit_fits, .use = use_audit},
    {"report", FOR_REPORT, "[OPTION…] MANIFEST [FILE|DIR]…",
     "Make the page of dedup --report from the manifest of a run, afterwards.\n"
     "\n"
     "The documents are read again where they were, or in the files and folders that are named.",
     "  neardup report removed.jsonl -o report.html\n"
     "  neardup report removed.jsonl corpus.jsonl -o report.html\n",
     .run = cmd_report},
    {"clusters", FOR_CLUSTERS, "[OPTION…] [FILE|-]…",
     "Count clusters by their sizes, and near duplicates of a document, without any truth.",
     "  neardup clusters pairs.tsv --documents corpus.jsonl\n"
     "  neardup clusters clusters.tsv --sizes\n"
     "  neardup clusters distances.tsv --total 1000 --curve distance\n",
     .run = cmd_clusters},
    {"sample", FOR_SAMPLE, "[OPTION…] PAIRS",
     "Draw pairs for people to judge, by strata or by documents, and make the page to judge them "
     "on.",
     "  neardup sample pairs.tsv --strata resemblance:0.1 -n 50 -o judge.tsv\n"
     "  neardup sample pairs.tsv --documents corpus.jsonl --html judge.html -o judge.tsv\n"
     "  neardup sample pairs.tsv --half-width 5% --dry-run\n"
     "  neardup sample near.tsv --recall --documents corpus.jsonl -o judge.tsv\n",
     .run = cmd_sample},
    {"sweep", FOR_SWEEP, "--set KEY=A,B,C --truth FILE [OPTION…] FILE|DIR…",
     "Run documents with many settings of a recipe, and measure each against the truth.",
     "  neardup sweep --set threshold=0.5,0.6,0.7,0.8 --truth labels.tsv --universe labelled "
     "corpus.jsonl\n"
     "  neardup sweep --recipe manku-2007 --set 'match=distance(simhash) <= {0,1,2,3}' --truth "
     "clusters.tsv corpus.jsonl\n"
     "  neardup sweep --set recipe=default,manku-2007,broder-1997 --truth clusters.tsv --svg "
     "all.svg "
     "corpus.jsonl\n",
     .run = cmd_sweep},
    {"reproduce", FOR_REPRODUCE, "[OPTION…] list|all|NAME|FILE…",
     "Run results of papers again, and show the papers' numbers beside those found here.",
     "  neardup reproduce list\n"
     "  neardup reproduce slides-rose manku-3.1\n"
     "  neardup reproduce all --corpora corpora/ --report report.html\n",
     .run = cmd_reproduce},
    {"explain", FOR_EXPLAIN, "[OPTION…] A [B] | --rows MANIFEST | --histogram [FILE|DIR|-]…",
     "Explain why two documents are duplicates or not, or list the features of one document.\n"
     "\n"
     "A and B are files with one document each, or - for standard input; with --corpus they are\n"
     "the ids of documents, or their places, such as FILE:LINE.",
     "  neardup explain a.html b.html\n"
     "  neardup explain --corpus corpus.jsonl id-1 id-2\n"
     "  neardup explain --rows removed.jsonl --lowest 5\n"
     "  neardup explain --recipe manku-2007 --svg features.svg a.html\n"
     "  neardup explain --histogram --svg hashes.svg corpus.jsonl\n",
     .run = cmd_explain},
    {"compare", FOR_COMPARE, "[OPTION…] A B",
     "Measure how much two documents agree; show the edits, terms or copied passages.\n"
     "\n"
     "A and B are files with one document each, or - for standard input; with --corpus they are\n"
     "the ids of documents, or their places, such as FILE:LINE.",
     "  neardup compare a.txt b.txt --show edits\n"
     "  neardup compare a.txt b.txt --metric cosine --metric edit\n"
     "  neardup compare --corpus corpus.jsonl a b --show passages --least 5\n",
     .run = cmd_compare},
    {"collapse", FOR_COLLAPSE, "[OPTION…] [FILE|-]…",
     "Collapse a ranked list to one result for each cluster of near-duplicates.",
     "  neardup collapse results.jsonl\n"
     "  neardup collapse results.jsonl --keep newest:date\n"
     "  neardup collapse results.jsonl --expand newest:date\n",
     .use = use_collapse},
    {"mirrors", FOR_MIRRORS, "[OPTION…] [FILE|DIR|-]…",
     "Find pairs of hosts that mirror one another.",
     "  neardup mirrors pages.jsonl\n"
     "  neardup mirrors pages.jsonl --url-field address --sample 0 --score 0.2\n",
     .use = use_mirrors},
    {"template", FOR_TEMPLATE, "[OPTION…] [FILE|DIR|-]…",
     "Show what the documents of a cluster share, and what is left of each.",
     "  neardup template pages/\n"
     "  neardup template corpus.jsonl --clusters clusters.tsv --cluster a\n",
     .fits = template_fits, .use = use_template},
    {"anchors", FOR_ANCHORS, "[OPTION…] FILE|DIR…",
     "Gather for each page what the links of other pages say about it, as fields for recipes.",
     "  neardup anchors site/ -o linked.jsonl\n"
     "  neardup anchors --base https://example.org/ --window 0 site/ -o linked.jsonl\n",
     .fits = anchors_fits, .use = use_anchors},
    {"perturb", FOR_PERTURB, "[OPTION…] [FILE|DIR|-]…",
     "Insert, remove, swap or replace words of each document at random, to see what a recipe "
     "stands.",
     "  neardup perturb --replace 2% corpus.jsonl -o edited.jsonl\n"
     "  neardup perturb --insert 1 --delete 1 --swap 1 --seed 7 corpus.jsonl -o edited.jsonl\n"
     "  neardup perturb --delete 3 --lexicon words.txt corpus.jsonl -o edited.jsonl\n",
     .fits = perturb_fits, .use = use_perturb},
    {"repeats", FOR_REPEATS, "[OPTION…] FILE|DIR…",
     "Cut the lines, paragraphs, sentences or passages of texts that stand in earlier ones, too.",
     "  neardup repeats corpus.jsonl -o clean.jsonl\n"
     "  neardup repeats --cut paragraphs --tokens 5 corpus.jsonl -o clean.jsonl\n"
     "  neardup repeats --near 0.8 corpus.jsonl -o clean.jsonl\n"
     "  neardup repeats --cut passages --tokens 50 --manifest cuts.jsonl corpus.jsonl -o "
     "clean.jsonl\n",
     .run = cmd_repeats},
    {"sources", FOR_SOURCES, "[OPTION…] TEXT|--texts FILE [FILE|DIR|-]…",
     "Find the documents that have passages of a text, ranked by how much of it they have.",
     "  neardup sources suspect.txt corpus.jsonl\n"
     "  neardup sources --texts essays/ corpus.sketch\n"
     "  neardup sources --least 12 --top 5 --json suspect.txt corpus.jsonl\n",
     .run = cmd_sources},
    {"track", FOR_TRACK, "[OPTION…] [FILE|DIR|-]…",
     "Follow documents over time: how much each version changes, and when to visit next.",
     "  neardup track monday.html tuesday.html wednesday.html\n"
     "  neardup track --series url --time fetched versions.jsonl\n"
     "  neardup track --series url --time fetched --plan versions.jsonl\n",
     .fits = track_fits, .use = use_track},
    {"filter", FOR_FILTER, "--prototypes FILE [OPTION…] [FILE|DIR|-]…",
     "Find the records of a stream that are near-duplicates of prototypes, such as known spam.",
     "  neardup filter --prototypes spam/ --unit line < mail.txt > caught.txt\n"
     "  neardup filter -p spam.jsonl --annotate mail.jsonl\n"
     "  neardup filter -p spam.jsonl --invert mail.jsonl -o ham.jsonl\n",
     .run = cmd_filter},
    {"sketch", FOR_SKETCH, "[info|verify|dump|merge|subset] [OPTION…] [FILE|DIR|-]…",
     "Print the sketches of documents, one JSON object per line; or keep them in a file.\n"
     "\n"
     "An --output that ends in .sketch becomes a file of sketches, with a copy of the recipe:\n"
     "\n"
     "info FILE        show what a sketch file holds\n"
     "verify FILE      check all of a sketch file; print nothing if it is sound\n"
     "dump FILE        print its documents, one JSON object per line\n"
     "merge FILE…      write the documents of several files to --output\n"
     "subset FILE IDS  write the documents whose ids are listed in IDS to --output\n"
     "\n"
     "Documents in a file with one of these names are ./info and so on.",
     "  neardup sketch corpus.jsonl > sketches.jsonl\n"
     "  neardup sketch corpus.jsonl -o corpus.sketch && neardup sketch info corpus.sketch\n"
     "  neardup sketch corpus.jsonl --part 2/7 -o part-2.sketch\n"
     "  neardup sketch dump corpus.sketch > rows.jsonl\n",
     .run = cmd_sketch},
    {"index", FOR_INDEX,
     "plan|pairs|build|add|remove|merge|query|info|verify|stats [OPTION…] [FILE|-]…",
     "Find fingerprints that differ in at most K bits: plan, list pairs, build and query an "
     "index.\n"
     "\n"
     "plan           list the designs for --count fingerprints, with their predicted costs\n"
     "pairs FILE…    list the ids and the distance of every pair, in the order of the files\n"
     "build FILE…    write an index file; lines without an id are numbered from 0\n"
     "add INDEX [FILE…]      add fingerprints to an index: all of them or none, even if "
     "interrupted\n"
     "remove INDEX [IDS]     remove the fingerprints whose ids are listed in IDS: all or none\n"
     "merge INDEX…   join the segments of an index, or write several indexes as one to --output\n"
     "query INDEX [QUERIES]  list the id and distance of each fingerprint near a query, after its "
     "id\n"
     "info INDEX     show what an index file holds\n"
     "verify INDEX   check all of an index; print nothing if it is sound\n"
     "stats FILE…    show how fingerprints are distributed: a table, and figures with --svg\n"
     "\n"
     "Wherever fingerprints are read, a FILE may also be an index, or hold the rows of neardup "
     "sketch.\n"
     "With --recipe the files hold documents. An index of documents keeps its recipe, by which\n"
     "query and add read documents.",
     "  neardup index plan --count 1000000000 --bits 64 --distance 3 --index-memory 40G\n"
     "  neardup index pairs --distance 3 fingerprints.txt > pairs.tsv\n"
     "  neardup index build fingerprints.txt -o fingerprints.ndx\n"
     "  neardup index add fingerprints.ndx more.txt\n"
     "  neardup index query fingerprints.ndx queries.txt > near.tsv\n"
     "  neardup index build --recipe manku-2007 docs.jsonl -o docs.ndx\n"
     "  neardup index query docs.ndx new.jsonl > near.tsv\n"
     "  neardup sketch --recipe manku-2007 docs.jsonl | neardup index build - -o sketched.ndx\n",
     .run = cmd_index},
    {"join", FOR_JOIN, "[OPTION…] QUERIES [FILE|-]…",
     "Find the fingerprints within K bits of each query, in files of any length.\n"
     "\n"
     "A line is a fingerprint in hexadecimal, optionally followed by a tab and an id; without one "
     "the id\n"
     "is the number of the line in its file, from 0. Rows of neardup sketch and indexes are read "
     "too.\n"
     "Each line of the result has the id of the query, the id of the fingerprint and the\n"
     "distance. Parts of a file can be joined separately, and the results merged.",
     "  neardup join queries.txt fingerprints.txt > near.tsv\n"
     "  neardup join --merge near-*.tsv > near.tsv\n",
     .run = cmd_join},
    {"df", FOR_DF, "build|merge|info|top|calibrate [OPTION…] [TABLE]… [FILE|DIR|-]…",
     "Count the documents in which each feature occurs, for weights and lexicons.\n"
     "\n"
     "build FILE…      count the features of a corpus, and write the table\n"
     "merge TABLE…     add tables of the same features, and write their sum\n"
     "info TABLE       show what a table holds\n"
     "top TABLE        list the features in the most documents: count, hash, text\n"
     "calibrate TABLE FILE…  find the value of `low` or `high` in the recipe that drops a share of "
     "the\n"
     "                 features",
     "  neardup df build --recipe chowdhury-2002 corpus.jsonl -o corpus.df\n"
     "  neardup df merge january.df february.df -o both.df\n"
     "  neardup df build --texts corpus.jsonl -o words.df && neardup df top words.df\n"
     "  neardup df calibrate corpus.df --recipe seshasai-2009 --drop 0.5 corpus.jsonl\n",
     .run = cmd_df},
    {"recipe", FOR_RECIPE, "list|show|check|diff [OPTION…] [NAME|FILE]…",
     "List the shipped recipes, show one, check files, compare two.\n"
     "\n"
     "list         list every shipped recipe, and what it does\n"
     "show NAME    show the recipe's text with its comments; for a FILE, its canonical form\n"
     "check FILE…  check that each is a valid recipe, and warn of keys that have no effect\n"
     "diff A B     list the keys in which two recipes differ, and whether their sketches are "
     "comparable",
     "  neardup recipe list\n"
     "  neardup recipe show manku-2007 > my.ini\n"
     "  neardup recipe check manku-2007\n",
     .run = cmd_recipe},
    {"doctor", FOR_DOCTOR, "[OPTION…]",
     "Say what this installation can do, and which libraries it lacks.\n"
     "\n"
     "A row for each thing: the thing, its state, and what that means. What is missing can be\n"
     "installed; what is left out is no part of this build. The exit status is 0 if nothing is\n"
     "missing, otherwise 1.",
     "  neardup doctor\n"
     "  neardup doctor | grep missing\n",
     .run = cmd_doctor},
    {"serve", FOR_SERVE, "[OPTION…] DIR",
     "Keep documents, and answer over HTTP: have we this already, or nearly?\n"
     "\n"
     "DIR is the store; it is made if it does not exist. A line with the address is printed once\n"
     "the service answers. SIGTERM ends it after the requests that it has; SIGHUP has it read the\n"
     "keys and certificates again.",
     "  neardup serve store\n"
     "  neardup serve --new-key alice --security press,2026 --keys keys\n"
     "  neardup serve --listen 0.0.0.0:8080 --keys keys --host docs.example.org store\n"
     "  neardup serve --recipe manku-2007 --durability interval:50 store\n",
     .run = cmd_serve},
    {"store", FOR_STORE,
     "check|export|import|compact|stats|backup|resketch [OPTION…] DIR [FILE|DIR]…",
     "Look after the store of a service.\n"
     "\n"
     "check DIR         read everything, and report what is damaged\n"
     "export DIR        write all documents as JSON Lines, with security labels and versions\n"
     "import DIR FILE…  put back what an export has\n"
     "compact DIR       take deleted texts off the disk\n"
     "stats DIR         show how much it holds\n"
     "backup DIR NEW    copy it as it is at one moment into a new folder\n"
     "resketch DIR NEW  make a store of its documents by another recipe, in a new folder\n"
     "\n"
     "check, export, stats, backup and resketch also work while a service has the store open.",
     "  neardup store check store\n"
     "  neardup store export store | zstd > documents.jsonl.zst\n"
     "  neardup store import other documents.jsonl.zst\n"
     "  neardup store backup store backup-1\n"
     "  neardup store resketch --recipe seshasai-2009 --df words.df store store-2\n",
     .run = cmd_store},
    {"client", FOR_CLIENT,
     "post|query|get|delete|near|cluster|versions|compare|crawl|watch|stats|fingerprint "
     "[OPTION…] [FILE|DIR|-|ID]…",
     "Give documents to a service, or ask it about them (see neardup serve).\n"
     "\n"
     "post FILE…     store documents, and write for each what it duplicates\n"
     "query FILE…    write for each document what it duplicates, and store nothing\n"
     "get ID…        show documents with their texts\n"
     "delete ID…     delete documents with all their versions\n"
     "near ID…       list the documents within the threshold\n"
     "cluster ID…    list the documents of the same cluster, the leader first\n"
     "versions ID…   list the versions of documents, and how much each changed\n"
     "compare ID ID  show how two documents compare, with edits and copied passages\n"
     "crawl          list what to visit next, or visit it\n"
     "watch DIR…     store each new or changed file of folders, item of feeds, or line of a file\n"
     "stats          show how many documents there are\n"
     "fingerprint    show the recipe of the store, and its fingerprint",
     "  neardup client post corpus.jsonl.zst > answers.jsonl\n"
     "  neardup client query page.html\n"
     "  neardup client near http://example.org/\n"
     "  neardup client watch --state watched incoming/\n"
     "  neardup client crawl --follow 'curl -sf \"$1\"'\n",
     .run = cmd_client},
};
const size_t n_commands = sizeof command_table / sizeof *command_table;

const char *lacking_system(const struct command *command)
{
#ifdef ND_WITHOUT_PROGRAMS /* the system that the command is built for */
    if (command->bit & (FOR_SERVICE | FOR_REPRODUCE))
        return ND_WITHOUT_PROGRAMS;
#else
    (void)command;
#endif
    return NULL;
}

const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < n_commands; i++)
        if (strcmp(command_table[i].name, name) == 0)
            return &command_table[i];
    return NULL;
}
