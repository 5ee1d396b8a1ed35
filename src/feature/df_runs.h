/* df_runs.h - sorted runs of counted terms: in memory, in a file, merged (external merge sort) */
#ifndef ND_FEATURE_DF_RUNS_H
#define ND_FEATURE_DF_RUNS_H

#include <neardup/df.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A term of a run.  The keys of a run ascend strictly. */
struct nd_df_record {
    uint64_t key; /* nd_mix64 of the hash */
    uint32_t count;
    struct nd_view text; /* borrowed until the run's next record */
};

struct nd_df_entry {
    uint64_t key;
    uint32_t count;
    uint32_t last; /* number of the document that was counted last */
};

/* A temporary file without a name that holds runs one after another.  Starts from zeroes. */
struct nd_df_spill {
    FILE *file;
    bool has_texts;
    uint64_t bytes;
};
/* `folder` as in nd_df_builder_params.  ND_EIO, ND_ENOMEM. */
enum nd_status nd_df_spill_open(struct nd_df_spill *s, const char *folder, bool has_texts,
                                struct nd_error *err);
bool nd_df_spill_put(struct nd_df_spill *s, const struct nd_df_record *record);
void nd_df_spill_close(struct nd_df_spill *s);

/* Reads a run: of a spill file, or of sorted entries.  Set the first part, the rest to zero. */
struct nd_df_run {
    const struct nd_df_spill *spill; /* NULL: entries */
    uint64_t offset, end;            /* bytes of the file that are not in the buffer yet */
    const struct nd_df_entry *entry;
    const uint64_t *text; /* places in `texts`, NULL: none */
    const char *texts;    /* each ended by '\n' */
    size_t n_entries, next;

    char *buffer;
    size_t capacity, used, filled;
    struct nd_df_record record;
};
/* The next record to run->record: 1, 0 at the end, ND_EIO with errno, ND_ENOMEM. */
int nd_df_run_next(struct nd_df_run *run, size_t buffer_bytes);
void nd_df_run_release(struct nd_df_run *run);

/*
 * Merge n runs into one at the end of a spill file: counts of equal keys are added, of their texts
 * the first in byte order is taken.  *terms: how many.  ND_EIO, ND_ENOMEM.
 */
enum nd_status nd_df_runs_merge(struct nd_df_run *run, size_t n, size_t buffer_bytes,
                                struct nd_df_spill *out, uint64_t *terms, struct nd_error *err);

static inline uint32_t nd_df_add_counts(uint32_t a, uint32_t b)
{
    return a > UINT32_MAX - b ? UINT32_MAX : a + b;
}

/* Whether text a comes before b: byte by byte, an absent one last. */
bool nd_df_text_before(struct nd_view a, struct nd_view b);

#endif
