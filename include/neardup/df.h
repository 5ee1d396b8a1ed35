/* neardup/df.h - document frequencies of terms: frozen tables (docs/format/df.md) */
#ifndef NEARDUP_DF_H
#define NEARDUP_DF_H

#include <neardup/error.h>
#include <neardup/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A df table: of each feature hash, in how many of N documents it stands.  Frozen and
 * memory-mapped; any number of threads may ask.  It remembers the canonical [sketch] half of the
 * recipe whose features were counted.
 */
struct nd_df;

/* Open and check the whole file.  NULL: ND_EIO, ND_EINPUT (damaged, truncated, another version),
 * ND_ENOMEM. */
ND_API struct nd_df *nd_df_open(const char *path, struct nd_error *err);
ND_API void nd_df_close(struct nd_df *df);

ND_API uint64_t nd_df_documents(const struct nd_df *df);   /* N */
ND_API uint64_t nd_df_terms(const struct nd_df *df);       /* distinct */
ND_API uint64_t nd_df_fingerprint(const struct nd_df *df); /* of all that it holds: its version */

/* n of a feature; 0: unseen (weights count it as 1). */
ND_API uint32_t nd_df_count(const struct nd_df *df, uint64_t hash);

#ifdef __cplusplus
}
#endif
#endif
