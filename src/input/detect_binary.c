/* detect_binary.c - files that are not text, by their first bytes */
#include "input/detect_binary.h"

#include <stdbool.h>
#include <string.h>

#define TO_TEXT "convert it to text first (libreoffice --headless --convert-to txt:Text FILE)"
#define PAGES "write its pages as JSON Lines or as files first (the Python package warcio reads it)"
#define UNPACK "unpack it first"

static const struct nd_binary_kind OFFICE = {"is an Office file", TO_TEXT};
static const struct nd_binary_kind OPEN_DOCUMENT = {"is an OpenDocument file", TO_TEXT};
static const struct nd_binary_kind EPUB = {"is an EPUB book",
                                           "convert it to text first (pandoc -t plain FILE)"};
static const struct nd_binary_kind PDF = {"is a PDF file",
                                          "convert it to text first (pdftotext FILE)"};
static const struct nd_binary_kind WARC = {"is a WARC file", PAGES};
static const struct nd_binary_kind BMP = {"is a BMP image", NULL};
static const struct nd_binary_kind PARQUET = {
    "is a Parquet file", "convert it to JSON Lines first (python3 -c \"import sys, pandas; "
                         "pandas.read_parquet(sys.argv[1]).to_json(sys.argv[2], orient='records', "
                         "lines=True)\" FILE FILE.jsonl)"};

/* What has `magic` at `offset`.  Where a text may begin so, a control byte must stand near. */
static const struct {
    unsigned char offset, len;
    bool needs_control;
    const char *magic;
    struct nd_binary_kind kind;
} MAGIC[] = {
    {0, 4, false, "Obj\1", {"is an Avro file", "convert it to JSON Lines first"}},
    {0, 8, false, "ARROW1\0\0", {"is an Arrow file", "convert it to JSON Lines first"}},
    {0, 8, false, "\x89HDF\r\n\x1A\n", {"is an HDF5 file", "convert it to JSON Lines first"}},
    {0, 6, false, "\x93NUMPY", {"is a NumPy array", NULL}},
    {0, 11, false, "filedesc://", {"is an ARC file", PAGES}},
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

/* A byte that no text has in its first lines, in whatever charset. */
enum { CONTROL_WITHIN = 64, NUL_WITHIN = 8192 };
static bool has_control(const char *head, size_t len, size_t within)
{
    for (size_t i = 0; i < len && i < within; i++) {
        unsigned char c = (unsigned char)head[i];

        if (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1B)
            return true;
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Kinds whose magic is not all that they are known by. */
static const struct nd_binary_kind *by_more_than_magic(const char *head, size_t len)
{
    size_t blank = 0;

    if (has_at(head, len, 0, "PAR1", 4) && (has_control(head, len, CONTROL_WITHIN) ||
                                            (len >= 8 && memcmp(head + len - 4, "PAR1", 4) == 0)))
        return &PARQUET;
    if (has_at(head, len, 0, "WARC/", 5) && len > 9 && is_digit(head[5]) && head[6] == '.' &&
        (memchr(head + 7, '\n', len < 12 ? len - 7 : 5)))
        return &WARC;
    if (has_at(head, len, 0, "BM", 2) && has_at(head, len, 6, "\0\0\0\0", 4))
        return &BMP;
    while (blank < len && (head[blank] == '\n' || head[blank] == '\r' || head[blank] == ' '))
        blank++;
    return has_at(head, len, blank, "%PDF-", 5) ? &PDF : NULL;
}

const struct nd_binary_kind *nd_detect_binary(const char *head, size_t len)
{
    for (size_t i = 0; i < sizeof MAGIC / sizeof *MAGIC; i++) {
        /* A RIFF file says what it is behind its length. */
        if (MAGIC[i].offset == 8 && !has_at(head, len, 0, "RIFF", 4))
            continue;
        if (has_at(head, len, MAGIC[i].offset, MAGIC[i].magic, MAGIC[i].len) &&
            (!MAGIC[i].needs_control || has_control(head, len, CONTROL_WITHIN)))
            return &MAGIC[i].kind;
    }
    return by_more_than_magic(head, len);
}

const struct nd_binary_kind *nd_detect_office_zip(const char *head, size_t len)
{
    static const char *const office[] = {
        "[Content_Types].xml", "_rels/", "word/", "xl/", "ppt/", "docProps/"};
    const size_t name = 30; /* in the first file's header */

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
        "leave it out, or have it read all the same with --binary text; UTF-16 without a byte "
        "order mark must be converted first (iconv -f UTF-16LE -t UTF-8)"};

    return memchr(head, 0, len < NUL_WITHIN ? len : NUL_WITHIN) ? &nul : NULL;
}
