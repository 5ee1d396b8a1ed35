/* journal.h - how far a post has come, so that it can go on there */
#ifndef CLI_SERVICE_JOURNAL_H
#define CLI_SERVICE_JOURNAL_H

#include <stdint.h>

#include <neardup/error.h>

/*
 * A file with one line: the number of records of the input that are done, a tab, and the place of
 * the last of them, by which a changed input is noticed. It exists from the first batch until the
 * last.
 */
struct journal {
    const char *name; /* NULL: there is none */
    uint64_t records; /* 0: begin at the beginning */
    char at[4096];    /* the place of the last; cut if it is longer */
};

/* ND_EINPUT: the file is none of these; ND_EIO. */
enum nd_status journal_read(struct journal *journal, const char *name, struct nd_error *err);
/* Replace the file: it is whole at any moment.  ND_EIO. */
enum nd_status journal_write(struct journal *journal, uint64_t records, const char *at,
                             struct nd_error *err);
/* The place of a record as the file has it.  Whether it is that of the last. */
int journal_is_last(const struct journal *journal, const char *at);
/* Everything is done. */
void journal_remove(struct journal *journal);

#endif
