/* watch_state.c - what a watch has posted, kept in a file, so that a new one posts nothing twice */
#define _GNU_SOURCE
#include "service/watch_state.h"

#include "base/memory.h"

#include <neardup/result_file.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static const char FIRST[] = "neardup-watch 1 ";

static enum nd_status out_of_memory(struct nd_error *err)
{
    return nd_fail(err, ND_ENOMEM, "out of memory");
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A path has no line end and no backslash of its own in the file. */
static void put_path(FILE *file, const char *path)
{
    for (; *path; path++)
        if (*path == '\n' || *path == '\\')
            fputs(*path == '\n' ? "\\n" : "\\\\", file);
        else
            fputc(*path, file);
    fputc('\n', file);
}

/* Undo that in place.  False: the text has another backslash, or is empty. */
static bool take_path(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++, to++) {
        if (*from == '\\' && from[1] != 'n' && from[1] != '\\')
            return false;
        *to = *from;
        if (*from == '\\')
            *to = *++from == 'n' ? '\n' : '\\';
    }
    *to = '\0';
    return to > text;
}

static void put_entry(FILE *file, const struct watch_entry *e)
{
    if (e->hashed)
        fprintf(file, "feed\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%016" PRIx64 "\t",
                e->mark.bytes, e->line, e->hashed, e->hash);
    else if (e->is_item)
        fprintf(file, "item\t%" PRIu64 "\t%016" PRIx64 "\t", e->mark.bytes, e->hash);
    else
        fprintf(file, "%s\t%" PRIu64 "\t%" PRId64 "\t%016" PRIx64 "\t",
                e->is_document ? "document" : "records", e->mark.bytes, e->mark.modified_ns,
                e->hash);
    put_path(file, e->path);
}

/* Return the rest of a line behind n tabs; NULL: it has fewer. */
static char *after_tabs(char *line, unsigned n)
{
    while (line && n--) {
        line = strchr(line, '\t');
        line = line ? line + 1 : NULL;
    }
    return line;
}

/* Read a line.  False: it is none of these.  e->path points into it; NULL: it is gone. */
static bool take_entry(char *line, struct watch_entry *e, char **path)
{
    static const char gone[] = "gone\t";
    struct watch_entry as = {.path = NULL};

    *e = as;
    if (strncmp(line, gone, sizeof gone - 1) == 0) {
        *path = line + sizeof gone - 1;
        return take_path(*path);
    }
    if (sscanf(line, "feed\t%" SCNu64 "\t%" SCNu64 "\t%" SCNu64 "\t%" SCNx64 "\t", &as.mark.bytes,
               &as.line, &as.hashed, &as.hash) == 4 &&
        as.hashed) {
        as.path = after_tabs(line, 5);
    } else if (sscanf(line, "item\t%" SCNu64 "\t%" SCNx64 "\t", &as.mark.bytes, &as.hash) == 2) {
        as.path = after_tabs(line, 3);
        as.is_item = true;
    } else if (sscanf(line, "document\t%" SCNu64 "\t%" SCNd64 "\t%" SCNx64 "\t", &as.mark.bytes,
                      &as.mark.modified_ns, &as.hash) == 3 ||
               sscanf(line, "records\t%" SCNu64 "\t%" SCNd64 "\t%" SCNx64 "\t", &as.mark.bytes,
                      &as.mark.modified_ns, &as.hash) == 3) {
        as.path = after_tabs(line, 4);
        as.is_document = *line == 'd';
    }
    *e = as;
    *path = as.path;
    return as.path && take_path(as.path);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
    const struct watch_entry *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* A path that is gone is an entry whose mark cannot be. */
static const struct watch_mark GONE = {UINT64_MAX, INT64_MIN};

static bool is_gone(const struct watch_entry *e)
{
    return e->mark.bytes == GONE.bytes && e->mark.modified_ns == GONE.modified_ns;
}

static bool add_entry(struct watch_state *s, struct watch_entry e, const char *path)
{
    if (!e.path)
        e.mark = GONE;
    e.path = strdup(path);
    e.number = s->n;
    if (!e.path || !ND_RESERVE(s->entry, &s->capacity, s->n + 1)) {
        free(e.path);
        return false;
    }
    s->entry[s->n++] = e;
    return true;
}

/* Keep the last entry of each path that is not gone. */
static void drop_old(struct watch_state *s)
{
    size_t kept = 0;

    if (s->n)
        qsort(s->entry, s->n, sizeof *s->entry, by_path);
    for (size_t i = 0; i < s->n; i++) {
        bool is_last = i + 1 == s->n || strcmp(s->entry[i].path, s->entry[i + 1].path) != 0;

        if (is_last && !is_gone(&s->entry[i]))
            s->entry[kept++] = s->entry[i];
        else
            free(s->entry[i].path);
    }
    s->n = kept;
}

static enum nd_status check_first(const struct watch_state *s, const char *line, const char *url,
                                  struct nd_error *err)
{
    const size_t len = sizeof FIRST - 1;

    if (strncmp(line, FIRST, len) != 0)
        return nd_fail(err, ND_EINPUT, "%s: is no file of --state", s->name);
    if (strcmp(line + len, url) != 0)
        return nd_fail(err, ND_EINVAL, "%s: says what was posted to %s, not to %s", s->name,
                       line + len, url);
    return ND_OK;
}

/* Read all lines.  One that the process did not end is not there. */
static enum nd_status read_lines(struct watch_state *s, const char *url, size_t *n,
                                 struct nd_error *err)
{
    enum nd_status status = ND_OK;
    size_t capacity = 0;
    char *line = NULL;
    ssize_t len;

    rewind(s->file);
    for (*n = 0; status == ND_OK && (len = getline(&line, &capacity, s->file)) > 0; ++*n) {
        struct watch_entry e;
        char *path;

        if (line[len - 1] != '\n')
            break;
        line[len - 1] = '\0';
        if (*n == 0)
            status = check_first(s, line, url, err);
        else if (!take_entry(line, &e, &path))
            status =
                nd_fail(err, ND_EINPUT, "%s:%zu: is no line of a file of --state", s->name, *n + 1);
        else if (!add_entry(s, e, path))
            status = out_of_memory(err);
    }
    if (status == ND_OK && ferror(s->file))
        status = nd_fail(err, ND_EIO, "%s: %s", s->name, strerror(errno));
    free(line);
    drop_old(s);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static enum nd_status write_again(struct watch_state *s, const char *url, struct nd_error *err)
{
    struct nd_result_file *file;
    enum nd_status status = nd_result_file_open(&file, s->name, NULL, 0, err);
    FILE *out;

    if (status != ND_OK)
        return status;
    out = nd_result_file_stream(file);
    fprintf(out, "%s%s\n", FIRST, url);
    for (size_t i = 0; i < s->n; i++)
        put_entry(out, &s->entry[i]);
    return nd_result_file_publish(file, err);
}

/* Open the file and have it alone. */
static enum nd_status open_alone(struct watch_state *s, struct nd_error *err)
{
    if (s->file)
        fclose(s->file);
    s->file = fopen(s->name, "a+e");
    if (!s->file)
        return nd_fail(err, ND_EIO, "%s: %s", s->name, strerror(errno));
    if (flock(fileno(s->file), LOCK_EX | LOCK_NB) == 0)
        return ND_OK;
    return errno == EWOULDBLOCK
               ? nd_fail(err, ND_EINVAL, "%s: another watch keeps its state there", s->name)
               : nd_fail(err, ND_EIO, "%s: %s", s->name, strerror(errno));
}

/* A last line that has no end would become a part of the next one. */
static bool ends_with_line(FILE *file)
{
    return fseek(file, -1, SEEK_END) == 0 && fgetc(file) == '\n';
}

enum nd_status watch_state_open(struct watch_state *s, const char *name, const char *url,
                                struct nd_error *err)
{
    enum nd_status status;
    size_t lines = 0;

    *s = (struct watch_state){.name = name};
    if (!name)
        return ND_OK;
    status = open_alone(s, err);
    if (status == ND_OK)
        status = read_lines(s, url, &lines, err);
    if (status == ND_OK && (lines == 0 || lines > 2 * s->n + 1000 || !ends_with_line(s->file))) {
        status = write_again(s, url, err);
        if (status == ND_OK)
            status = open_alone(s, err);
    }
    return status;
}

void watch_state_close(struct watch_state *s)
{
    if (s->file)
        fclose(s->file);
    for (size_t i = 0; i < s->n; i++)
        free(s->entry[i].path);
    free(s->entry);
    *s = (struct watch_state){.name = NULL};
}

const struct watch_entry *watch_state_find(const struct watch_state *s, const char *path)
{
    for (size_t low = 0, high = s->n; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(path, s->entry[middle].path);

        if (order == 0)
            return &s->entry[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static enum nd_status end_line(struct watch_state *s, struct nd_error *err)
{
    return fflush(s->file) == 0 && !ferror(s->file)
               ? ND_OK
               : nd_fail(err, ND_EIO, "%s: cannot be written: %s", s->name, strerror(errno));
}

enum nd_status watch_state_note(struct watch_state *s, const struct watch_entry *entry,
                                struct nd_error *err)
{
    if (!s->file)
        return ND_OK;
    put_entry(s->file, entry);
    return end_line(s, err);
}

enum nd_status watch_state_forget(struct watch_state *s, const char *path, struct nd_error *err)
{
    if (!s->file)
        return ND_OK;
    fputs("gone\t", s->file);
    put_path(s->file, path);
    return end_line(s, err);
}
