/* web_body.c - what a record of a web archive holds: a page, plain text, or no text */

/*
 * An answer of a server is a head and a body (RFC 9112), and the body may be chunked and compressed
 * (RFC 9110, section 8.4).  Whether it is, the body itself decides: crawlers undo both and keep the
 * head.  What is damaged is read up to the damage, because pages are clipped, and a clipped page is
 * still worth comparing.
 */
#include "input/formats/web_body.h"

#include <neardup/text.h>

#include "base/system/c_functions.h"
#include "base/view.h"
#include "input/formats/detect.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/library/codecs_load.h"
#ifdef ND_WITH_BROTLI
#include "input/library/brotli_load.h"
#endif

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

/* ---- The type of a body ---- */

static bool begins(struct nd_view v, const char *word)
{
    size_t n = strlen(word);

    return v.len >= n && nd_compare_caseless_n(v.data, word, n) == 0;
}

static struct nd_view without_parameters(struct nd_view type)
{
    const char *end = type.len ? memchr(type.data, ';', type.len) : NULL;

    return nd_view_trim(type.data, end ? end : type.data + type.len);
}

static bool is_word(struct nd_view v, const char *const *word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (v.len == strlen(word[i]) && nd_compare_caseless_n(v.data, word[i], v.len) == 0)
            return true;
    return false;
}
#define IS_AMONG(view, list) is_word(view, list, sizeof(list) / sizeof *(list))

static bool is_unknown(struct nd_view type)
{
    static const char *const unknown[] = {
        "no-type",         "unknown/unknown",       "application/unknown",
        "content/unknown", "application/x-unknown", "application/http",
    };

    return !memchr(type.data, '/', type.len) || IS_AMONG(type, unknown);
}

static bool is_xml(struct nd_view type)
{
    static const char *const xml[] = {"text/xml", "application/xml"};

    return IS_AMONG(type, xml);
}

/* Tell by the type alone; UNKNOWN: it does not say. */
static enum nd_web_text by_type(struct nd_view type)
{
    static const char *const page[] = {"text/html", "application/xhtml+xml",
                                       "application/vnd.wap.xhtml+xml"};
    static const char *const other[] = {
        "text/css",  "text/javascript", "text/ecmascript", "text/x-javascript", "text/x-json",
        "text/json", "text/dns",        "text/calendar",   "text/event-stream", "text/x-component"};

    type = without_parameters(type);
    if (type.len == 0 || is_unknown(type) || is_xml(type))
        return ND_WEB_UNKNOWN;
    if (IS_AMONG(type, page))
        return ND_WEB_PAGE;
    return begins(type, "text/") && !IS_AMONG(type, other) ? ND_WEB_PLAIN : ND_WEB_NOT_TEXT;
}

/* ---- The bytes of a body ---- */

static bool is_page(const char *p, size_t len)
{
    while (len && nd_is_white(*p)) {
        p++;
        len--;
    }
    return nd_format_row(ND_FORMAT_HTML)->looks_like(p, len);
}

enum nd_web_text nd_web_sniff(const char *bytes, size_t len)
{
    size_t head = len < ND_DETECT_BYTES ? len : ND_DETECT_BYTES;

    if (head == 0)
        return ND_WEB_NO_BODY;
    if (nd_detect_binary(bytes, head) || nd_detect_early_nul(bytes, head) ||
        nd_detect_compression(bytes, head) != ND_COMPRESSION_NONE ||
        nd_detect_archive(bytes, head) != ND_ARCHIVE_NONE)
        return ND_WEB_NOT_TEXT;
    return is_page(bytes, head) ? ND_WEB_PAGE : ND_WEB_PLAIN;
}

/* ---- The head of an answer ---- */

/* Return the length of the head with its blank line; 0: the content has none. */
static size_t http_len(struct nd_view content)
{
    struct nd_view rest = content, line;
    size_t most = content.len < ND_WEB_LOOK_AHEAD ? content.len : ND_WEB_LOOK_AHEAD;

    if (!begins(content, "HTTP/") && !begins(content, "ICY "))
        return 0;
    rest.len = most;
    while ((line = nd_line_take(&rest)).len)
        if (nd_line_without_end(line).len == 0)
            return (size_t)(line.data - content.data) + line.len;
    return most == content.len ? most : 0;
}

/* "200" of "HTTP/1.1 200 OK". */
static struct nd_view status_of(struct nd_view http)
{
    struct nd_view line = nd_line_without_end(nd_line_take(&http));
    const char *space = memchr(line.data, ' ', line.len), *end;

    if (!space)
        return (struct nd_view){NULL, 0};
    line = nd_view_trim(space, line.data + line.len);
    end = memchr(line.data, ' ', line.len);
    return (struct nd_view){line.data, end ? (size_t)(end - line.data) : line.len};
}

static bool has_word(struct nd_view list, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= list.len; i++)
        if (nd_compare_caseless_n(list.data + i, word, n) == 0)
            return true;
    return false;
}

static bool is_packed(const struct nd_web_body *b)
{
    return b->is_chunked || (b->encoding.len && !has_word(b->encoding, "identity"));
}

static enum nd_web_text text_of(const struct nd_web_record *r, const struct nd_web_body *b)
{
    enum nd_web_text by = by_type(b->type), found;

    if (r->kind == ND_WEB_OTHER)
        return ND_WEB_NOT_TEXT;
    if (r->kind == ND_WEB_REVISIT || b->bytes.len == 0)
        return ND_WEB_NO_BODY;
    if (r->kind == ND_WEB_METADATA) /* WAT: one for each record of the archive that it describes */
        return nd_find_bytes(b->bytes.data, b->bytes.len, "\"WARC-Type\":\"response\"", 22)
                   ? ND_WEB_PLAIN
                   : ND_WEB_NOT_TEXT;
    if (by != ND_WEB_UNKNOWN || is_packed(b))
        return by;
    found = nd_web_sniff(b->bytes.data, b->bytes.len);
    return found == ND_WEB_PLAIN && is_xml(without_parameters(b->type)) ? ND_WEB_NOT_TEXT : found;
}

bool nd_web_find_main(enum nd_web_dialect dialect, struct nd_view group, struct nd_web_record *r,
                      struct nd_web_body *body)
{
    *r = (struct nd_web_record){.kind = ND_WEB_DAMAGE};
    while (group.len) {
        nd_web_read(dialect, group.data, group.len, r);
        if (r->kind == ND_WEB_DAMAGE || r->is_cut)
            return false;
        nd_web_body_find(r, body);
        if (r->kind != ND_WEB_REQUEST && r->kind != ND_WEB_INFO &&
            (r->kind != ND_WEB_METADATA || body->text == ND_WEB_PLAIN))
            return true;
        group = nd_view_from(group, r->len);
    }
    return false;
}

void nd_web_body_find(const struct nd_web_record *r, struct nd_web_body *body)
{
#define FIELD(name) nd_web_field(body->http, name, sizeof(name) - 1)
    size_t http =
        r->kind == ND_WEB_RESPONSE || r->kind == ND_WEB_REVISIT ? http_len(r->content) : 0;

    *body = (struct nd_web_body){
        .http = {r->content.data, http}, .bytes = nd_view_from(r->content, http), .type = r->type};
    if (http) {
        body->type = FIELD("Content-Type");
        body->status = status_of(body->http);
        body->is_chunked = has_word(FIELD("Transfer-Encoding"), "chunked");
        body->encoding = FIELD("Content-Encoding");
    }
    if (!body->type.data)
        body->type = (struct nd_view){"", 0};
    body->text = text_of(r, body);
#undef FIELD
}

/* ---- Chunks ---- */

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Take the line of a chunk's size off *rest.  False: there is none. */
static bool take_size(struct nd_view *rest, size_t *size)
{
    struct nd_view line = nd_line_without_end(nd_line_take(rest));
    size_t digits = 0;

    for (*size = 0; digits < line.len && hex_value(line.data[digits]) >= 0; digits++) {
        if (digits == 8)
            return false;
        *size = *size * 16 + (size_t)hex_value(line.data[digits]);
    }
    if (digits == 0)
        return false;
    return digits == line.len || line.data[digits] == ';' || line.data[digits] == ' ';
}

/* Put the chunks together, up to the first that is none: 1, *v is the body; ND_ENOMEM.  A body that
 * does not begin with a whole chunk, or with one that goes on to the end, has none. */
static int join_chunks(struct nd_web_unpacker *u, struct nd_view *v)
{
    struct nd_view rest = *v, end;
    size_t size, n = 0;

    u->chunks.len = 0;
    while (take_size(&rest, &size)) {
        size_t len = size < rest.len ? size : rest.len;

        end = nd_view_from(rest, len);
        if (n == 0 && end.len && end.data[0] != '\r' && end.data[0] != '\n')
            return 1;
        if (!nd_buffer_append(&u->chunks, rest.data, len))
            return ND_ENOMEM;
        n++;
        rest = end;
        if (size == 0 || nd_line_without_end(nd_line_take(&rest)).len)
            break;
    }
    if (n)
        *v = (struct nd_view){u->chunks.len ? u->chunks.data : "", u->chunks.len};
    return 1;
}

/* ---- Compression ---- */

void nd_web_unpacker_release(struct nd_web_unpacker *u)
{
    nd_buffer_release(&u->out);
    nd_buffer_release(&u->chunks);
    free(u->inflater);
    *u = (struct nd_web_unpacker){.inflater = NULL};
}

static const char TOO_LONG[] = "its body has more than 64 MiB when it is decompressed";

/* Make room for more of the body: 1, 0 (too long), ND_ENOMEM. */
static int make_room(struct nd_web_unpacker *u, size_t *more, const char **reason)
{
    *more = u->out.len < (1 << 16) ? 1 << 16 : u->out.len;
    if (u->out.len > ND_WEB_BODY_MAX) {
        *reason = TOO_LONG;
        return 0;
    }
    return nd_buffer_reserve(&u->out, u->out.len + *more) ? 1 : ND_ENOMEM;
}

/* The wrapper of deflated bytes: gzip, zlib (RFC 1950), or none. */
static uint32_t wrapper_of(struct nd_view v)
{
    const unsigned char *p = (const unsigned char *)v.data;

    if (v.len >= 2 && p[0] == 0x1F && p[1] == 0x8B)
        return ISAL_GZIP_NO_HDR_VER;
    if (v.len >= 2 && (p[0] & 0x0F) == 8 && (p[0] * 256 + p[1]) % 31 == 0)
        return ISAL_ZLIB_NO_HDR_VER;
    return ISAL_DEFLATE;
}

/* Skip the head of gzip or zlib.  False: it is damaged. */
static bool skip_wrapper(struct inflate_state *state, uint32_t wrapper)
{
    struct isal_gzip_header gzip;
    struct isal_zlib_header zlib;

    isal_gzip_header_init(&gzip);
    if (wrapper == ISAL_GZIP_NO_HDR_VER)
        return isal_read_gzip_header(state, &gzip) == ISAL_DECOMP_OK;
    return wrapper == ISAL_DEFLATE || isal_read_zlib_header(state, &zlib) == ISAL_DECOMP_OK;
}

/* Inflate as far as it goes: 1, 0 (too long), ND_ENOMEM. */
static int inflate_all(struct nd_web_unpacker *u, struct nd_view v, const char **reason)
{
    struct inflate_state *state = u->inflater;
    uint32_t wrapper = wrapper_of(v);
    int code = ISAL_DECOMP_OK;

    isal_inflate_init(state);
    state->next_in = (uint8_t *)(uintptr_t)v.data;
    state->avail_in = (uint32_t)v.len;
    if (!skip_wrapper(state, wrapper))
        return 1;
    state->crc_flag = ISAL_DEFLATE; /* the checksum of a page that is clipped is not there */
    while (code == ISAL_DECOMP_OK && state->block_state != ISAL_BLOCK_FINISH) {
        size_t more;
        int status = make_room(u, &more, reason);

        if (status != 1)
            return status;
        state->next_out = (uint8_t *)u->out.data + u->out.len;
        state->avail_out = (uint32_t)more;
        code = isal_inflate(state);
        u->out.len += more - state->avail_out;
        if (state->avail_out && state->avail_in == 0)
            break;
    }
    return 1;
}

/* Whether bytes may be what the head calls them. */
static bool is_deflated(struct nd_view encoding, struct nd_view v)
{
    if (wrapper_of(v) == ISAL_GZIP_NO_HDR_VER)
        return true;
    return has_word(encoding, "deflate") && !is_page(v.data, v.len);
}

static int unpack_deflated(struct nd_web_unpacker *u, struct nd_view *out, const char **reason)
{
    int status;

    if (out->len > UINT32_MAX) {
        *reason = TOO_LONG;
        return 0;
    }
    if (!u->inflater && !(u->inflater = malloc(sizeof(struct inflate_state))))
        return ND_ENOMEM;
    u->out.len = 0;
    status = inflate_all(u, *out, reason);
    if (status == 1 && u->out.len) /* otherwise it is not compressed at all */
        *out = (struct nd_view){u->out.data, u->out.len};
    return status;
}

/* Decode as far as it goes: 1, 0 with the reason, ND_ENOMEM. */
static int unpack_zstd(struct nd_web_unpacker *u, struct nd_view *v, const char **reason)
{
    ZSTD_inBuffer in = {v->data, v->len, 0};
    size_t more, left = 1;
    ZSTD_DStream *zstd;
    int status = 1;

    *reason = nd_zstd_load();
    if (*reason)
        return 0;
    *reason = "";
    zstd = nd_codecs.zstd_new();
    if (!zstd)
        return ND_ENOMEM;
    u->out.len = 0;
    while (status == 1 && left && (status = make_room(u, &more, reason)) == 1) {
        ZSTD_outBuffer out = {u->out.data + u->out.len, more, 0};

        left = nd_codecs.zstd_decode(zstd, &out, &in);
        u->out.len += out.pos;
        if (nd_codecs.zstd_is_error(left) || (out.pos < more && in.pos == in.size))
            break;
    }
    (void)nd_codecs.zstd_free(zstd);
    *v = (struct nd_view){u->out.data, u->out.len};
    return status;
}

#ifdef ND_WITH_BROTLI
static int unpack_brotli(struct nd_web_unpacker *u, struct nd_view *v, const char **reason)
{
    const uint8_t *in = (const uint8_t *)v->data;
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    size_t in_len = v->len, more;
    BrotliDecoderState *brotli;
    int status = 1;

    *reason = nd_brotli_load();
    if (*reason)
        return 0;
    *reason = "";
    brotli = nd_brotli.start(NULL, NULL, NULL);
    if (!brotli)
        return ND_ENOMEM;
    u->out.len = 0;
    while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT &&
           (status = make_room(u, &more, reason)) == 1) {
        uint8_t *out = (uint8_t *)u->out.data + u->out.len;
        size_t room = more;

        result = nd_brotli.decode(brotli, &in_len, &in, &room, &out, NULL);
        u->out.len += more - room;
    }
    nd_brotli.stop(brotli);
    *v = (struct nd_view){u->out.data, u->out.len};
    return status;
}
#else
static int unpack_brotli(struct nd_web_unpacker *u, struct nd_view *v, const char **reason)
{
    (void)u;
    (void)v;
    *reason = "neardup was built without brotli";
    return 0;
}
#endif

int nd_web_unpack(struct nd_web_unpacker *u, const struct nd_web_body *body, struct nd_view *out,
                  const char **reason)
{
    *out = body->bytes;
    if (body->is_chunked && join_chunks(u, out) != 1)
        return ND_ENOMEM;
    if (out->len && is_deflated(body->encoding, *out))
        return unpack_deflated(u, out, reason);
    if (nd_detect_compression(out->data, out->len) == ND_COMPRESSION_ZSTD)
        return unpack_zstd(u, out, reason);
    /* Brotli has no magic number: text that was left plain is text. */
    if (has_word(body->encoding, "br") && !nd_utf8_valid(out->data, out->len) &&
        !is_page(out->data, out->len))
        return unpack_brotli(u, out, reason);
    return 1;
}
