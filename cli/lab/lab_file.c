/* lab_file.c - a reproduction of a paper's result, as its file describes it */
#define _GNU_SOURCE
#include "lab/lab_file.h"
#include "lab/shipped_labs.h"
#include "settings.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 1 << 20 };

struct lab_reader {
    struct lab *lab;
    const char *file;
    unsigned line;
    unsigned more; /* lines that went on with it */
    enum { IN_NONE, IN_WHOLE, IN_FILE, IN_STEP, IN_SERIES } section;
    struct nd_error *err;
};

static bool refuse(struct lab_reader *r, const char *reason, const char *what)
{
    nd_fail(r->err, ND_EINVAL, "%.200s:%u: %s%.100s", r->file, r->line, reason, what);
    return false;
}

static bool no_memory(struct lab_reader *r)
{
    nd_fail(r->err, ND_ENOMEM, "out of memory");
    return false;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool set_string(struct lab_reader *r, char **to, const char *value)
{
    if (*to)
        return refuse(r, "the key is there twice", "");
    *to = strdup(value);
    return *to || no_memory(r);
}

static bool append_line(struct lab_reader *r, char **to, const char *line)
{
    char *joined = NULL;

    if (asprintf(&joined, "%s%s%s", *to ? *to : "", *to ? "\n" : "", line) < 0)
        return no_memory(r);
    free(*to);
    *to = joined;
    return true;
}

/* The next word of a list; NULL: there is none. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t");

    if (!*word)
        return NULL;
    *at = word + strcspn(word, " \t");
    if (**at)
        *(*at)++ = '\0';
    return word;
}

static bool set_numbers(struct lab_reader *r, double *to, size_t *n, const char *value)
{
    char *copy = strdup(value), *at = copy, *word;
    bool good = copy || no_memory(r);

    while (good && (word = next_word(&at))) {
        char *end = word;

        if (*n == LAB_NUMBERS)
            good = refuse(r, "too many numbers", "");
        else
            to[(*n)++] = strcmp(word, "-") == 0 ? NAN : strtod(word, &end);
        if (good && strcmp(word, "-") != 0 && *end)
            good = refuse(r, "this is no number: ", word);
    }
    free(copy);
    return good;
}

static bool set_labels(struct lab_reader *r, struct lab_series *s, const char *value)
{
    char *copy = strdup(value), *at = copy, *word;
    bool good = copy || no_memory(r);

    while (good && (word = next_word(&at))) {
        if (s->n_labels == LAB_NUMBERS)
            good = refuse(r, "too many labels", "");
        else if (!(s->label[s->n_labels] = strdup(word)))
            good = no_memory(r);
        else
            s->n_labels++;
    }
    free(copy);
    return good;
}

/* "5%" or "0.05". */
static bool set_share(struct lab_reader *r, double *to, const char *value)
{
    char *end;

    *to = strtod(value, &end);
    if (*end == '%') {
        *to /= 100;
        end++;
    }
    return end != value && !*end && *to >= 0 ? true : refuse(r, "this is no number: ", value);
}

static bool add_to(struct lab_reader *r, char **list, size_t *n, size_t most, const char *value)
{
    if (*n == most)
        return refuse(r, "there are too many of these", "");
    if (!(list[*n] = strdup(value)))
        return no_memory(r);
    ++*n;
    return true;
}

/* ---- Keys ------------------------------------------------------------------------------------ */

static bool set_of_whole(struct lab_reader *r, const char *key, const char *value)
{
    struct lab *lab = r->lab;

    if (strcmp(key, "title") == 0)
        return set_string(r, &lab->title, value);
    if (strcmp(key, "paper") == 0)
        return set_string(r, &lab->paper, value);
    if (strcmp(key, "corpus") == 0)
        return set_string(r, &lab->corpus, value);
    if (strcmp(key, "package") == 0)
        return set_string(r, &lab->package, value);
    if (strcmp(key, "remark") == 0)
        return add_to(r, lab->remark, &lab->n_remarks, LAB_REMARKS, value);
    if (strcmp(key, "cannot") == 0)
        return add_to(r, lab->cannot, &lab->n_cannot, LAB_REMARKS, value);
    return refuse(r, "[reproduction] has no key ", key);
}

static bool set_of_series(struct lab_reader *r, const char *key, const char *value)
{
    struct lab_series *s = &r->lab->series[r->lab->n_series - 1];
    char **to = strcmp(key, "about") == 0   ? &s->about
                : strcmp(key, "table") == 0 ? &s->tables
                : strcmp(key, "value") == 0 ? &s->value
                                            : NULL;

    if (to)
        return set_string(r, to, value);
    if (strcmp(key, "where") == 0)
        return add_to(r, s->where, &s->n_where, sizeof s->where / sizeof *s->where, value);
    if (strcmp(key, "labels") == 0)
        return set_labels(r, s, value);
    if (strcmp(key, "paper") == 0)
        return set_numbers(r, s->paper, &s->n_paper, value);
    if (strcmp(key, "expect") == 0)
        return set_numbers(r, s->expect, &s->n_expect, value);
    if (strcmp(key, "within") == 0)
        return set_share(r, &s->within, value);
    if (strcmp(key, "near") == 0)
        return set_share(r, &s->near, value);
    return refuse(r, "[series] has no key ", key);
}

static bool set_key(struct lab_reader *r, const char *key, const char *value)
{
    struct lab *lab = r->lab;

    if (r->section == IN_WHOLE)
        return set_of_whole(r, key, value);
    if (r->section == IN_SERIES)
        return set_of_series(r, key, value);
    if (r->section == IN_STEP && strcmp(key, "run") == 0)
        return set_string(r, &lab->part[lab->n_parts - 1].run, value);
    return refuse(r, r->section ? "[step] has no key " : "no section has begun before ", key);
}

/* ---- Lines ----------------------------------------------------------------------------------- */

static bool begin_part(struct lab_reader *r, const char *name)
{
    struct lab *lab = r->lab;

    if (lab->n_parts == LAB_PARTS)
        return refuse(r, "there are too many steps and files", "");
    for (size_t i = 0; i < lab->n_parts; i++)
        if (strcmp(lab->part[i].name, name) == 0)
            return refuse(r, "there are two steps or files of the name ", name);
    lab->part[lab->n_parts].name = strdup(name);
    return lab->part[lab->n_parts++].name || no_memory(r);
}

static bool begin_series(struct lab_reader *r, const char *name)
{
    struct lab *lab = r->lab;

    if (lab->n_series == LAB_PARTS)
        return refuse(r, "there are too many series", "");
    lab->series[lab->n_series] = (struct lab_series){.within = 0.005, .near = 0.1};
    lab->series[lab->n_series].name = strdup(name);
    return lab->series[lab->n_series++].name || no_memory(r);
}

static bool begin_section(struct lab_reader *r, char *line)
{
    char *at = line + 1, *close = strrchr(line, ']'), *kind, *name;

    if (!close || close[1])
        return refuse(r, "a heading ends with ]: ", line);
    *close = '\0';
    kind = next_word(&at);
    name = next_word(&at);
    if (kind && !name && strcmp(kind, "reproduction") == 0) {
        r->section = IN_WHOLE;
        return true;
    }
    if (!kind || !name || next_word(&at))
        return refuse(r, "sections are [reproduction], [file NAME], [step NAME] and [series NAME]",
                      "");
    if (name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")])
        return refuse(r, "names have small letters, digits and hyphens: ", name);
    if (strcmp(kind, "series") == 0) {
        r->section = IN_SERIES;
        return begin_series(r, name);
    }
    if (strcmp(kind, "step") != 0 && strcmp(kind, "file") != 0)
        return refuse(r, "there are no sections of the kind ", kind);
    r->section = strcmp(kind, "step") == 0 ? IN_STEP : IN_FILE;
    return begin_part(r, name);
}

static bool read_line(struct lab_reader *r, char *line)
{
    size_t len = strlen(line);
    char *equals;

    if (*line == '[')
        return begin_section(r, line);
    if (r->section == IN_FILE)
        return append_line(r, &r->lab->part[r->lab->n_parts - 1].text,
                           line + (*line == '\\' && line[1] == '['));
    while (len && isspace((unsigned char)line[len - 1]))
        line[--len] = '\0';
    if (!len || *line == '#')
        return true;
    if (isspace((unsigned char)*line))
        return refuse(r, "a line that begins with a space goes on with none", "");
    equals = strchr(line, '=');
    if (!equals)
        return refuse(r, "a line has the form KEY = VALUE: ", line);
    for (char *end = equals; end > line && isspace((unsigned char)end[-1]);)
        *--end = '\0';
    *equals = '\0';
    return set_key(r, line, equals + 1 + strspn(equals + 1, " \t"));
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool has_part(const struct lab *lab, const char *name, size_t len)
{
    for (size_t i = 0; i < lab->n_parts; i++)
        if (strlen(lab->part[i].name) == len && strncmp(lab->part[i].name, name, len) == 0)
            return true;
    return false;
}

static bool check_series(struct lab_reader *r, const struct lab_series *s)
{
    const char *at = s->tables;

    if (!s->tables || !s->value || !s->n_labels)
        return refuse(r, "table, value or labels are missing: [series] ", s->name);
    if ((s->n_paper && s->n_paper != s->n_labels) || (s->n_expect && s->n_expect != s->n_labels))
        return refuse(r, "there are not as many numbers as labels: [series] ", s->name);
    for (size_t len; *(at += strspn(at, " ")); at += len) {
        len = strcspn(at, " ");
        if (!has_part(r->lab, at, len))
            return refuse(r, "the table is no step and no file: ", at);
    }
    return true;
}

static bool check_whole(struct lab_reader *r)
{
    struct lab *lab = r->lab;

    if (!lab->title || !lab->paper)
        return refuse(r, "[reproduction] needs a title and a paper", "");
    for (size_t i = 0; i < lab->n_parts; i++)
        if (!lab->part[i].run && !lab->part[i].text)
            return refuse(r, "a step needs a command, and a file lines: ", lab->part[i].name);
    for (size_t i = 0; i < lab->n_series; i++)
        if (!check_series(r, &lab->series[i]))
            return false;
    return true;
}

/* End a line, with those that begin with a space and go on with it. Return what comes next. */
static char *end_of(struct lab_reader *r, char *line)
{
    const bool goes_on = r->section != IN_FILE && *line && !strchr("[#\n", *line);
    char *end = line + strcspn(line, "\n");

    for (r->more = 0; goes_on && *end && (end[1] == ' ' || end[1] == '\t'); r->more++) {
        *end = ' ';
        memmove(end + 1, end + 1 + strspn(end + 1, " \t"),
                strlen(end + 1 + strspn(end + 1, " \t")) + 1);
        end += strcspn(end, "\n");
    }
    if (*end)
        *end++ = '\0';
    return end;
}

struct lab *lab_parse(const char *name, const char *text, struct nd_error *err)
{
    struct lab_reader r = {.lab = calloc(1, sizeof *r.lab), .file = name, .err = err};
    char *copy = strdup(text), *line = copy, *end;
    bool good = (r.lab && copy) || no_memory(&r);

    for (; good && *line; line = end) {
        r.line++;
        end = end_of(&r, line);
        good = read_line(&r, line);
        r.line += r.more;
    }
    if (good) {
        const char *base = strrchr(name, '/') ? strrchr(name, '/') + 1 : name;
        const size_t len = strlen(base);

        r.lab->name = strndup(base, len > 4 && strcmp(base + len - 4, ".ini") == 0 ? len - 4 : len);
        good = r.lab->name ? check_whole(&r) : no_memory(&r);
    }
    free(copy);
    if (good)
        return r.lab;
    lab_free(r.lab);
    return NULL;
}

static struct lab *read_file(const char *path, struct nd_error *err)
{
    FILE *file = fopen(path, "r");
    char *text = file ? calloc(1, FILE_BYTES) : NULL;
    size_t len = text ? fread(text, 1, FILE_BYTES - 1, file) : 0;
    struct lab *lab = NULL;

    if (!file)
        nd_fail(err, ND_EIO, "%s: cannot be read", path);
    else if (!text)
        nd_fail(err, ND_ENOMEM, "out of memory");
    else if (ferror(file) || len == FILE_BYTES - 1 || strlen(text) < len)
        nd_fail(err, ND_EINPUT, "%s: it is no file of a reproduction", path);
    else
        lab = lab_parse(path, text, err);
    free(text);
    if (file)
        fclose(file);
    return lab;
}

struct lab *lab_read(const char *name, struct nd_error *err)
{
    const char *names[64] = {NULL}, *nearest;
    size_t n = 0;

    for (; n < n_shipped_labs && n < sizeof names / sizeof *names; n++) {
        names[n] = shipped_labs[n].name;
        if (strcmp(names[n], name) == 0)
            return lab_parse(name, shipped_labs[n].text, err);
    }
    if (strpbrk(name, "/."))
        return read_file(name, err);
    nearest = nd_name_nearest(name, strlen(name), names, n);
    nd_fail(err, ND_EINVAL, "there is no reproduction '%.100s'%s%s%s", name,
            nearest ? "; did you mean '" : "; see neardup reproduce list", nearest ? nearest : "",
            nearest ? "'?" : "");
    return NULL;
}

const char *lab_name(size_t i)
{
    return i < n_shipped_labs ? shipped_labs[i].name : NULL;
}

static void free_all(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i]);
}

void lab_free(struct lab *lab)
{
    if (!lab)
        return;
    free_all((char *[]){lab->name, lab->title, lab->paper, lab->corpus, lab->package}, 5);
    free_all(lab->remark, lab->n_remarks);
    free_all(lab->cannot, lab->n_cannot);
    for (size_t i = 0; i < lab->n_parts; i++)
        free_all((char *[]){lab->part[i].name, lab->part[i].run, lab->part[i].text}, 3);
    for (size_t i = 0; i < lab->n_series; i++) {
        struct lab_series *s = &lab->series[i];

        free_all((char *[]){s->name, s->about, s->tables, s->value}, 4);
        free_all(s->where, s->n_where);
        free_all(s->label, s->n_labels);
    }
    free(lab);
}
