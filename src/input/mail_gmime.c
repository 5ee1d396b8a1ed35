/* mail_gmime.c - a message of mail taken apart: its header fields and its texts, by GMime */
#include "input/mail.h"

#include <neardup/error.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef ND_WITH_GMIME
#include <gmime/gmime.h>

struct nd_mail {
    GMimeMessage *message;
    GMimeStream *stream;
    GByteArray bytes; /* borrowed */
    GMimeParserOptions *options;
    GSList *values; /* of fields asked for */
};

bool nd_mail_is_supported(void)
{
    return true;
}

const char *nd_mail_parser_version(char out[ND_MAIL_VERSION_BYTES])
{
    (void)snprintf(out, ND_MAIL_VERSION_BYTES, "GMime %u.%u.%u", gmime_major_version,
                   gmime_minor_version, gmime_micro_version);
    return out;
}

/* Charsets of header fields that name none. */
static GMimeParserOptions *options_new(void)
{
    static const char *charsets[] = {"utf-8", "windows-1252", NULL};
    GMimeParserOptions *options = g_mime_parser_options_new();

    g_mime_parser_options_set_fallback_charsets(options, charsets);
    return options;
}

static void start_gmime(void)
{
    static gsize is_started;

    if (g_once_init_enter(&is_started)) {
        g_mime_init();
        g_once_init_leave(&is_started, 1);
    }
}

static GMimeMessage *parse(GMimeStream *stream, GMimeParserOptions *options)
{
    GMimeParser *parser = g_mime_parser_new_with_stream(stream);
    GMimeMessage *message;

    g_mime_parser_set_format(parser, GMIME_FORMAT_MESSAGE);
    g_mime_parser_set_persist_stream(parser, TRUE);
    message = g_mime_parser_construct_message(parser, options);
    g_object_unref(parser);
    return message;
}

int nd_mail_open(struct nd_view message, struct nd_mail **out)
{
    struct nd_mail *mail;

    if (message.len > G_MAXINT)
        return 0;
    mail = calloc(1, sizeof *mail);
    if (!mail)
        return ND_ENOMEM;
    start_gmime();
    mail->bytes = (GByteArray){(guint8 *)(uintptr_t)message.data, (guint)message.len};
    mail->stream = g_mime_stream_mem_new();
    g_mime_stream_mem_set_byte_array(GMIME_STREAM_MEM(mail->stream), &mail->bytes);
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
        g_object_unref(mail->message);
    g_object_unref(mail->stream);
    g_mime_parser_options_free(mail->options);
    g_slist_free_full(mail->values, g_free);
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

/* The second of two encoded words of which the first ends in padding, which is cut off; NULL: there
 * are none such. */
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

/* GMime 3.2 loses an encoded word in base64 behind one that ends in padding: so they are given to
 * it apart.  What is between them is not part of the text (RFC 2047, section 6.2). */
static char *decode(GMimeParserOptions *options, const char *raw)
{
    char *unfolded = g_mime_utils_header_unfold(raw);
    GString *made = g_string_new(NULL);

    for (char *at = unfolded, *next; at; at = next) {
        char *piece;

        next = behind_padding(at);
        piece = g_mime_utils_header_decode_text(options, at);
        g_string_append(made, piece);
        g_free(piece);
    }
    g_free(unfolded);
    return g_string_free(made, FALSE);
}

static struct nd_view field_of(struct nd_mail *mail, GMimeObject *object, const char *name)
{
    GMimeHeader *header =
        g_mime_header_list_get_header(g_mime_object_get_header_list(object), name);
    const char *raw = header ? g_mime_header_get_raw_value(header) : NULL;
    char *value;

    if (!raw)
        return (struct nd_view){NULL, 0};
    value = decode(mail->options, raw);
    mail->values = g_slist_prepend(mail->values, value);
    return trim(value);
}

struct nd_view nd_mail_field(struct nd_mail *mail, struct nd_view name)
{
    char buffer[200];

    if (!name.len || name.len >= sizeof buffer)
        return (struct nd_view){NULL, 0};
    memcpy(buffer, name.data, name.len);
    buffer[name.len] = 0;
    return field_of(mail, GMIME_OBJECT(mail->message), buffer);
}

struct walk {
    struct nd_mail *mail;
    int (*take)(void *context, const struct nd_mail_text *text);
    void *context;
};

/* Whether the part has a Content-Type that names no type at all, so that it means nothing. */
static bool has_broken_type(struct walk *w, GMimeObject *object)
{
    struct nd_view type = field_of(w->mail, object, "Content-Type");
    const char *end = type.data ? memchr(type.data, ';', type.len) : NULL;

    return type.data && !memchr(type.data, '/', end ? (size_t)(end - type.data) : type.len);
}

static int take_part(struct walk *w, GMimePart *part)
{
    GMimeContentType *type = g_mime_object_get_content_type(GMIME_OBJECT(part));
    GMimeDataWrapper *content = g_mime_part_get_content(part);
    struct nd_mail_text text = {.is_html = g_mime_content_type_is_type(type, "text", "html")};
    GMimeStream *stream;
    GByteArray *bytes;
    int status;

    if (!content || (!g_mime_content_type_is_type(type, "text", "*") &&
                     !has_broken_type(w, GMIME_OBJECT(part))))
        return 0;
    stream = g_mime_stream_mem_new();
    (void)g_mime_data_wrapper_write_to_stream(content, stream);
    bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
    text.charset = g_mime_content_type_get_parameter(type, "charset");
    text.bytes = (struct nd_view){bytes->data ? (const char *)bytes->data : "", bytes->len};
    status = w->take(w->context, &text);
    g_object_unref(stream);
    return status;
}

static int walk_object(struct walk *w, GMimeObject *object, unsigned depth);

/* What stands before the first part is seen only where there is no part: a lost boundary. */
static int take_prologue(struct walk *w, GMimeMultipart *multipart)
{
    const char *prologue = g_mime_multipart_get_prologue(multipart);
    const struct nd_mail_text text = {.bytes = {prologue, prologue ? strlen(prologue) : 0}};

    return text.bytes.len ? w->take(w->context, &text) : 0;
}

static int walk_multipart(struct walk *w, GMimeMultipart *multipart, unsigned depth)
{
    GMimeContentType *type = g_mime_object_get_content_type(GMIME_OBJECT(multipart));
    bool is_choice = g_mime_content_type_is_type(type, "multipart", "alternative");
    int n = g_mime_multipart_get_count(multipart), found = 0;

    for (int i = 0; i < n && !(is_choice && found); i++) {
        int at = is_choice ? n - 1 - i : i;
        int status = walk_object(w, g_mime_multipart_get_part(multipart, at), depth);

        if (status < 0 || status == ND_MAIL_TOO_DEEP)
            return status;
        found |= status;
    }
    return n ? found : take_prologue(w, multipart);
}

/* An attached message: its subject, and its texts. */
static int walk_message(struct walk *w, GMimeMessage *message, unsigned depth)
{
    struct nd_mail_text subject = {.is_subject = true};
    int status = 0, rest;

    subject.bytes = field_of(w->mail, GMIME_OBJECT(message), "Subject");
    if (subject.bytes.len)
        status = w->take(w->context, &subject);
    if (status < 0)
        return status;
    rest = walk_object(w, g_mime_message_get_mime_part(message), depth);
    return rest < 0 || rest == ND_MAIL_TOO_DEEP ? rest : status | rest;
}

/* 1: it has text; 0: it has none; < 0, ND_MAIL_TOO_DEEP: it ends here. */
static int walk_object(struct walk *w, GMimeObject *object, unsigned depth)
{
    if (!object)
        return 0;
    if (depth == ND_MAIL_DEPTH_MAX)
        return ND_MAIL_TOO_DEEP;
    if (GMIME_IS_MULTIPART(object))
        return walk_multipart(w, GMIME_MULTIPART(object), depth + 1);
    if (GMIME_IS_MESSAGE_PART(object)) {
        GMimeMessage *message = g_mime_message_part_get_message(GMIME_MESSAGE_PART(object));

        return message ? walk_message(w, message, depth + 1) : 0;
    }
    return GMIME_IS_PART(object) ? take_part(w, GMIME_PART(object)) : 0;
}

int nd_mail_texts(struct nd_mail *mail, int (*take)(void *context, const struct nd_mail_text *text),
                  void *context)
{
    struct walk w = {mail, take, context};
    int status = walk_object(&w, g_mime_message_get_mime_part(mail->message), 0);

    return status == 1 ? 0 : status;
}

#else /* without GMime */

bool nd_mail_is_supported(void)
{
    return false;
}

const char *nd_mail_parser_version(char out[ND_MAIL_VERSION_BYTES])
{
    (void)snprintf(out, ND_MAIL_VERSION_BYTES, "none");
    return out;
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
