/* mail_gmime.c - a message of mail taken apart: its header fields and its texts, by GMime */
#include "input/formats/mail.h"

#include <neardup/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ND_WITH_GMIME
#include "input/library/mail_gmime_load.h"

struct nd_mail {
    GMimeMessage *message;
    GMimeStream *stream;
    GByteArray bytes; /* borrowed */
    GMimeParserOptions *options;
    GSList *values; /* values of requested fields */
    /* as given to nd_mail_texts */
    int (*take)(void *context, const struct nd_mail_text *text);
    void *context;
};

const char *nd_mail_missing(void)
{
    return nd_gmime_load();
}

const char *nd_mail_parser_version(char out[ND_MAIL_VERSION_BYTES])
{
    const guint *const *v = nd_gmime.version;

    if (nd_gmime_load())
        return "none";
    (void)snprintf(out, ND_MAIL_VERSION_BYTES, "GMime %u.%u.%u", *v[0], *v[1], *v[2]);
    return out;
}

/* Charsets to try for header fields that declare none. */
static GMimeParserOptions *options_new(void)
{
    static const char *charsets[] = {"utf-8", "windows-1252", NULL};
    GMimeParserOptions *options = nd_gmime.mime_parser_options_new();

    nd_gmime.mime_parser_options_set_fallback_charsets(options, charsets);
    return options;
}

static GMimeMessage *parse(GMimeStream *stream, GMimeParserOptions *options)
{
    GMimeParser *parser = nd_gmime.mime_parser_new_with_stream(stream);
    GMimeMessage *message;

    nd_gmime.mime_parser_set_format(parser, GMIME_FORMAT_MESSAGE);
    nd_gmime.mime_parser_set_persist_stream(parser, TRUE);
    message = nd_gmime.mime_parser_construct_message(parser, options);
    nd_gmime.object_unref(parser);
    return message;
}

int nd_mail_open(struct nd_view message, struct nd_mail **out)
{
    struct nd_mail *mail;

    if (nd_gmime_load() || message.len > G_MAXINT)
        return 0;
    mail = calloc(1, sizeof *mail);
    if (!mail)
        return ND_ENOMEM;
    mail->bytes = (GByteArray){(guint8 *)(uintptr_t)message.data, (guint)message.len};
    mail->stream = nd_gmime.mime_stream_mem_new();
    nd_gmime.mime_stream_mem_set_byte_array((GMimeStreamMem *)mail->stream, &mail->bytes);
    mail->options = options_new();
    mail->message = parse(mail->stream, mail->options);
    if (!mail->message) {
        nd_mail_close(mail);
        return 0;
    }
    *out = mail;
    return 1;
}

void nd_mail_close(struct nd_mail *mail)
{
    if (!mail)
        return;
    if (mail->message)
        nd_gmime.object_unref(mail->message);
    nd_gmime.object_unref(mail->stream);
    nd_gmime.mime_parser_options_free(mail->options);
    nd_gmime.slist_free_full(mail->values, nd_gmime.free);
    free(mail);
}

static struct nd_view trim(const char *text)
{
    struct nd_view v = {text, strlen(text)};

    while (v.len && strchr(" \t\r\n", v.data[v.len - 1]))
        v.len--;
    while (v.len && strchr(" \t\r\n", *v.data)) {
        v.data++;
        v.len--;
    }
    return v;
}

/*
 * Find the second of two encoded words of which the first ends in padding; NULL: there are no such
 * words.
 */
static char *behind_padding(char *text)
{
    while ((text = strstr(text, "=?="))) {
        size_t blanks = strspn(text + 3, " \t");

        text += 3;
        if (blanks && text[blanks] == '=' && text[blanks + 1] == '?') {
            *text = 0;
            return text + blanks;
        }
    }
    return NULL;
}

/*
 * GMime 3.2 loses a base64 encoded word after one that ends in padding, so they are passed to it
 * separately. The white space between them is not part of the text (RFC 2047, section 6.2).
 */
static char *decode(GMimeParserOptions *options, const char *raw)
{
    char *unfolded = nd_gmime.mime_utils_header_unfold(raw);
    GByteArray *made = nd_gmime.byte_array_new();

    for (char *at = unfolded, *next; at; at = next) {
        char *piece;

        next = behind_padding(at);
        piece = nd_gmime.mime_utils_header_decode_text(options, at);
        nd_gmime.byte_array_append(made, (const guint8 *)piece, (guint)strlen(piece));
        nd_gmime.free(piece);
    }
    nd_gmime.free(unfolded);
    nd_gmime.byte_array_append(made, (const guint8 *)"", 1);
    return (char *)nd_gmime.byte_array_free(made, FALSE);
}

static struct nd_view field_of(struct nd_mail *mail, GMimeObject *object, const char *name)
{
    GMimeHeader *header =
        nd_gmime.mime_header_list_get_header(nd_gmime.mime_object_get_header_list(object), name);
    const char *raw = header ? nd_gmime.mime_header_get_raw_value(header) : NULL;
    char *value;

    if (!raw)
        return (struct nd_view){NULL, 0};
    value = decode(mail->options, raw);
    mail->values = nd_gmime.slist_prepend(mail->values, value);
    return trim(value);
}

struct nd_view nd_mail_field(struct nd_mail *mail, struct nd_view name)
{
    char buffer[200];

    if (!name.len || name.len >= sizeof buffer)
        return (struct nd_view){NULL, 0};
    memcpy(buffer, name.data, name.len);
    buffer[name.len] = 0;
    return field_of(mail, (GMimeObject *)mail->message, buffer);
}

/* Whether the part has a Content-Type that names no type and so means nothing. */
static bool has_broken_type(struct nd_mail *mail, GMimeObject *object)
{
    struct nd_view type = field_of(mail, object, "Content-Type");
    const char *end = type.data ? memchr(type.data, ';', type.len) : NULL;

    return type.data && !memchr(type.data, '/', end ? (size_t)(end - type.data) : type.len);
}

static int take_part(struct nd_mail *mail, GMimePart *part)
{
    GMimeContentType *type = nd_gmime.mime_object_get_content_type((GMimeObject *)part);
    GMimeDataWrapper *content = nd_gmime.mime_part_get_content(part);
    struct nd_mail_text text = {.is_html =
                                    nd_gmime.mime_content_type_is_type(type, "text", "html")};
    GMimeStream *stream;
    GByteArray *bytes;
    int status;

    if (!content || (!nd_gmime.mime_content_type_is_type(type, "text", "*") &&
                     !has_broken_type(mail, (GMimeObject *)part)))
        return 0;
    stream = nd_gmime.mime_stream_mem_new();
    (void)nd_gmime.mime_data_wrapper_write_to_stream(content, stream);
    bytes = nd_gmime.mime_stream_mem_get_byte_array((GMimeStreamMem *)stream);
    text.charset = nd_gmime.mime_content_type_get_parameter(type, "charset");
    text.bytes = (struct nd_view){bytes->data ? (const char *)bytes->data : "", bytes->len};
    status = mail->take(mail->context, &text);
    nd_gmime.object_unref(stream);
    return status;
}

static int walk_object(struct nd_mail *mail, GMimeObject *object, unsigned depth);

/* The preamble is shown only if there is no part: a boundary was lost. */
static int take_prologue(struct nd_mail *mail, GMimeMultipart *multipart)
{
    const char *prologue = nd_gmime.mime_multipart_get_prologue(multipart);
    const struct nd_mail_text text = {.bytes = {prologue, prologue ? strlen(prologue) : 0}};

    return text.bytes.len ? mail->take(mail->context, &text) : 0;
}

static int walk_multipart(struct nd_mail *mail, GMimeMultipart *multipart, unsigned depth)
{
    GMimeContentType *type = nd_gmime.mime_object_get_content_type((GMimeObject *)multipart);
    bool is_choice = nd_gmime.mime_content_type_is_type(type, "multipart", "alternative");
    int n = nd_gmime.mime_multipart_get_count(multipart), found = 0;

    for (int i = 0; i < n && !(is_choice && found); i++) {
        int at = is_choice ? n - 1 - i : i;
        int status = walk_object(mail, nd_gmime.mime_multipart_get_part(multipart, at), depth);

        if (status < 0 || status == ND_MAIL_TOO_DEEP)
            return status;
        found |= status;
    }
    return n ? found : take_prologue(mail, multipart);
}

/* An attached message: its subject, and its texts. */
static int walk_message(struct nd_mail *mail, GMimeMessage *message, unsigned depth)
{
    struct nd_mail_text subject = {.is_subject = true};
    int status = 0, rest;

    subject.bytes = field_of(mail, (GMimeObject *)message, "Subject");
    if (subject.bytes.len)
        status = mail->take(mail->context, &subject);
    if (status < 0)
        return status;
    rest = walk_object(mail, nd_gmime.mime_message_get_mime_part(message), depth);
    return rest < 0 || rest == ND_MAIL_TOO_DEEP ? rest : status | rest;
}

static bool is_a(GMimeObject *object, GType type)
{
    return nd_gmime.type_check_instance_is_a((GTypeInstance *)object, type);
}

/* 1: it has text; 0: it has none; < 0, ND_MAIL_TOO_DEEP: stop here. */
static int walk_object(struct nd_mail *mail, GMimeObject *object, unsigned depth)
{
    if (!object)
        return 0;
    if (depth == ND_MAIL_DEPTH_MAX)
        return ND_MAIL_TOO_DEEP;
    if (is_a(object, nd_gmime.mime_multipart_get_type()))
        return walk_multipart(mail, (GMimeMultipart *)object, depth + 1);
    if (is_a(object, nd_gmime.mime_message_part_get_type())) {
        GMimeMessage *message = nd_gmime.mime_message_part_get_message((GMimeMessagePart *)object);

        return message ? walk_message(mail, message, depth + 1) : 0;
    }
    return is_a(object, nd_gmime.mime_part_get_type()) ? take_part(mail, (GMimePart *)object) : 0;
}

int nd_mail_texts(struct nd_mail *mail, int (*take)(void *context, const struct nd_mail_text *text),
                  void *context)
{
    int status;

    mail->take = take;
    mail->context = context;
    status = walk_object(mail, nd_gmime.mime_message_get_mime_part(mail->message), 0);

    return status == 1 ? 0 : status;
}

#else /* without GMime */

const char *nd_mail_missing(void)
{
    return "mail cannot be read: neardup was built without GMime";
}

const char *nd_mail_parser_version(char out[ND_MAIL_VERSION_BYTES])
{
    (void)out;
    return "none";
}

int nd_mail_open(struct nd_view message, struct nd_mail **mail)
{
    (void)message;
    *mail = NULL;
    return 0;
}

void nd_mail_close(struct nd_mail *mail)
{
    (void)mail;
}

struct nd_view nd_mail_field(struct nd_mail *mail, struct nd_view name)
{
    (void)mail;
    (void)name;
    return (struct nd_view){NULL, 0};
}

int nd_mail_texts(struct nd_mail *mail, int (*take)(void *context, const struct nd_mail_text *text),
                  void *context)
{
    (void)mail;
    (void)take;
    (void)context;
    return 0;
}
#endif
