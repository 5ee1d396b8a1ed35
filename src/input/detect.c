/* detect.c - what a stream of bytes is: compression and archive by magic, format by name or bytes
 */
#include "input/detect.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "input/mail_head.h"

static bool begins(const char *head, size_t len, const char *magic, size_t n)
{
    return len >= n && memcmp(head, magic, n) == 0;
}

/*
 * zstd and lz4 files may begin with frames to be skipped (pzstd's do): the bytes behind them, which
 * say what it is.
 */
static size_t skippable(const char *head, size_t len)
{
    size_t at = 0;

    while (len - at >= 8 && (head[at] & 0xF0) == 0x50 &&
           memcmp(head + at + 1, "\x2A\x4D\x18", 3) == 0) {
        const unsigned char *size = (const unsigned char *)head + at + 4;
        uint64_t next =
            at + 8 +
            (size[0] | (uint64_t)size[1] << 8 | (uint64_t)size[2] << 16 | (uint64_t)size[3] << 24);

        if (next > len)
            return at;
        at = (size_t)next;
    }
    return at;
}

enum nd_compression nd_detect_cut_compression(const char *all, size_t len)
{
    static const struct {
        const char *magic;
        unsigned char len;
        enum nd_compression compression;
    } begin[] = {
        {"\x1F\x8B", 2, ND_COMPRESSION_GZIP},
        {"\x28\xB5\x2F\xFD", 4, ND_COMPRESSION_ZSTD},
        {"\xFD\x37\x7A\x58\x5A\x00", 6, ND_COMPRESSION_XZ},
        {"BZh9\x31\x41\x59\x26\x53\x59", 10, ND_COMPRESSION_BZIP2},
        {"BZh9\x17\x72\x45\x38\x50\x90", 10, ND_COMPRESSION_BZIP2},
        {"\x04\x22\x4D\x18", 4, ND_COMPRESSION_LZ4},
    };

    for (size_t i = 0; i < sizeof begin / sizeof *begin && len > 0; i++) {
        size_t n = len < 3 ? len : 3; /* the fourth byte of bzip2 is a digit, whichever */

        if (len < begin[i].len && memcmp(all, begin[i].magic, n) == 0 &&
            (len <= 4 || memcmp(all + 4, begin[i].magic + 4, len - 4) == 0) &&
            (len < 4 || all[3] == begin[i].magic[3] || begin[i].magic[0] == 'B'))
            return begin[i].compression;
    }
    return ND_COMPRESSION_NONE;
}

enum nd_compression nd_detect_compression(const char *head, size_t len)
{
    size_t skipped = skippable(head, len);

    head += skipped;
    len -= skipped;
    if (skipped > 0 && !begins(head, len, "\x28\xB5\x2F\xFD", 4) &&
        !begins(head, len, "\x04\x22\x4D\x18", 4))
        return ND_COMPRESSION_NONE;
    if (begins(head, len, "\x1F\x8B", 2))
        return ND_COMPRESSION_GZIP;
    if (begins(head, len, "\x28\xB5\x2F\xFD", 4))
        return ND_COMPRESSION_ZSTD;
    if (begins(head, len,
               "\xFD"
               "7zXZ\0",
               6))
        return ND_COMPRESSION_XZ;
    if (begins(head, len, "BZh", 3) && len >= 10 && head[3] >= '1' && head[3] <= '9' &&
        (memcmp(head + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
         memcmp(head + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0))
        return ND_COMPRESSION_BZIP2;
    if (begins(head, len, "\x04\x22\x4D\x18", 4))
        return ND_COMPRESSION_LZ4;
    return ND_COMPRESSION_NONE;
}

/* A tar header's checksum: the sum of its 512 bytes, its own field counted as spaces. */
static bool is_tar_header(const char *head)
{
    unsigned long sum = 0, stated;
    char field[9] = {0};

    for (int i = 0; i < 512; i++)
        sum += i >= 148 && i < 156 ? (unsigned)' ' : (unsigned char)head[i];
    memcpy(field, head + 148, 8);
    stated = strtoul(field, NULL, 8);
    return stated == sum && sum > 8 * ' ';
}

enum nd_archive nd_detect_archive(const char *head, size_t len)
{
    if (begins(head, len, "PK\3\4", 4) || begins(head, len, "PK\5\6", 4))
        return ND_ARCHIVE_ZIP;
    if (len >= 512 && is_tar_header(head))
        return ND_ARCHIVE_TAR;
    return ND_ARCHIVE_NONE;
}

const char *nd_compression_name(enum nd_compression c)
{
    static const char *const name[] = {"none", "gzip", "zstd", "xz", "bzip2", "lz4"};

    return name[c];
}

const char *nd_archive_name(enum nd_archive a)
{
    static const char *const name[] = {NULL, "tar", "zip"};

    return name[a];
}

static const struct {
    const char *suffix;
    enum nd_compression compression;
} COMPRESSION_SUFFIX[] = {
    {"gz", ND_COMPRESSION_GZIP},   {"tgz", ND_COMPRESSION_GZIP},  {"zst", ND_COMPRESSION_ZSTD},
    {"tzst", ND_COMPRESSION_ZSTD}, {"xz", ND_COMPRESSION_XZ},     {"txz", ND_COMPRESSION_XZ},
    {"bz2", ND_COMPRESSION_BZIP2}, {"tbz", ND_COMPRESSION_BZIP2}, {"tbz2", ND_COMPRESSION_BZIP2},
    {"lz4", ND_COMPRESSION_LZ4},
};

static const struct {
    const char *suffix;
    enum nd_format format;
} FORMAT_SUFFIX[] = {
    {"jsonl", ND_FORMAT_JSONL},     {"ndjson", ND_FORMAT_JSONL}, {"json", ND_FORMAT_JSONL},
    {"jsonlines", ND_FORMAT_JSONL}, {"csv", ND_FORMAT_CSV},      {"tsv", ND_FORMAT_TSV},
    {"tab", ND_FORMAT_TSV},         {"html", ND_FORMAT_HTML},    {"htm", ND_FORMAT_HTML},
    {"xhtml", ND_FORMAT_HTML},      {"xht", ND_FORMAT_HTML},     {"shtml", ND_FORMAT_HTML},
    {"txt", ND_FORMAT_TEXT},        {"text", ND_FORMAT_TEXT},    {"md", ND_FORMAT_TEXT},
    {"rst", ND_FORMAT_TEXT},        {"eml", ND_FORMAT_MAIL},     {"mbox", ND_FORMAT_MBOX},
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The suffix that ends at `end` (a dot before it, something before the dot), or NULL. */
static const char *suffix_before(const char *name, const char *end)
{
    for (const char *p = end; p > name; p--)
        if (p[-1] == '.')
            return p - 1 > name ? p : NULL;
    return NULL;
}

static bool suffix_is(const char *suffix, const char *end, const char *wanted)
{
    size_t n = (size_t)(end - suffix);

    return strlen(wanted) == n && strncasecmp(suffix, wanted, n) == 0;
}

static enum nd_compression compression_of_suffix(const char *suffix, const char *end)
{
    for (size_t i = 0; suffix && i < sizeof COMPRESSION_SUFFIX / sizeof *COMPRESSION_SUFFIX; i++)
        if (suffix_is(suffix, end, COMPRESSION_SUFFIX[i].suffix))
            return COMPRESSION_SUFFIX[i].compression;
    return ND_COMPRESSION_NONE;
}

enum nd_compression nd_detect_compression_by_name(const char *path)
{
    const char *name = base_name(path), *end = name + strlen(name);

    return compression_of_suffix(suffix_before(name, end), end);
}

enum nd_archive nd_detect_archive_by_name(const char *path)
{
    static const char *const packed_tar[] = {"tgz", "tzst", "txz", "tbz", "tbz2"};
    const char *name = base_name(path), *end = name + strlen(name);
    const char *suffix = suffix_before(name, end);

    for (size_t i = 0; suffix && i < sizeof packed_tar / sizeof *packed_tar; i++)
        if (suffix_is(suffix, end, packed_tar[i]))
            return ND_ARCHIVE_TAR;
    if (compression_of_suffix(suffix, end) != ND_COMPRESSION_NONE) {
        end = suffix - 1;
        suffix = suffix_before(name, end);
    }
    if (suffix && suffix_is(suffix, end, "tar"))
        return ND_ARCHIVE_TAR;
    return suffix && suffix_is(suffix, end, "zip") ? ND_ARCHIVE_ZIP : ND_ARCHIVE_NONE;
}

enum nd_format nd_detect_format_by_name(const char *path)
{
    const char *name = base_name(path), *end = name + strlen(name);
    const char *suffix = suffix_before(name, end);

    if (nd_mail_is_in_maildir(path))
        return ND_FORMAT_MAIL;
    if (compression_of_suffix(suffix, end) != ND_COMPRESSION_NONE) {
        end = suffix - 1;
        suffix = suffix_before(name, end);
    }
    for (size_t i = 0; suffix && i < sizeof FORMAT_SUFFIX / sizeof *FORMAT_SUFFIX; i++)
        if (suffix_is(suffix, end, FORMAT_SUFFIX[i].suffix))
            return FORMAT_SUFFIX[i].format;
    return ND_FORMAT_AUTO;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool looks_like_html(const char *p, size_t len)
{
    static const char *const start[] = {"<!doctype html", "<html", "<head", "<body", "<title"};

    for (size_t i = 0; i < sizeof start / sizeof *start; i++)
        if (len >= strlen(start[i]) && strncasecmp(p, start[i], strlen(start[i])) == 0)
            return true;
    if (begins(p, len, "<?xml", 5) || begins(p, len, "<!--", 4))
        for (size_t i = 0; i + 5 < len && i < 4096; i++)
            if (p[i] == '<' && strncasecmp(p + i, "<html", 5) == 0)
                return true;
    return false;
}

/* An object that begins with a key, or an empty one. */
static bool looks_like_json(const char *p, size_t len)
{
    size_t i = 1;

    if (len < 2 || *p != '{')
        return false;
    while (i < len && (p[i] == ' ' || p[i] == '\t'))
        i++;
    return i < len && (p[i] == '"' || p[i] == '}');
}

/* Whether the first line, split at `separator`, has a column of this name. */
static bool has_column(const char *p, const char *end, char separator, const char *name)
{
    size_t n = strlen(name);

    while (p <= end) {
        const char *stop = memchr(p, separator, (size_t)(end - p));
        const char *last = stop ? stop : end, *first = p;

        if (separator == ',' && last - first >= 2 && *first == '"' && last[-1] == '"') {
            first++;
            last--;
        }
        if ((size_t)(last - first) == n && memcmp(first, name, n) == 0)
            return true;
        if (!stop)
            break;
        p = stop + 1;
    }
    return false;
}

static bool looks_like_table(const char *p, size_t len, char separator,
                             const struct nd_input_options *options)
{
    const char *end = memchr(p, '\n', len);

    if (!end)
        end = p + len;
    if (end > p && end[-1] == '\r')
        end--;
    if (!memchr(p, separator, (size_t)(end - p)))
        return false;
    for (size_t i = 0; i < options->n_text_fields; i++)
        if (!has_column(p, end, separator, options->text_fields[i]))
            return false;
    return true;
}

enum nd_format nd_detect_format(const char *head, size_t len,
                                const struct nd_input_options *options)
{
    size_t i = begins(head, len, "\xEF\xBB\xBF", 3) ? 3 : 0;

    if (looks_like_table(head + i, len - i, '\t', options))
        return ND_FORMAT_TSV;
    if (looks_like_table(head + i, len - i, ',', options))
        return ND_FORMAT_CSV;
    while (i < len && is_space(head[i]))
        i++;
    if (looks_like_json(head + i, len - i))
        return ND_FORMAT_JSONL;
    if (looks_like_html(head + i, len - i))
        return ND_FORMAT_HTML;
    if (nd_mail_looks_like_mbox(head + i, len - i))
        return ND_FORMAT_MBOX;
    if (nd_mail_looks_like_message(head + i, len - i))
        return ND_FORMAT_MAIL;
    return ND_FORMAT_AUTO;
}

const char *nd_format_name(enum nd_format format)
{
    static const char *const name[] = {"unknown", "plain text", "HTML", "JSON Lines",
                                       "CSV",     "TSV",        "mail", "mbox"};

    return name[format];
}
