/*
 * neardup/judging.h - a sample of a result for people to judge, and the figures of their judgements
 *
 * The library is libneardup-files.
 *
 *     struct nd_sample_params params = nd_sample_params_default();
 *     struct nd_sample_summary drawn;
 *
 *     params.pairs = "pairs.tsv";
 *     params.strata = "resemblance:0.1";
 *     status = nd_run_sample(options, &params, NULL, stdout, NULL, &drawn, &err);
 */
#ifndef NEARDUP_JUDGING_H
#define NEARDUP_JUDGING_H

#include <stdio.h>

#include <neardup/ratio.h>
#include <neardup/run.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Start from nd_sample_params_default(). */
struct nd_sample_params {
    /* A file of pairs or a manifest (docs/format/eval.md); "-" is the standard input. */
    const char *pairs;
    /* COLUMN, COLUMN:WIDTH or COLUMN:EDGE,EDGE…: by which the pairs are divided.  NULL: they are not. */
    const char *strata;
    /* Draw equally many of each stratum; 0: in proportion, but one at least. */
    unsigned char equally;
    /* Pairs to draw, or documents with `recalls`. */
    unsigned size;
    /* Not 0: draw as many pairs as give the weighted share an interval of at most this at each side,
     * if the share is `expected`.  `size` does not count then. */
    struct nd_ratio half_width, expected;
    /* Draw documents, and write all their pairs. */
    unsigned char recalls;
    /* Write only what each stratum has, and how many would be drawn. */
    unsigned char only_plans;
    unsigned seed;
    /* JSON Lines instead of TSV. */
    unsigned char json;
};
ND_API struct nd_sample_params nd_sample_params_default(void);

/* Numbers of pairs and documents that a sample was drawn from, and that it has. */
struct nd_sample_summary {
    /* Pairs of the file, strata, and pairs that were drawn. */
    uint64_t pairs, strata, drawn;
    /* With `recalls`: all documents, those drawn, and those drawn that have a pair. */
    uint64_t documents, documents_drawn, documents_paired;
    /* Half of the interval of the weighted share, if it is `expected`. */
    double half_width;
};

/*
 * Draw pairs for people to judge, and write them to `rows` in an order that tells nothing, as
 * docs/format/judgements.md says, and to `page`, unless it is NULL, as an HTML page that shows their
 * texts and takes the judgements. The paths of the options are the documents; a page and `recalls`
 * need them. ND_EINVAL: parameters do not fit together; ND_EINPUT: a file cannot be read, has no
 * pairs, or names a document that is not there.
 */
ND_API enum nd_status nd_run_sample(const struct nd_run_options *options,
                                    const struct nd_sample_params *params,
                                    const struct nd_run_events *events, FILE *rows, FILE *page,
                                    struct nd_sample_summary *summary, struct nd_error *err);

/* Start from nd_judged_params_default(). */
struct nd_judged_params {
    /* Files of judgements, each of one judge; "-" is the standard input. */
    const char *const *files;
    size_t n_files;
    /* A row for each stratum instead of one for each file. */
    unsigned char by_stratum;
    /* How often documents are drawn for the interval of recall over documents.  0: never. */
    unsigned resamplings;
    unsigned seed;
    /* JSON Lines instead of TSV. */
    unsigned char json;
};
ND_API struct nd_judged_params nd_judged_params_default(void);

/*
 * Write the figures of judged samples to a stream (docs/format/judgements.md): a row for each file,
 * and of several one more for the judgements on which all agree. ND_EINPUT: file, line and reason.
 */
ND_API enum nd_status nd_run_judged(const struct nd_judged_params *params, FILE *stream,
                                    struct nd_error *err);

#ifdef __cplusplus
}
#endif
#endif
