/* results.c - where a command writes its lines: the standard output, or a file that appears whole
 */
#include "results.h"

#include "base/system/descriptor.h"
#include "settings.h"

#include <errno.h>
#include <string.h>

#include <neardup/result_file.h>
#include <neardup/terminal.h>

bool results_open(struct results *r, const char *name, const char *const *others, size_t n)
{
    struct nd_error err;

    *r = (struct results){.file = stdout, .name = "standard output"};
    if (!name || strcmp(name, "-") == 0) {
        r->is_terminal = nd_descriptor_is_terminal(1) != 0;
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
    r->is_terminal = nd_descriptor_is_terminal(nd_stream_descriptor(r->file)) != 0;
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

/* The short escape of an ASCII character in a field of TSV; NULL: it has none. */
static const char *short_escape(char c)
{
    switch (c) {
    case '\t': return "\\t";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\\': return "\\\\";
    default: return NULL;
    }
}

static void put_bytes_escaped(struct results *r, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        fprintf(r->file, "\\x%02X", (unsigned char)s[i]);
}

/*
 * Write a field as docs/format/outputs.md defines it, or several fields with their tabs; on a
 * terminal, characters that could control it are escaped.
 */
static void put(struct results *r, const char *s, size_t len, bool is_field)
{
    size_t plain = 0, n;

    if (!is_field && !r->is_terminal) {
        fwrite(s, 1, len, r->file);
        return;
    }
    for (size_t i = 0; i < len; i += n) {
        const char *escape = is_field ? short_escape(s[i]) : NULL;
        int is_control;

        n = nd_terminal_character(s + i, len - i, &is_control);
        is_control |= n == 1 && (unsigned char)s[i] >= 0x80; /* not UTF-8 */
        if (!escape && (!is_control || s[i] == '\t'))
            continue;
        fwrite(s + plain, 1, i - plain, r->file);
        if (escape)
            fputs(escape, r->file);
        else
            put_bytes_escaped(r, s + i, n);
        plain = i + n;
    }
    fwrite(s + plain, 1, len - plain, r->file);
}

void results_put_id(struct results *r, const char *text, size_t len)
{
    put(r, text, len, true);
}

void results_put_document(struct results *r, char letter, const struct nd_document_name *name)
{
    fprintf(r->file, "%c: ", letter);
    results_put_id(r, name->id, name->id_len);
    fputs(" (", r->file);
    results_put_id(r, name->at, name->at_len);
    fputs("): ", r->file);
}

void results_put_row(struct results *r, const char *text, size_t len)
{
    put(r, text, len, false);
}
