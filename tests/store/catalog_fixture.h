/* catalog_fixture.h - a database in a folder of its own */
#ifndef TESTS_STORE_CATALOG_FIXTURE_H
#define TESTS_STORE_CATALOG_FIXTURE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/catalog/catalog_tables.h"

struct catalog_fixture {
    char folder[64];
    struct nd_catalog *catalog;
};

static inline const char *fixture_path(const struct catalog_fixture *f, const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof path, "%s/%s", f->folder, name);
    return path;
}

static inline void fixture_open(struct catalog_fixture *f)
{
    struct nd_error err;

    f->catalog = nd_catalog_open(f->folder, false, false, &err);
    if (!f->catalog)
        fail_msg("%s", err.message);
}

static inline void fixture_make_sized(struct catalog_fixture *f, size_t map_bytes)
{
    struct nd_error err;

    (void)strcpy(f->folder, "/tmp/neardup-test-catalog-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->catalog = nd_catalog_open_sized(f->folder, true, false, map_bytes, &err);
    if (!f->catalog)
        fail_msg("%s", err.message);
}

static inline void fixture_make(struct catalog_fixture *f)
{
    fixture_make_sized(f, (size_t)1 << 40);
}

static inline void fixture_remove(struct catalog_fixture *f)
{
    static const char *const name[] = {ND_CATALOG_FILE, ND_CATALOG_FILE "-lock",
                                       ND_CATALOG_FILE ".new", ND_CATALOG_FILE ".new-lock"};

    nd_catalog_close(f->catalog);
    f->catalog = NULL;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        (void)unlink(fixture_path(f, name[i]));
    assert_int_equal(rmdir(f->folder), 0);
}

static inline struct nd_txn *begin(struct catalog_fixture *f, bool writes)
{
    struct nd_error err;
    struct nd_txn *txn;

    if (nd_catalog_begin(f->catalog, writes, &txn, &err) != ND_OK)
        fail_msg("%s", err.message);
    return txn;
}

static inline void commit(struct nd_txn *txn)
{
    struct nd_error err;
    bool no_space;

    if (nd_catalog_commit(txn, &no_space, &err) != ND_OK)
        fail_msg("%s", err.message);
    assert_false(no_space);
}

static inline struct nd_view view(const char *text)
{
    return (struct nd_view){text, strlen(text)};
}

static inline struct nd_view bytes_view(const void *bytes, size_t len)
{
    return (struct nd_view){bytes, len};
}

/* An entry in which each field has a value of its own, by its number. */
static inline struct nd_entry entry_of(uint32_t number, uint32_t label_set)
{
    struct nd_entry e;

    memset(&e, 0, sizeof e);
    e.label_set = e.row.group = label_set;
    e.n_documents = number % 5 + 1;
    e.hash = nd_text_hash(bytes_view(&number, sizeof number));
    e.text = (struct nd_text_place){1 + number % 7, 100 + number, (uint64_t)number << 33, 50};
    e.n_tokens = ((uint64_t)number << 32) + 9;
    e.is_empty = number % 3 == 0;
    e.row.is_short = number % 4 == 0;
    e.row.identity_only = number % 8 == 1;
    e.row.n_shingles = number * 3;
    e.row.simhash = e.hash.low * 5;
    e.row.identity = e.hash.high * 7;
    for (uint32_t i = 0; i < ND_MINHASH_COUNT; i++)
        e.row.low[i] = (uint8_t)(number + i);
    if (number % 6 == 5)
        for (uint32_t i = 0; i < ND_TABLE_SET_WORDS; i++)
            e.row.left_out.word[i] = number * i;
    return e;
}

static inline struct nd_document_row document_of(uint64_t number, uint32_t label_set)
{
    struct nd_document_row d;

    memset(&d, 0, sizeof d);
    d.number = number;
    d.order = number * 3 + 1;
    d.entry = (uint32_t)number / 2;
    d.label_set = label_set;
    d.version = (uint32_t)(number % 9) + 1;
    d.created = number + 1000;
    d.updated = number + 2000;
    d.visited = number + 3000;
    d.due = number + 4000;
    d.visits.simhash = ~number;
    d.visits.visits = number + 1;
    d.visits.changes = number + 2;
    d.visits.interval = number + 3;
    d.visits.equal = 4;
    d.visits.changed = 5;
    d.visits.priority = 64;
    d.visits.changed_by = number << 40;
    d.visits.in_time = number << 41;
    d.title.len = (uint16_t)(number * 7 % (ND_STORE_TITLE_MAX + 1));
    memset(d.title.text, 'a' + (int)(number % 26), d.title.len);
    return d;
}

static inline struct nd_version_row version_of(uint64_t number)
{
    return (struct nd_version_row){.time = number,
                                   .visited = number + 1,
                                   .hash = {number + 2, number + 3},
                                   .simhash = number + 4,
                                   .identity = number + 5,
                                   .n_tokens = number + 6,
                                   .n_shingles = number + 7,
                                   .text_bytes = number + 8,
                                   .distance = (uint32_t)number % 65};
}

#endif
