/* removals.h - which documents another tool removed, and its clusters, as its files say */
#ifndef ND_USES_AUDIT_REMOVALS_H
#define ND_USES_AUDIT_REMOVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

/* In place of the number of a cluster or of a document: there is none, or it is not known. */
#define ND_REMOVAL_NONE UINT32_MAX

/* A document that is removed, or that is in a cluster with a removed one. */
struct nd_removed_name {
    uint64_t key;     /* a hash of its name, or its number */
    uint32_t cluster; /* ND_REMOVAL_NONE: none is known */
    bool is_removed;
    bool is_met; /* the corpus has it; for the reader of the corpus to set */
};

/* A cluster of the tool that has a removed document. */
struct nd_removal_cluster {
    uint64_t key; /* of the name that the tool gives it: often that of the kept document */
    /* The kept document, by its number among the kept ones; for the reader of the corpus to set. */
    uint32_t kept;
    bool is_named; /* whose name is the cluster's */
};

/* Starts from zeroes. */
struct nd_removals {
    struct nd_removed_name *item; /* keys ascend, each stands once */
    size_t n, n_removed;
    struct nd_removal_cluster *cluster; /* likewise */
    size_t n_clusters;
    /* Documents are known by their numbers, from 0, in place of names, as datatrove counts: only
     * those that have a text. */
    bool by_number;
    const char *path;
};

/*
 * Read a file of any of the forms of docs/format/audit.md, and the tool's clusters: of the file
 * `clusters`, or where that is NULL of the first one.  ND_EINPUT: a file is of no such form, or the
 * first one names no document.
 */
enum nd_status nd_removals_read(struct nd_removals *r, const char *path, const char *clusters,
                                struct nd_error *err);
/* Read files of which it is known whether they hold datatrove's numbers (by the first one's name:
 * .remove).  `clusters` NULL: there is no other file. */
enum nd_status nd_removals_read_as(struct nd_removals *r, const char *path, bool is_numbers,
                                   const char *clusters, struct nd_error *err);
void nd_removals_release(struct nd_removals *r);

/* The key of a name, as the file writes it without escapes. */
uint64_t nd_removal_key_of(struct nd_view name);
/* The document, or the cluster, of this key.  NULL: there is none. */
struct nd_removed_name *nd_removals_find(const struct nd_removals *r, uint64_t key);
struct nd_removal_cluster *nd_removals_cluster(const struct nd_removals *r, uint64_t key);
/* How many removed documents were not met. */
size_t nd_removals_missing(const struct nd_removals *r);

#endif
