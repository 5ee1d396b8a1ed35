/* watch_state.h - what a watch has posted, kept in a file, so that a new one posts nothing twice */
#ifndef CLI_SERVICE_WATCH_STATE_H
#define CLI_SERVICE_WATCH_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <neardup/error.h>

/* How a file was when it was looked at. */
struct watch_mark {
    uint64_t bytes;
    int64_t modified_ns; /* since 1970 */
};

/* A file that was posted; or a feed, of which `mark.bytes` have been posted. */
struct watch_entry {
    char *path;
    struct watch_mark mark;
    uint64_t hash;    /* XXH3 of the file; of a feed, of its first `hashed` bytes */
    uint64_t hashed;  /* 0: not a feed */
    uint64_t line;    /* of a feed: how many lines it has up to there */
    bool is_document; /* it is a document that has the path as its id */
    bool is_item;     /* of a feed: the path is that of the feed, a tab, and the id */
    size_t number;    /* of its line in the file; the last line of a path counts */
};

/*
 * A file to which lines are appended (docs/format/watch.md); one watch at a time has it open.  It is
 * written again, in the order of the paths, where most lines are out of date.
 */
struct watch_state {
    const char *name; /* NULL: nothing is kept */
    FILE *file;
    struct watch_entry *entry; /* as the file was when it was opened, in the byte order of paths */
    size_t n, capacity;
};

/* Open, or make, the file of a watch that posts to this service.  ND_EINVAL: another watch has it, or
 * it is of another service; ND_EINPUT: it is no such file; ND_EIO, ND_ENOMEM. */
enum nd_status watch_state_open(struct watch_state *state, const char *name, const char *url,
                                struct nd_error *err);
void watch_state_close(struct watch_state *state);

/* The entry of a path; NULL: there is none. */
const struct watch_entry *watch_state_find(const struct watch_state *state, const char *path);

/* Note that a file was posted, up to here, or is forgotten.  The file has it when they return, and
 * keeps it if the process ends.  ND_EIO. */
enum nd_status watch_state_note(struct watch_state *state, const struct watch_entry *entry,
                                struct nd_error *err);
enum nd_status watch_state_forget(struct watch_state *state, const char *path,
                                  struct nd_error *err);

#endif
