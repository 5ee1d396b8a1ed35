/* weight_dump.c - weights of what stands on the standard input, for tests/oracle/weights.py */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "feature/df_layout.h"
#include "feature/weigh.h"

/*
 * A case:  tf idf markup boost position clip_quantile clip_rank low high band_low band_high top
 *          top_share normalise N words has_fields n table…
 * then n lines:  hash df t, then t times word mark.  Out: the weights and the unit, in one line.
 */
enum { TERMS_MAX = 4096 };

/* A table without terms, of N documents. */
static struct nd_df *table_of(uint64_t documents, unsigned char bytes[256])
{
    struct nd_df_header h = {
        .version = ND_DF_VERSION, .documents = documents, .homes = 1, .slots = 1};

    memcpy(h.magic, ND_DF_MAGIC, sizeof h.magic);
    memset(bytes, 0, 256);
    h.file_bytes = sizeof h + ND_DF_SLOT;
    for (unsigned i = 0; i < ND_DF_CHUNKS; i++) {
        h.chunk[i].offset = i ? h.file_bytes : sizeof h;
        h.chunk[i].bytes = i ? 0 : ND_DF_SLOT;
        h.chunk[i].hash = nd_hash_bytes(bytes, h.chunk[i].bytes);
    }
    h.hash = nd_df_header_hash(&h);
    memcpy(bytes, &h, sizeof h);
    return nd_df_init(bytes, h.file_bytes, NULL);
}

static void read_term(const struct nd_weigher *w, uint64_t words, struct nd_term_stat *s)
{
    unsigned long long hash, word;
    unsigned mark;

    *s = (struct nd_term_stat){0};
    if (scanf("%llu %u %u", &hash, &s->df, &s->tf) != 3)
        exit(2);
    s->hash = hash;
    for (uint32_t i = 0; i < s->tf; i++) {
        if (scanf("%llu %u", &word, &mark) != 2)
            exit(2);
        s->gain += nd_weigher_gain(w, word, words, mark);
    }
}

static void weigh(struct nd_weigher *w, uint64_t words, size_t n)
{
    static struct nd_term_stat stat[TERMS_MAX];
    static int32_t weight[TERMS_MAX];
    static struct nd_weigh_scratch scratch;
    uint64_t unit;

    if (n > TERMS_MAX)
        exit(2);
    for (size_t i = 0; i < n; i++)
        read_term(w, words, &stat[i]);
    if (nd_weigher_run(w, &scratch, stat, n, words, weight, &unit) != ND_OK)
        exit(2);
    for (size_t i = 0; i < n; i++)
        printf("%d ", weight[i]);
    printf("%llu\n", (unsigned long long)unit);
}

int main(void)
{
    int tf, idf, markup, position, normalise, has_fields;
    struct nd_weight_params p;
    unsigned long long documents, words, n;
    unsigned char bytes[256];
    struct nd_error err;
    char table[256];

    for (;;) {
        struct nd_weigher *w;
        struct nd_df *df;

        p = nd_weight_params_default();
        if (scanf("%d %d %d %lf %d %lf %u %lf %lf %lf %lf %u %lf %d %llu %llu %d %llu %255[^\n]",
                  &tf, &idf, &markup, &p.markup_boost, &position, &p.clip_quantile, &p.clip_rank,
                  &p.low, &p.high, &p.band_low, &p.band_high, &p.top, &p.top_share, &normalise,
                  &documents, &words, &has_fields, &n, table) != 19)
            return feof(stdin) ? 0 : 2;
        p.tf = (enum nd_tf)tf;
        p.idf = (enum nd_idf)idf;
        p.markup = (enum nd_markup_rule)markup;
        p.position = (enum nd_position)position;
        p.normalise_length = (unsigned char)normalise;
        snprintf(p.position_table, sizeof p.position_table, "%s", table);
        df = table_of(documents, bytes);
        w = nd_weigher_new(&p, df, has_fields != 0, &err);
        if (!w) {
            fprintf(stderr, "%s\n", err.message);
            return 2;
        }
        weigh(w, words, (size_t)n);
        nd_weigher_free(w);
        nd_df_close(df);
    }
}
