/*
 * detect.c - what a stream of bytes is: its compression and its archive by magic numbers, its text
 * format by name or bytes, and whether it is text at all
 */
#include "input/formats/detect.h"

#include "base/system/c_functions.h"
#include "input/formats/cut.h"
#include "input/formats/formats.h"
#include "input/formats/lines.h"
#include "input/formats/mail_head.h"
#include "input/formats/table_row.h"
#include "input/formats/tag_sets.h"
#include "input/library/text_filter.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Compression and archive by magic, format by name or bytes ---- */

static bool begins(const char *head, size_t len, const char *magic, size_t n)
{
    return len >= n && memcmp(head, magic, n) == 0;
}

/*
 * zstd and lz4 files may begin with skippable frames (pzstd's do); the bytes after them show the
 * format.
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
        size_t n = len < 3 ? len : 3; /* the fourth byte of bzip2 is any digit */

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

/* A tar header's checksum: the sum of its 512 bytes, with its own field counted as spaces. */
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

    return strlen(wanted) == n && nd_compare_caseless_n(suffix, wanted, n) == 0;
}

/* Whether the suffix is one of `words`, which are separated by spaces; `words` NULL: none. */
static bool is_among(const char *suffix, const char *end, const char *words)
{
    size_t n = (size_t)(end - suffix);

    for (const char *word = words; word && *word; word += strspn(word, " ")) {
        size_t len = strcspn(word, " ");

        if (len == n && nd_compare_caseless_n(suffix, word, n) == 0)
            return true;
        word += len;
    }
    return false;
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
    for (int i = 0; suffix && i < ND_FORMAT_COUNT; i++)
        if (is_among(suffix, end, nd_format_row((enum nd_format)i)->suffixes))
            return (enum nd_format)i;
    return ND_FORMAT_AUTO;
}

bool nd_detect_is_named_json(const char *path)
{
    const char *name = base_name(path), *end = name + strlen(name);
    const char *suffix = suffix_before(name, end);

    if (compression_of_suffix(suffix, end) != ND_COMPRESSION_NONE) {
        end = suffix - 1;
        suffix = suffix_before(name, end);
    }
    return suffix && suffix_is(suffix, end, "json");
}

const char *nd_detect_filter(const char *path, const struct nd_input_options *options)
{
    const char *name = base_name(path), *end = name + strlen(name);
    const char *suffix = suffix_before(name, end);

    if (!options->n_filters)
        return NULL;
    if (options->format == ND_FORMAT_FILTERED)
        return nd_filter_only(options);
    if (compression_of_suffix(suffix, end) != ND_COMPRESSION_NONE)
        end = suffix - 1;
    return nd_filter_of_name(options, name, end);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
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
    struct nd_view row =
        nd_line_without_end((struct nd_view){p, nd_line_len((struct nd_view){p, len})});
    const char *end = p + row.len;

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
    size_t i = nd_mark_len(head, len);

    if (looks_like_table(head + i, len - i, '\t', options))
        return ND_FORMAT_TSV;
    if (looks_like_table(head + i, len - i, ',', options))
        return ND_FORMAT_CSV;
    while (i < len && is_space(head[i]))
        i++;
    if (options->tags && nd_tags_look_like(options->tags, head + i, len - i))
        return ND_FORMAT_NEWS;
    for (int f = ND_FORMAT_COUNT - 1; f > ND_FORMAT_AUTO; f--)
        if (nd_format_row((enum nd_format)f)->looks_like &&
            nd_format_row((enum nd_format)f)->looks_like(head + i, len - i))
            return (enum nd_format)f;
    return ND_FORMAT_AUTO;
}

bool nd_detect_has_line(const char *head, size_t len)
{
    size_t i = nd_mark_len(head, len);

    while (i < len && is_space(head[i]))
        i++;
    return i < len && memchr(head + i, '\n', len - i) && !memchr(head, 0, len);
}

bool nd_detect_has_line_format(const char *head, size_t len, const struct nd_input_options *options)
{
    size_t i = nd_mark_len(head, len);

    while (i < len && is_space(head[i]))
        i++;
    /* Behind other tags a document of the user's may follow. */
    if (options->tags && i < len && head[i] == '<' &&
        !nd_tags_look_like(options->tags, head + i, len - i))
        return false;
    return nd_format_row(nd_detect_format(head, len, options))->cut != &nd_cut_whole;
}

/* ---- Tables known by their shape alone ---- */

enum { NAME_MAX_BYTES = 64, COLUMNS_MAX = 1000, ROWS_MAX = 1000 };

static bool is_letter(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/*
 * Whether a cell looks like a column name, and not like a part of a sentence between commas: no
 * space at its ends, begins with a letter, and is not a sentence.
 */
static bool is_name(struct nd_view cell)
{
    if (cell.len >= 2 && cell.data[0] == '"' && cell.data[cell.len - 1] == '"')
        cell = (struct nd_view){cell.data + 1, cell.len - 2};
    if (cell.len == 0 || cell.len > NAME_MAX_BYTES || !is_letter((unsigned char)cell.data[0]))
        return false;
    for (size_t i = 0; i < cell.len; i++)
        if ((unsigned char)cell.data[i] < ' ' || strchr("\"!?;<>{}", cell.data[i]))
            return false;
    return cell.data[cell.len - 1] != ' ' && cell.data[cell.len - 1] != '.';
}

/* How many cells a row has; 0: too many, or `are_names` and one does not look like a name. */
static size_t count_cells(enum nd_format format, struct nd_view row, bool are_names)
{
    struct nd_view rest = nd_line_without_end(row), cell;
    size_t n = 0;

    while (nd_row_next(format, &rest, &cell))
        if (++n > COLUMNS_MAX || (are_names && !is_name(cell)))
            return 0;
    return n;
}

static bool is_table(enum nd_format format, const char *head, size_t len, bool at_end)
{
    struct nd_cutter cutter = {.cut = nd_format_row(format)->cut};
    size_t columns = 0, rows = 0, at = 0, row_len = 0;

    while (at < len && rows < ROWS_MAX) {
        enum nd_cut_answer answer = nd_cut_next(&cutter, head + at, len - at, at_end, &row_len);
        struct nd_view row = {head + at, row_len};

        if (answer == ND_CUT_UNCLOSED)
            return false;
        if (answer == ND_CUT_MORE)
            break;
        at += row_len;
        if (answer == ND_CUT_BLANK)
            continue;
        if (columns == 0 && (columns = count_cells(format, row, true)) < 2)
            return false;
        if (rows++ > 0 && count_cells(format, row, false) != columns)
            return false;
    }
    return rows >= 2;
}

enum nd_format nd_detect_any_table(const char *head, size_t len, bool at_end)
{
    struct nd_view v = nd_without_mark((struct nd_view){head, len});

    if (is_table(ND_FORMAT_TSV, v.data, v.len, at_end))
        return ND_FORMAT_TSV;
    return is_table(ND_FORMAT_CSV, v.data, v.len, at_end) ? ND_FORMAT_CSV : ND_FORMAT_AUTO;
}

/* ---- Files that are not text, by their first bytes ---- */

#define TO_TEXT "convert it to text first (libreoffice --headless --convert-to txt:Text FILE)"
#define UNPACK "unpack it first"

/* Ready-made filters read these (input/library/text_filter.c). */
static const struct nd_binary_kind OFFICE = {
    "is an Office file",
    "--filter docx reads a .docx (Debian: docx2txt), and --filter 'EXT:COMMAND' any other whose "
    "text a command writes"};
static const struct nd_binary_kind OPEN_DOCUMENT = {
    "is an OpenDocument file",
    "--filter odt reads an .odt (Debian: odt2txt), and --filter 'EXT:COMMAND' any other whose text "
    "a command writes"};
static const struct nd_binary_kind EPUB = {"is an EPUB book",
                                           "--filter epub reads it (Debian: pandoc)"};
static const struct nd_binary_kind PDF = {"is a PDF file",
                                          "--filter pdf reads it (Debian: poppler-utils)"};
static const struct nd_binary_kind BMP = {"is a BMP image", NULL};
#define BY_PYTHON "the Python package deduplicates it (python -m neardup dedup FILE -o RESULT)"
static const struct nd_binary_kind PARQUET = {
    "is a Parquet file", BY_PYTHON
    "; for other commands convert it to JSON Lines first (python3 -c \"import sys, pandas; "
    "pandas.read_parquet(sys.argv[1]).to_json(sys.argv[2], orient='records', "
    "lines=True)\" FILE FILE.jsonl)"};

/*
 * A kind of file with `magic` at `offset`. If text may begin like this, a control byte must follow
 * nearby.
 */
static const struct {
    unsigned char offset, len;
    bool needs_control;
    const char *magic;
    struct nd_binary_kind kind;
} MAGIC[] = {
    {0, 4, false, "Obj\1", {"is an Avro file", "convert it to JSON Lines first"}},
    {0,
     8,
     false,
     "ARROW1\0\0",
     {"is an Arrow file", BY_PYTHON "; for other commands convert it to JSON Lines first"}},
    {0, 8, false, "\x89HDF\r\n\x1A\n", {"is an HDF5 file", "convert it to JSON Lines first"}},
    {0,
     8,
     false,
     "NDSKTCH\n",
     {"is a sketch file", "a run reads it by its name where all its inputs are sketch files"}},
    {0,
     8,
     false,
     "NDHAMM\r\n",
     {"is an index of fingerprints", "neardup index query looks up documents in it"}},
    {0, 6, false, "\x93NUMPY", {"is a NumPy array", NULL}},
    {0, 8, false, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", {"is an Office file", TO_TEXT}},
    {0, 6, false, "7z\xBC\xAF\x27\x1C", {"is a 7z archive", UNPACK}},
    {0, 6, false, "Rar!\x1A\x07", {"is a RAR archive", UNPACK}},
    {0, 8, false, "MSCF\0\0\0\0", {"is a cabinet archive", UNPACK}},
    {0, 8, false, "!<arch>\n", {"is an ar archive", UNPACK}},
    {0, 4, false, "\xED\xAB\xEE\xDB", {"is an RPM package", UNPACK}},
    {0, 5, false, "LZIP\1", {"is lzip data", UNPACK}},
    {0, 2, false, "\x1F\x9D", {"is compress data", UNPACK}},
    {0, 5, false, "\x5D\0\0\x80\0", {"is lzma data", UNPACK}},
    {0, 8, false, "\x89PNG\r\n\x1A\n", {"is a PNG image", NULL}},
    {0, 3, false, "\xFF\xD8\xFF", {"is a JPEG image", NULL}},
    {0, 6, true, "GIF87a", {"is a GIF image", NULL}},
    {0, 6, true, "GIF89a", {"is a GIF image", NULL}},
    {0, 4, false, "II*\0", {"is a TIFF image", NULL}},
    {0, 4, false, "MM\0*", {"is a TIFF image", NULL}},
    {8, 4, false, "WEBP", {"is a WebP image", NULL}},
    {0, 6, false, "8BPS\0\1", {"is a Photoshop image", NULL}},
    {0, 4, false, "\0\0\1\0", {"is an icon", NULL}},
    {0, 12, false, "\0\0\0\x0CjP  \r\n\x87\n", {"is a JPEG 2000 image", NULL}},
    {0, 8, true, "AT&TFORM", {"is a DjVu file", "convert it to text first (djvutxt FILE)"}},
    {4, 4, true, "ftyp", {"is a film or an image (ISO media)", NULL}},
    {0, 4, false, "\x1A\x45\xDF\xA3", {"is a film (Matroska)", NULL}},
    {8, 4, false, "WAVE", {"is a sound file (WAV)", NULL}},
    {8, 4, false, "AVI ", {"is a film (AVI)", NULL}},
    {0, 5, false, "OggS\0", {"is a sound file or film (Ogg)", NULL}},
    {0, 5, false, "fLaC\0", {"is a sound file (FLAC)", NULL}},
    {0, 4, false, "ID3\2", {"is a sound file (MP3)", NULL}},
    {0, 4, false, "ID3\3", {"is a sound file (MP3)", NULL}},
    {0, 4, false, "ID3\4", {"is a sound file (MP3)", NULL}},
    {0, 5, false, "\0\1\0\0\0", {"is a font (TrueType)", NULL}},
    {0, 5, false, "OTTO\0", {"is a font (OpenType)", NULL}},
    {0, 5, false, "ttcf\0", {"is a font (TrueType)", NULL}},
    {0, 5, false, "wOFF\0", {"is a font (WOFF)", NULL}},
    {0, 8, false, "wOFFOTTO", {"is a font (WOFF)", NULL}},
    {0, 5, false, "wOF2\0", {"is a font (WOFF2)", NULL}},
    {0, 8, false, "wOF2OTTO", {"is a font (WOFF2)", NULL}},
    {0, 4, false, "\177ELF", {"is an executable (ELF)", NULL}},
    {0, 4, false, "\xFE\xED\xFA\xCE", {"is an executable (Mach-O)", NULL}},
    {0, 4, false, "\xFE\xED\xFA\xCF", {"is an executable (Mach-O)", NULL}},
    {0, 4, false, "\xCE\xFA\xED\xFE", {"is an executable (Mach-O)", NULL}},
    {0, 4, false, "\xCF\xFA\xED\xFE", {"is an executable (Mach-O)", NULL}},
    {0, 4, false, "\xCA\xFE\xBA\xBE", {"is an executable (Java or Mach-O)", NULL}},
    {0, 4, false, "\0asm", {"is an executable (WebAssembly)", NULL}},
    {0, 5, true, "dex\n0", {"is an executable (Dalvik)", NULL}},
    {0, 2, true, "MZ", {"is an executable (Windows)", NULL}},
    {0, 4, false, "BC\xC0\xDE", {"is LLVM bitcode", NULL}},
    {0, 16, false, "SQLite format 3\0", {"is an SQLite database", "export the texts as CSV first"}},
    {4, 15, false, "Standard Jet DB", {"is an Access database", "export the texts as CSV first"}},
    {4, 15, false, "Standard ACE DB", {"is an Access database", "export the texts as CSV first"}},
};

static bool has_at(const char *head, size_t len, size_t offset, const char *magic, size_t n)
{
    return len >= offset + n && memcmp(head + offset, magic, n) == 0;
}

/* A byte that does not occur in the first lines of text, in any charset. */
enum { CONTROL_WITHIN = 64, NUL_WITHIN = 8192 };
/*
 * A short magic number such as "MZ" or "GIF87a" may be the first word of a text. So for these kinds
 * a control byte must occur within the first 64 bytes: text has none there except white space and
 * ESC, which begins the escape sequences of ISO 2022.
 */
static bool has_control(const char *head, size_t len, size_t within)
{
    for (size_t i = 0; i < len && i < within; i++) {
        unsigned char c = (unsigned char)head[i];

        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B)
            return true;
    }
    return false;
}

/* Kinds that need more than a magic number. */
static const struct nd_binary_kind *by_more_than_magic(const char *head, size_t len)
{
    size_t blank = 0;

    if (has_at(head, len, 0, "PAR1", 4) && (has_control(head, len, CONTROL_WITHIN) ||
                                            (len >= 8 && memcmp(head + len - 4, "PAR1", 4) == 0)))
        return &PARQUET;
    if (has_at(head, len, 0, "BM", 2) && has_at(head, len, 6, "\0\0\0\0", 4))
        return &BMP;
    while (blank < len && (head[blank] == '\n' || head[blank] == '\r' || head[blank] == ' '))
        blank++;
    return has_at(head, len, blank, "%PDF-", 5) ? &PDF : NULL;
}

const struct nd_binary_kind *nd_detect_binary(const char *head, size_t len)
{
    for (size_t i = 0; i < sizeof MAGIC / sizeof *MAGIC; i++) {
        /* A RIFF file gives its type after its length. */
        if (MAGIC[i].offset == 8 && !has_at(head, len, 0, "RIFF", 4))
            continue;
        if (has_at(head, len, MAGIC[i].offset, MAGIC[i].magic, MAGIC[i].len) &&
            (!MAGIC[i].needs_control || has_control(head, len, CONTROL_WITHIN)))
            return &MAGIC[i].kind;
    }
    return by_more_than_magic(head, len);
}

const char *nd_detect_ready_filter(const struct nd_binary_kind *kind)
{
    return kind == &PDF             ? "pdf"
           : kind == &OFFICE        ? "docx"
           : kind == &OPEN_DOCUMENT ? "odt"
           : kind == &EPUB          ? "epub"
                                    : NULL;
}

const struct nd_binary_kind *nd_detect_office_zip(const char *head, size_t len)
{
    static const char *const office[] = {
        "[Content_Types].xml", "_rels/", "word/", "xl/", "ppt/", "docProps/"};
    const size_t name = 30; /* offset of the name in the first file's header */

    if (!has_at(head, len, 0, "PK\3\4", 4))
        return NULL;
    for (size_t i = 0; i < sizeof office / sizeof *office; i++)
        if (has_at(head, len, name, office[i], strlen(office[i])))
            return &OFFICE;
    if (!has_at(head, len, name, "mimetypeapplication/", 20))
        return NULL;
    if (has_at(head, len, name + 20, "epub+zip", 8))
        return &EPUB;
    return has_at(head, len, name + 20, "vnd.oasis.opendocument", 22) ? &OPEN_DOCUMENT : NULL;
}

const struct nd_binary_kind *nd_detect_early_nul(const char *head, size_t len)
{
    static const struct nd_binary_kind nul = {
        "has a NUL byte near its start",
        "leave it out, or read it anyway with --binary text; UTF-16 without a byte "
        "order mark must be converted first (iconv -f UTF-16LE -t UTF-8)"};

    return memchr(head, 0, len < NUL_WITHIN ? len : NUL_WITHIN) ? &nul : NULL;
}
