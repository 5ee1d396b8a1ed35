/*
 * access_keys.h - who may ask what: the keys file, read whole, and the keys that it has
 *
 *     struct nd_keys *keys = nd_keys_read(store, "keys", &err);
 *     const struct nd_service_key *key = nd_keys_find(keys, token);
 *
 * docs/http.md has the format.
 */
#ifndef ND_SERVER_ACCESS_KEYS_H
#define ND_SERVER_ACCESS_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "server/wire/target.h"
#include "store/store.h"

enum {
    ND_KEY_HASH_BYTES = 32,
    ND_KEYS_MAX = 1000,
    ND_KEY_NAME_MAX = 64,
    ND_KEY_RATE_MAX = 1000000
};

/* A key: the SHA-256 of its text, and who has it. */
struct nd_service_key {
    unsigned char hash[ND_KEY_HASH_BYTES];
    char *line; /* what the views below point into */
    struct nd_view name;
    bool is_administrator;
    struct nd_label_list labels;   /* of what it sees; an administrator sees all */
    struct nd_label_list given;    /* of a document for which none are named */
    unsigned rate;                 /* requests and lines of NDJSON in a second; 0: any number */
    atomic_uint_least64_t *due_us; /* when the last of them would have come at this rate */
    struct nd_caller *caller;
};

/* Keys that do not change any more, for any number of threads. */
struct nd_keys;

/* Read a file.  NULL: ND_EIO, ND_EINPUT (the message names the file and the line), ND_ENOMEM. */
struct nd_keys *nd_keys_read(struct nd_store *store, const char *path, struct nd_error *err);
/* The keys of a server without a keys file: one, the administrator's, which every caller has. */
struct nd_keys *nd_keys_none(struct nd_store *store, struct nd_error *err);
/* Whoever holds them may use their keys.  They go with the last hold. */
struct nd_keys *nd_keys_hold(struct nd_keys *keys);
void nd_keys_release(struct nd_keys *keys);

/* Whether callers need a key. */
bool nd_keys_are_needed(const struct nd_keys *keys);
/* The key of this text; NULL: there is none.  Every key is compared, and each in the same time. */
const struct nd_service_key *nd_keys_find(const struct nd_keys *keys, struct nd_view text);

/* Whether the key may ask once more at this time (nd_now_us).  It may be a second ahead of its rate:
 * else *wait_s is how many seconds it must wait. */
bool nd_key_may_ask(const struct nd_service_key *key, uint64_t now_us, unsigned *wait_s);
/* Count n requests more, whose answers are on their way: of a batch, a minute's at most. */
void nd_key_count(const struct nd_service_key *key, uint64_t now_us, uint64_t n);

/* A line of the file, for tests: 1: *key is filled (its line is the caller's to free, and caller is
 * NULL); 0: a blank line or a comment; ND_EINPUT, ND_ENOMEM. */
int nd_key_parse(struct nd_view line, struct nd_service_key *key, struct nd_error *err);

#endif
