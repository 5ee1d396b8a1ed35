/* grid.c - all combinations of the values of some keys of a recipe */
#include "uses/eval/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parts of a list before, between and behind its commas. */
struct value_list {
    const char *before, *values, *after;
    size_t before_len, values_len, after_len;
};

static struct value_list split(const char *text)
{
    const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
    struct value_list list = {
        .before = text, .values = text, .values_len = strlen(text), .after = ""};

    if (close)
        list = (struct value_list){text,
                                   open + 1,
                                   close + 1,
                                   (size_t)(open - text),
                                   (size_t)(close - open) - 1,
                                   strlen(close + 1)};
    return list;
}

/* The value between two commas, with what stands around the list. NULL: out of memory. */
static const char *join(struct nd_arena *arena, const struct value_list *list, const char *value,
                        size_t len)
{
    char *text = nd_arena_alloc(arena, list->before_len + len + list->after_len + 1);

    if (!text)
        return NULL;
    memcpy(text, list->before, list->before_len);
    memcpy(text + list->before_len, value, len);
    memcpy(text + list->before_len + len, list->after, list->after_len);
    text[list->before_len + len + list->after_len] = '\0';
    return text;
}

static enum nd_status add_value(struct nd_grid *grid, struct nd_grid_key *key, const char *value,
                                struct nd_error *err)
{
    if (!value)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < key->n; i++)
        if (strcmp(key->value[i], value) == 0)
            return nd_fail(err, ND_EINVAL, "%s has the value '%.100s' twice", key->name, value);
    if (grid->n * (key->n + 1) > ND_SWEEP_SETTINGS)
        return nd_fail(err, ND_EINVAL, "there are more than %d settings", ND_SWEEP_SETTINGS);
    key->value[key->n++] = value;
    return ND_OK;
}

static enum nd_status read_key(struct nd_grid *grid, const char *set, struct nd_error *err)
{
    const size_t len = strcspn(set, "=");
    const struct value_list list = split(set + len + (set[len] == '='));
    const char *at = list.values, *end = list.values + list.values_len;
    struct nd_grid_key *key = &grid->key[grid->n_keys];
    enum nd_status status = ND_OK;
    size_t most = 1;

    if (set[len] != '=' || !len)
        return nd_fail(err, ND_EINVAL, "'%.100s' does not have the form KEY=VALUE,VALUE", set);
    for (const char *c = at; c < end; c++)
        most += *c == ',';
    key->name = nd_arena_copy(&grid->arena, set, len);
    key->value = nd_arena_alloc(&grid->arena, most * sizeof *key->value);
    if (!key->name || !key->value)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    for (size_t i = 0; i < grid->n_keys; i++)
        if (strcmp(grid->key[i].name, key->name) == 0)
            return nd_fail(err, ND_EINVAL, "the key %s is there twice", key->name);
    while (status == ND_OK) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *stop = comma ? comma : end;

        status = add_value(grid, key, join(&grid->arena, &list, at, (size_t)(stop - at)), err);
        if (!comma)
            break;
        at = comma + 1;
    }
    grid->n *= key->n;
    grid->n_keys++;
    return status;
}

enum nd_status nd_grid_read(struct nd_grid *grid, const char *const *sets, size_t n,
                            struct nd_error *err)
{
    enum nd_status status = ND_OK;

    grid->n = 1;
    if (!n)
        return nd_fail(err, ND_EINVAL, "no key varies: give KEY=VALUE,VALUE");
    if (n > ND_SWEEP_KEYS)
        return nd_fail(err, ND_EINVAL, "more than %d keys vary", ND_SWEEP_KEYS);
    for (size_t i = 0; status == ND_OK && i < n; i++)
        status = read_key(grid, sets[i], err);
    return status;
}

void nd_grid_release(struct nd_grid *grid)
{
    nd_arena_release(&grid->arena);
    *grid = (struct nd_grid){.n = 0};
}

const char *nd_grid_value(const struct nd_grid *grid, size_t combination, size_t key)
{
    for (size_t i = grid->n_keys - 1; i > key; i--)
        combination /= grid->key[i].n;
    return grid->key[key].value[combination % grid->key[key].n];
}

char *nd_grid_name(const struct nd_grid *grid, size_t combination)
{
    size_t len = 1, used = 0;
    char *name;

    for (size_t i = 0; i < grid->n_keys; i++)
        len += strlen(grid->key[i].name) + strlen(nd_grid_value(grid, combination, i)) + 2;
    name = malloc(len);
    for (size_t i = 0; name && i < grid->n_keys; i++)
        used += (size_t)snprintf(name + used, len - used, "%s%s=%s", i ? " " : "",
                                 grid->key[i].name, nd_grid_value(grid, combination, i));
    return name;
}
