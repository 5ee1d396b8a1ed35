/* replay.c - runs a fuzz target without a fuzzer: on each file named, and on its beginnings */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEED_MAX = 1 << 20, ALL_BEGINNINGS = 512, SOME_BEGINNINGS = 64 };

/* A copy of exactly the size, so that a sanitizer sees a read beyond it. */
static int run_beginning(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    if (!copy)
        return 0;
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return 1;
}

static int replay(const char *path, uint8_t *data)
{
    FILE *file = fopen(path, "rb");
    size_t size, step;
    int ok = file != NULL;

    if (!ok)
        return 0;
    size = fread(data, 1, SEED_MAX, file);
    fclose(file);
    step = size <= ALL_BEGINNINGS ? 1 : size / SOME_BEGINNINGS;
    for (size_t n = 0; ok && n < size; n += step)
        ok = run_beginning(data, n);
    return ok && run_beginning(data, size);
}

int main(int argc, char **argv)
{
    uint8_t *data = malloc(SEED_MAX);
    int status = 0;

    for (int i = 1; i < argc; i++)
        if (!data || !replay(argv[i], data)) {
            fprintf(stderr, "%s: cannot be replayed\n", argv[i]);
            status = 1;
        }
    free(data);
    return argc > 1 ? status : 2;
}
