/* journal.c - how far a post has come, so that it can go on there */
#define _GNU_SOURCE
#include "service/journal.h"

#include <neardup/result_file.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As the file has it: without what would end its line, and not too long. */
static void shorten(const char *at, char out[4096])
{
    (void)snprintf(out, 4096, "%s", at);
    for (char *c = out; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

enum nd_status journal_read(struct journal *journal, const char *name, struct nd_error *err)
{
    FILE *file;
    int n;

    *journal = (struct journal){.name = name};
    if (!name)
        return ND_OK;
    file = fopen(name, "re");
    if (!file && errno == ENOENT)
        return ND_OK;
    if (!file)
        return nd_fail(err, ND_EIO, "%s: %s", name, strerror(errno));
    n = fscanf(file, "%" SCNu64 "\t%4095[^\n]", &journal->records, journal->at);
    fclose(file);
    if (n != 2 || journal->records == 0)
        return nd_fail(err, ND_EINPUT, "%s: is no file of --resume", name);
    return ND_OK;
}

enum nd_status journal_write(struct journal *journal, uint64_t records, const char *at,
                             struct nd_error *err)
{
    struct nd_result_file *file;
    char shortened[4096];
    enum nd_status status;

    if (!journal->name)
        return ND_OK;
    status = nd_result_file_open(&file, journal->name, NULL, 0, err);
    if (status != ND_OK)
        return status;
    shorten(at, shortened);
    fprintf(nd_result_file_stream(file), "%" PRIu64 "\t%s\n", records, shortened);
    return nd_result_file_publish(file, err);
}

int journal_is_last(const struct journal *journal, const char *at)
{
    char shortened[4096];

    shorten(at, shortened);
    return strcmp(shortened, journal->at) == 0;
}

void journal_remove(struct journal *journal)
{
    if (journal->name)
        unlink(journal->name);
}
