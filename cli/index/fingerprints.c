/* fingerprints.c - files of fingerprints: lines of hexadecimal, rows of sketch, raw words, index files */

/*
 * index and join read fingerprints from five kinds of files: lines of hexadecimal digits with
 * optional ids, JSON rows of neardup sketch, raw 64-bit words, index files and sketch files. All are read
 * block by block into struct fingerprints. Lines with fewer digits than the first are refused,
 * because a truncated file looks like that.
 */
#include "index/fingerprints.h"
#include "base/system/c_functions.h"
#include "base/system/descriptor.h"

#include <neardup/input.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BEYOND = 64 }; /* bytes that the parser may read after a record */

static bool make_parser(struct fingerprint_file *f)
{
    static const char *const text[] = {"fingerprint"};
    struct nd_input_options options = nd_input_options_default();
    struct nd_error err;

    options.format = ND_FORMAT_JSONL;
    options.text_fields = text;
    options.n_text_fields = 1;
    f->parser = nd_parser_new(&options, &err);
    if (!f->parser)
        say("%s", err.message);
    return f->parser != NULL;
}

static bool reserve_beyond(struct fingerprint_file *f, size_t len)
{
    char *line;

    if (f->line_capacity >= len + BEYOND)
        return true;
    line = realloc(f->line, len + BEYOND);
    if (!line) {
        say("out of memory for a line of %zu bytes", len);
        return false;
    }
    f->line = line;
    f->line_capacity = len + BEYOND;
    return true;
}

static int wrong_row(const struct fingerprint_file *f, const char *why)
{
    say("%s:%llu: %s", f->name, (unsigned long long)f->n + 1, why);
    return -1;
}

int fingerprint_row_read(struct fingerprint_file *f, size_t len, struct fingerprints *out)
{
    static const char none[] = "\"fingerprint\":null"; /* as neardup sketch writes it */
    const struct nd_source source = {.path = f->name,
                                     .format = ND_FORMAT_JSONL,
                                     .compression = "none",
                                     .is_container = 1,
                                     .state = ND_READ_OPEN};
    struct nd_bad_record bad;
    struct nd_document document;
    const char *wrong;
    int got;

    if ((!f->parser && !make_parser(f)) || !reserve_beyond(f, len))
        return -1;
    if (nd_find_bytes(f->line, len, none, sizeof none - 1))
        return 0; /* a document without text */
    nd_parser_reset(f->parser);
    got =
        nd_parser_parse(f->parser, &source, (struct nd_view){f->line, len}, &document, NULL, &bad);
    if (got < 0)
        return wrong_row(f, "out of memory");
    if (got == 0)
        return wrong_row(f, "an object without a fingerprint: neardup sketch writes one if the "
                            "recipe has a simhash; documents need --recipe");
    if (document.text.len != (f->settings->bits + 3) / 4) {
        say("%s:%llu: a fingerprint of %zu bits, not %u; see --bits", f->name,
            (unsigned long long)f->n + 1, 4 * document.text.len, f->settings->bits);
        return -1;
    }
    wrong = fingerprint_digits(document.text.data, document.text.len, f->settings->bits,
                               out->row + out->n * out->words);
    if (wrong)
        return wrong_row(f, wrong);
    out->id[out->n] = NO_TEXT;
    return !document.id.len || fingerprints_add_id(out, document.id.data, document.id.len) ? 1 : -1;
}

struct nd_hamming_shape hamming_shape(const struct hamming_settings *h)
{
    bool fast = h->layout == ND_HAMMING_FAST;
    enum nd_hamming_family family =
        h->family ? (enum nd_hamming_family)h->family : ND_HAMMING_COVERING;

    return (struct nd_hamming_shape){
        .bits = h->bits,
        .distance = h->distance,
        .tables = h->tables,
        .key_bits = h->key_bits,
        .codec = h->codec == ND_HAMMING_MANKU ? ND_HAMMING_MANKU : ND_HAMMING_EF,
        .family = fast && !h->family ? ND_HAMMING_SCAN /* 0: any that there is */ : family,
        .layout = fast ? ND_HAMMING_FAST : ND_HAMMING_COMPACT,
        .max_bytes = h->memory > 0 ? (uint64_t)h->memory : 0,
        .part_fingerprints = h->part_fingerprints,
    };
}

/* A pipe cannot be tested: its bytes could not be put back. */
static bool begins_with(FILE *file, const char magic[8])
{
    char begin[8];
    bool is;

    if (fseek(file, 0, SEEK_SET) != 0)
        return false;
    is = fread(begin, 1, sizeof begin, file) == sizeof begin &&
         memcmp(begin, magic, sizeof begin) == 0;
    rewind(file);
    return is;
}

static const char index_magic[] = "NDHAMM\r\n", sketch_magic[] = "NDSKTCH\n";

static bool path_begins_with(const char *path, const char magic[8])
{
    FILE *file = strcmp(path, "-") == 0 ? NULL : nd_stream_open(path, "r");
    bool is = file && begins_with(file, magic);

    if (file)
        fclose(file);
    return is;
}

bool is_index_path(const char *path)
{
    return path_begins_with(path, index_magic);
}

bool is_sketch_path(const char *path)
{
    return path_begins_with(path, sketch_magic);
}

static bool open_index(struct fingerprint_file *f, const char *path)
{
    struct nd_error err;
    unsigned bits;

    if (nd_hamming_file_open(&f->index, path, &err) != ND_OK) {
        say("%s", err.message);
        return false;
    }
    bits = nd_hamming_file_design(f->index)->problem.bits;
    if (bits != f->settings->bits)
        say("%s: an index of %u-bit fingerprints, not %u-bit; see --bits", path, bits,
            f->settings->bits);
    return bits == f->settings->bits;
}

bool fingerprint_file_open(struct fingerprint_file *f, const struct hamming_settings *settings,
                           const char *path)
{
    bool standard = strcmp(path, "-") == 0;

    *f = (struct fingerprint_file){.settings = settings,
                                   .name = standard ? "standard input" : path,
                                   .file = standard ? stdin : nd_stream_open(path, "r")};
    if (!f->file) {
        say("%s: %s", path, strerror(errno));
        return false;
    }
    if (standard)
        return true;
    if (begins_with(f->file, sketch_magic))
        return (f->sketched = sketched_open(path, settings->bits)) != NULL;
    return !begins_with(f->file, index_magic) || open_index(f, path);
}

void fingerprint_file_close(struct fingerprint_file *f)
{
    if (f->file && f->file != stdin)
        fclose(f->file);
    free(f->line);
    nd_hamming_file_close(f->index);
    sketched_close(f->sketched);
    nd_parser_free(f->parser);
    *f = (struct fingerprint_file){.file = NULL};
}

void fingerprints_clear(struct fingerprints *f)
{
    f->n = 0;
    f->text_len = 0;
}

void fingerprints_release(struct fingerprints *f)
{
    free(f->row);
    free(f->id);
    free(f->text);
    *f = (struct fingerprints){.row = NULL};
}

static bool grow(struct fingerprints *f)
{
    size_t capacity = f->capacity + f->capacity / 2 + 1024;
    uint64_t *row = nd_resize_array(f->row, capacity, f->words * sizeof *row);
    size_t *id;

    if (row)
        f->row = row;
    id = row ? nd_resize_array(f->id, capacity, sizeof *id) : NULL;
    if (!id) {
        say("out of memory for %zu fingerprints", capacity);
        return false;
    }
    f->id = id;
    f->capacity = capacity;
    return true;
}

bool fingerprints_add_id(struct fingerprints *f, const char *text, size_t len)
{
    if (f->text_len + len + 1 > f->text_capacity) {
        size_t capacity = f->text_capacity * 3 / 2 + len + 4096;
        char *more = realloc(f->text, capacity);

        if (!more) {
            say("out of memory for ids");
            return false;
        }
        f->text = more;
        f->text_capacity = capacity;
    }
    f->id[f->n] = f->text_len;
    memcpy(f->text + f->text_len, text, len);
    f->text[f->text_len + len] = '\0';
    f->text_len += len + 1;
    return true;
}

bool fingerprints_add(struct fingerprints *out, const uint64_t *row, const char *id, size_t len)
{
    if (out->n == out->capacity && !grow(out))
        return false;
    memcpy(out->row + out->n * out->words, row, out->words * sizeof *row);
    if (!fingerprints_add_id(out, id, len))
        return false;
    out->n++;
    return true;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

const char *fingerprint_digits(const char *text, size_t len, unsigned bits, uint64_t *row)
{
    size_t words = nd_hamming_words(bits);

    if (len == 0)
        return "the fingerprint is missing";
    if (len > (bits + 3) / 4)
        return "the fingerprint has too many digits";
    memset(row, 0, words * sizeof *row);
    for (size_t i = 0; i < len; i++) {
        size_t at = 4 * (len - 1 - i);
        int value = digit(text[i]);

        if (value < 0)
            return "a fingerprint must consist of hexadecimal digits";
        row[at / 64] |= (uint64_t)value << at % 64;
    }
    if (bits % 64 && row[words - 1] >> bits % 64)
        return "the fingerprint has too many bits";
    return NULL;
}

/*
 * Every line must have as many digits as the first, because a file that was cut off ends in a
 * shorter one. For a single line without a line end, the number of bits says how many digits it
 * should have.
 */
static bool check_digits(struct fingerprint_file *f, size_t digits, bool has_end)
{
    size_t whole = (f->settings->bits + 3) / 4;

    if (f->settings->any_digits)
        return true;
    if (f->digits == 0)
        f->digits = has_end ? digits : whole;
    if (digits == f->digits)
        return true;
    if (f->n == 0)
        say("%s:1: the only line has no line end and only %zu of %zu digits: was the file cut off? "
            "--any-digits "
            "accepts it",
            f->name, digits, whole);
    else
        say("%s:%llu: %zu digit%s, but the first line has %zu: was the file cut off? --any-digits "
            "accepts both",
            f->name, (unsigned long long)f->n + 1, digits, digits == 1 ? "" : "s", f->digits);
    return false;
}

/* Read one line: digits, then optionally a tab and an id. */
static bool read_line(struct fingerprint_file *f, size_t len, struct fingerprints *out)
{
    bool has_end = len && f->line[len - 1] == '\n';
    const char *tab, *wrong;
    size_t digits;

    if (has_end)
        len--;
    if (len && f->line[len - 1] == '\r')
        len--;
    tab = memchr(f->line, '\t', len);
    digits = tab ? (size_t)(tab - f->line) : len;
    wrong = fingerprint_digits(f->line, digits, f->settings->bits, out->row + out->n * out->words);
    if (!wrong && tab && memchr(tab + 1, '\t', len - digits - 1))
        wrong = "the line contains more than one tab";
    if (!wrong && memchr(f->line, '\0', len))
        wrong = "the line contains a NUL byte";
    if (wrong) {
        say("%s:%llu: %s", f->name, (unsigned long long)f->n + 1, wrong);
        return false;
    }
    if (!check_digits(f, digits, has_end))
        return false;
    out->id[out->n] = NO_TEXT;
    return !tab || fingerprints_add_id(out, tab + 1, len - digits - 1);
}

/* Returns 1 with a fingerprint, 0 at the end, -1 after reporting an error. */
static int read_raw(struct fingerprint_file *f, struct fingerprints *out)
{
    uint64_t *row = out->row + out->n * out->words;
    size_t bytes = out->words * sizeof *row, n = fread(row, 1, bytes, f->file);
    unsigned over = f->settings->bits % 64;

    if (n == 0)
        return 0;
    if (n < bytes)
        say("%s:%llu: the file ends within a fingerprint", f->name, (unsigned long long)f->n + 1);
    else if (over && row[out->words - 1] >> over)
        say("%s:%llu: the fingerprint has too many bits", f->name, (unsigned long long)f->n + 1);
    out->id[out->n] = NO_TEXT;
    return n == bytes && !(over && row[out->words - 1] >> over) ? 1 : -1;
}

/* Append the id that an entry has in the index: `id` unless ids are texts. */
static bool add_index_id(const struct fingerprint_file *f, uint64_t entry, uint32_t id,
                         struct fingerprints *out)
{
    char digits[ND_HAMMING_NUMBER_MAX + 1];
    const char *text = digits;
    size_t len;

    if (nd_hamming_file_has_texts(f->index))
        text = nd_hamming_file_text(f->index, entry, digits, &len);
    else
        len = (size_t)snprintf(digits, sizeof digits, "%u", id);
    return fingerprints_add_id(out, text, len);
}

static bool read_index(struct fingerprint_file *f, size_t most, struct fingerprints *out)
{
    uint64_t count = nd_hamming_file_design(f->index)->problem.count;
    uint32_t id[512];
    struct nd_error err;

    for (size_t done = 0; done < most && f->n < count;) {
        size_t some = sizeof id / sizeof *id;

        if (out->n == out->capacity && !grow(out))
            return false;
        some = some < most - done ? some : most - done;
        some = some < out->capacity - out->n ? some : out->capacity - out->n;
        some = some < count - f->n ? some : (size_t)(count - f->n);
        if (nd_hamming_file_entries(f->index, f->n, some, out->row + out->n * out->words, id,
                                    &err) != ND_OK) {
            say("%s: %s", f->name, err.message);
            return false;
        }
        for (size_t i = 0; i < some; i++, out->n++)
            if (!add_index_id(f, f->n + i, id[i], out))
                return false;
        f->n += some;
        done += some;
    }
    return true;
}

static int read_sketched(struct fingerprint_file *f, struct fingerprints *out)
{
    const char *id;
    size_t len;
    int got = sketched_next(f->sketched, out->row + out->n * out->words, &id, &len);

    return got == 1 && !fingerprints_add_id(out, id, len) ? -1 : got;
}

/*
 * Returns 1 with a fingerprint, 0 for a document without one, 2 at the end, -1 after reporting an
 * error.
 */
static int read_next(struct fingerprint_file *f, struct fingerprints *out)
{
    ssize_t len;

    if (f->sketched)
        return read_sketched(f, out);
    if (f->settings->raw) {
        int got = read_raw(f, out);

        return got == 0 ? 2 : got;
    }
    len = nd_read_line(&f->line, &f->line_capacity, '\n', f->file);
    if (len <= 0)
        return 2;
    if (f->line[0] == '{')
        return fingerprint_row_read(f, (size_t)len, out);
    return read_line(f, (size_t)len, out) ? 1 : -1;
}

bool fingerprint_file_read(struct fingerprint_file *f, size_t most, struct fingerprints *out)
{
    size_t before = out->n;

    out->words = nd_hamming_words(f->settings->bits);
    if (f->index)
        return read_index(f, most, out);
    while (out->n - before < most) {
        int got;

        if (out->n == out->capacity && !grow(out))
            return false;
        got = read_next(f, out);
        if (got < 0)
            return false;
        if (got == 2)
            break;
        out->n += (size_t)got;
        f->n++;
    }
    if (ferror(f->file))
        say("%s: %s", f->name, strerror(errno));
    return !ferror(f->file);
}

bool fingerprints_read_files(struct fingerprints *out, const struct hamming_settings *settings,
                             const char *const *path, size_t n, size_t *start)
{
    for (size_t i = 0; i < n; i++) {
        struct fingerprint_file file;
        bool whole;

        if (start)
            start[i] = out->n;
        if (!fingerprint_file_open(&file, settings, path[i]))
            return false;
        whole = fingerprint_file_read(&file, SIZE_MAX, out);
        fingerprint_file_close(&file);
        if (!whole)
            return false;
    }
    return true;
}

void print_fingerprint_id(struct results *to, const struct fingerprints *f, size_t i,
                          uint64_t first)
{
    if (f->id[i] == NO_TEXT)
        results_put_number(to, first + i);
    else
        results_put_id(to, f->text + f->id[i], strlen(f->text + f->id[i]));
}
