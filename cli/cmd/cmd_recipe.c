/* cmd_recipe.c - neardup recipe: what recipes there are, what one says, whether it is one */
#include "base/system/naming.h"
#include "named_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum nd_status read_named_recipe(struct nd_recipe *recipe, const char *name, struct nd_error *err)
{
    const char *nearest;

    if (nd_recipe_text(name, NULL))
        return nd_recipe_by_name(recipe, name, err);
    if (strpbrk(name, "/.") || nd_path_exists(name))
        return nd_recipe_load(recipe, name, err);
    nearest = nd_recipe_nearest(name);
    return nd_fail(err, ND_EINVAL, "there is no recipe or file '%s'%s%s%s", name,
                   nearest ? "; did you mean '" : "; see neardup recipe list",
                   nearest ? nearest : "", nearest ? "'?" : "");
}

bool is_recipe_file(const char *name)
{
    return !nd_recipe_text(name, NULL);
}

void warn_of_recipe(const char *name, const struct nd_recipe *recipe)
{
    struct nd_error warning;

    for (size_t i = 0; nd_recipe_warning(recipe, i, &warning); i++)
        caution("%s%swarning: %s", name ? name : "", name ? ": " : "", warning.message);
}

static const char *const verbs[] = {"list", "show", "check", "diff"};

static int list(const char *const *name, size_t n)
{
    (void)name;
    if (n) {
        say("recipe list takes no argument");
        return 2;
    }
    for (size_t i = 0; nd_recipe_name(i); i++) {
        struct nd_view about = nd_recipe_about(nd_recipe_name(i));

        printf("%-38s %.*s\n", nd_recipe_name(i), (int)about.len, about.data);
    }
    /* Printed to standard error, because scripts read the names. */
    inform("docs/choosing.md says which recipe suits which documents, with measurements");
    return close_output();
}

/* The recipe as changed by --set and --df, which the caller frees. NULL: an error was reported. */
static struct nd_recipe *read_recipe(const struct settings *s, const char *name)
{
    struct nd_error err;
    struct nd_recipe *recipe = nd_recipe_new(&err);
    enum nd_status status = recipe ? read_named_recipe(recipe, name, &err) : ND_ENOMEM;

    for (size_t i = 0; status == ND_OK && i < s->assignments.count; i++)
        status = nd_recipe_set(recipe, s->assignments.at[i], &err);
    if (status == ND_OK && s->df && df_auto_name(s->df))
        status = nd_fail(&err, ND_EINVAL, "--df auto=FILE: recipe reads no documents to count");
    if (status == ND_OK && s->df)
        status = nd_recipe_set_df(recipe, s->df, &err);
    if (status == ND_OK)
        status = nd_recipe_check(recipe, &err);
    if (status == ND_OK)
        return recipe;
    nd_recipe_free(recipe);
    if (strncmp(err.message, name, strlen(name)) == 0)
        say("%s", err.message);
    else
        say("%s: %s", name, err.message);
    return NULL;
}

/* The canonical text of a recipe, which the caller frees. NULL: an error was reported. */
static char *canonical_of(const struct nd_recipe *recipe, const char *name, uint64_t *fingerprint)
{
    struct nd_error err;
    char *text = NULL;
    size_t len;

    if (nd_recipe_canonical(recipe, &text, &len, fingerprint, &err) != ND_OK)
        say("%s: %s", name, err.message);
    return text;
}

static char *canonical(const struct settings *s, const char *name, uint64_t *fingerprint)
{
    struct nd_recipe *recipe = read_recipe(s, name);
    char *text = recipe ? canonical_of(recipe, name, fingerprint) : NULL;

    nd_recipe_free(recipe);
    return text;
}

static int show(const struct settings *s, const char *const *name, size_t n)
{
    bool is_changed = s->canonical || s->assignments.count || s->df;
    uint64_t fingerprint;
    char *text;
    int status;

    if (n != 1) {
        say("recipe show takes one recipe; see neardup recipe list");
        return 2;
    }
    if (!is_changed && nd_recipe_text(name[0], NULL)) {
        fputs(nd_recipe_text(name[0], NULL), stdout);
        return close_output();
    }
    text = canonical(s, name[0], &fingerprint);
    if (!text)
        return 2;
    printf("# fingerprint %016llx\n%s", (unsigned long long)fingerprint, text);
    status = close_output();
    free(text);
    return status;
}

static int check(const struct settings *s, const char *const *name, size_t n)
{
    int status = 0;

    if (!n) {
        say("recipe check takes recipes: names or files");
        return 2;
    }
    for (size_t i = 0; i < n; i++) {
        struct nd_recipe *recipe = read_recipe(s, name[i]);
        uint64_t fingerprint;
        char *text = recipe ? canonical_of(recipe, name[i], &fingerprint) : NULL;

        if (text) {
            warn_of_recipe(name[i], recipe);
            printf("%s: a recipe, fingerprint %016llx\n", name[i], (unsigned long long)fingerprint);
        } else {
            status = 2;
        }
        free(text);
        nd_recipe_free(recipe);
    }
    return status ? status : close_output();
}

/* A line of a canonical form: its section, and its key, the part before the sign. */
struct line {
    const char *section, *text;
    size_t section_len, key_len, len;
};

static struct line *cut(const char *text, size_t *n)
{
    size_t capacity = 0;
    struct line *line, current = {.section = ""};

    for (const char *c = text; *c; c++)
        capacity += *c == '\n';
    line = calloc(capacity + 1, sizeof *line);
    for (*n = 0; line && *text; text += current.len + 1) {
        current.text = text;
        current.len = strcspn(text, "\n");
        current.key_len = strcspn(text, " =\n");
        if (*text == '[') {
            current.section = text;
            current.section_len = current.len;
        } else {
            line[(*n)++] = current;
        }
    }
    return line;
}

static int order_of(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t least = n_a < n_b ? n_a : n_b;
    int first = least ? memcmp(a, b, least) : 0;

    return first ? first : n_a < n_b ? -1 : n_a > n_b;
}

static int order(const struct line *a, const struct line *b)
{
    int first = order_of(a->section, a->section_len, b->section, b->section_len);

    return first ? first : order_of(a->text, a->key_len, b->text, b->key_len);
}

static void print_line(char sign, const struct line *line, const struct line **heading)
{
    if (!*heading ||
        order_of((*heading)->section, (*heading)->section_len, line->section, line->section_len))
        printf("%.*s\n", (int)line->section_len, line->section);
    *heading = line;
    printf("%c %.*s\n", sign, (int)line->len, line->text);
}

/*
 * Print how two canonical forms, both sorted by section and key, differ; returns the number of keys
 * that do.
 */
static size_t print_differences(const struct line *a, size_t n_a, const struct line *b, size_t n_b)
{
    const struct line *heading = NULL;
    size_t differences = 0, i = 0, j = 0;

    while (i < n_a || j < n_b) {
        int side = i == n_a ? 1 : j == n_b ? -1 : order(&a[i], &b[j]);
        bool is_equal = side == 0 && order_of(a[i].text, a[i].len, b[j].text, b[j].len) == 0;

        if (side <= 0 && !is_equal)
            print_line('-', &a[i], &heading);
        if (side >= 0 && !is_equal)
            print_line('+', &b[j], &heading);
        differences += !is_equal;
        i += side <= 0;
        j += side >= 0;
    }
    return differences;
}

static int diff(const struct settings *s, const char *const *name, size_t n)
{
    char *text[2] = {NULL, NULL};
    struct line *line[2] = {NULL, NULL};
    uint64_t fingerprint[2];
    size_t count[2], differences;
    int status = 2;

    if (n != 2) {
        say("recipe diff takes two recipes");
        return 2;
    }
    for (int i = 0; i < 2 && (!i || text[0]); i++) {
        text[i] = canonical(s, name[i], &fingerprint[i]);
        line[i] = text[i] ? cut(text[i], &count[i]) : NULL;
    }
    if (line[0] && line[1]) {
        differences = print_differences(line[0], count[0], line[1], count[1]);
        if (differences)
            printf("sketches %s be compared: fingerprints %016llx and %016llx\n",
                   fingerprint[0] == fingerprint[1] ? "can" : "cannot",
                   (unsigned long long)fingerprint[0], (unsigned long long)fingerprint[1]);
        status = close_output();
        status = status ? status : differences > 0;
    } else if (text[0] && text[1]) {
        say("out of memory");
    }
    for (int i = 0; i < 2; i++) {
        free(line[i]);
        free(text[i]);
    }
    return status;
}

int cmd_recipe(struct settings *s)
{
    const char *verb = s->paths.count ? s->paths.at[0] : NULL, *nearest;
    const char *const *name = s->paths.at + 1;
    size_t n = s->paths.count - 1;

    if (!verb) {
        say("usage: recipe list, show, check or diff; see neardup help recipe");
        return 2;
    }
    if (strcmp(verb, "list") == 0)
        return list(name, n);
    if (strcmp(verb, "show") == 0)
        return show(s, name, n);
    if (strcmp(verb, "check") == 0)
        return check(s, name, n);
    if (strcmp(verb, "diff") == 0)
        return diff(s, name, n);
    nearest = nd_name_nearest(verb, strlen(verb), verbs, sizeof verbs / sizeof *verbs);
    say("there is no command recipe %s%s%s%s", verb, nearest ? "; did you mean '" : "",
        nearest ? nearest : "", nearest ? "'?" : "; see neardup help recipe");
    return 2;
}
