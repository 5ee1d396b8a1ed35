/* clocked_server.c - the service on any free port, with a clock that its standard input sets
 *
 *     clocked_server FOLDER RECIPE [NAME=LABEL,LABEL…]…
 *
 * RECIPE is the name of a shipped recipe, with changes: `default,max_checks=4`.  For each NAME a key is made, whose
 * owner sees these labels; `NAME=*` is an administrator.  The first lines of the output are the
 * port, and `NAME KEY` for each key.  Each line of the input is the time from then on, in seconds
 * since 1970, and is answered by `ok`.  At its end the server stops.  Status 1: it could not, and
 * the reason is on standard error.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/ratio.h>
#include <neardup/recipe.h>

#include "server/server.h"

enum { LABELS_MAX = 8, PATH_MAX_BYTES = 4096 };

struct clock {
    _Atomic uint64_t seconds;
};

static uint64_t read_clock(void *context)
{
    return atomic_load(&((struct clock *)context)->seconds);
}

static int complain(const struct nd_error *err)
{
    fprintf(stderr, "clocked_server: %s\n", err->message);
    return 1;
}

/* Append the line of one key to the keys file, and print the key. */
static enum nd_status add_key(FILE *keys, char *owner, struct nd_error *err)
{
    struct nd_view labels[LABELS_MAX];
    size_t n = 0;
    char *given = strchr(owner, '='), *key, *line;
    bool is_administrator;

    if (!given)
        return nd_fail(err, ND_EINVAL, "%s: a key is NAME=LABEL,LABEL…", owner);
    *given++ = '\0';
    is_administrator = strcmp(given, "*") == 0;
    for (char *label = strtok(given, ","); label && !is_administrator && n < LABELS_MAX;
         label = strtok(NULL, ","))
        labels[n++] = (struct nd_view){label, strlen(label)};
    if (nd_server_key_new(owner, labels, n, is_administrator, &key, &line, err) != ND_OK)
        return err->status;
    fprintf(keys, "%s\n", line);
    printf("%s %s\n", owner, key);
    free(key);
    free(line);
    return ND_OK;
}

static enum nd_status make_keys(const char *path, char **owners, int n, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    FILE *keys = fopen(path, "w");

    if (!keys)
        return nd_fail(err, ND_EIO, "%s: cannot be written", path);
    for (int i = 0; i < n && status == ND_OK; i++)
        status = add_key(keys, owners[i], err);
    return fclose(keys) && status == ND_OK ? nd_fail(err, ND_EIO, "%s: cannot be written", path)
                                           : status;
}

/* `default,max_checks=4,threshold=0.7,least=0.5,containment=0.8`; cuts the string. */
static enum nd_status set_recipe(struct nd_recipe *recipe, char *given,
                                 struct nd_store_options *options, struct nd_error *err)
{
    char *part = strtok(given, ",");
    enum nd_status status = nd_recipe_by_name(recipe, part ? part : "", err);

    while (status == ND_OK && (part = strtok(NULL, ",")) != NULL)
        if (strncmp(part, "least=", 6) == 0)
            status = nd_ratio_parse(part + 6, strlen(part + 6), &options->least, err);
        else if (strncmp(part, "containment=", 12) == 0)
            status = nd_ratio_parse(part + 12, strlen(part + 12), &options->containment, err);
        else
            status = nd_recipe_set(recipe, part, err);
    return status;
}

static struct nd_store *open_store(const char *folder, char *given, struct clock *clock,
                                   struct nd_error *err)
{
    struct nd_store_options options = nd_store_options_default();
    struct nd_recipe *recipe = nd_recipe_new(err);
    struct nd_store *store = NULL;

    if (recipe && set_recipe(recipe, given, &options, err) == ND_OK) {
        options.recipe = recipe;
        options.create = true;
        options.now = read_clock;
        options.now_context = clock;
        store = nd_store_open(folder, &options, err);
    }
    nd_recipe_free(recipe);
    return store;
}

/* Until the end of the input. */
static void follow_input(struct clock *clock)
{
    char line[64];

    while (fgets(line, sizeof line, stdin)) {
        atomic_store(&clock->seconds, strtoull(line, NULL, 10));
        puts("ok");
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    struct clock clock = {1700000000};
    struct nd_server_options options = nd_server_options_default();
    struct nd_error err = {0};
    struct nd_store *store;
    struct nd_server *server;
    char keys[PATH_MAX_BYTES];

    if (argc < 3) {
        fputs("usage: clocked_server FOLDER RECIPE [NAME=LABEL,LABEL...]...\n", stderr);
        return 2;
    }
    store = open_store(argv[1], argv[2], &clock, &err);
    if (!store)
        return complain(&err);
    snprintf(keys, sizeof keys, "%s.keys", argv[1]);
    options.listen = "127.0.0.1:0";
    options.keys_file = argc > 3 ? keys : NULL;
    options.now = read_clock;
    options.now_context = &clock;
    if (argc > 3 && make_keys(keys, argv + 3, argc - 3, &err) != ND_OK)
        return complain(&err);
    server = nd_server_start(store, &options, &err);
    if (!server)
        return complain(&err);
    printf("%u\n", nd_server_port(server));
    fflush(stdout);
    follow_input(&clock);
    nd_server_stop(server);
    return nd_store_close(store, &err) == ND_OK ? 0 : complain(&err);
}
