/* settings.c - reading the command line by the table of options */
#define _GNU_SOURCE
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool words_add(struct words *w, const char *word)
{
    const char **more = realloc(w->at, (w->count + 1) * sizeof *more);

    if (!more)
        return false;
    w->at = more;
    w->at[w->count++] = word;
    return true;
}

void settings_init(struct settings *s)
{
    const char *tmp = getenv("TMPDIR");

    *s = (struct settings){.run = nd_run_options_default(),
                           .hamming = {.bits = 64, .distance = 3, .buckets = 128}};
    s->run.recipe.dedup.pin_threads = 1; /* one pool, and the process is nothing else */
    s->use.compare = nd_compare_params_default();
    s->use.track = nd_track_params_default();
    s->use.mirrors = nd_mirrors_params_default();
    s->use.template = nd_template_params_default();
    s->use.anchors = nd_anchors_params_default();
    if (tmp && *tmp)
        s->run.tmp = tmp;
}

void settings_release(struct settings *s)
{
    free(s->paths.at);
    free(s->text_fields.at);
    free(s->globs.at);
    free(s->excludes.at);
    free(s->prefer.at);
    free(s->corpus.at);
    free(s->also_read.at);
    free(s->use.metrics.at);
    free(s->use.prototypes.at);
    free(s->assignments.at);
    free(s->prefer_copy);
}

struct given {
    const struct option *option;
    const char *value;
};

/* "--threads or --threshold" for "--thr": abbreviations are not guessed. */
static size_t list_longer(const char *const *names, size_t n, const char *name, size_t len,
                          char list[256])
{
    size_t found = 0, used = 0;

    for (size_t i = 0; i < n && used < 200; i++)
        if (len > 1 && strncmp(names[i], name, len) == 0)
            used += (size_t)snprintf(list + used, 256 - used, "%s--%s", found++ ? " or " : "",
                                     names[i]);
    return found;
}

static enum nd_status no_option(const struct command *command, const char *name, size_t len,
                                const char *shown, struct nd_error *err)
{
    const char *names[64], *nearest;
    char list[256];
    size_t n = 0;

    for (size_t i = 0; i < n_options; i++) {
        if (strlen(option_table[i].name) == len && !memcmp(option_table[i].name, name, len))
            return nd_fail(err, ND_EINVAL, "%s is no option of %s; see neardup help %s", shown,
                           command->name, command->name);
        if (option_table[i].commands & command->bit && n < sizeof names / sizeof *names)
            names[n++] = option_table[i].name;
    }
    if (list_longer(names, n, name, len, list) > 1)
        return nd_fail(err, ND_EINVAL, "there is no option %s; did you mean %s?", shown, list);
    nearest = nd_name_nearest(name, len, names, n);
    if (nearest)
        return nd_fail(err, ND_EINVAL, "there is no option %s; did you mean --%s?", shown, nearest);
    return nd_fail(err, ND_EINVAL, "there is no option %s; see neardup help %s", shown,
                   command->name);
}

static const struct option *find_option(const struct command *command, const char *name, size_t len)
{
    for (size_t i = 0; i < n_options; i++)
        if (option_table[i].commands & command->bit && strlen(option_table[i].name) == len &&
            memcmp(option_table[i].name, name, len) == 0)
            return &option_table[i];
    return NULL;
}

static const struct option *find_letter(const struct command *command, char letter)
{
    for (size_t i = 0; i < n_options; i++)
        if (option_table[i].commands & command->bit && option_table[i].letter == letter)
            return &option_table[i];
    return NULL;
}

/* "--name", "--name=value", "--name value"; *used: how many arguments that took. */
static enum nd_status read_long(const struct command *command, int n, char *const *argument,
                                struct given *given, int *used, struct nd_error *err)
{
    const char *name = argument[0] + 2;
    size_t len = strcspn(name, "=");
    const struct option *o = find_option(command, name, len);

    *used = 1;
    if (!o)
        return no_option(command, name, len, argument[0], err);
    *given = (struct given){o, name[len] ? name + len + 1 : NULL};
    if (!o->argument && given->value)
        return nd_fail(err, ND_EINVAL, "--%s takes no value", o->name);
    if (!o->argument || given->value)
        return ND_OK;
    if (n < 2)
        return nd_fail(err, ND_EINVAL, "--%s wants a value: --%s %s", o->name, o->name,
                       o->argument);
    given->value = argument[1];
    *used = 2;
    return ND_OK;
}

/* "-o value", "-ovalue", "-nq": one letter, the rest is read again by the caller at *letter. */
static enum nd_status read_short(const struct command *command, int n, char *const *argument,
                                 const char **letter, struct given *given, int *used,
                                 struct nd_error *err)
{
    const struct option *o = find_letter(command, **letter);

    *used = 1;
    if (!o)
        return nd_fail(err, ND_EINVAL, "there is no option -%c; see neardup help %s", **letter,
                       command->name);
    *given = (struct given){o, NULL};
    ++*letter;
    if (!o->argument)
        return ND_OK;
    if (**letter) {
        given->value = *letter;
    } else if (n < 2) {
        return nd_fail(err, ND_EINVAL, "-%c wants a value: -%c %s", o->letter, o->letter,
                       o->argument);
    } else {
        given->value = argument[1];
        *used = 2;
    }
    *letter = "";
    return ND_OK;
}

static enum nd_status apply(struct settings *s, const struct given *given, size_t n,
                            struct nd_error *err)
{
    enum nd_status status = ND_OK;

    for (int stage = 0; stage < STAGES; stage++)
        for (size_t i = 0; status == ND_OK && i < n; i++)
            if (given[i].option && given[i].option->stage == stage)
                status = given[i].option->set(s, given[i].option, given[i].value, err);
    return status;
}

/* What the lists came to; they move while they grow. */
static void point_to_lists(struct settings *s)
{
    s->run.paths = s->paths.at;
    s->run.also_read = s->also_read.at;
    s->run.n_also_read = s->also_read.count;
    s->run.n_paths = s->paths.count;
    s->run.input.globs = s->globs.at;
    s->run.input.n_globs = s->globs.count;
    s->run.input.excludes = s->excludes.at;
    s->run.input.n_excludes = s->excludes.count;
    s->run.prefer = s->prefer.at;
    s->run.n_prefer = s->prefer.count;
    if (s->text_fields.count) {
        s->run.input.text_fields = s->text_fields.at;
        s->run.input.n_text_fields = s->text_fields.count;
    }
}

static enum nd_status read_all(struct settings *s, const struct command *command, int n,
                               char *const *argument, struct given *given, size_t *n_given,
                               struct nd_error *err)
{
    bool only_paths = false;
    enum nd_status status = ND_OK;

    for (int i = 0, used = 1; status == ND_OK && i < n; i += used) {
        const char *a = argument[i], *letter = a + 1;

        used = 1;
        if (only_paths || a[0] != '-' || !a[1]) {
            if (!words_add(&s->paths, a))
                return nd_fail(err, ND_ENOMEM, "out of memory");
        } else if (strcmp(a, "--") == 0) {
            only_paths = true;
        } else if (a[1] == '-') {
            status = read_long(command, n - i, argument + i, &given[(*n_given)++], &used, err);
        } else {
            while (status == ND_OK && *letter)
                status = read_short(command, n - i, argument + i, &letter, &given[(*n_given)++],
                                    &used, err);
        }
    }
    return status;
}

enum nd_status settings_parse(struct settings *s, const struct command *command, int n,
                              char *const *arguments, struct nd_error *err)
{
    size_t most = 1, n_given = 0;
    struct given *given;
    enum nd_status status;

    for (int i = 0; i < n; i++)
        most += strlen(arguments[i]);
    given = calloc(most, sizeof *given); /* a letter each, at most */
    if (!given)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = read_all(s, command, n, arguments, given, &n_given, err);
    if (status == ND_OK)
        status = apply(s, given, n_given, err);
    free(given);
    if (status == ND_OK && command->bit & FOR_ALL && !s->help)
        status = nd_recipe_check(&s->run.recipe, err);
    point_to_lists(s);
    return status;
}
