/* cmd_index_plan.c - neardup index plan: the designs, and which one index build makes */
#include "base/system/descriptor.h"
#include "index/fingerprints.h"
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/hamming_file.h>
#include <neardup/result_file.h>

static const char *duration_text(double seconds, char out[32])
{
    if (seconds < 1e-3)
        snprintf(out, 32, "%.2f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(out, 32, "%.1f ms", seconds * 1e3);
    else if (seconds < 1e7)
        snprintf(out, 32, "%.0f s", seconds);
    else
        snprintf(out, 32, "%.3g s", seconds);
    return out;
}

/* Why `index build` cannot make it; NULL: it can. */
static const char *why_not(const struct nd_hamming_plan *p)
{
    if (!nd_hamming_file_holds(p->family, 0))
        return "only the library builds it, in memory";
    return p->problem.count > ND_HAMMING_FILE_PARTS_MAX * (uint64_t)ND_HAMMING_FILE_MAX
               ? "a file holds at most 2^38 - 64 fingerprints"
               : NULL;
}

/* The width of the longest name of a family, and a space. */
static int name_width(void)
{
    size_t width = 0;

    for (int f = 0; f < ND_HAMMING_FAMILY_COUNT; f++) {
        size_t n = strlen(nd_hamming_family_name((enum nd_hamming_family)f));

        width = n > width ? n : width;
    }
    return (int)width + 1;
}

static void print_plan(FILE *out, const struct hamming_settings *h, const struct nd_hamming_plan *p,
                       bool is_taken)
{
    const char *name = nd_hamming_plan_name(p), *obstacle = why_not(p), *layout = "-";
    char keys[32] = "-", fill[32] = "-", memory[32], build[32], query[32], file[32] = "-";

    if (p->key_bits && p->key_bits == p->key_bits_max)
        snprintf(keys, sizeof keys, "%u", p->key_bits);
    else if (p->key_bits)
        snprintf(keys, sizeof keys, "%u-%u", p->key_bits, p->key_bits_max);
    if (p->fill > 0)
        snprintf(fill, sizeof fill, "%.2f", p->fill);
    if (!obstacle)
        layout = nd_hamming_file_layout_name(nd_hamming_file_holds(p->family, ND_HAMMING_FAST)
                                                 ? ND_HAMMING_FAST
                                                 : ND_HAMMING_COMPACT);
    if (!obstacle)
        bytes_text(nd_hamming_file_plan_bytes(p, hamming_shape(h).codec), file);
    fprintf(out, "%c %-*s %6u  %-7s %4s %12.4g %10.4g  %10s %10s %10s %10s  %s%s%s%s%s\n",
            is_taken ? '*' : ' ', name_width(), nd_hamming_family_name(p->family), p->tables, keys,
            fill, p->candidates, p->lines, bytes_text(p->bytes, memory),
            duration_text(p->build_seconds, build), duration_text(p->query_seconds, query), file,
            layout, name ? "  " : "", name ? name : "", obstacle ? "  not buildable here: " : "",
            obstacle ? obstacle : "");
}

static void print_head(FILE *out, const struct nd_hamming_problem *problem)
{
    double degree = nd_hamming_chance_degree(problem);

    fprintf(out, "%llu fingerprints of %u bits within %u\n", (unsigned long long)problem->count,
            problem->bits, problem->distance);
    fprintf(out, "pairs by chance: %.4g, %.3g for each fingerprint%s\n\n",
            nd_hamming_chance_pairs(problem), degree,
            degree > ND_HAMMING_DEGREE_WARN
                ? "\nwarning: above 0.01, clusters grow by chance: use more bits or less distance"
                : "");
    fprintf(out, "  %-*s %6s  %-7s %4s %12s %10s  %10s %10s %10s %10s  %s\n", name_width(),
            "design", "tables", "key", "fill", "candidates", "lines", "memory", "build", "query",
            "file", "layout");
}

/*
 * The designs of the size that --tables or --key-bits give, one of each family that has sizes.  What
 * a family for files refuses is an error; the others serve only some problems.
 */
static enum nd_status plan_sizes(const struct hamming_settings *h,
                                 const struct nd_hamming_problem *problem,
                                 const struct nd_hamming_machine *machine,
                                 struct nd_hamming_plan *plan, size_t *n, struct nd_error *err)
{
    *n = 0;
    for (int f = 0; f < ND_HAMMING_FAMILY_COUNT; f++) {
        const enum nd_hamming_family family = (enum nd_hamming_family)f;
        enum nd_status status;

        if (!nd_hamming_family_has_sizes(family))
            continue;
        status =
            nd_hamming_design(problem, machine, family, h->key_bits, h->tables, &plan[*n], err);
        if (status != ND_OK && nd_hamming_file_holds(family, hamming_shape(h).layout))
            return status;
        *n += status == ND_OK;
    }
    return ND_OK;
}

/* Write a measured machine to the file where it will be looked for. */
static enum nd_status write_machine(const char *path, const struct nd_hamming_machine *machine,
                                    struct nd_error *err)
{
    char text[ND_HAMMING_MACHINE_TEXT];
    size_t n = nd_hamming_machine_print(machine, text);
    struct nd_result_file *file;
    enum nd_status status = nd_result_file_open(&file, path, NULL, 0, err);

    if (status != ND_OK)
        return status;
    (void)fwrite(text, 1, n, nd_result_file_stream(file)); /* publishing reports errors */
    return nd_result_file_publish(file, err);
}

/*
 * Read the machine from the file of --calibration, which is measured and written first if it does
 * not exist.
 */
static enum nd_status read_machine(const char *path, struct nd_hamming_machine *machine,
                                   struct nd_error *err)
{
    char text[ND_HAMMING_MACHINE_TEXT];
    FILE *file = nd_stream_open(path, "r");
    enum nd_status status;
    struct nd_error why;
    size_t n;

    if (!file && errno != ENOENT)
        return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    if (!file) {
        status = nd_hamming_calibrate(machine, err);
        if (status == ND_OK)
            status = write_machine(path, machine, err);
        if (status != ND_OK)
            return status;
        file = nd_stream_open(path,
                              "r"); /* read it back, because it is rounded like in the next run */
        if (!file)
            return nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    }
    n = fread(text, 1, sizeof text, file);
    if (ferror(file))
        status = nd_fail(err, ND_EIO, "%s: %s", path, strerror(errno));
    else if (nd_hamming_machine_parse(text, n, machine, &why) != ND_OK)
        status = nd_fail(err, ND_EINVAL, "%s: %s; remove it to measure again", path, why.message);
    else
        status = ND_OK;
    fclose(file);
    return status;
}

static enum nd_status find_machine(const struct hamming_settings *h,
                                   struct nd_hamming_machine *machine, struct nd_error *err)
{
    *machine = nd_hamming_machine_default();
    if (h->calibration)
        return read_machine(h->calibration, machine, err);
    return h->calibrate ? nd_hamming_calibrate(machine, err) : ND_OK;
}

static enum nd_status make_plans(const struct hamming_settings *h,
                                 const struct nd_hamming_problem *problem,
                                 const struct nd_hamming_machine *machine,
                                 struct nd_hamming_plan *plan, size_t *n, struct nd_error *err)
{
    if (h->tables || h->key_bits)
        return plan_sizes(h, problem, machine, plan, n, err);
    return nd_hamming_plans(problem, machine, plan, ND_HAMMING_PLANS_MAX, n, err);
}

/* Leave only the designs of the family that --design names. */
static size_t keep_family(const struct hamming_settings *h, struct nd_hamming_plan *plan, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if ((!h->family || (unsigned)plan[i].family == h->family) &&
            (!h->layout || nd_hamming_file_holds(plan[i].family, hamming_shape(h).layout)))
            plan[kept++] = plan[i];
    return kept;
}

static bool is_same(const struct nd_hamming_plan *a, const struct nd_hamming_plan *b)
{
    return a->family == b->family && a->tables == b->tables && a->key_bits == b->key_bits &&
           (a->fill == b->fill || !nd_hamming_file_holds(a->family, ND_HAMMING_FAST));
}

/*
 * Mark with a star the plan that index build makes with these options: returns its index among the
 * plans, into which it is inserted if another one beats it in memory. *n: none can be built; `err`
 * says why.
 */
static size_t find_built(const struct hamming_settings *h, const struct nd_hamming_problem *problem,
                         const struct nd_hamming_machine *machine, struct nd_hamming_plan *plan,
                         size_t *n, struct nd_error *err)
{
    const struct nd_hamming_shape shape = hamming_shape(h);
    struct nd_hamming_plan built;
    size_t i = 0;

    if (nd_hamming_file_plan(&shape, problem->count, &built, err) != ND_OK ||
        (shape.layout == ND_HAMMING_COMPACT &&
         nd_hamming_design(problem, machine, built.family, built.key_bits, 0, &built, err) !=
             ND_OK))
        return *n;
    while (i < *n && !is_same(&plan[i], &built))
        i++;
    if (i < *n)
        return i;
    for (i = *n; i > 0 && plan[i - 1].query_seconds > built.query_seconds; i--)
        plan[i] = plan[i - 1];
    plan[i] = built;
    ++*n;
    return i;
}

/* The two designs that all others lie between; not where some designs are asked for. */
static void print_extremes(FILE *out, const struct hamming_settings *h,
                           const struct nd_hamming_problem *problem,
                           const struct nd_hamming_machine *machine)
{
    struct nd_hamming_extreme extreme[ND_HAMMING_EXTREMES];
    char memory[32], build[32], query[32];

    if (h->tables || h->key_bits || h->family || h->layout ||
        nd_hamming_extremes(problem, machine, extreme, NULL) != ND_OK)
        return;
    for (int i = 0; i < ND_HAMMING_EXTREMES; i++) {
        const struct nd_hamming_extreme *e = &extreme[i];

        fprintf(
            out,
            "  %-*s %6u  %-7u %4s %12.4g %10.6g  %10s %10s %10s %10s  -  not buildable here: %.6g "
            "entries, %.6g probe%s\n",
            name_width(), e->name, 1U, problem->bits, "-", nd_hamming_chance_degree(problem),
            e->probes, bytes_text(e->bytes, memory), duration_text(e->build_seconds, build),
            duration_text(e->query_seconds, query), "-", e->entries, e->probes,
            e->probes > 1 ? "s" : "");
    }
}

static int print_plans(FILE *out, const struct hamming_settings *h,
                       const struct nd_hamming_problem *problem,
                       const struct nd_hamming_machine *machine, struct nd_hamming_plan *plan,
                       size_t n)
{
    struct nd_error err = {.status = ND_OK};
    size_t taken = find_built(h, problem, machine, plan, &n, &err);
    bool any = false;

    print_head(out, problem);
    for (size_t i = 0; i < n; i++) {
        print_plan(out, h, &plan[i], i == taken);
        any |= why_not(&plan[i]) != NULL && (h->memory <= 0 || plan[i].bytes <= h->memory);
    }
    print_extremes(out, h, problem, machine);
    if (taken < n)
        return 0;
    any &= problem->count > ND_HAMMING_FILE_PARTS_MAX * (uint64_t)ND_HAMMING_FILE_MAX;
    if (!any)
        say("no design fits: %s", err.message);
    return any ? 0 : 2;
}

int index_plan(struct settings *s, const char *const *path, size_t n_paths)
{
    const struct hamming_settings *h = &s->hamming;
    const struct nd_hamming_problem problem = {h->bits, h->distance, (uint64_t)h->count};
    struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX + 1];
    struct nd_hamming_machine machine;
    struct results to;
    struct nd_error err;
    size_t n;

    (void)path;
    (void)n_paths;
    if (h->count < 1) {
        say("index plan needs --count N");
        return 2;
    }
    if (!results_open(&to, h->output, &h->calibration, 1))
        return 2;
    if (find_machine(h, &machine, &err) != ND_OK ||
        make_plans(h, &problem, &machine, plan, &n, &err) != ND_OK) {
        say("%s", err.message);
        return results_close(&to, 2);
    }
    n = keep_family(h, plan, n);
    return results_close(&to, print_plans(to.file, h, &problem, &machine, plan, n));
}
