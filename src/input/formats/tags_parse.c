/* tags_parse.c - tag sets as users write them: [document NAME], and a line for each field */

/*
 *     [document ART, BRIEF]
 *     id    = DN, @id
 *     title = HL
 *     body  = LP + TEXT
 *
 * A value has alternatives with commas between them, each of parts with "+" between them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/text.h>

#include "base/ini_lines.h"
#include "base/view.h"
#include "input/formats/tag_sets.h"

struct tags_parser {
    const char *name; /* of the text, for messages */
    unsigned long line;
    struct nd_arena *arena;
    struct nd_tag_set set[ND_TAGS_SETS_MAX];
    unsigned long set_line[ND_TAGS_SETS_MAX];
    size_t n_sets;
    struct nd_tag_field field[ND_TAGS_FIELDS_MAX]; /* of the last set */
    unsigned long field_line[ND_TAGS_FIELDS_MAX];
    size_t n_fields;
    struct nd_error *err;
};

static enum nd_status fail_here(const struct tags_parser *p, const char *format, ...)
    ND_PRINTF(2, 3);

static enum nd_status fail_here(const struct tags_parser *p, const char *format, ...)
{
    struct nd_error reason;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reason.message, sizeof reason.message, format, args);
    va_end(args);
    return nd_fail(p->err, ND_EINVAL, "%s:%lu: %s", p->name, p->line, reason.message);
}

static enum nd_status out_of_memory(const struct tags_parser *p)
{
    return nd_fail(p->err, ND_ENOMEM, "out of memory");
}

/* ---- Names --------------------------------------------------------------------------------------- */

/* The length of the name that the bytes begin with, of the characters that names in XML have. */
static size_t name_len(struct nd_view v)
{
    size_t n = 0;

    for (; n < v.len; n++) {
        char c = v.data[n];
        bool begins = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
                      ((unsigned char)c & 0x80);

        if (!begins && (n == 0 || !((c >= '0' && c <= '9') || c == '-' || c == '.')))
            break;
    }
    return n;
}

/* Copy a name, or say that it is none; `what` it should be: "the name of an element". */
static enum nd_status take_name(const struct tags_parser *p, struct nd_view v, const char *what,
                                const char **name)
{
    char *copy;

    if (!v.len)
        return fail_here(p, "%s is missing", what);
    if (name_len(v) != v.len)
        return fail_here(p, "'%.*s' is not %s", nd_view_shown(v), v.data, what);
    if (v.len > ND_TAG_NAME_MAX)
        return fail_here(p, "%s is longer than %d bytes: '%.*s…'", what, ND_TAG_NAME_MAX,
                         nd_view_shown(v), v.data);
    copy = nd_arena_alloc(p->arena, v.len + 1);
    if (!copy)
        return out_of_memory(p);
    memcpy(copy, v.data, v.len);
    copy[v.len] = '\0';
    *name = copy;
    return ND_OK;
}

/* Take what stands before the next of these separators off *rest; *by gets the separator, or 0. */
static struct nd_view take_piece(struct nd_view *rest, const char *separators, char *by)
{
    size_t n = 0;
    struct nd_view piece;

    while (n < rest->len && !strchr(separators, rest->data[n]))
        n++;
    piece = nd_view_trim(rest->data, rest->data + n);
    *by = n < rest->len ? rest->data[n] : '\0';
    n += n < rest->len;
    *rest = (struct nd_view){rest->data + n, rest->len - n};
    return piece;
}

/* ---- Parts --------------------------------------------------------------------------------------- */

/* Take " as page" or " as escaped page" off a part; false: it ends in something else after "as". */
static bool take_reading(struct nd_view *v, enum nd_tag_reading *reading)
{
    static const char *const words[] = {"", "page", "escaped page"};
    size_t blank = 0;
    struct nd_view as;

    *reading = ND_TAG_PLAIN;
    while (blank < v->len && v->data[blank] != ' ' && v->data[blank] != '\t')
        blank++;
    if (blank == v->len)
        return true;
    as = nd_view_trim(v->data + blank, v->data + v->len);
    v->len = blank;
    if (as.len < 3 || memcmp(as.data, "as", 2) != 0 || (as.data[2] != ' ' && as.data[2] != '\t'))
        return false;
    as = nd_view_trim(as.data + 2, as.data + as.len);
    for (size_t i = ND_TAG_PAGE; i < sizeof words / sizeof *words; i++)
        if (nd_view_is(as, words[i])) {
            *reading = (enum nd_tag_reading)i;
            return true;
        }
    return false;
}

/* "LP", "TOPICS/D", "doc-id@id-string", "@NEWID" or ".", and how it is read. */
static enum nd_status take_part(const struct tags_parser *p, struct nd_view v,
                                struct nd_tag_part *part)
{
    const struct nd_view all = v;
    enum nd_status status;
    char by;

    if (!take_reading(&v, &part->reading))
        return fail_here(p,
                         "'%.*s': behind a name may stand 'as page' or 'as escaped page', and "
                         "'+' or a comma between two names",
                         nd_view_shown(all), all.data);
    if (nd_view_is(v, "."))
        return ND_OK;
    if (v.len && *v.data == '@')
        return take_name(p, (struct nd_view){v.data + 1, v.len - 1}, "the name of an attribute",
                         &part->attribute);
    status = take_name(p, take_piece(&v, "/@", &by), "the name of an element", &part->element);
    if (status != ND_OK || !by)
        return status;
    return by == '/' ? take_name(p, v, "the name of an element", &part->items)
                     : take_name(p, v, "the name of an attribute", &part->attribute);
}

static enum nd_status take_parts(const struct tags_parser *p, struct nd_view value,
                                 struct nd_tag_field *field)
{
    struct nd_tag_part part[ND_TAGS_PARTS_MAX], *copy;
    enum nd_status status = ND_OK;
    char by = ',';
    size_t n = 0;

    while (status == ND_OK && by) {
        bool joins = by == '+';

        if (n == ND_TAGS_PARTS_MAX)
            return fail_here(p, "a field has at most %d names", ND_TAGS_PARTS_MAX);
        part[n] = (struct nd_tag_part){.joins = joins};
        status = take_part(p, take_piece(&value, ",+", &by), &part[n++]);
    }
    if (status != ND_OK)
        return status;
    copy = nd_arena_alloc(p->arena, n * sizeof *copy);
    if (!copy)
        return out_of_memory(p);
    memcpy(copy, part, n * sizeof *copy);
    field->part = copy;
    field->n = n;
    return ND_OK;
}

/* ---- Sets ---------------------------------------------------------------------------------------- */

static enum nd_status take_field(struct tags_parser *p, struct nd_view name, struct nd_view value)
{
    struct nd_tag_field *field = &p->field[p->n_fields];
    enum nd_status status;

    if (!p->n_sets)
        return fail_here(p, "a field before the first [document NAME]");
    if (nd_view_is(name, "text"))
        return fail_here(p, "the text is the title and the body: name these");
    for (size_t i = 0; i < p->n_fields; i++)
        if (nd_view_is(name, p->field[i].name))
            return fail_here(p, "'%s' is given twice, first on line %lu", p->field[i].name,
                             p->field_line[i]);
    if (p->n_fields == ND_TAGS_FIELDS_MAX)
        return fail_here(p, "a document has at most %d fields", ND_TAGS_FIELDS_MAX);
    status = take_name(p, name, "the name of a field", &field->name);
    if (status == ND_OK)
        status = take_parts(p, value, field);
    p->field_line[p->n_fields] = p->line;
    p->n_fields += status == ND_OK;
    return status;
}

/* The last set has all its fields. */
static enum nd_status leave_set(struct tags_parser *p)
{
    struct nd_tag_field *copy;

    if (!p->n_sets)
        return ND_OK;
    copy = nd_arena_alloc(p->arena, p->n_fields ? p->n_fields * sizeof *copy : 1);
    if (!copy)
        return out_of_memory(p);
    if (p->n_fields)
        memcpy(copy, p->field, p->n_fields * sizeof *copy);
    p->set[p->n_sets - 1].field = copy;
    p->set[p->n_sets - 1].n_fields = p->n_fields;
    p->n_fields = 0;
    return ND_OK;
}

static enum nd_status check_document(const struct tags_parser *p, const char *name,
                                     const char *const *own, size_t n_own)
{
    for (size_t i = 0; i < p->n_sets; i++)
        for (size_t d = 0; d < p->set[i].n_documents; d++)
            if (strcmp(p->set[i].document[d], name) == 0)
                return fail_here(p, "'%s' is a document already, by line %lu", name,
                                 p->set_line[i]);
    for (size_t d = 0; d < n_own; d++)
        if (strcmp(own[d], name) == 0)
            return fail_here(p, "'%s' is named twice", name);
    return ND_OK;
}

static enum nd_status enter_set(struct tags_parser *p, struct nd_view heading)
{
    static const char kind[] = "document";
    const size_t len = sizeof kind - 1;
    const char *name[ND_TAGS_DOCUMENTS_MAX], **copy;
    enum nd_status status = leave_set(p);
    size_t n = 0;
    char by = ',';

    if (status != ND_OK)
        return status;
    if (heading.len < len || memcmp(heading.data, kind, len) != 0 ||
        (heading.len > len && heading.data[len] != ' ' && heading.data[len] != '\t'))
        return fail_here(p, "unknown section; expected [document NAME]");
    if (p->n_sets == ND_TAGS_SETS_MAX)
        return fail_here(p, "there are at most %d sections", ND_TAGS_SETS_MAX);
    heading = nd_view_trim(heading.data + len, heading.data + heading.len);
    while (status == ND_OK && by) {
        if (n == ND_TAGS_DOCUMENTS_MAX)
            return fail_here(p, "a section has at most %d documents", ND_TAGS_DOCUMENTS_MAX);
        status = take_name(p, take_piece(&heading, ",", &by), "the name of an element", &name[n]);
        if (status == ND_OK)
            status = check_document(p, name[n], name, n);
        n++;
    }
    if (status != ND_OK)
        return status;
    copy = nd_arena_alloc(p->arena, n * sizeof *copy);
    if (!copy)
        return out_of_memory(p);
    memcpy(copy, name, n * sizeof *copy);
    p->set_line[p->n_sets] = p->line;
    p->set[p->n_sets++] = (struct nd_tag_set){.document = copy, .n_documents = n};
    return ND_OK;
}

static enum nd_status parse_lines(struct tags_parser *p, const char *text, size_t len)
{
    struct nd_ini ini = nd_ini_begin(text, len);
    enum nd_status status = ND_OK;
    enum nd_ini_kind kind;

    while (status == ND_OK && (kind = nd_ini_next(&ini)) != ND_INI_END) {
        p->line = ini.line;
        status = kind == ND_INI_MISTAKE   ? fail_here(p, "%s", ini.mistake)
                 : kind == ND_INI_SECTION ? enter_set(p, ini.name)
                                          : take_field(p, ini.name, ini.value);
    }
    if (status == ND_OK)
        status = leave_set(p);
    if (status == ND_OK && !p->n_sets)
        status = nd_fail(p->err, ND_EINVAL, "%s: it has no [document NAME]", p->name);
    return status;
}

/* ---- The handle ---------------------------------------------------------------------------------- */

/* Hand the sets and their spelling to the handle. */
static enum nd_status finish(const struct tags_parser *p, struct nd_tags *tags)
{
    struct nd_tag_set *copy = nd_arena_alloc(p->arena, p->n_sets * sizeof *copy);
    struct nd_buffer text = {0};
    bool good = copy != NULL;

    if (good)
        memcpy(copy, p->set, p->n_sets * sizeof *copy);
    tags->set = copy;
    tags->n_sets = p->n_sets;
    good = good && nd_tags_write(tags, &text) && nd_buffer_append(&text, "", 1);
    if (good)
        tags->text = nd_arena_copy(p->arena, text.data, text.len);
    nd_buffer_release(&text);
    return good && tags->text ? ND_OK : out_of_memory(p);
}

struct nd_tags *nd_tags_parse(const char *name, const char *text, size_t len, struct nd_error *err)
{
    struct nd_tags *tags = calloc(1, sizeof *tags);
    struct tags_parser *p = malloc(sizeof *p);
    enum nd_status status = tags && p ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");

    if (status == ND_OK && len > ND_TAGS_BYTES_MAX)
        status = nd_fail(err, ND_EINVAL, "%s: a file of tags has at most %d bytes", name,
                         ND_TAGS_BYTES_MAX);
    if (status == ND_OK && !nd_utf8_valid(text, len))
        status = nd_fail(err, ND_EINVAL, "%s: it is not UTF-8", name);
    if (status == ND_OK) {
        *p = (struct tags_parser){.name = name, .arena = &tags->arena, .err = err};
        status = parse_lines(p, text, len);
    }
    if (status == ND_OK)
        status = finish(p, tags);
    free(p);
    if (status == ND_OK)
        return tags;
    nd_tags_free(tags);
    return NULL;
}

struct nd_tags *nd_tags_load(const char *path, struct nd_error *err)
{
    struct nd_buffer text = {0};
    struct nd_tags *tags = NULL;

    if (nd_ini_load(path, "a file of tags", ND_TAGS_BYTES_MAX, &text, err) == ND_OK)
        tags = nd_tags_parse(path, text.len ? text.data : "", text.len, err);
    nd_buffer_release(&text);
    return tags;
}

void nd_tags_free(struct nd_tags *tags)
{
    if (!tags)
        return;
    nd_arena_release(&tags->arena);
    free(tags);
}
