/* parse_mail.c - a document from a message: its subject, then its texts */
#include "input/parser_state.h"

#include "input/mail.h"
#include "input/mail_head.h"

#include <string.h>

struct message {
    struct nd_parsing *p;
    struct nd_buffer *body;
    int refused; /* 1: p->bad says why */
};

static bool is_white(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_blank(struct nd_view v)
{
    for (size_t i = 0; i < v.len; i++)
        if (!is_white(v.data[i]))
            return false;
    return true;
}

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
static int read_page(struct message *m, struct nd_view page, struct nd_view *text)
{
    int status = nd_html_read(m->p, page, NULL, NULL);

    m->refused = status == 0;
    *text = (struct nd_view){m->p->parser->page_text.data, m->p->parser->page_text.len};
    return status;
}

static int take_text(void *context, const struct nd_mail_text *text)
{
    struct message *m = context;
    struct nd_parser *parser = m->p->parser;
    struct nd_view v;
    int status = 1;

    if (!nd_charset_named_to_utf8(&parser->charset, text->is_subject ? "utf-8" : text->charset,
                                  text->bytes, &parser->arena, &v, &m->p->repaired))
        return ND_ENOMEM;
    if (text->is_html)
        status = read_page(m, v, &v);
    if (status != 1)
        return ND_EINVAL; /* or ND_ENOMEM: see `refused` */
    if (is_blank(v))
        return 0;
    return append(m->body, v) ? 1 : ND_ENOMEM;
}

static bool is_named(struct nd_view path, const char *name)
{
    return path.len == strlen(name) && memcmp(path.data, name, path.len) == 0;
}

/* A value that stays: in the arena, valid UTF-8. */
static int keep(struct nd_parsing *p, struct nd_view v, struct nd_json_value *value)
{
    v.data = nd_arena_copy(&p->parser->arena, v.data, v.len);
    if (!v.data)
        return ND_ENOMEM;
    *value = (struct nd_json_value){ND_JSON_STRING, v};
    return nd_parsing_repair(p, &value->bytes);
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
    *value = (struct nd_json_value){ND_JSON_STRING, {made, len}};
    return nd_parsing_repair(p, &value->bytes);
}

static struct nd_view without_brackets(struct nd_view id)
{
    if (id.len > 2 && id.data[0] == '<' && id.data[id.len - 1] == '>')
        return (struct nd_view){id.data + 1, id.len - 2};
    return id;
}

/* What stands under a name: text, body, id, or a header field. */
static int fill(struct nd_parsing *p, struct nd_mail *mail, size_t i)
{
    const struct nd_parser *parser = p->parser;
    const struct nd_buffer *body = &parser->mail_body;
    struct nd_view path = parser->path[i], value;

    if (is_named(path, "text"))
        return keep_text(p, nd_mail_field(mail, (struct nd_view){"subject", 7}),
                         (struct nd_view){body->data, body->len}, &p->parser->value[i]);
    if (is_named(path, "body"))
        return keep(p, (struct nd_view){body->len ? body->data : "", body->len},
                    &p->parser->value[i]);
    if (is_named(path, "id"))
        value = without_brackets(nd_mail_field(mail, (struct nd_view){"message-id", 10}));
    else
        value = nd_mail_field(mail, path);
    return value.data ? keep(p, value, &p->parser->value[i]) : 1;
}

static int read_message(struct nd_parsing *p, struct nd_mail *mail)
{
    struct message m = {.p = p, .body = &p->parser->mail_body};
    int status;

    m.body->len = 0;
    status = nd_mail_texts(mail, take_text, &m);
    if (status == ND_MAIL_TOO_DEEP)
        return nd_parsing_refuse(p, "message has parts nested deeper than %d", ND_MAIL_DEPTH_MAX);
    if (m.refused)
        return 0;
    if (status < 0)
        return ND_ENOMEM;
    nd_parsing_clear(p);
    for (size_t i = 0; i < p->parser->n_paths; i++)
        if (fill(p, mail, i) != 1)
            return ND_ENOMEM;
    return 1;
}

int nd_parse_mail(struct nd_parsing *p, struct nd_view record)
{
    size_t before = nd_mail_before_header(record);
    struct nd_view message = {record.data + before, record.len - before};
    const char *reason = "";
    struct nd_mail *mail;
    int status;

    if (nd_mail_missing())
        return nd_parsing_refuse(p, "%s", nd_mail_missing());
    if (!nd_mail_has_header(message))
        return nd_parsing_refuse(p, "message has no header: its first line is no field of one");
    status = nd_mail_check(message, &reason);
    if (status == 0)
        return nd_parsing_refuse(p, "%s", reason);
    if (status < 0)
        return status;
    status = nd_mail_open(message, &mail);
    if (status == 0)
        return nd_parsing_refuse(p, "message cannot be made out");
    if (status < 0)
        return status;
    status = read_message(p, mail);
    nd_mail_close(mail);
    return status == 1 ? nd_parsing_finish(p) : status;
}
