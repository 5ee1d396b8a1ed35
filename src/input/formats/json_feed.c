/* json_feed.c - JSON Feed cut into its items, and what stands around these */

/*
 * JSON Feed (jsonfeed.org, version 1.1) is one object whose member "items" is an array.  Only
 * strings and brackets are looked at; a parser looks at each item.
 */
#include "input/formats/json_feed.h"

#include <string.h>

#include "base/view.h"
#include "input/formats/lines.h"

/* ---- Bytes ------------------------------------------------------------------------------------- */

enum string_state { OUTSIDE, INSIDE, ESCAPED };

/* Pass one byte of or outside a string. */
static enum string_state pass(enum string_state state, char byte)
{
    if (state == ESCAPED)
        return INSIDE;
    if (byte == '"')
        return state == INSIDE ? OUTSIDE : INSIDE;
    return state == INSIDE && byte == '\\' ? ESCAPED : state;
}

static bool opens(char byte)
{
    return byte == '{' || byte == '[';
}

static bool closes(char byte)
{
    return byte == '}' || byte == ']';
}

/* ---- Keys of the outermost object ---------------------------------------------------------------- */

/* The places of a walk through the outermost object. */
struct key_walk {
    size_t at;
    unsigned depth;
    enum string_state state;
    size_t string; /* where the last string begins that stands in the outermost object */
    struct nd_view last;
    bool is_key; /* `last` was the last token, … */
    bool is_due; /* … or a colon behind it */
};

/*
 * Walk to the value of a key of the outermost object: its first byte is at w->at, and is passed by
 * the next call.  False: the bytes end before it.
 */
static bool find_value(struct key_walk *w, const char *bytes, size_t len, const char *key)
{
    for (; w->at < len; w->at++) {
        char byte = bytes[w->at];
        enum string_state was = w->state;

        if (was == OUTSIDE && w->is_due && !nd_is_white(byte)) {
            w->is_due = false;
            if (nd_view_is(w->last, key))
                return true;
        }
        w->state = pass(was, byte);
        if (was == INSIDE && w->state == OUTSIDE && w->depth == 1) {
            w->last = (struct nd_view){bytes + w->string, w->at - w->string};
            w->is_key = true;
        }
        if (was != OUTSIDE || nd_is_white(byte))
            continue;
        w->is_due = byte == ':' && w->is_key;
        w->is_key = false;
        w->string = byte == '"' ? w->at + 1 : w->string;
        w->depth += opens(byte) ? 1 : 0;
        w->depth -= closes(byte) && w->depth ? 1 : 0;
    }
    return false;
}

/* Whether an address is that of a version; JSON may escape its slashes. */
static bool is_version(struct nd_view address)
{
    static const char *const schemes[] = {"https://jsonfeed.org/version/",
                                          "http://jsonfeed.org/version/"};

    for (size_t s = 0; s < 2; s++) {
        size_t at = 0, i = 0;

        for (; i < address.len && schemes[s][at]; i++)
            if (address.data[i] != '\\' && address.data[i] != schemes[s][at++])
                break;
        if (!schemes[s][at])
            return true;
    }
    return false;
}

struct nd_view nd_json_feed_version(struct nd_view head)
{
    struct key_walk w = {.at = 0};
    struct nd_view value;
    const char *end;

    if (!find_value(&w, head.data, head.len, "version") || head.data[w.at] != '"')
        return (struct nd_view){"", 0};
    value = (struct nd_view){head.data + w.at + 1, head.len - w.at - 1};
    end = memchr(value.data, '"', value.len);
    value.len = end ? (size_t)(end - value.data) : 0;
    return is_version(value) ? value : (struct nd_view){"", 0};
}

/* ---- Cutting ------------------------------------------------------------------------------------- */

/* The place of the cutting in the feed (nd_cutter.stage). */
enum { BEFORE_ITEMS, WITHIN_ITEMS, BEHIND_ITEMS };

/* Look for the array of items, and go into it. */
static void seek_items(struct nd_cutter *c, const char *bytes, size_t len)
{
    struct key_walk w = {c->seen,
                         c->depth,
                         (enum string_state)c->csv_state,
                         c->scanned,
                         {bytes + c->id.at, c->id.len},
                         c->has_main,
                         c->has_request};

    while (c->stage == BEFORE_ITEMS && find_value(&w, bytes, len, "items"))
        if (bytes[w.at] == '[') {
            c->stage = WITHIN_ITEMS;
            w.at++;
        }
    c->seen = w.at;
    c->depth = w.depth;
    c->csv_state = (int)w.state;
    c->scanned = w.string;
    c->id.at = (size_t)(w.last.data - bytes);
    c->id.len = w.last.len;
    c->has_main = w.is_key;
    c->has_request = w.is_due;
}

/* Cut off all that stands before the next item. */
static enum nd_cut_answer cut_between(struct nd_cutter *c, const char *bytes, size_t len,
                                      bool at_end, size_t *record_len)
{
    if (c->stage == BEFORE_ITEMS)
        seek_items(c, bytes, len);
    while (c->stage == WITHIN_ITEMS && c->seen < len &&
           (bytes[c->seen] == ',' || nd_is_white(bytes[c->seen])))
        c->seen++;
    if (c->stage == WITHIN_ITEMS && c->seen < len && bytes[c->seen] != ']')
        return nd_cut_end_stretch(c, ND_CUT_BLANK, bytes, c->seen, record_len);
    if (c->stage == WITHIN_ITEMS && c->seen < len)
        c->stage = BEHIND_ITEMS;
    if (c->stage == BEHIND_ITEMS)
        c->seen = len;
    return at_end ? nd_cut_end_stretch(c, ND_CUT_BLANK, bytes, len, record_len) : ND_CUT_MORE;
}

/* Whether a byte ends a number or a word, which it does not belong to. */
static bool ends_word(char byte)
{
    return byte == ',' || closes(byte) || nd_is_white(byte);
}

/* An element of the array, which begins with the first byte. */
static enum nd_cut_answer cut_item(struct nd_cutter *c, const char *bytes, size_t len, bool at_end,
                                   size_t *record_len)
{
    enum string_state state = (enum string_state)c->csv_state;
    unsigned depth = c->depth;
    size_t i = c->seen;

    for (; i < len; i++) {
        char byte = bytes[i];
        enum string_state was = state;

        state = pass(state, byte);
        if (was == OUTSIDE && state == OUTSIDE) {
            if (depth == 0 && i > 0 && ends_word(byte))
                return nd_cut_end_stretch(c, ND_CUT_RECORD, bytes, i, record_len);
            depth += opens(byte) ? 1 : 0;
            if (closes(byte) && (depth == 0 || --depth == 0))
                return nd_cut_end_stretch(c, ND_CUT_RECORD, bytes, i + 1, record_len);
        } else if (was == INSIDE && state == OUTSIDE && depth == 0) {
            return nd_cut_end_stretch(c, ND_CUT_RECORD, bytes, i + 1, record_len);
        }
    }
    c->seen = i;
    c->csv_state = (int)state;
    c->depth = depth;
    return at_end ? nd_cut_end_stretch(c, ND_CUT_RECORD, bytes, len, record_len) : ND_CUT_MORE;
}

static enum nd_cut_answer cut_json_feed(struct nd_cutter *c, const char *bytes, size_t len,
                                        bool at_end, size_t *record_len)
{
    if (c->seen == 0)
        c->is_info = false;
    if (c->stage == WITHIN_ITEMS && c->has_info && *bytes != ',' && *bytes != ']' &&
        !nd_is_white(*bytes))
        return cut_item(c, bytes, len, at_end, record_len);
    return cut_between(c, bytes, len, at_end, record_len);
}

const struct nd_cut nd_cut_json_feed = {.next = cut_json_feed, .line_ends = 1, .between = ",\n"};

/* ---- The end of a feed --------------------------------------------------------------------------- */

/* Brackets that are open: a feed has two. */
enum { OPEN_MAX = 16 };

bool nd_json_feed_end(struct nd_view header, struct nd_buffer *out)
{
    static const char version[] = ",\"version\":\"https://jsonfeed.org/version/1.1\"";
    enum string_state state = OUTSIDE;
    bool has_version = nd_json_feed_version(header).len > 0, good = true;
    char open[OPEN_MAX];
    size_t n = 0;

    for (size_t i = 0; i < header.len; i++) {
        enum string_state was = state;

        state = pass(state, header.data[i]);
        if (was == OUTSIDE && opens(header.data[i]) && n < OPEN_MAX)
            open[n++] = header.data[i] == '{' ? '}' : ']';
        else if (was == OUTSIDE && closes(header.data[i]) && n)
            n--;
    }
    if (!n) /* a feed without items is its own header */
        return true;
    good = nd_buffer_append(out, "\n", 1);
    while (good && n--)
        good = (n || has_version || nd_buffer_append(out, version, sizeof version - 1)) &&
               nd_buffer_append(out, &open[n], 1);
    return good && nd_buffer_append(out, "\n", 1);
}
