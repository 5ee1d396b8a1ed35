/* watch_items.c - items of feeds that a watch has posted, so that each is posted once */
#define _GNU_SOURCE
#include "service/watch_items.h"

#include "base/hash.h"
#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The key is the path of the feed, a tab, and the id. */
struct watched_item {
    char *key;
    uint64_t hash, bytes; /* of the item as it was posted */
    uint64_t number;      /* the round that met it last; of `sent`, its record */
};

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* The place of a key, or where it would stand. */
static size_t place_of(const struct watch_items *items, const char *key, bool *is_there)
{
    size_t low = 0, high = items->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(items->item[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *is_there = low < items->n && strcmp(items->item[low].key, key) == 0;
    return low;
}

enum nd_status watch_items_open(struct watch_items *items, struct watch_state *state,
                                const struct nd_input_options *options, struct nd_error *err)
{
    *items = (struct watch_items){.state = state, .parser = nd_parser_new(options, err)};
    if (!items->parser)
        return err->status;
    for (size_t i = 0; i < state->n; i++) {
        const struct watch_entry *e = &state->entry[i];
        char *key = e->is_item ? strdup(e->path) : NULL;

        if (!e->is_item)
            continue;
        if (!key || !ND_RESERVE(items->item, &items->capacity, items->n + 1)) {
            free(key);
            return out_of_memory(err);
        }
        items->item[items->n++] =
            (struct watched_item){.key = key, .hash = e->hash, .bytes = e->mark.bytes};
    }
    return ND_OK;
}

void watch_items_close(struct watch_items *items)
{
    for (size_t i = 0; i < items->n; i++)
        free(items->item[i].key);
    for (size_t i = items->first_sent; i < items->n_sent; i++)
        free(items->sent[i].key);
    free(items->item);
    free(items->sent);
    nd_parser_free(items->parser);
    *items = (struct watch_items){.state = NULL};
}

bool watch_items_are_in(const struct nd_source *source)
{
    return source->format == ND_FORMAT_FEED || source->format == ND_FORMAT_JSONFEED;
}

void watch_items_begin_round(struct watch_items *items)
{
    for (size_t i = items->first_sent; i < items->n_sent; i++)
        free(items->sent[i].key);
    items->n_sent = items->first_sent = 0;
    items->round++;
}

/* The key of an item, allocated; NULL: out of memory.  What is no document is known by its bytes. */
static char *key_of(struct watch_items *items, const struct nd_source *source,
                    const struct nd_record *record, uint64_t hash)
{
    struct nd_document document;
    struct nd_bad_record bad;
    char *key = NULL, own[24];
    struct nd_view id = {own, 0};
    int parsed;

    nd_parser_reset(items->parser);
    parsed = nd_parser_parse(items->parser, source, record->bytes, &document, NULL, &bad);
    if (parsed < 0)
        return NULL;
    if (parsed == 1 && document.id_kind != ND_ID_NONE)
        id = document.id;
    else
        id.len = (size_t)snprintf(own, sizeof own, "%016" PRIx64, hash);
    if (asprintf(&key, "%s%s%s\t%.*s", source->path, source->entry ? "!" : "",
                 source->entry ? source->entry : "", (int)id.len, id.data) < 0)
        return NULL;
    return key;
}

/* Put a new item into its place, which owns the key. */
static bool insert(struct watch_items *items, size_t at, struct watched_item item)
{
    if (!ND_RESERVE(items->item, &items->capacity, items->n + 1))
        return false;
    memmove(items->item + at + 1, items->item + at, (items->n - at) * sizeof *items->item);
    items->item[at] = item;
    items->n++;
    return true;
}

/* Have an item noted once its record is answered. */
static bool await_answer(struct watch_items *items, const struct watched_item *item,
                         uint64_t number)
{
    char *key = strdup(item->key);

    if (!key || !ND_RESERVE(items->sent, &items->sent_capacity, items->n_sent + 1)) {
        free(key);
        return false;
    }
    items->sent[items->n_sent++] = (struct watched_item){
        .key = key, .hash = item->hash, .bytes = item->bytes, .number = number};
    return true;
}

int watch_items_take(struct watch_items *items, const struct nd_source *source,
                     const struct nd_record *record, uint64_t number, struct nd_error *err)
{
    struct watched_item item = {.hash = nd_hash_bytes(record->bytes.data, record->bytes.len),
                                .bytes = record->bytes.len,
                                .number = items->round};
    bool is_there, is_new;
    size_t at;

    item.key = key_of(items, source, record, item.hash);
    if (!item.key)
        return out_of_memory(err);
    at = place_of(items, item.key, &is_there);
    is_new = !is_there || items->item[at].hash != item.hash || items->item[at].bytes != item.bytes;
    if (is_new && !await_answer(items, &item, number)) {
        free(item.key);
        return out_of_memory(err);
    }
    if (is_there) {
        free(items->item[at].key);
        items->item[at] = item;
    } else if (!insert(items, at, item)) {
        free(item.key);
        return out_of_memory(err);
    }
    return is_new;
}

enum nd_status watch_items_note(struct watch_items *items, uint64_t records, struct nd_error *err)
{
    enum nd_status status = ND_OK;

    while (status == ND_OK && items->first_sent < items->n_sent &&
           items->sent[items->first_sent].number <= records) {
        struct watched_item *sent = &items->sent[items->first_sent++];
        const struct watch_entry e = {
            .path = sent->key, .mark = {.bytes = sent->bytes}, .hash = sent->hash, .is_item = true};

        status = watch_state_note(items->state, &e, err);
        free(sent->key);
        sent->key = NULL;
    }
    return status;
}

enum nd_status watch_items_end_file(struct watch_items *items, const char *path,
                                    struct nd_error *err)
{
    size_t len = strlen(path), kept = 0;
    enum nd_status status = ND_OK;

    for (size_t i = 0; i < items->n; i++) {
        struct watched_item *item = &items->item[i];
        bool is_of_it =
            strncmp(item->key, path, len) == 0 && (item->key[len] == '\t' || item->key[len] == '!');

        if (status == ND_OK && is_of_it && item->number != items->round) {
            status = watch_state_forget(items->state, item->key, err);
            free(item->key);
        } else {
            items->item[kept++] = *item;
        }
    }
    items->n = kept;
    return status;
}
