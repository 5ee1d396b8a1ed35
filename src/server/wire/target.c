/* target.c - the routes, a row each, and the target of a request taken apart */
#include "server/wire/target.h"

#include <neardup/duration.h>
#include <neardup/ratio.h>

#include "base/utf8.h"
#include "base/view.h"
#include "server/wire/web_files.h"

#include <stdint.h>
#include <string.h>

#define HAS(parameter) (1u << ND_PARAMETER_##parameter)
#define NEAREST (HAS(LIMIT) | HAS(MAX_AGE) | HAS(DIFFERS) | HAS(AT))

static const struct {
    const char *name;
    unsigned methods, parameters;
    bool is_open;
} ROUTE[ND_ROUTE_COUNT] = {
    [ND_ROUTE_NONE] = {"other", 0, 0, true},
    [ND_ROUTE_FILE] = {"/", ND_VERB_GET, 0, true},
    [ND_ROUTE_HEALTH] = {"/healthz", ND_VERB_GET, 0, true},
    [ND_ROUTE_READY] = {"/readyz", ND_VERB_GET, 0, true},
    [ND_ROUTE_METRICS] = {"/metrics", ND_VERB_GET, 0, false},
    [ND_ROUTE_STATS] = {"/v1/stats", ND_VERB_GET, 0, false},
    [ND_ROUTE_DOCUMENTS] = {"/v1/documents", ND_VERB_GET | ND_VERB_POST,
                            HAS(ID) | HAS(SECURITY) | HAS(DRY) | HAS(TITLE) | NEAREST, false},
    [ND_ROUTE_QUERY] = {"/v1/query", ND_VERB_POST, NEAREST, false},
    [ND_ROUTE_FINGERPRINTS] = {"/v1/fingerprints", ND_VERB_POST, 0, false},
    [ND_ROUTE_DOCUMENT] = {"/v1/documents/{id}", ND_VERB_GET | ND_VERB_DELETE, HAS(SECURITY),
                           false},
    [ND_ROUTE_VERSIONS] = {"/v1/documents/{id}/versions", ND_VERB_GET, HAS(SECURITY) | HAS(LIMIT),
                           false},
    [ND_ROUTE_NEAR] = {"/v1/documents/{id}/near", ND_VERB_GET, HAS(SECURITY) | HAS(LIMIT), false},
    [ND_ROUTE_CLUSTER] = {"/v1/documents/{id}/cluster", ND_VERB_GET, HAS(SECURITY) | HAS(LIMIT),
                          false},
    [ND_ROUTE_COMPARE] = {"/v1/compare", ND_VERB_GET | ND_VERB_POST,
                          HAS(A) | HAS(B) | HAS(A_SECURITY) | HAS(B_SECURITY), false},
    [ND_ROUTE_CRAWL] = {"/v1/crawl", ND_VERB_GET, HAS(LIMIT) | HAS(EXPECT), false},
    [ND_ROUTE_SKETCHES] = {"/v1/sketches", ND_VERB_GET, 0, false},
    [ND_ROUTE_CLUSTERS] = {"/v1/clusters", ND_VERB_GET, HAS(LIMIT) | HAS(CURSOR) | HAS(ORDER),
                           false},
};

/* The parameters of GET, which has none of those of POST. */
static const unsigned LIST_PARAMETERS =
    HAS(LIMIT) | HAS(CURSOR) | HAS(SINCE) | HAS(SITE) | HAS(TITLE);

static const char *const PARAMETER[ND_PARAMETER_COUNT] = {
    [ND_PARAMETER_ID] = "id",
    [ND_PARAMETER_SECURITY] = "security",
    [ND_PARAMETER_DRY] = "dry",
    [ND_PARAMETER_LIMIT] = "limit",
    [ND_PARAMETER_A] = "a",
    [ND_PARAMETER_B] = "b",
    [ND_PARAMETER_A_SECURITY] = "a_security",
    [ND_PARAMETER_B_SECURITY] = "b_security",
    [ND_PARAMETER_MAX_AGE] = "max_age",
    [ND_PARAMETER_EXPECT] = "expect",
    [ND_PARAMETER_CURSOR] = "cursor",
    [ND_PARAMETER_SINCE] = "since",
    [ND_PARAMETER_SITE] = "site",
    [ND_PARAMETER_TITLE] = "title",
    [ND_PARAMETER_ORDER] = "order",
    [ND_PARAMETER_DIFFERS] = "differs",
    [ND_PARAMETER_AT] = "at",
};

const char *nd_route_name(enum nd_route route)
{
    return ROUTE[route].name;
}

unsigned nd_route_methods(enum nd_route route)
{
    return ROUTE[route].methods;
}

const char *nd_route_allow(enum nd_route route)
{
    switch (ROUTE[route].methods) {
    case ND_VERB_GET: return "GET, HEAD, OPTIONS";
    case ND_VERB_POST: return "POST, OPTIONS";
    case ND_VERB_GET | ND_VERB_POST: return "GET, HEAD, POST, OPTIONS";
    case ND_VERB_GET | ND_VERB_DELETE: return "DELETE, GET, HEAD, OPTIONS";
    default: return "OPTIONS";
    }
}

bool nd_route_is_open(enum nd_route route)
{
    return ROUTE[route].is_open;
}

bool nd_route_is_watched(enum nd_route route)
{
    return route == ND_ROUTE_HEALTH || route == ND_ROUTE_READY || route == ND_ROUTE_METRICS;
}

enum nd_verb nd_verb_parse(const char *method)
{
    if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
        return ND_VERB_GET;
    if (strcmp(method, "POST") == 0)
        return ND_VERB_POST;
    if (strcmp(method, "DELETE") == 0)
        return ND_VERB_DELETE;
    return strcmp(method, "OPTIONS") == 0 ? ND_VERB_OPTIONS : ND_VERB_OTHER;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t nd_percent_decode(char *text, size_t len, bool plus)
{
    size_t used = 0;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        if (c == '%') {
            int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < len ? hex_digit(text[i + 2]) : -1;

            if (high < 0 || low < 0)
                return SIZE_MAX;
            c = (char)(high << 4 | low);
            i += 2;
        } else if (plus && c == '+') {
            c = ' ';
        }
        text[used++] = c;
    }
    return used;
}

static bool is_utf8(struct nd_view v)
{
    for (size_t i = 0; i < v.len;) {
        int n = nd_utf8_sequence((const uint8_t *)v.data + i, v.len - i);

        if (n < 0)
            return false;
        i += (size_t)n;
    }
    return true;
}

/* Decode a part of the target in place. */
static enum nd_refusal decode(struct nd_view *part, bool plus, struct nd_error *err)
{
    size_t len = nd_percent_decode((char *)(uintptr_t)part->data, part->len, plus);

    if (len == SIZE_MAX)
        return nd_refuse(err, ND_REFUSAL_MALFORMED,
                         "the address has a %% without two hexadecimal digits");
    part->len = len;
    if (!is_utf8(*part))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the address is not UTF-8");
    return ND_REFUSAL_NONE;
}

static bool take_prefix(struct nd_view *v, const char *prefix)
{
    size_t len = strlen(prefix);

    if (v->len < len || memcmp(v->data, prefix, len) != 0)
        return false;
    v->data += len;
    v->len -= len;
    return true;
}

/* {id}, {id}/versions, {id}/near, {id}/cluster */
static enum nd_refusal parse_document(struct nd_view rest, struct nd_target *out,
                                      struct nd_error *err)
{
    const char *slash = rest.len ? memchr(rest.data, '/', rest.len) : NULL;
    struct nd_view tail = {NULL, 0};

    out->route = ND_ROUTE_DOCUMENT;
    if (slash) {
        tail = (struct nd_view){slash, rest.len - (size_t)(slash - rest.data)};
        rest.len -= tail.len;
        out->route = nd_view_is(tail, "/versions")  ? ND_ROUTE_VERSIONS
                     : nd_view_is(tail, "/near")    ? ND_ROUTE_NEAR
                     : nd_view_is(tail, "/cluster") ? ND_ROUTE_CLUSTER
                                                    : ND_ROUTE_NONE;
    }
    if (rest.len == 0)
        out->route = ND_ROUTE_NONE;
    if (out->route == ND_ROUTE_NONE)
        return ND_REFUSAL_NONE;
    out->id = rest;
    return decode(&out->id, false, err);
}

static enum nd_refusal parse_path(struct nd_view path, struct nd_target *out, struct nd_error *err)
{
    static const enum nd_route plain[] = {
        ND_ROUTE_HEALTH,    ND_ROUTE_READY,    ND_ROUTE_METRICS,      ND_ROUTE_STATS,
        ND_ROUTE_DOCUMENTS, ND_ROUTE_QUERY,    ND_ROUTE_FINGERPRINTS, ND_ROUTE_COMPARE,
        ND_ROUTE_CRAWL,     ND_ROUTE_SKETCHES, ND_ROUTE_CLUSTERS};
    struct nd_view rest = path;

    out->path = path;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (nd_view_is(path, ROUTE[plain[i]].name)) {
            out->route = plain[i];
            return ND_REFUSAL_NONE;
        }
    }
    if (take_prefix(&rest, "/v1/documents/"))
        return parse_document(rest, out, err);
    out->route = nd_web_file_find(path) ? ND_ROUTE_FILE : ND_ROUTE_NONE;
    return ND_REFUSAL_NONE;
}

static enum nd_refusal parse_parameter(struct nd_view part, struct nd_target *out,
                                       struct nd_error *err)
{
    const char *equals = memchr(part.data, '=', part.len);
    struct nd_view name = {part.data, equals ? (size_t)(equals - part.data) : part.len}, value;
    enum nd_refusal refusal;

    value = equals ? (struct nd_view){equals + 1, part.len - name.len - 1}
                   : (struct nd_view){part.data + part.len, 0};
    refusal = decode(&name, true, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = decode(&value, true, err);
    if (refusal != ND_REFUSAL_NONE)
        return refusal;
    for (size_t i = 0; i < ND_PARAMETER_COUNT; i++) {
        if (!nd_view_is(name, PARAMETER[i]))
            continue;
        if (out->has[i])
            return nd_refuse(err, ND_REFUSAL_MALFORMED, "the address has %s= twice", PARAMETER[i]);
        out->has[i] = true;
        out->parameter[i] = value;
        return ND_REFUSAL_NONE;
    }
    return nd_refuse(err, ND_REFUSAL_MALFORMED, "no path has the parameter '%.*s'",
                     nd_view_shown(name), name.data);
}

static enum nd_refusal parse_query(struct nd_view query, struct nd_target *out,
                                   struct nd_error *err)
{
    enum nd_refusal refusal = ND_REFUSAL_NONE;

    while (query.len && refusal == ND_REFUSAL_NONE) {
        const char *end = memchr(query.data, '&', query.len);
        struct nd_view part = {query.data, end ? (size_t)(end - query.data) : query.len};

        query.data += part.len + (end != NULL);
        query.len -= part.len + (end != NULL);
        if (part.len)
            refusal = parse_parameter(part, out, err);
    }
    return refusal;
}

enum nd_refusal nd_target_parse(char *text, size_t len, struct nd_target *out, struct nd_error *err)
{
    const char *mark = memchr(text, '?', len);
    struct nd_view path = {text, mark ? (size_t)(mark - text) : len};
    enum nd_refusal refusal;

    memset(out, 0, sizeof *out);
    if (len == 1 && *text == '*') /* OPTIONS * */
        return ND_REFUSAL_NONE;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7F || text[i] == '#')
            return nd_refuse(err, ND_REFUSAL_MALFORMED,
                             "the address has a character that must be percent-encoded");
    if (len == 0 || *text != '/')
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "the address does not begin with /");
    refusal = parse_path(path, out, err);
    if (refusal == ND_REFUSAL_NONE && mark && out->route != ND_ROUTE_FILE &&
        out->route != ND_ROUTE_NONE)
        refusal = parse_query((struct nd_view){mark + 1, len - path.len - 1}, out, err);
    return refusal;
}

/* The parameters that the route has with the method of the request. */
static unsigned parameters_of(const struct nd_target *target)
{
    return target->route == ND_ROUTE_DOCUMENTS && target->verb == ND_VERB_GET
               ? LIST_PARAMETERS
               : ROUTE[target->route].parameters;
}

enum nd_refusal nd_target_check(const struct nd_target *target, struct nd_error *err)
{
    for (unsigned i = 0; i < ND_PARAMETER_COUNT; i++)
        if (target->has[i] && !(parameters_of(target) & 1u << i))
            return nd_refuse(err, ND_REFUSAL_MALFORMED, "%s does not have the parameter '%s'",
                             ROUTE[target->route].name, PARAMETER[i]);
    return ND_REFUSAL_NONE;
}

enum nd_refusal nd_labels_split(struct nd_view text, struct nd_label_list *out,
                                struct nd_error *err)
{
    out->n = 0;
    while (text.len) {
        const char *comma = memchr(text.data, ',', text.len);
        size_t len = comma ? (size_t)(comma - text.data) : text.len;

        if (out->n == ND_STORE_LABELS_MAX)
            return nd_refuse(err, ND_REFUSAL_INVALID, "there are more than %d security labels",
                             ND_STORE_LABELS_MAX);
        if (len == 0 || (comma && len + 1 == text.len))
            return nd_refuse(err, ND_REFUSAL_INVALID, "a security label is empty");
        out->label[out->n++] = (struct nd_view){text.data, len};
        text.data += len + (comma != NULL);
        text.len -= len + (comma != NULL);
    }
    return ND_REFUSAL_NONE;
}

static int compare_labels(struct nd_view a, struct nd_view b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order ? order : (a.len > b.len) - (a.len < b.len);
}

void nd_labels_sort(struct nd_label_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++) {
        struct nd_view label = list->label[i];
        size_t at = n;

        while (at > 0 && compare_labels(list->label[at - 1], label) > 0)
            at--;
        if (at > 0 && compare_labels(list->label[at - 1], label) == 0)
            continue;
        memmove(&list->label[at + 1], &list->label[at], (n - at) * sizeof label);
        list->label[at] = label;
        n++;
    }
    list->n = n;
}

/* Read a number from 1 to `most`; *value is unchanged where there is none. */
static enum nd_refusal read_number(const struct nd_target *target, enum nd_parameter parameter,
                                   size_t most, size_t *value, struct nd_error *err)
{
    struct nd_view text = target->parameter[parameter];
    size_t n = 0;

    if (!target->has[parameter])
        return ND_REFUSAL_NONE;
    for (size_t i = 0; i < text.len && n <= most; i++)
        n = text.data[i] >= '0' && text.data[i] <= '9' ? n * 10 + (size_t)(text.data[i] - '0')
                                                       : SIZE_MAX / 2;
    if (n == 0 || n > most)
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "%s= is not 1 to %zu", PARAMETER[parameter],
                         most);
    *value = n;
    return ND_REFUSAL_NONE;
}

enum nd_refusal nd_target_limit(const struct nd_target *target, size_t otherwise, size_t *limit,
                                struct nd_error *err)
{
    bool is_posted = ROUTE[target->route].methods & ND_VERB_POST && target->verb != ND_VERB_GET;

    *limit = otherwise;
    return read_number(target, ND_PARAMETER_LIMIT, is_posted ? ND_STORE_NEAREST_MAX : 10000, limit,
                       err);
}

enum nd_refusal nd_target_expect(const struct nd_target *target, uint32_t *expect,
                                 struct nd_error *err)
{
    size_t value = 0;
    enum nd_refusal refusal = read_number(target, ND_PARAMETER_EXPECT, 1000000, &value, err);

    *expect = (uint32_t)value;
    return refusal;
}

enum nd_refusal nd_target_max_age(const struct nd_target *target, uint64_t *seconds,
                                  struct nd_error *err)
{
    struct nd_view text = target->parameter[ND_PARAMETER_MAX_AGE];
    struct nd_error reason;

    *seconds = 0;
    if (target->has[ND_PARAMETER_MAX_AGE] &&
        nd_duration_parse(text.data, text.len, seconds, &reason) != ND_OK)
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "max_age=: %s", reason.message);
    return ND_REFUSAL_NONE;
}

enum nd_refusal nd_target_at(const struct nd_target *target, struct nd_ratio *at,
                             struct nd_error *err)
{
    struct nd_view text = target->parameter[ND_PARAMETER_AT];

    *at = (struct nd_ratio){0, 0};
    if (target->has[ND_PARAMETER_AT] && nd_ratio_parse(text.data, text.len, at, NULL) != ND_OK)
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "at= is not a resemblance such as 0.5");
    return ND_REFUSAL_NONE;
}

enum nd_refusal nd_target_flag(const struct nd_target *target, enum nd_parameter parameter,
                               bool *value, struct nd_error *err)
{
    struct nd_view text = target->parameter[parameter];

    *value = target->has[parameter] && nd_view_is(text, "1");
    if (target->has[parameter] && !*value && !nd_view_is(text, "0"))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "%s= is not 1 or 0", PARAMETER[parameter]);
    return ND_REFUSAL_NONE;
}
