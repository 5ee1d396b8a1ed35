/* fuzz_watch_state.c - a file of `client watch --state`: what is accepted is the same when it has been
 * written again
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/watch_state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char URL[] = "u";

static void require(int holds)
{
    if (!holds)
        abort();
}

static void check_order(const struct watch_state *s)
{
    for (size_t i = 0; i < s->n; i++) {
        require(*s->entry[i].path && (!i || strcmp(s->entry[i - 1].path, s->entry[i].path) < 0));
        require(watch_state_find(s, s->entry[i].path) == &s->entry[i]);
    }
}

static void check_equal(const struct watch_state *a, const struct watch_state *b)
{
    require(a->n == b->n);
    for (size_t i = 0; i < a->n; i++) {
        const struct watch_entry *x = &a->entry[i], *y = &b->entry[i];

        require(strcmp(x->path, y->path) == 0 && x->mark.bytes == y->mark.bytes &&
                x->mark.modified_ns == y->mark.modified_ns && x->hash == y->hash &&
                x->hashed == y->hashed && x->line == y->line && x->is_document == y->is_document);
    }
}

/* Note all entries in another file, and forget a path that it has not. */
static void check_again(const struct watch_state *s, const char *name)
{
    struct watch_state again;

    require(watch_state_open(&again, name, URL, NULL) == ND_OK && again.n == 0);
    for (size_t i = 0; i < s->n; i++)
        require(watch_state_note(&again, &s->entry[i], NULL) == ND_OK);
    require(watch_state_forget(&again, "\n\\ no path of a fuzzer \t", NULL) == ND_OK);
    watch_state_close(&again);
    require(watch_state_open(&again, name, URL, NULL) == ND_OK);
    check_order(&again);
    check_equal(s, &again);
    watch_state_close(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* In memory, where there is such a folder: files are synced. */
    char in_memory[] = "/dev/shm/fuzz-watch-XXXXXX", on_disk[] = "/tmp/fuzz-watch-XXXXXX";
    const char *folder = mkdtemp(in_memory) ? in_memory : mkdtemp(on_disk);
    char name[64], other[64];
    struct watch_state s;
    struct nd_error err = {.message = ""};
    FILE *file;

    require(folder != NULL);
    snprintf(name, sizeof name, "%s/state", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    file = fopen(name, "w");
    require(file && (!size || fwrite(data, size, 1, file) == 1) && fclose(file) == 0);
    if (watch_state_open(&s, name, URL, &err) == ND_OK) {
        check_order(&s);
        check_again(&s, other);
    } else {
        require(err.message[0]);
    }
    watch_state_close(&s);
    unlink(name);
    unlink(other);
    rmdir(folder);
    return 0;
}
