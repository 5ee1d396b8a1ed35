/* parse_mail.c - a document from a message: its subject, then its texts */
#include "base/view.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/mail.h"
#include "input/formats/mail_head.h"
#include "input/formats/parser.h"
#include "input/library/libxml_load.h"

#include <string.h>

/* Begins a line of its own; CR LF becomes LF.  False: out of memory. */
static bool append(struct nd_buffer *b, struct nd_view v)
{
    size_t from = 0;

    if (b->len && b->data[b->len - 1] != '\n' && !nd_buffer_append(b, "\n", 1))
        return false;
    for (size_t i = 0; i + 1 < v.len; i++) {
        if (v.data[i] != '\r' || v.data[i + 1] != '\n')
            continue;
        if (!nd_buffer_append(b, v.data + from, i - from))
            return false;
        from = i + 1;
    }
    return nd_buffer_append(b, v.data + from, v.len - from);
}

/* The text of an HTML part; its title is not seen. */
static int read_page(struct nd_parsing *p, struct nd_view page, struct nd_view *text)
{
    int status = nd_html_read(p, page, (struct nd_page_wanted){.marks = false});

    *text = (struct nd_view){p->parser->page.text.data, p->parser->page.text.len};
    return status;
}

/*
 * Note the marks of one text: what was replaced in a page, where it has U+FFFD at all; its own
 * U+FFFD.
 */
static bool note_marks(struct nd_replaced *replaced, size_t before, struct nd_view text)
{
    size_t n = nd_replaced_count(text);

    if (n == 0)
        replaced->n = before;
    if (replaced->n > before)
        return true;
    for (; n > 0; n--)
        if (!nd_replaced_add(replaced, ND_REPLACED_NOTHING))
            return false;
    return true;
}

/* ND_EINVAL: a page is refused, and p->bad says why. */
static int take_text(void *context, const struct nd_mail_text *text)
{
    struct nd_parsing *p = context;
    struct nd_parser *parser = p->parser;
    size_t before = parser->replaced.n;
    struct nd_view v;
    int status = 1;

    if (!nd_charset_named_to_utf8(&parser->charset, text->is_subject ? "utf-8" : text->charset,
                                  text->bytes, &parser->arena, &v, &parser->replaced))
        return ND_ENOMEM;
    if (text->is_html)
        status = read_page(p, v, &v);
    if (status != 1)
        return status == 0 ? ND_EINVAL : ND_ENOMEM;
    if (!note_marks(&parser->replaced, before, v))
        return ND_ENOMEM;
    if (nd_is_blank(v))
        return 0;
    return append(&parser->mail_body, v) ? 1 : ND_ENOMEM;
}

/* A value in the arena, made valid UTF-8; `first`: of what was replaced, the first of its own. */
static int set_value(struct nd_parsing *p, struct nd_view v, size_t first,
                     struct nd_json_value *value)
{
    int status;

    *value = (struct nd_json_value){.kind = ND_JSON_STRING, .bytes = v};
    status = nd_parsing_repair(p, &value->bytes);
    value->replaced = nd_replaced_value(&p->parser->replaced, first);
    return status;
}

/* A value that stays. */
static int keep(struct nd_parsing *p, struct nd_view v, size_t first, struct nd_json_value *value)
{
    v.data = nd_arena_copy(&p->parser->arena, v.data, v.len);
    return v.data ? set_value(p, v, first, value) : ND_ENOMEM;
}

/* The subject, and the body below it. */
static int keep_text(struct nd_parsing *p, struct nd_view subject, struct nd_view body,
                     struct nd_json_value *value)
{
    size_t gap = subject.len && body.len, len = subject.len + gap + body.len;
    char *made = nd_arena_alloc(&p->parser->arena, len + ND_BUFFER_PADDING);

    if (!made)
        return ND_ENOMEM;
    if (subject.len)
        memcpy(made, subject.data, subject.len);
    if (gap)
        made[subject.len] = '\n';
    if (body.len)
        memcpy(made + subject.len + gap, body.data, body.len);
    memset(made + len, 0, ND_BUFFER_PADDING);
    return set_value(p, (struct nd_view){made, len}, 0, value);
}

static struct nd_view without_brackets(struct nd_view id)
{
    if (id.len > 2 && id.data[0] == '<' && id.data[id.len - 1] == '>')
        return (struct nd_view){id.data + 1, id.len - 2};
    return id;
}

/* Set the value of a name: text, body, id, or a header field. */
static int fill(struct nd_parsing *p, struct nd_mail *mail, size_t i)
{
    struct nd_parser *parser = p->parser;
    const struct nd_buffer *body = &parser->mail_body;
    struct nd_json_value *to = &parser->value[i];
    size_t of_texts = parser->replaced.n;
    struct nd_view path = parser->path[i], value = {NULL, 0};
    int status = 1;

    if (nd_view_is(path, "text"))
        status = keep_text(p, nd_mail_field(mail, (struct nd_view){"subject", 7}),
                           (struct nd_view){body->data, body->len}, to);
    else if (nd_view_is(path, "body"))
        status = keep(p, (struct nd_view){body->len ? body->data : "", body->len}, 0, to);
    else if (nd_view_is(path, "id"))
        value = without_brackets(nd_mail_field(mail, (struct nd_view){"message-id", 10}));
    else
        value = nd_mail_field(mail, path);
    if (value.data)
        status = keep(p, value, of_texts, to);
    parser->replaced.n = of_texts;
    return status;
}

/* Several text fields are one text. */
static uint64_t replaced_in_text(const struct nd_parser *parser)
{
    uint64_t all = parser->value[0].replaced;

    for (size_t i = 1; i < parser->options.n_text_fields; i++)
        if (all || parser->value[i].replaced)
            all = nd_mix64(all + i) ^ parser->value[i].replaced;
    return all;
}

static int read_message(struct nd_parsing *p, struct nd_mail *mail)
{
    int status;

    p->parser->mail_body.len = 0;
    status = nd_mail_texts(mail, take_text, p);
    if (status == ND_MAIL_TOO_DEEP)
        return nd_parsing_refuse(p, "message has parts nested deeper than %d", ND_MAIL_DEPTH_MAX);
    if (status == ND_EINVAL)
        return 0;
    if (status < 0)
        return ND_ENOMEM;
    nd_parsing_clear(p);
    for (size_t i = 0; i < p->parser->n_paths; i++)
        if (fill(p, mail, i) != 1)
            return ND_ENOMEM;
    p->document->text_replaced = replaced_in_text(p->parser);
    return 1;
}

static int parse_mail(struct nd_parsing *p, struct nd_view record)
{
    struct nd_view message = nd_view_from(record, nd_mail_before_header(record));
    const char *reason = "";
    struct nd_mail *mail;
    int status;

    if (nd_mail_missing())
        return nd_parsing_refuse(p, "%s", nd_mail_missing());
    if (!nd_mail_has_header(message))
        return nd_parsing_refuse(p, "message has no header: its first line is not a header field");
    status = nd_mail_check(message, &reason);
    if (status == 0)
        return nd_parsing_refuse(p, "%s", reason);
    if (status < 0)
        return status;
    status = nd_mail_open(message, &mail);
    if (status == 0)
        return nd_parsing_refuse(p, "message cannot be parsed");
    if (status < 0)
        return status;
    status = read_message(p, mail);
    nd_mail_close(mail);
    return status == 1 ? nd_parsing_take(p) : status;
}

/* Only when a message is taken apart is it seen whether there are pages in it. */
static const char *find_missing(void)
{
    const char *missing = nd_mail_missing();

    return missing ? missing : nd_libxml_load();
}

/* Lines up to one of an envelope behind a blank one: mbox. */
static bool begins_message(const char *line, size_t len, bool after_blank)
{
    return after_blank && nd_mail_is_envelope(line, len);
}

#define NO_ENVELOPE "From MAILER-DAEMON Thu Jan  1 00:00:00 1970"

static const struct nd_cut cut_messages = {
    .next = nd_cut_groups,
    .begins = begins_message,
    .line_ends = 2,
    .first_line = {"\n\n" NO_ENVELOPE "\n", "\r\n\r\n" NO_ENVELOPE "\r\n"},
    .can_skip = true};

const struct nd_format_row nd_format_mail = {
    .word = "mail",
    .name = "mail",
    .suffixes = "eml",
    .cut = &nd_cut_whole,
    .parse = parse_mail,
    .looks_like = nd_mail_looks_like_message,
    .find_missing = find_missing,
    .names_charset = true,
    .is_mail = true,
};

const struct nd_format_row nd_format_mbox = {
    .word = "mbox",
    .name = "mbox",
    .suffixes = "mbox",
    .cut = &cut_messages,
    .parse = parse_mail,
    .looks_like = nd_mail_looks_like_mbox,
    .find_missing = find_missing,
    .names_charset = true,
    .is_mail = true,
};
