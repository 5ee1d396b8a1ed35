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

#include <stdbool.h>
#include <stddef.h>

#include <neardup/error.h>
#include <neardup/types.h>

#include "server/wire/target.h"
#include "store/store.h"

enum { ND_KEY_HASH_BYTES = 32, ND_KEYS_MAX = 1000, ND_KEY_NAME_MAX = 64 };

/* A key: the SHA-256 of its text, and who has it. */
struct nd_service_key {
    unsigned char hash[ND_KEY_HASH_BYTES];
    char *line; /* what the views below point into */
    struct nd_view name;
    bool is_administrator;
    struct nd_label_list labels; /* of what it sees; an administrator sees all */
    struct nd_label_list given;  /* of a document for which none are named */
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

/* A line of the file, for tests: 1: *key is filled (its line is the caller's to free, and caller is
 * NULL); 0: a blank line or a comment; ND_EINPUT, ND_ENOMEM. */
int nd_key_parse(struct nd_view line, struct nd_service_key *key, struct nd_error *err);

#endif
