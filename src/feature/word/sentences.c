/* sentences.c - where sentences end (docs/format/features.md, "Sentences") */
#include "feature/word/sentences.h"

#include "base/utf8.h"
#include "feature/word/scan.h"

#include <stdbool.h>
#include <stdint.h>

#define ELLIPSIS 0x2026

enum kind { OTHER, SPACE, END, EASTERN_END, CLOSER };

static enum kind kind_of(uint32_t c)
{
    switch (c) {
    case '\t':
    case '\n':
    case '\v':
    case '\f':
    case '\r':
    case ' ':
    case 0x85:
    case 0xA0:
    case 0x2028:
    case 0x2029:
    case 0x3000: return SPACE;
    case '.':
    case '!':
    case '?':
    case 0x61F:
    case 0x6D4:
    case 0x964:
    case 0x965:
    case ELLIPSIS:
    case 0x203C:
    case 0x203D:
    case 0x2047:
    case 0x2048:
    case 0x2049: return END;
    case 0x3002:
    case 0xFF01:
    case 0xFF0E:
    case 0xFF1F:
    case 0xFF61: return EASTERN_END;
    case '"':
    case '\'':
    case ')':
    case ']':
    case '}':
    case 0xBB:
    case 0x2019:
    case 0x201D:
    case 0x3009:
    case 0x300B:
    case 0x300D:
    case 0x300F:
    case 0x3011:
    case 0xFF09: return CLOSER;
    default: return OTHER;
    }
}

static bool is_letter(unsigned char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* Whether the full stop at `dot` follows a letter that stands alone: "J. Smith", "U.S. dollar". */
static bool is_initial(const char *text, size_t dot)
{
    unsigned char before;

    if (dot == 0 || !is_letter((unsigned char)text[dot - 1]))
        return false;
    if (dot == 1)
        return true;
    before = (unsigned char)text[dot - 2];
    return before < 0x80 && !is_letter(before) && !(before >= '0' && before <= '9');
}

/* The end of the run of code points of one kind that begins at i; *newlines counts line ends. */
static size_t skip(const char *text, size_t len, size_t i, enum kind kind, unsigned *newlines)
{
    size_t n;

    for (; i < len; i += n) {
        uint32_t c = nd_utf8_decode(text + i, &n);

        if (kind_of(c) != kind)
            break;
        *newlines += c == '\n' ? 1 : c == 0x2029 ? 2 : 0;
    }
    return i;
}

/* The end of the run of ends, of either kind, that begins at i.  *is_weak: the run has full stops and
 * ellipses only, which also stand in abbreviations. */
static size_t skip_ends(const char *text, size_t len, size_t i, bool *has_eastern, bool *is_weak)
{
    size_t n;

    for (; i < len; i += n) {
        uint32_t c = nd_utf8_decode(text + i, &n);
        enum kind kind = kind_of(c);

        if (kind != END && kind != EASTERN_END)
            break;
        *has_eastern |= kind == EASTERN_END;
        *is_weak &= c == '.' || c == ELLIPSIS;
    }
    return i;
}

/* At i stands a code point that may end a sentence.  Returns where the sentence ends; 0: it goes on,
 * and *next is where to continue. */
static size_t ended(const char *text, size_t len, size_t i, size_t *next)
{
    bool has_eastern = false, is_weak = true;
    unsigned newlines = 0;
    size_t stop = skip_ends(text, len, i, &has_eastern, &is_weak);
    size_t closed = skip(text, len, stop, CLOSER, &newlines);
    size_t end = skip(text, len, closed, SPACE, &newlines);

    *next = closed;
    if (has_eastern || end == len || newlines > 1)
        return end;
    if (end == closed)
        return 0;
    if (is_weak && text[end] >= 'a' && text[end] <= 'z')
        return 0;
    return text[i] == '.' && closed == i + 1 && is_initial(text, i) ? 0 : end;
}

/* Whether none of the eight bytes at p can begin an end or a newline. */
static bool is_plain(const char *p)
{
    uint64_t eight = nd_scan_load(p);

    return !nd_scan_is_wide(eight) && !(nd_scan_has(eight, '\n') | nd_scan_has(eight, '.') |
                                        nd_scan_has(eight, '!') | nd_scan_has(eight, '?'));
}

/* Whether a byte may begin an end or a newline; all others are skipped. */
static bool is_candidate(unsigned char c)
{
    return c == '\n' || c == '.' || c == '!' || c == '?' || c == 0xD8 || c == 0xDB || c == 0xE0 ||
           c == 0xE2 || c == 0xE3 || c == 0xEF;
}

size_t nd_sentence_end(const char *text, size_t len, size_t from)
{
    size_t i = from;

    while (i < len) {
        size_t n, end;
        enum kind kind;

        if (!is_candidate((unsigned char)text[i])) {
            i++;
            while (len - i >= 8 && is_plain(text + i))
                i += 8;
            continue;
        }
        kind = kind_of(nd_utf8_decode(text + i, &n));
        if (kind == END || kind == EASTERN_END) {
            end = ended(text, len, i, &i);
            if (end)
                return end;
        } else if (kind == SPACE) {
            unsigned newlines = 0;

            end = i = skip(text, len, i, SPACE, &newlines);
            if (newlines > 1)
                return end;
        } else {
            i += n;
        }
    }
    return len;
}
