/* judging_page.h - the page on which a sample is judged: pairs beside each other, keys for labels */
#ifndef ND_USES_JUDGING_JUDGING_PAGE_H
#define ND_USES_JUDGING_JUDGING_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "base/json_out.h"

/* A pair to be judged: its names and texts, and the other cells of its row, which are not shown. */
struct nd_judging_case {
    struct nd_view name[2], text[2];
    struct nd_view stratum, drawn;
    uint64_t size;
    bool is_listed;
};

/* Starts from zeroes and `n`, the number of cases. */
struct nd_judging_page {
    size_t n, n_added;
    uint64_t hash; /* of all rows: what a browser keeps the judgements by */
    struct nd_json text, cells;
};

/* Write the page, case by case. `source` names the pairs. ND_EIO, ND_ENOMEM. */
enum nd_status nd_judging_page_begin(struct nd_judging_page *page, const char *source,
                                     unsigned seed, struct nd_error *err);
enum nd_status nd_judging_page_add(struct nd_judging_page *page, const struct nd_judging_case *one,
                                   FILE *stream, struct nd_error *err);
enum nd_status nd_judging_page_end(struct nd_judging_page *page, FILE *stream,
                                   struct nd_error *err);
void nd_judging_page_release(struct nd_judging_page *page);

#endif
