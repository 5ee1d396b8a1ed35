/* windows_functions.c - functions that Windows' C library has not, or under other names */
#ifdef _WIN32
#include "base/system/c_functions.h"

#include <locale.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int lower(char c)
{
    unsigned char byte = (unsigned char)c;

    return byte >= 'A' && byte <= 'Z' ? byte + ('a' - 'A') : byte;
}

int nd_compare_caseless_n(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (lower(a[i]) != lower(b[i]) || !a[i])
            return lower(a[i]) - lower(b[i]);
    return 0;
}

int nd_compare_caseless(const char *a, const char *b)
{
    return nd_compare_caseless_n(a, b, SIZE_MAX);
}

void *nd_find_bytes(const void *in, size_t in_bytes, const void *what, size_t what_bytes)
{
    const char *at = in, *end = at + in_bytes, *found;

    if (what_bytes == 0)
        return (void *)(uintptr_t)in;
    while ((size_t)(end - at) >= what_bytes) {
        found = memchr(at, *(const unsigned char *)what, (size_t)(end - at) - what_bytes + 1);
        if (!found)
            return NULL;
        if (memcmp(found, what, what_bytes) == 0)
            return (void *)(uintptr_t)found;
        at = found + 1;
    }
    return NULL;
}

char *nd_text_copy_n(const char *text, size_t n)
{
    size_t len = strnlen(text, n);
    char *copy = malloc(len + 1);

    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = 0;
    return copy;
}

char *nd_text_copy(const char *text)
{
    return nd_text_copy_n(text, SIZE_MAX);
}

int nd_print_new(char **text, const char *format, ...)
{
    va_list arguments, again;
    int n;

    *text = NULL;
    va_start(arguments, format);
    va_copy(again, arguments);
    n = vsnprintf(NULL, 0, format, arguments);
    if (n >= 0 && (*text = malloc((size_t)n + 1)))
        n = vsnprintf(*text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(arguments);
    return *text ? n : -1;
}

void *nd_aligned_alloc(size_t alignment, size_t bytes)
{
    return _aligned_malloc(bytes, alignment);
}

void nd_aligned_free(void *memory)
{
    _aligned_free(memory);
}

/* ---- Sorting: merged, so that equal elements keep their order as in other C libraries ---- */

struct sorting {
    char *from, *to;
    size_t size;
    int (*compare)(const void *a, const void *b, void *context);
    void *context;
};

static void merge(const struct sorting *s, size_t begin, size_t middle, size_t end)
{
    size_t a = begin, b = middle;

    for (size_t i = begin; i < end; i++) {
        bool is_first =
            b == end || (a < middle &&
                         s->compare(s->from + a * s->size, s->from + b * s->size, s->context) <= 0);

        memcpy(s->to + i * s->size, s->from + (is_first ? a++ : b++) * s->size, s->size);
    }
}

/* Without memory for the merging: insertion, slow, but sorted. */
static void insert_all(const struct sorting *s, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t j = i; j; j--) {
            char *b = s->from + j * s->size, *a = b - s->size;

            if (s->compare(a, b, s->context) <= 0)
                break;
            for (size_t k = 0; k < s->size; k++) {
                char byte = a[k];

                a[k] = b[k];
                b[k] = byte;
            }
        }
}

void nd_sort_with(void *base, size_t n, size_t size,
                  int (*compare)(const void *a, const void *b, void *context), void *context)
{
    char *room = n > 1 && n <= SIZE_MAX / size ? malloc(n * size) : NULL;
    struct sorting s = {base, room, size, compare, context};

    if (n < 2)
        return;
    if (!room) {
        insert_all(&s, n);
        return;
    }
    for (size_t width = 1; width < n; width *= 2) {
        char *from = s.from;

        for (size_t at = 0; at < n; at += 2 * width)
            merge(&s, at, at + width < n ? at + width : n, at + 2 * width < n ? at + 2 * width : n);
        s.from = s.to;
        s.to = from;
    }
    if (s.from != base)
        memcpy(base, s.from, n * size);
    free(room);
}

/* ---- Streams ---- */

ssize_t nd_read_line(char **line, size_t *capacity, int end, FILE *from)
{
    size_t n = 0;
    int c = EOF;

    _lock_file(from);
    while ((c = _getc_nolock(from)) != EOF) {
        if (n + 2 > *capacity || !*line) {
            size_t grown = *capacity < 60 ? 120 : *capacity * 2;
            char *longer = realloc(*line, grown);

            if (!longer) {
                _unlock_file(from);
                return -1;
            }
            *line = longer;
            *capacity = grown;
        }
        (*line)[n++] = (char)c;
        if (c == end)
            break;
    }
    _unlock_file(from);
    if (n == 0)
        return -1;
    (*line)[n] = 0;
    return (ssize_t)n;
}

bool nd_stream_seek(FILE *stream, uint64_t place)
{
    return _fseeki64(stream, (int64_t)place, SEEK_SET) == 0;
}

size_t nd_stream_write(const void *data, size_t size, size_t n, FILE *stream)
{
    return _fwrite_nolock(data, size, n, stream);
}

double nd_read_double(const char *text, char **end)
{
    static _Atomic(_locale_t) c_locale;
    _locale_t locale = atomic_load(&c_locale);

    if (!locale) {
        _locale_t none = NULL;

        locale = _create_locale(LC_ALL, "C");
        if (!locale)
            return strtod(text, end);
        if (!atomic_compare_exchange_strong(&c_locale, &none, locale)) {
            _free_locale(locale);
            locale = none;
        }
    }
    return _strtod_l(text, end, locale);
}
#else
enum { ND_WINDOWS_FUNCTIONS_IS_FOR_OTHERS };
#endif
