/* cmd_index_records.h - neardup index over records: a sketch file in which documents are looked up */
#ifndef CMD_INDEX_RECORDS_H
#define CMD_INDEX_RECORDS_H

#include <stdbool.h>

#include "settings.h"

/* Whether the file is an index of records. */
bool index_is_of_records(const char *index);
/* Whether an index that is built with these settings is one: it is asked for, or the recipe compares by
 * more than one fingerprint. */
bool index_becomes_records(const struct settings *s);

/* Each returns the exit status, once errors were reported. */
int records_build(struct settings *s, const char *const *path, size_t n);
int records_add(struct settings *s, const char *index, const char *const *path, size_t n);
int records_query(struct settings *s, const char *index, const char *queries);
int records_merge(const struct settings *s, const char *const *path, size_t n);
/* `ids`: a file with an id on each line. */
int records_remove(const char *index, const char *ids);

#endif
