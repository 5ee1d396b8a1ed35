/* file_list.c - the files that --files-from lists, for more than a command line holds */

/*
 * Paths from --files-from are added after the paths of the command line. The place of each in its
 * list is remembered, so that a message about a missing file can name the line of the list.
 */
#include "file_list.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"

#include <neardup/result_file.h>

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A listed path, and its place in the list. */
struct listed_file {
    const char *path, *list;
    size_t line; /* with --null: number of the path */
};

struct file_lists {
    struct listed_file *at;
    size_t n, capacity;
    struct words texts; /* the paths themselves */
};

void file_lists_free(struct file_lists *lists)
{
    if (!lists)
        return;
    for (size_t i = 0; i < lists->texts.count; i++)
        free((void *)(uintptr_t)lists->texts.at[i]);
    free(lists->texts.at);
    free(lists->at);
    free(lists);
}

static const char *shown_name(const char *list)
{
    return strcmp(list, "-") == 0 ? "standard input" : list;
}

static bool add(struct file_lists *lists, const struct listed_file *listed)
{
    if (lists->n == lists->capacity) {
        size_t capacity = lists->capacity ? lists->capacity * 2 : 256;
        struct listed_file *more = realloc(lists->at, capacity * sizeof *more);

        if (!more)
            return false;
        lists->at = more;
        lists->capacity = capacity;
    }
    lists->at[lists->n++] = *listed;
    return true;
}

static enum nd_status add_path(struct settings *s, const struct listed_file *listed,
                               struct nd_error *err)
{
    const char *list = shown_name(listed->list);
    char *path;

    if (strcmp(listed->path, "-") == 0 && strcmp(listed->list, "-") == 0)
        return nd_fail(err, ND_EINVAL,
                       "%s:%zu: the standard input cannot be both a list and one of its files",
                       list, listed->line);
    path = nd_text_copy(listed->path);
    if (words_take(&s->lists->texts, path)) {
        struct listed_file own = *listed;

        own.path = path;
        if (add(s->lists, &own) && words_add(&s->paths, path))
            return ND_OK;
    }
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* A path cannot contain a NUL; in a list of lines it means that the paths end in NUL. */
static enum nd_status refuse_null(const struct listed_file *listed, struct nd_error *err)
{
    return nd_fail(err, ND_EINVAL, "%s:%zu: contains a NUL; use --null for paths that end in NUL",
                   shown_name(listed->list), listed->line);
}

static enum nd_status read_paths(struct settings *s, const char *list, FILE *file,
                                 struct nd_error *err)
{
    int end = s->null_lists ? '\0' : '\n';
    size_t capacity = 0, n = 0;
    struct listed_file listed = {.list = list};
    char *line = NULL;
    enum nd_status status = ND_OK;
    ssize_t len;

    while (status == ND_OK && (len = nd_read_line(&line, &capacity, end, file)) > 0) {
        if (line[len - 1] == end)
            line[--len] = '\0';
        listed.line++;
        listed.path = line;
        if (len == 0) /* a blank line */
            continue;
        if (strlen(line) < (size_t)len)
            status = refuse_null(&listed, err);
        else
            status = add_path(s, &listed, err);
        n++;
    }
    free(line);
    if (status == ND_OK && ferror(file))
        return nd_fail(err, ND_EIO, "%s: %s", shown_name(list), strerror(errno));
    if (status == ND_OK && n == 0)
        return nd_fail(err, ND_EINVAL, "%s: lists no files", shown_name(list));
    return status;
}

static enum nd_status read_list(struct settings *s, const char *list, struct nd_error *err)
{
    FILE *file = strcmp(list, "-") == 0 ? stdin : nd_stream_open(list, "r");
    enum nd_status status;

    if (!file)
        return nd_fail(err, ND_EIO, "%s: %s", list, strerror(errno));
    if (nd_run_options_set(s->run, "also-read", list, err) != ND_OK)
        status = nd_fail(err, ND_ENOMEM, "out of memory");
    else
        status = read_paths(s, list, file, err);
    if (file != stdin)
        fclose(file);
    return status;
}

/* Only one reader can use the standard input. */
static enum nd_status check_standard_input(const struct settings *s, struct nd_error *err)
{
    size_t n_lists = 0, n_paths = 0;

    for (size_t i = 0; i < s->file_lists.count; i++)
        n_lists += strcmp(s->file_lists.at[i], "-") == 0;
    for (size_t i = 0; i < s->paths.count; i++)
        n_paths += strcmp(s->paths.at[i], "-") == 0;
    if (n_lists > 1 || (n_lists && n_paths))
        return nd_fail(err, ND_EINVAL, "the standard input cannot be read as %s",
                       n_lists > 1 ? "two lists of files" : "both a list of files and one of them");
    return ND_OK;
}

/* How many words must come before the files on the command line; they are not in the lists. */
static size_t words_before(const struct settings *s, const struct command *command)
{
    const char *first = s->paths.count ? s->paths.at[0] : "";

    if (command->bit == FOR_JOIN)
        return s->hamming.merge ? 0 : 1;
    if (command->bit == FOR_INDEX)
        return strcmp(first, "add") == 0 ? 2 : 1;
    if (command->bit == FOR_SOURCES)
        return s->use.source_texts.count ? 0 : 1;
    if (command->bit & (FOR_CLIENT | FOR_APPLY | FOR_REPORT))
        return 1;
    if (command->bit == FOR_DF)
        return strcmp(first, "calibrate") == 0 ? 2 : 1;
    return 0;
}

enum nd_status file_lists_read(struct settings *s, const struct command *command,
                               struct nd_error *err)
{
    enum nd_status status;

    if (!s->file_lists.count) {
        if (s->null_lists && !(command->bit & (FOR_DEDUP | FOR_APPLY)))
            return nd_fail(err, ND_EINVAL, "--null requires --files-from");
        return ND_OK;
    }
    if (s->paths.count < words_before(s, command))
        return nd_fail(err, ND_EINVAL,
                       "--files-from lists only files, so the arguments before them are missing: "
                       "neardup %s %s",
                       command->name, command->arguments);
    s->lists = calloc(1, sizeof *s->lists);
    if (!s->lists)
        return nd_fail(err, ND_ENOMEM, "out of memory");
    status = check_standard_input(s, err);
    for (size_t i = 0; status == ND_OK && i < s->file_lists.count; i++)
        status = read_list(s, s->file_lists.at[i], err);
    return status;
}

/* The first occurrence of a path in the lists; NULL: it was given otherwise. */
static const struct listed_file *find(const struct file_lists *lists, const char *path, size_t len)
{
    for (size_t i = 0; lists && i < lists->n; i++)
        if (strncmp(lists->at[i].path, path, len) == 0 && !lists->at[i].path[len])
            return &lists->at[i];
    return NULL;
}

bool file_lists_place(const struct settings *s, const char *message, char out[512])
{
    struct nd_file_about about;

    for (const char *colon = message; s->lists && (colon = strstr(colon, ": ")); colon++) {
        const struct listed_file *listed = find(s->lists, message, (size_t)(colon - message));

        if (listed && !nd_path_about_itself(listed->path, &about)) {
            (void)snprintf(out, 512, "%s:%zu", shown_name(listed->list), listed->line);
            return true;
        }
    }
    return false;
}

bool file_lists_fit(const struct settings *s, const char *output)
{
    struct nd_error err;
    struct nd_file_about about;

    for (size_t i = 0; s->lists && i < s->lists->n; i++) {
        const struct listed_file *listed = &s->lists->at[i];

        if (strcmp(listed->path, "-") != 0 && !nd_path_about(listed->path, &about)) {
            say("%s:%zu: %s: %s", shown_name(listed->list), listed->line, listed->path,
                strerror(errno));
            return false;
        }
    }
    if (!s->lists || !output ||
        nd_result_file_check(output, s->file_lists.at, s->file_lists.count, &err) == ND_OK)
        return true;
    say("%s", err.message);
    return false;
}
