/* results.c - where a command writes its lines: the standard output, or a file that appears whole
 */
#define _GNU_SOURCE
#include "results.h"

#include "settings.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <neardup/result_file.h>

bool results_open(struct results *r, const char *name, const char *const *others, size_t n)
{
    struct nd_error err;

    *r = (struct results){.file = stdout, .name = "standard output"};
    if (!name || strcmp(name, "-") == 0) {
        r->is_terminal = isatty(STDOUT_FILENO) != 0;
        if (nd_result_file_check("-", others, n, &err) == ND_OK)
            return true;
        say("%s", err.message);
        return false;
    }
    r->name = name;
    if (nd_result_file_open(&r->output, name, others, n, &err) != ND_OK) {
        say("%s", err.message);
        return false;
    }
    r->file = nd_result_file_stream(r->output);
    r->is_terminal = isatty(fileno(r->file)) != 0;
    return true;
}

int results_close(struct results *r, int status)
{
    struct nd_error err;

    if (!r->output)
        return close_output() ? 2 : status;
    if (status == 2) {
        nd_result_file_discard(r->output);
    } else if (nd_result_file_publish(r->output, &err) != ND_OK) {
        say("%s", err.message);
        status = 2;
    }
    *r = (struct results){.file = NULL};
    return status;
}

bool results_failed(const struct results *r)
{
    return ferror(r->file) != 0;
}

void results_put_number(struct results *r, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    fwrite(digits + at, 1, sizeof digits - at, r->file);
}

/* The code point of the well-formed UTF-8 sequence at s, and its length, or 0 (Unicode 15.0, table
 * 3-7). */
static size_t code_point(const unsigned char *s, size_t left, uint32_t *code)
{
    static const struct {
        unsigned char first, last, second_from, second_to;
        size_t len;
    } forms[] = {
        {0x00, 0x7F, 0, 0, 1},       {0xC2, 0xDF, 0x80, 0xBF, 2}, {0xE0, 0xE0, 0xA0, 0xBF, 3},
        {0xE1, 0xEC, 0x80, 0xBF, 3}, {0xED, 0xED, 0x80, 0x9F, 3}, {0xEE, 0xEF, 0x80, 0xBF, 3},
        {0xF0, 0xF0, 0x90, 0xBF, 4}, {0xF1, 0xF3, 0x80, 0xBF, 4}, {0xF4, 0xF4, 0x80, 0x8F, 4},
    };
    size_t i = 0, n = sizeof forms / sizeof *forms;

    while (i < n && (s[0] < forms[i].first || s[0] > forms[i].last))
        i++;
    if (i == n || left < forms[i].len)
        return 0;
    *code = forms[i].len == 1 ? s[0] : s[0] & (0x7Fu >> forms[i].len);
    for (size_t k = 1; k < forms[i].len; k++) {
        unsigned char from = k == 1 ? forms[i].second_from : 0x80;
        unsigned char to = k == 1 ? forms[i].second_to : 0xBF;

        if (s[k] < from || s[k] > to)
            return 0;
        *code = *code << 6 | (s[k] & 0x3Fu);
    }
    return forms[i].len;
}

/* Control characters, and those that change the direction in which what follows is shown. */
static bool steers(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E ||
           code == 0x200F || (code >= 0x202A && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

static const char *short_escape(uint32_t code)
{
    switch (code) {
    case '\t': return "\\t";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\\': return "\\\\";
    default: return NULL;
    }
}

/* A field with its escapes; or, of what consists of fields, only what would steer a terminal. */
static void put(struct results *r, const char *text, size_t len, bool is_field)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t plain = 0, i = 0;

    while (i < len) {
        uint32_t code = 0;
        size_t bytes = code_point(s + i, len - i, &code);
        const char *escape = is_field && bytes ? short_escape(code) : NULL;
        bool is_hidden = is_field ? bytes == 0 : r->is_terminal && bytes == 0;

        is_hidden |= r->is_terminal && steers(code) && code != '\t';

        if (!escape && !is_hidden) {
            i += bytes;
            continue;
        }
        fwrite(s + plain, 1, i - plain, r->file);
        bytes = bytes ? bytes : 1;
        if (escape)
            fputs(escape, r->file);
        for (size_t k = 0; !escape && k < bytes; k++)
            fprintf(r->file, "\\x%02X", s[i + k]);
        plain = i += bytes;
    }
    fwrite(s + plain, 1, len - plain, r->file);
}

void results_put_id(struct results *r, const char *text, size_t len)
{
    put(r, text, len, true);
}

void results_put_row(struct results *r, const char *text, size_t len)
{
    put(r, text, len, false);
}
