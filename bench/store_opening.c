/* store_opening.c - how long a store of very many documents takes to open, and in what memory */

/*
 * usage: store_opening make DOCUMENTS FOLDER
 *        store_opening open FOLDER
 *
 * `make` makes a store, and puts rows of random entries into its database, without documents and
 * without texts, which opening does not read.  `open` opens it, says how long that took, whether from
 * a snapshot, and how much anonymous memory there is, and closes it, which writes a snapshot.  So the
 * first time it is opened from its rows, the second time from the snapshot.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "store/catalog/catalog.h"
#include "store/store.h"

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Anonymous memory in MB (10^6). */
static double anonymous(void)
{
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    unsigned long kib = 0;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lu", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return (double)kib * 1024e-6;
}

static void require(int holds, const struct nd_error *err)
{
    if (holds)
        return;
    fprintf(stderr, "store_opening: %s\n", err->message);
    exit(1);
}

static struct nd_store *open_store(const char *folder, bool create)
{
    struct nd_store_options options = nd_store_options_default();
    struct nd_error err;
    struct nd_store *store;

    options.create = create;
    options.snapshot_every_s = 0;
    store = nd_store_open(folder, &options, &err);
    require(store != NULL, &err);
    return store;
}

static void close_store(struct nd_store *store)
{
    struct nd_error err;

    require(nd_store_close(store, &err) == ND_OK, &err);
}

static void put_entry(struct nd_txn *txn, uint32_t number)
{
    struct nd_entry entry = {.n_documents = 1,
                             .hash = {number, number}, /* ascending, which is fast */
                             .text = {.stored = 100, .bytes = 4000},
                             .n_tokens = 600};
    struct nd_error err;

    for (unsigned m = 0; m < ND_MINHASH_COUNT; m += 8) {
        uint64_t word = nd_mix64((uint64_t)number << 8 | m);

        memcpy(entry.row.low + m, &word, sizeof word);
    }
    entry.row.simhash = nd_mix64(~(uint64_t)number);
    entry.row.identity = nd_mix64(number) | 1;
    entry.row.n_shingles = 500;
    require(nd_catalog_put_entry(txn, number, &entry, &err) == ND_OK, &err);
}

static void put_entries(const char *folder, uint32_t n)
{
    enum { TOGETHER = 100000 };
    struct nd_error err;
    struct nd_catalog *catalog = nd_catalog_open(folder, false, false, &err);
    struct nd_catalog_state state;
    struct nd_txn *txn;

    require(catalog != NULL, &err);
    for (uint32_t number = 0; number < n;) {
        uint32_t to = n - number < TOGETHER ? n : number + TOGETHER;

        require(nd_catalog_begin(catalog, true, &txn, &err) == ND_OK, &err);
        require(nd_catalog_get_state(txn, &state, &err) == ND_OK, &err);
        if (number == 0)
            require(nd_catalog_put_label_set(txn, 0, (struct nd_view){"", 0}, &err) == ND_OK, &err);
        while (number < to)
            put_entry(txn, number++);
        state.commit++;
        state.n_label_sets = 1;
        state.next_entry = to;
        state.n_entries = to;
        require(nd_catalog_put_state(txn, &state, &err) == ND_OK, &err);
        require(nd_catalog_commit(txn, NULL, &err) == ND_OK, &err);
    }
    nd_catalog_close(catalog);
}

int main(int argc, char **argv)
{
    struct nd_store_stats stats;
    struct nd_store *store;
    double elapsed, processor;

    if (argc == 4 && strcmp(argv[1], "make") == 0) {
        close_store(open_store(argv[3], true));
        put_entries(argv[3], (uint32_t)strtoul(argv[2], NULL, 10));
        return 0;
    }
    if (argc != 3 || strcmp(argv[1], "open") != 0) {
        fprintf(stderr, "usage: store_opening make DOCUMENTS FOLDER | open FOLDER\n");
        return 2;
    }
    elapsed = now(CLOCK_MONOTONIC);
    processor = now(CLOCK_PROCESS_CPUTIME_ID);
    store = open_store(argv[2], false);
    elapsed = now(CLOCK_MONOTONIC) - elapsed;
    processor = now(CLOCK_PROCESS_CPUTIME_ID) - processor;
    nd_store_stats(store, &stats);
    printf("%llu entries, opened from %s: %.1f s, processor %.1f s, anonymous %.0f MB\n",
           (unsigned long long)stats.contents, stats.opened_from_snapshot ? "a snapshot" : "rows",
           elapsed, processor, anonymous());
    elapsed = now(CLOCK_MONOTONIC);
    close_store(store);
    printf("closed: %.1f s\n", now(CLOCK_MONOTONIC) - elapsed);
    return 0;
}
