/* forecast.c - a file in which nd_run_plan has written what it predicts */
#include "run/forecast.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number/number.h"
#include "base/system/descriptor.h"
#include "input/formats/json_walk.h"

enum {
    PLAN_BYTES_MAX = 1 << 20,
    ROOM_BEHIND = 64,
    PARTS = 3,
    PATH_BYTES = 64,
    RECIPE = 0,
    THREADS
};
enum { PATHS = 2 + ND_FIGURES * PARTS };

enum nd_status nd_forecast_recipe(const struct nd_recipe *recipe, uint64_t *hash,
                                  struct nd_error *err)
{
    char *text;
    size_t len;
    enum nd_status status = nd_recipe_canonical(recipe, &text, &len, NULL, err);

    if (status != ND_OK)
        return status;
    *hash = nd_hash_bytes(text, len);
    free(text);
    return ND_OK;
}

/* The whole file, with room behind it. */
static enum nd_status read_file(const char *path, struct nd_buffer *text, struct nd_error *err)
{
    FILE *file = nd_stream_open(path, "r");
    bool has_failed;

    if (!file)
        return nd_fail(err, ND_EIO, "%s: cannot be opened: %s", path, strerror(errno));
    if (!nd_buffer_reserve(text, PLAN_BYTES_MAX + ROOM_BEHIND)) {
        fclose(file);
        return nd_fail(err, ND_ENOMEM, "out of memory");
    }
    text->len = fread(text->data, 1, PLAN_BYTES_MAX, file);
    has_failed = ferror(file) != 0;
    fclose(file);
    memset(text->data + text->len, 0, ROOM_BEHIND);
    return has_failed ? nd_fail(err, ND_EIO, "%s: cannot be read", path) : ND_OK;
}

static enum nd_status no_plan(const char *path, const char *what, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "%s: is not what neardup plan --json writes: %s", path, what);
}

/* The number that a value is; NaN: it is none. */
static double number_of(const struct nd_json_value *value)
{
    char text[64], *end;
    double number;

    if (value->kind != ND_JSON_NUMBER || value->bytes.len >= sizeof text)
        return NAN;
    memcpy(text, value->bytes.data, value->bytes.len);
    text[value->bytes.len] = '\0';
    number = nd_number_read(text, &end);
    return *end || !isfinite(number) || number < 0 ? NAN : number;
}

static void list_paths(char text[PATHS][PATH_BYTES], struct nd_view path[PATHS])
{
    static const char *const part[PARTS] = {"value", "low", "high"};

    snprintf(text[RECIPE], PATH_BYTES, "recipe_hash");
    snprintf(text[THREADS], PATH_BYTES, "threads");
    for (int i = 0; i < ND_FIGURES; i++)
        for (int k = 0; k < PARTS; k++)
            snprintf(text[2 + i * PARTS + k], PATH_BYTES, "figures.%s.%s",
                     nd_figure_name((enum nd_figure)i), part[k]);
    for (int i = 0; i < PATHS; i++)
        path[i] = (struct nd_view){text[i], strlen(text[i])};
}

static enum nd_status take_figures(const char *path, const struct nd_json_value value[PATHS],
                                   struct nd_forecast forecast[ND_FIGURES], struct nd_error *err)
{
    for (int i = 0; i < ND_FIGURES; i++) {
        const struct nd_json_value *v = &value[2 + i * PARTS];
        struct nd_forecast f = {number_of(&v[0]), number_of(&v[1]), number_of(&v[2])};
        char what[80];

        if (f.low <= f.value && f.value <= f.high) {
            forecast[i] = f;
            continue;
        }
        snprintf(what, sizeof what, "the figure %s is missing or wrong",
                 nd_figure_name((enum nd_figure)i));
        return no_plan(path, what, err);
    }
    return ND_OK;
}

static bool is_of(const struct nd_json_value value[PATHS], uint64_t recipe, unsigned threads)
{
    char hex[17];

    snprintf(hex, sizeof hex, "%016" PRIx64, recipe);
    return value[RECIPE].kind == ND_JSON_STRING && value[RECIPE].bytes.len == 16 &&
           memcmp(value[RECIPE].bytes.data, hex, 16) == 0 && number_of(&value[THREADS]) == threads;
}

static enum nd_status walk(const char *path, struct nd_view text, struct nd_arena *arena,
                           struct nd_json_value value[PATHS], struct nd_error *err)
{
    struct nd_json_indexer *indexer = nd_json_indexer_new();
    char names[PATHS][PATH_BYTES];
    struct nd_view wanted[PATHS];
    const char *reason = "it is not JSON";
    enum nd_json_found found = ND_JSON_NO_MEMORY;

    list_paths(names, wanted);
    if (indexer)
        found = nd_json_walk(indexer, text.data, text.len, wanted, PATHS, 0, arena, value, &reason);
    nd_json_indexer_free(indexer);
    if (found == ND_JSON_NO_MEMORY)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    return found == ND_JSON_INDEXED ? ND_OK : no_plan(path, reason, err);
}

enum nd_status nd_forecast_parse(const char *path, struct nd_view text, uint64_t recipe_hash,
                                 unsigned threads, struct nd_forecast forecast[ND_FIGURES],
                                 int *is_other, struct nd_error *err)
{
    struct nd_json_value value[PATHS] = {{.kind = ND_JSON_ABSENT}};
    struct nd_arena arena = {0};
    enum nd_status status = walk(path, text, &arena, value, err);

    if (status == ND_OK)
        status = take_figures(path, value, forecast, err);
    if (status == ND_OK)
        *is_other = !is_of(value, recipe_hash, threads);
    nd_arena_release(&arena);
    return status;
}

enum nd_status nd_forecast_read(const char *path, const struct nd_recipe *recipe, unsigned threads,
                                struct nd_forecast forecast[ND_FIGURES], int *is_other,
                                struct nd_error *err)
{
    struct nd_buffer text = {0};
    uint64_t hash = 0;
    enum nd_status status = nd_forecast_recipe(recipe, &hash, err);

    if (status == ND_OK)
        status = read_file(path, &text, err);
    if (status == ND_OK)
        status = nd_forecast_parse(path, (struct nd_view){text.data, text.len}, hash, threads,
                                   forecast, is_other, err);
    nd_buffer_release(&text);
    return status;
}
