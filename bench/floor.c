/* floor.c - the least that a program must do to deduplicate a file of lines, and nothing else
 *
 *     floor copy|hash|sketch FILE OUT
 *
 * copy: read FILE by blocks and write all of it to OUT.  hash: also find the lines, and hash the
 * bytes of each.  sketch: also read each line as a text to its tokens, distinct shingles and 128
 * minima.  No JSON, no index, no comparison: `bench/run floor` sets `neardup dedup` beside it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <neardup/sketch.h>

#include "base/hash.h"

enum { BLOCK = 1 << 20, LONGEST = 64 << 20 };

enum work { COPY, HASH, SKETCH };

static volatile uint64_t sink;

static void take(enum work work, struct nd_sketcher *sketcher, const char *line, size_t len)
{
    struct nd_sketch sketch = {0};

    sink += nd_hash_bytes(line, len);
    if (work == SKETCH && nd_sketcher_run(sketcher, line, len, ND_SKETCH_MINHASH, &sketch) == 0)
        sink += sketch.minhash[0];
}

static void write_all(int out, const char *data, size_t len)
{
    for (ssize_t n; len; data += n, len -= (size_t)n)
        if ((n = write(out, data, len)) <= 0) {
            perror("write");
            exit(2);
        }
}

/* Take the whole lines of `have` bytes; return the bytes after them. */
static size_t take_lines(enum work work, struct nd_sketcher *sketcher, char *data, size_t have)
{
    size_t from = 0;

    for (char *end; (end = memchr(data + from, '\n', have - from));) {
        take(work, sketcher, data + from, (size_t)(end - data) - from);
        from = (size_t)(end - data) + 1;
    }
    memmove(data, data + from, have - from);
    return have - from;
}

int main(int argc, char **argv)
{
    static const char *const name[] = {"copy", "hash", "sketch"};
    const struct nd_sketch_params params = nd_sketch_params_default();
    struct nd_sketcher *sketcher = nd_sketcher_new(&params, NULL);
    char *data = malloc(LONGEST + BLOCK);
    int in, out, work = COPY;
    size_t have = 0;

    while (argc == 4 && work <= SKETCH && strcmp(argv[1], name[work]) != 0)
        work++;
    if (argc != 4 || work > SKETCH || !sketcher || !data) {
        fputs("usage: floor copy|hash|sketch FILE OUT\n", stderr);
        return 2;
    }
    in = open(argv[2], O_RDONLY);
    out = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (in < 0 || out < 0) {
        perror(in < 0 ? argv[2] : argv[3]);
        return 2;
    }
    for (ssize_t n; have <= LONGEST && (n = read(in, data + have, BLOCK)) > 0;) {
        write_all(out, data + have, (size_t)n);
        have = work == COPY ? 0 : take_lines(work, sketcher, data, have + (size_t)n);
    }
    if (have)
        take(work, sketcher, data, have);
    nd_sketcher_free(sketcher);
    free(data);
    return close(out) ? 2 : 0;
}
