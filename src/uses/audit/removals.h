/* removals.h - which documents another tool removed, as its file says */
#ifndef ND_USES_AUDIT_REMOVALS_H
#define ND_USES_AUDIT_REMOVALS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

/* A removed document: a hash of its name, or of datatrove's index of it; and whether the corpus has
 * it. */
struct nd_removal_key {
    uint64_t key;
    atomic_uchar is_met;
};

/* Starts from zeroes.  16 bytes a removed document. */
struct nd_removals {
    struct nd_removal_key *item; /* ascending, each key once */
    size_t n, capacity;
    /* Documents are known by the number of their record in its file, from 0, in place of a name. */
    bool by_record;
    const char *path;
};

/*
 * Read a file of any of the forms of docs/format/audit.md.  ND_EINPUT: it is of none, or names no
 * document.
 */
enum nd_status nd_removals_read(struct nd_removals *r, const char *path, struct nd_error *err);
/* Read a file of which it is known whether it holds numbers (by its name: .remove). */
enum nd_status nd_removals_read_as(struct nd_removals *r, const char *path, bool is_numbers,
                                   struct nd_error *err);
void nd_removals_release(struct nd_removals *r);

/* The key of a name, as the file writes it without escapes; and of a record. */
uint64_t nd_removal_key_of(struct nd_view name);
uint64_t nd_removal_key_of_record(uint64_t number);
/* Whether a document is a removed one, which is then met; by any thread. */
bool nd_removals_meet(struct nd_removals *r, uint64_t key);
/* How many were not met. */
size_t nd_removals_missing(const struct nd_removals *r);

#endif
