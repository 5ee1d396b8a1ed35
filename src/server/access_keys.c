/* access_keys.c - keys: made, read from their file, compared by their hashes */
#define _GNU_SOURCE
#include "server/access_keys.h"
#include "server/server.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/memory.h"
#include "base/view.h"

struct nd_keys {
    atomic_size_t holds;
    bool are_needed;
    struct nd_service_key *key;
    size_t n, capacity;
};

static bool hash_text(struct nd_view text, unsigned char out[ND_KEY_HASH_BYTES])
{
    return gnutls_hash_fast(GNUTLS_DIG_SHA256, text.data, text.len, out) == 0;
}

/* ---- A line ---- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hash(struct nd_view text, unsigned char out[ND_KEY_HASH_BYTES])
{
    if (text.len != 2 * ND_KEY_HASH_BYTES)
        return false;
    for (size_t i = 0; i < ND_KEY_HASH_BYTES; i++) {
        int high = hex_digit(text.data[2 * i]), low = hex_digit(text.data[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* The next word of the rest of a line; its length is 0 at the end. */
static struct nd_view take_word(struct nd_view *rest)
{
    struct nd_view word;

    *rest = nd_view_trim(rest->data, rest->data + rest->len);
    word = (struct nd_view){rest->data, 0};
    while (word.len < rest->len && word.data[word.len] != ' ' && word.data[word.len] != '\t')
        word.len++;
    rest->data += word.len;
    rest->len -= word.len;
    return word;
}

/* "-" is no label. */
static bool read_labels(struct nd_view text, struct nd_label_list *out, struct nd_error *err)
{
    if (nd_view_is(text, "-"))
        text.len = 0;
    else if (text.len == 0) {
        nd_fail(err, ND_EINPUT, "the security labels are missing: a,b or * or -");
        return false;
    }
    if (nd_labels_split(text, out, err) != ND_REFUSAL_NONE)
        return false;
    nd_labels_sort(out);
    return true;
}

static bool read_rate(struct nd_view text, unsigned *rate, struct nd_error *err)
{
    unsigned n = 0;

    for (size_t i = 0; i < text.len && n <= ND_KEY_RATE_MAX; i++)
        n = text.data[i] >= '0' && text.data[i] <= '9' ? n * 10 + (unsigned)(text.data[i] - '0')
                                                       : ND_KEY_RATE_MAX + 1;
    if (n == 0 || n > ND_KEY_RATE_MAX) {
        nd_fail(err, ND_EINPUT, "rate= is a number of requests a second, from 1 to %d",
                ND_KEY_RATE_MAX);
        return false;
    }
    *rate = n;
    return true;
}

static bool has_label(const struct nd_label_list *list, struct nd_view label)
{
    for (size_t i = 0; i < list->n; i++)
        if (nd_view_equal(list->label[i], label))
            return true;
    return false;
}

static enum nd_status parse_rest(struct nd_view rest, struct nd_service_key *key,
                                 struct nd_error *err)
{
    static const char given[] = "default=";
    static const char rate[] = "rate=";
    struct nd_view labels = take_word(&rest), more = take_word(&rest);

    key->is_administrator = nd_view_is(labels, "*");
    if (!key->is_administrator && !read_labels(labels, &key->labels, err))
        return ND_EINPUT;
    key->given = key->labels;
    if (more.len >= sizeof given && memcmp(more.data, given, sizeof given - 1) == 0) {
        struct nd_view list = {more.data + sizeof given - 1, more.len - (sizeof given - 1)};

        if (!read_labels(list, &key->given, err))
            return ND_EINPUT;
        more = take_word(&rest);
    }
    if (more.len >= sizeof rate && memcmp(more.data, rate, sizeof rate - 1) == 0) {
        struct nd_view number = {more.data + sizeof rate - 1, more.len - (sizeof rate - 1)};

        if (!read_rate(number, &key->rate, err))
            return ND_EINPUT;
        more = take_word(&rest);
    }
    if (more.len)
        return nd_fail(err, ND_EINPUT, "'%.*s' is not understood", nd_view_shown(more), more.data);
    for (size_t i = 0; i < key->given.n && !key->is_administrator; i++)
        if (!has_label(&key->labels, key->given.label[i]))
            return nd_fail(err, ND_EINPUT,
                           "default= has a security label that the key does not have");
    return ND_OK;
}

int nd_key_parse(struct nd_view line, struct nd_service_key *key, struct nd_error *err)
{
    struct nd_view rest = nd_view_trim(line.data, line.data + line.len), hash;

    memset(key, 0, sizeof *key);
    if (rest.len == 0 || *rest.data == '#')
        return 0;
    for (size_t i = 0; i < rest.len; i++)
        if ((unsigned char)rest.data[i] < ' ' && rest.data[i] != '\t')
            return nd_fail(err, ND_EINPUT, "a control character");
    key->line = malloc(rest.len);
    if (!key->line)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    memcpy(key->line, rest.data, rest.len);
    rest.data = key->line;
    hash = take_word(&rest);
    key->name = take_word(&rest);
    if (!read_hash(hash, key->hash))
        nd_fail(err, ND_EINPUT, "a line begins with the 64 hexadecimal digits of a key's hash");
    else if (key->name.len == 0 || key->name.len > ND_KEY_NAME_MAX)
        nd_fail(err, ND_EINPUT, "behind the hash stands a name of 1 to %d bytes", ND_KEY_NAME_MAX);
    else if (parse_rest(rest, key, err) == ND_OK)
        return 1;
    free(key->line);
    key->line = NULL;
    return ND_EINPUT;
}

/* ---- All keys ---- */

static struct nd_keys *keys_new(bool are_needed, struct nd_error *err)
{
    struct nd_keys *keys = calloc(1, sizeof *keys);

    if (!keys) {
        nd_fail(err, ND_ENOMEM, "out of memory");
        return NULL;
    }
    atomic_init(&keys->holds, 1);
    keys->are_needed = are_needed;
    return keys;
}

struct nd_keys *nd_keys_hold(struct nd_keys *keys)
{
    atomic_fetch_add(&keys->holds, 1);
    return keys;
}

void nd_keys_release(struct nd_keys *keys)
{
    if (!keys || atomic_fetch_sub(&keys->holds, 1) > 1)
        return;
    for (size_t i = 0; i < keys->n; i++) {
        nd_caller_free(keys->key[i].caller);
        free(keys->key[i].due_us);
        free(keys->key[i].line);
    }
    free(keys->key);
    free(keys);
}

/* Take over a parsed key, and make its caller.  On failure it is freed. */
static enum nd_status add_key(struct nd_keys *keys, struct nd_store *store,
                              struct nd_service_key *key, struct nd_error *err)
{
    enum nd_status status = ND_ENOMEM;

    for (size_t i = 0; i < keys->n; i++)
        if (memcmp(keys->key[i].hash, key->hash, sizeof key->hash) == 0) {
            status = nd_fail(err, ND_EINPUT, "the key stands there twice");
            goto failed;
        }
    if (keys->n == ND_KEYS_MAX || !ND_RESERVE(keys->key, &keys->capacity, keys->n + 1)) {
        status = keys->n == ND_KEYS_MAX
                     ? nd_fail(err, ND_EINPUT, "there are more than %d keys", ND_KEYS_MAX)
                     : nd_fail(err, ND_ENOMEM, "out of memory");
        goto failed;
    }
    if (key->rate && !(key->due_us = calloc(1, sizeof *key->due_us))) {
        status = nd_fail(err, ND_ENOMEM, "out of memory");
        goto failed;
    }
    key->caller =
        nd_caller_new(store, key->labels.label, key->labels.n, key->is_administrator, err);
    if (key->caller) {
        keys->key[keys->n++] = *key;
        return ND_OK;
    }
    status = err && err->status == ND_ENOMEM ? ND_ENOMEM : ND_EINPUT;
failed:
    free(key->due_us);
    free(key->line);
    return status;
}

struct nd_keys *nd_keys_none(struct nd_store *store, struct nd_error *err)
{
    struct nd_keys *keys = keys_new(false, err);
    struct nd_service_key key = {.is_administrator = true};

    if (keys && add_key(keys, store, &key, err) == ND_OK)
        return keys;
    nd_keys_release(keys);
    return NULL;
}

/* Put the file and the line before a message. */
static void name_line(struct nd_error *err, const char *path, size_t number)
{
    char message[sizeof err->message];

    if (!err)
        return;
    memcpy(message, err->message, sizeof message);
    (void)snprintf(err->message, sizeof err->message, "%.500s:%zu: %.500s", path, number, message);
}

static enum nd_status read_lines(struct nd_keys *keys, struct nd_store *store, const char *path,
                                 FILE *file, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t len;

    while (status == ND_OK && (len = getline(&line, &capacity, file)) >= 0) {
        struct nd_service_key key;
        int found;

        number++;
        if (len > 0 && line[len - 1] == '\n')
            len--;
        found = nd_key_parse((struct nd_view){line, (size_t)len}, &key, err);
        status = found == 1 ? add_key(keys, store, &key, err) : (enum nd_status)found;
        if (status != ND_OK)
            name_line(err, path, number);
    }
    free(line);
    if (status == ND_OK && ferror(file))
        status = nd_fail(err, ND_EIO, "%s: cannot be read: %s", path, strerror(errno));
    if (status == ND_OK && keys->n == 0)
        status = nd_fail(err, ND_EINPUT, "%s: has no key", path);
    if (err && status != ND_OK)
        err->status = status;
    return status;
}

struct nd_keys *nd_keys_read(struct nd_store *store, const char *path, struct nd_error *err)
{
    FILE *file = fopen(path, "re");
    struct nd_keys *keys;
    enum nd_status status = ND_ENOMEM;

    if (!file) {
        nd_fail(err, ND_EIO, "%s: cannot be opened: %s", path, strerror(errno));
        return NULL;
    }
    keys = keys_new(true, err);
    if (keys)
        status = read_lines(keys, store, path, file, err);
    fclose(file);
    if (status == ND_OK)
        return keys;
    nd_keys_release(keys);
    return NULL;
}

bool nd_keys_are_needed(const struct nd_keys *keys)
{
    return keys->are_needed;
}

const struct nd_service_key *nd_keys_find(const struct nd_keys *keys, struct nd_view text)
{
    unsigned char hash[ND_KEY_HASH_BYTES];
    const struct nd_service_key *found = NULL;

    if (!keys->are_needed)
        return &keys->key[0];
    if (!text.data || !hash_text(text, hash))
        return NULL;
    for (size_t i = 0; i < keys->n; i++)
        if (gnutls_memcmp(keys->key[i].hash, hash, sizeof hash) == 0)
            found = &keys->key[i];
    return found;
}

/* ---- How often ---- */

enum { SECOND_US = 1000000, AHEAD_US = SECOND_US, BATCH_S_MAX = 60 };

/* Move the time at which the last request was due on by n requests, if the key is at most `most` µs
 * ahead of its rate.  Returns how far ahead it was, or would be. */
static uint64_t move_due(const struct nd_service_key *key, uint64_t now_us, uint64_t n,
                         uint64_t most)
{
    uint64_t due = atomic_load_explicit(key->due_us, memory_order_relaxed), from, ahead;

    do {
        from = due > now_us ? due : now_us;
        ahead = from - now_us;
        if (ahead > most)
            return ahead;
    } while (!atomic_compare_exchange_weak_explicit(key->due_us, &due,
                                                    from + n * SECOND_US / key->rate,
                                                    memory_order_relaxed, memory_order_relaxed));
    return ahead;
}

bool nd_key_may_ask(const struct nd_service_key *key, uint64_t now_us, unsigned *wait_s)
{
    const uint64_t each = key->rate ? SECOND_US / key->rate : 0;
    uint64_t ahead;

    if (!key->rate)
        return true;
    ahead = move_due(key, now_us, 1, AHEAD_US - each);
    if (ahead <= AHEAD_US - each)
        return true;
    *wait_s = (unsigned)((ahead - (AHEAD_US - each) + SECOND_US - 1) / SECOND_US);
    return false;
}

void nd_key_count(const struct nd_service_key *key, uint64_t now_us, uint64_t n)
{
    const uint64_t most = (uint64_t)BATCH_S_MAX * key->rate;

    if (key->rate && n)
        (void)move_due(key, now_us, n < most ? n : most, UINT64_MAX);
}

/* ---- Making one ---- */

static bool is_name(const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)name[i] <= ' ' || name[i] == 0x7F)
            return false;
    return len > 0 && len <= ND_KEY_NAME_MAX;
}

static void append_hex(struct nd_buffer *out, bool *ok, const unsigned char *bytes, size_t n)
{
    char digits[2 * ND_KEY_HASH_BYTES + 1];

    for (size_t i = 0; i < n; i++)
        (void)snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
    *ok = *ok && nd_buffer_append(out, digits, 2 * n);
}

/* HASH NAME SECURITY */
static bool write_line(struct nd_buffer *out, const unsigned char hash[ND_KEY_HASH_BYTES],
                       const char *name, const struct nd_view *labels, size_t n, bool all)
{
    bool ok = true;

    append_hex(out, &ok, hash, ND_KEY_HASH_BYTES);
    ok = ok && nd_buffer_append(out, " ", 1) && nd_buffer_append(out, name, strlen(name)) &&
         nd_buffer_append(out,
                          all ? " *"
                          : n ? " "
                              : " -",
                          all || !n ? 2 : 1);
    for (size_t i = 0; ok && !all && i < n; i++)
        ok = (i == 0 || nd_buffer_append(out, ",", 1)) &&
             nd_buffer_append(out, labels[i].data, labels[i].len);
    return ok && nd_buffer_append(out, "", 1);
}

enum nd_status nd_server_key_new(const char *name, const struct nd_view *labels, size_t n_labels,
                                 bool is_administrator, char **key, char **line,
                                 struct nd_error *err)
{
    unsigned char random[32], hash[ND_KEY_HASH_BYTES];
    struct nd_buffer text = {0}, row = {0};
    struct nd_service_key parsed = {0};
    bool ok = true;

    if (!is_name(name))
        return nd_fail(err, ND_EINVAL, "a key's name has 1 to %d bytes without white space",
                       ND_KEY_NAME_MAX);
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return nd_fail(err, ND_EIO, "there are no random bits: %s", strerror(errno));
    append_hex(&text, &ok, random, sizeof random);
    ok = ok && hash_text((struct nd_view){text.data, text.len}, hash) &&
         nd_buffer_append(&text, "", 1) &&
         write_line(&row, hash, name, labels, n_labels, is_administrator);
    /* The row must read back, so that no label breaks the line. */
    if (ok && nd_key_parse((struct nd_view){row.data, row.len - 1}, &parsed, err) == 1 &&
        parsed.labels.n == (is_administrator ? 0 : n_labels)) {
        free(parsed.line);
        *key = text.data;
        *line = row.data;
        return ND_OK;
    }
    free(parsed.line);
    nd_buffer_release(&text);
    nd_buffer_release(&row);
    return ok ? nd_fail(err, ND_EINVAL, "a security label is empty, or has white space or a comma")
              : nd_fail(err, ND_ENOMEM, "out of memory");
}
