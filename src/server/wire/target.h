/* target.h - the target of a request: its path, its parameters, and what they lead to */
#ifndef ND_SERVER_WIRE_TARGET_H
#define ND_SERVER_WIRE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <neardup/types.h>

#include "server/wire/problem.h"
#include "store/store.h"

enum nd_route {
    ND_ROUTE_NONE,
    ND_ROUTE_FILE, /* of the page: web_files.h */
    ND_ROUTE_HEALTH,
    ND_ROUTE_READY,
    ND_ROUTE_METRICS,
    ND_ROUTE_STATS,
    ND_ROUTE_DOCUMENTS,
    ND_ROUTE_QUERY,
    ND_ROUTE_FINGERPRINTS,
    ND_ROUTE_DOCUMENT,
    ND_ROUTE_VERSIONS,
    ND_ROUTE_NEAR,
    ND_ROUTE_CLUSTER,
    ND_ROUTE_COMPARE,
    ND_ROUTE_CRAWL,
    ND_ROUTE_SKETCHES,
    ND_ROUTE_CLUSTERS
};
#define ND_ROUTE_COUNT (ND_ROUTE_CLUSTERS + 1)

enum nd_verb {
    ND_VERB_GET = 1, /* HEAD is answered as GET is */
    ND_VERB_POST = 2,
    ND_VERB_DELETE = 4,
    ND_VERB_OPTIONS = 8,
    ND_VERB_OTHER = 16
};

enum nd_parameter {
    ND_PARAMETER_ID,
    ND_PARAMETER_SECURITY,
    ND_PARAMETER_DRY,
    ND_PARAMETER_LIMIT,
    ND_PARAMETER_A,
    ND_PARAMETER_B,
    ND_PARAMETER_A_SECURITY,
    ND_PARAMETER_B_SECURITY,
    ND_PARAMETER_MAX_AGE,
    ND_PARAMETER_EXPECT,
    ND_PARAMETER_CURSOR,
    ND_PARAMETER_SINCE,
    ND_PARAMETER_SITE,
    ND_PARAMETER_TITLE,
    ND_PARAMETER_ORDER,
    ND_PARAMETER_DIFFERS,
    ND_PARAMETER_AT
};
#define ND_PARAMETER_COUNT (ND_PARAMETER_AT + 1)

/* A list of labels, as a parameter has it. */
struct nd_label_list {
    struct nd_view label[ND_STORE_LABELS_MAX];
    size_t n;
};

struct nd_target {
    enum nd_route route;
    struct nd_view path; /* as it was sent */
    struct nd_view id;   /* decoded */
    enum nd_verb verb;   /* whoever parses sets it: a path may have other parameters with GET */
    bool has[ND_PARAMETER_COUNT];
    struct nd_view parameter[ND_PARAMETER_COUNT]; /* decoded */
};

/*
 * Split what stands between the method and the version of a request line, which is overwritten with
 * what it means and must stay.  A parameter that occurs twice, or that no path has, is refused: it
 * would be ignored where its sender thinks that it counts.  MALFORMED, NO_PATH.
 */
enum nd_refusal nd_target_parse(char *text, size_t len, struct nd_target *out,
                                struct nd_error *err);

/* The name of a route in figures and in the log: "/v1/documents/{id}". */
const char *nd_route_name(enum nd_route route);
/* The set of enum nd_verb that it has. */
unsigned nd_route_methods(enum nd_route route);
/* The methods of a route, for people: "GET, HEAD, OPTIONS". */
const char *nd_route_allow(enum nd_route route);
/* Whether it is answered to callers without a key. */
bool nd_route_is_open(enum nd_route route);
/* Whether programs that watch the service ask for it, by whatever address they know. */
bool nd_route_is_watched(enum nd_route route);
enum nd_verb nd_verb_parse(const char *method);

/* Whether the route has all the parameters that the target names.  MALFORMED. */
enum nd_refusal nd_target_check(const struct nd_target *target, struct nd_error *err);

/* "a,b" as a list; the empty text is the empty list.  INVALID: too many. */
enum nd_refusal nd_labels_split(struct nd_view text, struct nd_label_list *out,
                                struct nd_error *err);
/* Put labels into the order of their bytes, each once: as the store has them. */
void nd_labels_sort(struct nd_label_list *list);
/* The value of limit=, from 1 to what the route has at most, or `otherwise`.  MALFORMED. */
enum nd_refusal nd_target_limit(const struct nd_target *target, size_t otherwise, size_t *limit,
                                struct nd_error *err);
/* The value of max_age= in seconds, or 0 without it.  MALFORMED. */
enum nd_refusal nd_target_max_age(const struct nd_target *target, uint64_t *seconds,
                                  struct nd_error *err);
/* The value of at=, or 0/0 without it.  MALFORMED. */
enum nd_refusal nd_target_at(const struct nd_target *target, struct nd_ratio *at,
                             struct nd_error *err);
/* The value of expect=, from 1 to 1,000,000, or 0 without it.  MALFORMED. */
enum nd_refusal nd_target_expect(const struct nd_target *target, uint32_t *expect,
                                 struct nd_error *err);
/* The value of a parameter such as dry=: 1 or 0, or false without it.  MALFORMED. */
enum nd_refusal nd_target_flag(const struct nd_target *target, enum nd_parameter parameter,
                               bool *value, struct nd_error *err);

/* Decode %XX in place, and + as a space if `plus`.  Returns the length; SIZE_MAX: a % without two
 * hexadecimal digits. */
size_t nd_percent_decode(char *text, size_t len, bool plus);

#endif
