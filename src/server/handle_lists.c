/* handle_lists.c - lists with an end that another request goes on from: documents, clusters
 *
 * The end of a list is given as a cursor (wire/cursor.h): the place of the last document that was
 * looked at, which is made of what the caller sees.
 */
#include "server/handle_lists.h"

#include <string.h>

#include <neardup/duration.h>
#include <neardup/text.h>

#include "base/address.h"
#include "base/view.h"
#include "recipe/keep.h"
#include "server/answers.h"
#include "server/wire/cursor.h"

enum { LIMIT = 100, WORDS_MAX = ND_STORE_TITLE_MAX };

/* ---- Cursors ---- */

static void put_next(struct nd_json *out, const struct nd_place *place, bool has_more)
{
    char text[ND_CURSOR_MAX];

    nd_json_key(out, "next");
    if (has_more)
        nd_json_string(out, (struct nd_view){text, nd_cursor_write(place, text)});
    else
        nd_json_null(out);
}

/* The place that cursor= names; *after is NULL without it. */
static enum nd_refusal take_cursor(const struct nd_target *target, struct nd_place *place,
                                   const struct nd_place **after, struct nd_error *err)
{
    *after = NULL;
    if (!target->has[ND_PARAMETER_CURSOR])
        return ND_REFUSAL_NONE;
    if (!nd_cursor_read(target->parameter[ND_PARAMETER_CURSOR], place))
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "cursor= is none that this service gave");
    *after = place;
    return ND_REFUSAL_NONE;
}

/* All that the store can find wrong with a list that is asked for is its cursor. */
static enum nd_refusal refusal_of(enum nd_store_result result)
{
    return result == ND_STORE_INVALID ? ND_REFUSAL_MALFORMED : nd_refusal_of_store(result);
}

/* ---- Which documents are in the list ---- */

struct list_filter {
    char site[ND_HOST_MAX + 1];
    size_t site_len;
    struct nd_tokeniser *tokeniser; /* of titles; NULL: none is asked for */
    uint64_t word[WORDS_MAX];       /* hashes of tokens, each of which the title must have */
    size_t n_words;
};

static size_t without_port(const char *host, size_t len)
{
    const char *colon = len ? memchr(host, ':', len) : NULL;

    return colon && *host != '[' ? (size_t)(colon - host) : len;
}

/* Whether an id is an address of the site, or of a host whose name ends with it. */
static bool is_of_site(const struct list_filter *filter, struct nd_view id)
{
    char host[ND_HOST_MAX + 1];
    struct nd_view path;
    size_t len, begin;

    if (!nd_address_split(id, host, &len, &path))
        return false;
    len = without_port(host, len);
    if (len < filter->site_len)
        return false;
    begin = len - filter->site_len;
    return memcmp(host + begin, filter->site, filter->site_len) == 0 &&
           (begin == 0 || host[begin - 1] == '.');
}

/* Whether a title has all words. */
static bool has_words(const struct list_filter *filter, struct nd_view title)
{
    bool is_found[WORDS_MAX] = {false};
    size_t n, n_found = 0;
    const uint64_t *hash;

    nd_tokeniser_start(filter->tokeniser, title.data, title.len);
    while (nd_tokeniser_next(filter->tokeniser, &hash, &n) > 0)
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < filter->n_words; k++)
                if (hash[i] == filter->word[k] && !is_found[k]) {
                    is_found[k] = true;
                    n_found++;
                }
    return n_found == filter->n_words;
}

static bool takes(void *context, struct nd_view id, struct nd_view title)
{
    const struct list_filter *filter = context;

    return (filter->site_len == 0 || is_of_site(filter, id)) &&
           (filter->n_words == 0 || has_words(filter, title));
}

static bool is_name(struct nd_view text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-",
                    text.data[i]) ||
            !text.data[i])
            return false;
    return text.len > 0 && text.len <= ND_HOST_MAX;
}

/* Take site=, the name of a host, in lower case. */
static enum nd_refusal take_site(struct nd_view text, struct list_filter *filter,
                                 struct nd_error *err)
{
    if (!is_name(text))
        return nd_refuse(err, ND_REFUSAL_MALFORMED,
                         "site= is no name of a host, such as example.org");
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];

        filter->site[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    filter->site_len = text.len;
    return ND_REFUSAL_NONE;
}

/* Take the words of title=, which has as many characters as a title may have bytes. */
static enum nd_refusal take_title(struct nd_view text, struct list_filter *filter,
                                  struct nd_error *err)
{
    const uint64_t *hash;
    size_t n, n_characters = 0;

    for (size_t i = 0; i < text.len; i++)
        n_characters += ((unsigned char)text.data[i] & 0xC0) != 0x80;
    if (n_characters > ND_STORE_TITLE_MAX)
        return nd_refuse(err, ND_REFUSAL_MALFORMED, "title= has more than %d characters",
                         (int)ND_STORE_TITLE_MAX);
    filter->tokeniser = nd_tokeniser_new();
    if (!filter->tokeniser)
        return nd_refuse(err, ND_REFUSAL_BUSY, "out of memory");
    nd_tokeniser_start(filter->tokeniser, text.data, text.len);
    while (nd_tokeniser_next(filter->tokeniser, &hash, &n) > 0)
        for (size_t i = 0; i < n && filter->n_words < WORDS_MAX; i++)
            filter->word[filter->n_words++] = hash[i];
    return ND_REFUSAL_NONE;
}

/* Read a date that begins with its year. */
static bool read_date(struct nd_view text, uint64_t *seconds)
{
    int64_t microseconds;

    if (text.len < 10 || text.data[4] != '-' || !nd_date_parse(text, &microseconds))
        return false;
    *seconds = microseconds > 0 ? (uint64_t)(microseconds + 999999) / 1000000 : 0;
    return true;
}

/* since=: a time, or how long ago. */
static enum nd_refusal take_since(const struct nd_target *target, uint64_t now, uint64_t *since,
                                  struct nd_error *err)
{
    const struct nd_view text = target->parameter[ND_PARAMETER_SINCE];
    struct nd_error why;
    uint64_t seconds;

    *since = 0;
    if (!target->has[ND_PARAMETER_SINCE])
        return ND_REFUSAL_NONE;
    if (nd_duration_parse(text.data, text.len, &seconds, &why) == ND_OK)
        *since = seconds < now ? now - seconds : 0;
    else if (!read_date(text, since))
        return nd_refuse(err, ND_REFUSAL_MALFORMED,
                         "since= is neither a time such as 2026-01-31T12:00:00Z nor how long ago, "
                         "such as 30m, 12h or 7d");
    return ND_REFUSAL_NONE;
}

/* ---- Documents ---- */

bool nd_handler_lists_long(const struct nd_exchange *x)
{
    struct nd_error err;
    size_t limit;

    return x->target.has[ND_PARAMETER_SITE] || x->target.has[ND_PARAMETER_TITLE] ||
           (nd_target_limit(&x->target, LIMIT, &limit, &err) == ND_REFUSAL_NONE && limit > LIMIT);
}

static void put_documents(struct nd_json *out, const struct nd_recent *recent, uint64_t now,
                          bool has_simhash)
{
    nd_json_open(out, '{');
    nd_json_key(out, "documents");
    nd_json_open(out, '[');
    for (size_t i = 0; i < recent->n; i++) {
        nd_json_open(out, '{');
        nd_put_stored(out, &recent->document[i], false, has_simhash);
        nd_json_close(out, '}');
    }
    nd_json_close(out, ']');
    put_next(out, &recent->next, recent->has_more);
    nd_put_time(out, "time", now);
    nd_json_close(out, '}');
    nd_json_line(out);
}

static enum nd_refusal take_filter(const struct nd_target *target, struct list_filter *filter,
                                   struct nd_recent_query *query, struct nd_error *err)
{
    enum nd_refusal refusal = ND_REFUSAL_NONE;

    if (target->has[ND_PARAMETER_SITE])
        refusal = take_site(target->parameter[ND_PARAMETER_SITE], filter, err);
    if (refusal == ND_REFUSAL_NONE && target->has[ND_PARAMETER_TITLE])
        refusal = take_title(target->parameter[ND_PARAMETER_TITLE], filter, err);
    if (filter->site_len || filter->n_words) {
        query->takes = takes;
        query->context = filter;
    }
    return refusal;
}

enum nd_refusal nd_handle_recent(struct nd_exchange *x, struct nd_workspace *w,
                                 struct nd_error *err)
{
    const uint64_t now = nd_server_now(x->server);
    struct nd_recent_query query = {.limit = LIMIT};
    struct list_filter filter = {.n_words = 0};
    struct nd_recent recent;
    struct nd_place place;
    enum nd_refusal refusal = nd_target_limit(&x->target, LIMIT, &query.limit, err);

    if (refusal == ND_REFUSAL_NONE)
        refusal = take_cursor(&x->target, &place, &query.after, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = take_since(&x->target, now, &query.since, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = take_filter(&x->target, &filter, &query, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = refusal_of(nd_session_recent(w->session, x->key->caller, &query, &recent, err));
    nd_tokeniser_free(filter.tokeniser);
    if (refusal == ND_REFUSAL_NONE)
        put_documents(&x->out, &recent, now, x->server->has_simhash);
    return refusal;
}

/* ---- Clusters ---- */

static enum nd_refusal take_order(const struct nd_target *target, enum nd_cluster_order *order,
                                  struct nd_error *err)
{
    static const char *const name[] = {[ND_CLUSTERS_SIZE] = "size",
                                       [ND_CLUSTERS_NEWEST] = "newest",
                                       [ND_CLUSTERS_GROWTH] = "growth"};
    const struct nd_view text = target->parameter[ND_PARAMETER_ORDER];

    *order = ND_CLUSTERS_SIZE;
    if (!target->has[ND_PARAMETER_ORDER])
        return ND_REFUSAL_NONE;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (nd_view_is(text, name[i])) {
            *order = (enum nd_cluster_order)i;
            return ND_REFUSAL_NONE;
        }
    return nd_refuse(err, ND_REFUSAL_MALFORMED, "order= is none of size, newest and growth");
}

static void put_cluster(struct nd_json *out, const struct nd_cluster_row *cluster, bool has_simhash)
{
    nd_json_open(out, '{');
    nd_json_key(out, "leader");
    nd_json_open(out, '{');
    nd_put_stored(out, &cluster->leader, false, has_simhash);
    nd_json_close(out, '}');
    nd_json_put_uint(out, "size", cluster->size);
    nd_put_time(out, "newest", cluster->newest);
    nd_json_put_uint(out, "last_hour", cluster->last_hour);
    nd_json_put_uint(out, "last_day", cluster->last_day);
    nd_json_close(out, '}');
}

static void put_clusters(struct nd_json *out, const struct nd_clusters *clusters, uint64_t now,
                         bool has_simhash)
{
    nd_json_open(out, '{');
    nd_json_key(out, "clusters");
    nd_json_open(out, '[');
    for (size_t i = 0; i < clusters->n; i++)
        put_cluster(out, &clusters->cluster[i], has_simhash);
    nd_json_close(out, ']');
    nd_json_put_uint(out, "total", clusters->total);
    nd_json_put_uint(out, "documents", clusters->documents);
    nd_json_put_bool(out, "cut", clusters->was_cut);
    put_next(out, &clusters->next, clusters->has_more);
    nd_put_time(out, "time", now);
    nd_put_work(out, &clusters->work);
    nd_json_close(out, '}');
    nd_json_line(out);
}

enum nd_refusal nd_handle_clusters(struct nd_exchange *x, struct nd_workspace *w,
                                   struct nd_error *err)
{
    struct nd_cluster_query query = {.limit = LIMIT};
    struct nd_clusters clusters;
    struct nd_place place;
    enum nd_refusal refusal = nd_target_limit(&x->target, LIMIT, &query.limit, err);

    if (refusal == ND_REFUSAL_NONE)
        refusal = take_cursor(&x->target, &place, &query.after, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal = take_order(&x->target, &query.order, err);
    if (refusal == ND_REFUSAL_NONE)
        refusal =
            refusal_of(nd_session_clusters(w->session, x->key->caller, &query, &clusters, err));
    if (refusal == ND_REFUSAL_NONE)
        put_clusters(&x->out, &clusters, nd_server_now(x->server), x->server->has_simhash);
    return refusal;
}
