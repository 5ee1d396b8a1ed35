/* settings.c - reading the command line by the table of options */

/*
 * Parsing reads the table of options (options.c) and knows no option by itself: a row says which
 * commands and subcommands have the option, whether it takes a value, and which setter
 * (option_set.c) stores it. Options that others depend on, such as --recipe, are applied first,
 * wherever they are on the command line.
 */
#include "settings.h"
#include "file_list.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The subcommands of df that read documents. */
#define COUNTING "build calibrate"
/* The word for `sketch` without a subcommand. */
#define DOCUMENTS "documents"

/* Whether a list of words with this separator contains the word. */
static bool has_word(const char *list, size_t list_len, char between, const char *word)
{
    const char *end = list + list_len;
    size_t len = strlen(word);

    while (list < end) {
        const char *next = memchr(list, between, (size_t)(end - list));
        const char *stop = next ? next : end;

        if ((size_t)(stop - list) == len && memcmp(list, word, len) == 0)
            return true;
        list = stop + 1;
    }
    return false;
}

const char *option_parts(const struct option *o, const struct command *command)
{
    size_t len;

    if (!command_parts(command, &len))
        return NULL;
    if (o->parts)
        return o->parts;
    if (!(o->commands & FOR_SKETCH)) /* which accepts every option about documents */
        return NULL;
    if (o->commands & FOR_RECIPE) /* which reads no documents, for --help */
        return NULL;
    return command->bit == FOR_INDEX    ? READING
           : command->bit == FOR_DF     ? COUNTING
           : command->bit == FOR_CLIENT ? POSTING
           : command->bit == FOR_SKETCH ? DOCUMENTS
                                        : NULL;
}

const char *command_parts(const struct command *command, size_t *len)
{
    const char *list = command->arguments; /* "build|merge|info …" or "[info|merge] …" */

    *len = strcspn(list, " ");
    if (*list == '[' && list[*len - 1] == ']') {
        list++;
        *len -= 2;
    }
    return memchr(list, '|', *len) ? list : NULL;
}

bool is_part(const struct command *command, const char *word)
{
    size_t len;
    const char *list = command_parts(command, &len);

    return word && list && has_word(list, len, '|', word);
}

bool option_is_of(const struct option *o, const struct command *command, const char *part)
{
    const char *parts = option_parts(o, command);

    if (!(o->commands & command->bit))
        return false;
    return !parts || !part || has_word(parts, strlen(parts), ' ', part);
}

enum nd_status check_parts(const struct settings *s, const struct command *command,
                           struct nd_error *err)
{
    const char *part = s->paths.count ? s->paths.at[0] : NULL;
    bool has_part = is_part(command, part);

    if (!has_part && command->bit != FOR_SKETCH)
        return ND_OK; /* the command lists its subcommands itself */
    for (size_t g = 0; g < s->given.count; g++)
        for (size_t i = 0; i < n_options; i++) {
            const struct option *o = &option_table[i];

            if (o->commands & command->bit && strcmp(o->name, s->given.at[g]) == 0 &&
                !option_is_of(o, command, has_part ? part : DOCUMENTS))
                return nd_fail(err, ND_EINVAL, "%s%s%s has no option --%s; it applies to: %s",
                               command->name, has_part ? " " : "", has_part ? part : "", o->name,
                               option_parts(o, command));
        }
    return ND_OK;
}

bool words_add(struct words *w, const char *word)
{
    const char **more = realloc(w->at, (w->count + 1) * sizeof *more);

    if (!more)
        return false;
    w->at = more;
    w->at[w->count++] = word;
    return true;
}

bool words_take(struct words *w, char *word)
{
    if (word && words_add(w, word))
        return true;
    free(word);
    return false;
}

enum nd_status settings_init(struct settings *s, struct nd_error *err)
{
    const char *tmp = getenv("TMPDIR");

    *s = (struct settings){.hamming = {.bits = 64, .distance = 3, .buckets = 128},
                           .explain = {.top = 30, .buckets = 256, .lowest = 20},
                           .service = {.url = "http://127.0.0.1:8080",
                                       .batch = 100,
                                       .connections = 4,
                                       .retry_s = 300,
                                       .settle_s = 2,
                                       .every_s = 10},
                           .serve = {.listen = "127.0.0.1:8080"}};
    s->use.compare = nd_compare_params_default();
    s->use.track = nd_track_params_default();
    s->use.mirrors = nd_mirrors_params_default();
    s->use.template = nd_template_params_default();
    s->use.anchors = nd_anchors_params_default();
    s->use.plan = nd_plan_params_default();
    s->use.eval = nd_eval_params_default();
    s->use.perturb = nd_perturb_params_default();
    s->use.repeats = nd_repeats_params_default();
    s->use.sources = nd_sources_params_default();
    s->use.audit = nd_audit_params_default();
    s->use.sample = nd_sample_params_default();
    s->run = nd_run_options_new(err);
    s->recipe = nd_recipe_new(err);
    if (!s->run || !s->recipe)
        return ND_ENOMEM;
    nd_run_options_set_recipe(s->run, s->recipe);
    /* The process has one pool and does nothing else. */
    if (nd_run_options_set(s->run, "pin-threads", NULL, err) != ND_OK)
        return ND_ENOMEM;
    return tmp && *tmp ? nd_run_options_set(s->run, "tmp", tmp, err) : ND_OK;
}

void settings_release(struct settings *s)
{
    free(s->paths.at);
    free(s->corpus.at);
    free(s->use.metrics.at);
    free(s->use.positive.at);
    free(s->use.documents.at);
    free(s->use.sets.at);
    free(s->use.prototypes.at);
    free(s->use.prototypes_text.at);
    free(s->use.source_texts.at);
    free(s->serve.hosts.at);
    free(s->given.at);
    free(s->given_values.at);
    free(s->file_lists.at);
    file_lists_free(s->lists);
    config_file_release(&s->config);
    nd_recipe_free(s->recipe);
    free(s->assignments.at);
    nd_run_options_free(s->run);
}

const char *run_option(const struct settings *s, const char *name)
{
    return nd_run_options_get(s->run, name, 0);
}

bool run_reads(struct nd_run_options *run, const char *const *path, size_t n)
{
    struct nd_error err;

    nd_run_options_clear(run, "path");
    for (size_t i = 0; i < n; i++)
        if (nd_run_options_set(run, "path", path[i], &err) != ND_OK) {
            say("%s", err.message);
            return false;
        }
    return true;
}

struct given {
    const struct option *option;
    const char *value;
    size_t line; /* of the file of options; 0: it is of the command line */
};

/* For "--thr": "--threads or --threshold"; abbreviations are not guessed. */
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

static const struct option *find_option(const struct command *command, const char *name, size_t len)
{
    for (size_t i = 0; i < n_options; i++)
        if (option_table[i].commands & command->bit && strlen(option_table[i].name) == len &&
            memcmp(option_table[i].name, name, len) == 0)
            return &option_table[i];
    return NULL;
}

/* "pairs and filter": the other commands with an option of this name; "": none. */
static void list_commands(const char *name, size_t len, char list[256])
{
    size_t used = 0, left = 0;

    list[0] = '\0';
    for (size_t i = 0; i < n_commands; i++)
        left += find_option(&command_table[i], name, len) != NULL;
    for (size_t i = 0; i < n_commands && used < 200; i++)
        if (find_option(&command_table[i], name, len)) {
            left--;
            used += (size_t)snprintf(list + used, 256 - used, "%s%s", command_table[i].name,
                                     left > 1    ? ", "
                                     : left == 1 ? " and "
                                                 : "");
        }
}

/* Return our option for the name that other programs have, or NULL. */
static const char *other_name(const char *name, size_t len)
{
    static const char *const names[][2] = {
        {"jobs", "threads"}, {"workers", "threads"}, {"processes", "threads"}, {"out", "output"}};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i][0]) == len && memcmp(names[i][0], name, len) == 0)
            return names[i][1];
    return NULL;
}

/* Propose an option of the command itself first, and also say which others have this one. */
static enum nd_status no_option(const struct command *command, const char *name, size_t len,
                                const char *shown, struct nd_error *err)
{
    const char *names[128] = {NULL}, *nearest;
    char list[256], others[256], proposal[300] = "";
    size_t n = 0;

    for (size_t i = 0; i < n_options; i++)
        if (option_table[i].commands & command->bit && n < sizeof names / sizeof *names)
            names[n++] = option_table[i].name;
    list_commands(name, len, others); /* a name that they have is not a typing error */
    nearest = other_name(name, len);
    if (!nearest || !find_option(command, nearest, strlen(nearest)))
        nearest = nd_name_nearest(name, len, names, n);
    if (list_longer(names, n, name, len, list) > 0)
        (void)snprintf(proposal, sizeof proposal, "did you mean %s?", list);
    else if (nearest && (!*others || strncmp(nearest, name, strlen(nearest)) == 0))
        (void)snprintf(proposal, sizeof proposal, "did you mean --%s?", nearest);
    if (!*proposal)
        (void)snprintf(proposal, sizeof proposal, "see neardup help %s", command->name);
    if (*others)
        return nd_fail(err, ND_EINVAL, "%s is not an option of %s, but of %s; %s", shown,
                       command->name, others, proposal);
    return nd_fail(err, ND_EINVAL, "there is no option %s; %s", shown, proposal);
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
    *given = (struct given){.option = o, .value = name[len] ? name + len + 1 : NULL};
    if (!o->argument && given->value)
        return nd_fail(err, ND_EINVAL, "--%s takes no value", o->name);
    if (!o->argument || given->value)
        return ND_OK;
    if (n < 2)
        return nd_fail(err, ND_EINVAL, "--%s needs a value: --%s %s", o->name, o->name,
                       o->argument);
    given->value = argument[1];
    *used = 2;
    return ND_OK;
}

/* "-o value", "-ovalue", "-nq": read one letter; the caller reads the rest again at *letter. */
static enum nd_status read_short(const struct command *command, int n, char *const *argument,
                                 const char **letter, struct given *given, int *used,
                                 struct nd_error *err)
{
    const struct option *o = find_letter(command, **letter);

    *used = 1;
    if (!o)
        return nd_fail(err, ND_EINVAL, "there is no option -%c; see neardup help %s", **letter,
                       command->name);
    *given = (struct given){.option = o};
    ++*letter;
    if (!o->argument)
        return ND_OK;
    if (**letter) {
        given->value = *letter;
    } else if (n < 2) {
        return nd_fail(err, ND_EINVAL, "-%c needs a value: -%c %s", o->letter, o->letter,
                       o->argument);
    } else {
        given->value = argument[1];
        *used = 2;
    }
    *letter = "";
    return ND_OK;
}

/* Fail as `own` says, with the line of a file of options before it. */
static enum nd_status name_line(const char *path, size_t line, const struct nd_error *own,
                                struct nd_error *err)
{
    return nd_fail(err, own->status, "%.300s:%zu: %.600s", path, line, own->message);
}

/* Set what is given; config: the file of options, or NULL. */
static enum nd_status apply(struct settings *s, const struct given *given, size_t n,
                            const char *config, struct nd_error *err)
{
    enum nd_status status = ND_OK;
    struct nd_error own;

    for (int stage = 0; stage < STAGES; stage++)
        for (size_t i = 0; status == ND_OK && i < n; i++) {
            if (!given[i].option || given[i].option->stage != stage)
                continue;
            status = given[i].option->set(s, given[i].option, given[i].value, &own);
            if (status != ND_OK && given[i].line)
                status = name_line(config, given[i].line, &own, err);
            else if (status != ND_OK)
                status = nd_fail(err, status, "%s", own.message);
        }
    return status;
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

/* Return the value of --config, the last one that is given; NULL: there is none. */
static const char *find_config(const struct command *command, int n, char *const *argument)
{
    static const char name[] = "--config";
    const char *path = NULL;

    if (!find_option(command, name + 2, sizeof name - 3))
        return NULL;
    for (int i = 0; i < n && strcmp(argument[i], "--") != 0; i++) {
        if (strcmp(argument[i], name) == 0 && i + 1 < n)
            path = argument[i + 1];
        else if (strncmp(argument[i], name, sizeof name - 1) == 0 &&
                 argument[i][sizeof name - 1] == '=')
            path = argument[i] + sizeof name;
    }
    return path;
}

/* Read the options of the file that --config names: they are given before those of the command. */
static enum nd_status read_config(struct settings *s, const struct command *command,
                                  const char *path, struct given *given, size_t *n_given,
                                  struct nd_error *err)
{
    for (size_t i = 0; i < s->config.n; i++) {
        struct nd_error own = {.message = ""};
        int used;

        if (read_long(command, 1, &s->config.option[i].argument, &given[*n_given], &used, &own) ==
                ND_OK &&
            strcmp(given[*n_given].option->name, "config") == 0)
            nd_fail(&own, ND_EINVAL, "a file of options names no other one");
        given[*n_given].line = s->config.option[i].line;
        if (own.status != ND_OK)
            return name_line(path, given[*n_given].line, &own, err);
        ++*n_given;
    }
    return ND_OK;
}

bool is_given(const struct settings *s, const char *name)
{
    for (size_t i = 0; i < s->given.count; i++)
        if (strcmp(s->given.at[i], name) == 0)
            return true;
    return false;
}

enum nd_status settings_parse(struct settings *s, const struct command *command, int n,
                              char *const *arguments, struct nd_error *err)
{
    const char *config = find_config(command, n, arguments);
    size_t most = 1, n_given = 0;
    struct given *given;
    enum nd_status status = config ? config_file_read(&s->config, config, err) : ND_OK;

    if (status != ND_OK)
        return status;
    most += s->config.n;
    for (int i = 0; i < n; i++)
        most += strlen(arguments[i]);
    given = calloc(most, sizeof *given); /* at most one per option */
    if (!given)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = config ? read_config(s, command, config, given, &n_given, err) : ND_OK;
    if (status == ND_OK)
        status = read_all(s, command, n, arguments, given, &n_given, err);
    for (size_t i = 0; status == ND_OK && i < n_given; i++)
        if (given[i].option && (!words_add(&s->given, given[i].option->name) ||
                                !words_add(&s->given_values, given[i].value)))
            status = nd_fail(err, ND_ENOMEM, "out of memory");
    if (status == ND_OK && !is_given(s, "help"))
        status = check_parts(s, command, err);
    if (status == ND_OK)
        status = apply(s, given, n_given, config, err);
    color_choose(s->use.color);
    s->hamming.has_bits = is_given(s, "bits");
    s->hamming.has_distance = is_given(s, "distance");
    free(given);
    if (status == ND_OK && !s->help)
        status = file_lists_read(s, command, err);
    if (status == ND_OK && command->bit & (FOR_ALL | FOR_SERVE | FOR_STORE) && !s->help)
        status = nd_recipe_check(s->recipe, err);
    if (s->lists && strcmp(run_option(s, "annotate"), "yes") == 0)
        nd_run_options_clear(s->run, "null"); /* --null applies to the lists then */
    return status;
}
