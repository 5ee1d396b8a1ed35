/* option_uses.c - what the options of compare, track, collapse, filter, mirrors, template and
 * anchors do
 */
#define _GNU_SOURCE
#include "option_set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/ratio.h>

#define SETTER(name)                                                                               \
    enum nd_status name(struct settings *s, const struct option *o, const char *value,             \
                        struct nd_error *err)

enum nd_status set_use_number(struct settings *s, const struct option *o, const char *value,
                              struct nd_error *err)
{
    static const struct {
        const char *name;
        size_t at;
        unsigned long least, most;
    } number[] = {
        {"least", offsetof(struct settings, use.compare.passages.least), 1, 1000000},
        {"gap", offsetof(struct settings, use.compare.passages.gap), 0, 1000000},
        {"equal", offsetof(struct settings, use.track.visits.equal), 2, 1000000},
        {"changes", offsetof(struct settings, use.track.visits.changes), 1, 1000000},
        {"sample", offsetof(struct settings, use.mirrors.sample), 0, 1000000},
        {"least-paths", offsetof(struct settings, use.mirrors.least), 1, 1000000},
        {"common", offsetof(struct settings, use.mirrors.common), 2, 100000},
        {"window", offsetof(struct settings, use.anchors.window), 0, 1000},
        {"factor", offsetof(struct settings, use.track.visits.factor), 2, 1000},
        {"duplicates", offsetof(struct settings, use.track.duplicate_score), 1, 1000000},
    };
    unsigned long n, i = 0;
    char *end;

    while (strcmp(number[i].name, o->name) != 0)
        i++;
    errno = 0;
    n = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || errno || n < number[i].least || n > number[i].most)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no number from %lu to %lu", o->name, value,
                       number[i].least, number[i].most);
    *(unsigned *)(void *)((char *)s + number[i].at) = (unsigned)n;
    return ND_OK;
}

SETTER(set_metric)
{
    (void)o;
    return words_add(&s->use.metrics, value) ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

SETTER(set_show)
{
    static const char *const words[] = {"passages", "terms", "edits", "weights"};
    static const unsigned parts[] = {ND_COMPARE_PASSAGES, ND_COMPARE_TERMS, ND_COMPARE_SCRIPT,
                                     ND_COMPARE_WEIGHTS};
    int i = option_word(o, value, words, 4, err);

    if (i < 0)
        return ND_EINVAL;
    s->use.show |= parts[i];
    return ND_OK;
}

SETTER(set_limit)
{
    unsigned long long n;
    char *end;

    errno = 0;
    n = strtoull(value, &end, 10);
    if (strcmp(value, "none") == 0)
        n = ND_EDIT_NO_LIMIT;
    else if (*value < '0' || *value > '9' || *end || errno || n < 1 || n > UINT32_MAX)
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no number from 1 to %u, and not 'none'",
                       o->name, value, UINT32_MAX);
    s->use.compare.limit = n;
    return ND_OK;
}

SETTER(set_costs)
{
    struct nd_edit_costs *c = &s->use.compare.costs;
    char rest;

    if (sscanf(value, "%3u,%3u,%3u%c", &c->insert, &c->remove, &c->replace, &rest) == 3 &&
        c->insert >= 1 && c->remove >= 1 && c->replace >= 1 && c->insert <= ND_EDIT_COST_MAX &&
        c->remove <= ND_EDIT_COST_MAX && c->replace <= ND_EDIT_COST_MAX)
        return ND_OK;
    return nd_fail(err, ND_EINVAL,
                   "--%s: '%s' is not of the form INSERT,REMOVE,REPLACE with numbers from 1 to %u",
                   o->name, value, ND_EDIT_COST_MAX);
}

SETTER(set_color)
{
    static const char *const words[] = {"auto", "always", "never"};
    int i = option_word(o, value, words, 3, err);

    if (i < 0)
        return ND_EINVAL;
    s->use.color = (enum color)i;
    return ND_OK;
}

SETTER(set_json)
{
    (void)o;
    (void)value;
    (void)err;
    s->use.json = true;
    if (s->use.filter == ND_FILTER_ANNOTATE)
        s->use.filter = ND_FILTER_ROWS;
    s->use.track.json = s->use.mirrors.json = s->use.template.json = 1;
    return ND_OK;
}

SETTER(set_prototypes)
{
    if (!*value)
        return nd_fail(err, ND_EINVAL, "--%s: it must not be empty", o->name);
    return words_add(&s->use.prototypes, value) ? ND_OK : nd_fail(err, ND_ENOMEM, "out of memory");
}

SETTER(set_filter)
{
    enum nd_filter_output output = strcmp(o->name, "invert") == 0     ? ND_FILTER_OTHERS
                                   : strcmp(o->name, "annotate") == 0 ? ND_FILTER_ANNOTATE
                                                                      : ND_FILTER_NOTHING;

    (void)value;
    if (output == ND_FILTER_ANNOTATE && s->use.json)
        output = ND_FILTER_ROWS;
    if (s->use.filter != ND_FILTER_MATCHES && s->use.filter != output)
        return nd_fail(err, ND_EINVAL, "only one of --invert, --annotate and --count can be given");
    s->use.filter = output;
    return ND_OK;
}

SETTER(set_use_text)
{
    struct use_settings *u = &s->use;
    const struct {
        const char *name;
        const char **to;
    } text[] = {
        {"series", &u->track.series},      {"time", &u->track.time},
        {"order", &u->collapse.order},     {"expand", &u->collapse.expand},
        {"url-field", &u->mirrors.url},    {"clusters", &u->template.clusters},
        {"cluster", &u->template.cluster}, {"base", &u->anchors.base},
        {"root", &u->anchors.root},
    };
    size_t i = 0;

    if (!*value)
        return nd_fail(err, ND_EINVAL, "--%s: it must not be empty", o->name);
    while (strcmp(text[i].name, o->name) != 0)
        i++;
    *text[i].to = value;
    return ND_OK;
}

SETTER(set_anchors_url)
{
    if (!*value)
        return nd_fail(err, ND_EINVAL, "--%s: it must not be empty", o->name);
    s->use.anchors.url = value;
    return ND_OK;
}

SETTER(set_use_ratio)
{
    struct nd_ratio *to =
        strcmp(o->name, "score") == 0 ? &s->use.mirrors.score : &s->use.template.share;
    struct nd_ratio ratio;

    if (nd_ratio_parse(value, strlen(value), &ratio, NULL) != ND_OK || ratio.p > ratio.q ||
        (to == &s->use.template.share && ratio.p == 0))
        return nd_fail(err, ND_EINVAL, "--%s: '%s' is no share such as 0.8 or 4/5", o->name, value);
    *to = ratio;
    return ND_OK;
}

SETTER(set_plan)
{
    (void)o;
    (void)value;
    (void)err;
    s->use.track.plan = 1;
    return ND_OK;
}

/* "90d", "12h", "30m", "45s" or seconds. */
SETTER(set_duration)
{
    static const char units[] = "smhdw";
    static const uint64_t seconds[] = {1, 60, 3600, 86400, 604800};
    struct nd_visit_params *visits = &s->use.track.visits;
    uint64_t *to = strcmp(o->name, "interval") == 0   ? &visits->interval
                   : strcmp(o->name, "shortest") == 0 ? &visits->shortest
                   : strcmp(o->name, "longest") == 0  ? &visits->longest
                                                      : &s->use.track.max_age;
    const char *unit;
    unsigned long n;
    char *end;

    errno = 0;
    n = strtoul(value, &end, 10);
    unit = *end ? strchr(units, *end) : units;
    if (*value < '0' || *value > '9' || errno || !unit || (*end && end[1]) || n < 1 ||
        n > UINT32_MAX / seconds[unit - units])
        return nd_fail(err, ND_EINVAL,
                       "--%s: '%s' is no time such as 30m, 12h, 90d or 2w, of at most %u seconds",
                       o->name, value, UINT32_MAX);
    *to = n * seconds[unit - units];
    return ND_OK;
}
