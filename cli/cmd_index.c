/* cmd_index.c - neardup index: which part of it, and plans */
#include "fingerprints.h"
#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <neardup/hamming.h>
#include <neardup/result_file.h>

static const char *duration_text(double seconds, char out[32])
{
    if (seconds < 1e-3)
        snprintf(out, 32, "%.2f us", seconds * 1e6);
    else if (seconds < 1)
        snprintf(out, 32, "%.1f ms", seconds * 1e3);
    else
        snprintf(out, 32, "%.0f s", seconds);
    return out;
}

static void print_plan(FILE *out, const struct nd_hamming_plan *p, bool is_taken)
{
    const char *name = nd_hamming_plan_name(p);
    char keys[32] = "-", fill[32] = "-", memory[32], build[32], query[32];

    if (p->key_bits && p->key_bits == p->key_bits_most)
        snprintf(keys, sizeof keys, "%u", p->key_bits);
    else if (p->key_bits)
        snprintf(keys, sizeof keys, "%u-%u", p->key_bits, p->key_bits_most);
    if (p->fill > 0)
        snprintf(fill, sizeof fill, "%.2f", p->fill);
    fprintf(out, "%c %-9s %6u  %-7s %4s %12.4g %10.4g  %10s %10s %10s%s%s\n", is_taken ? '*' : ' ',
            nd_hamming_family_name(p->family), p->tables, keys, fill, p->candidates, p->lines,
            bytes_text(p->bytes, memory), duration_text(p->build_seconds, build),
            duration_text(p->query_seconds, query), name ? "  " : "", name ? name : "");
}

static void print_head(FILE *out, const struct nd_hamming_problem *problem)
{
    double degree = nd_hamming_chance_degree(problem);

    fprintf(out, "%llu fingerprints of %u bits within %u\n", (unsigned long long)problem->count,
            problem->bits, problem->distance);
    fprintf(out, "pairs by chance: %.4g, %.3g for each fingerprint%s\n\n",
            nd_hamming_chance_pairs(problem), degree,
            degree > ND_HAMMING_DEGREE_WARN
                ? "\nwarning: above 0.01, clusters grow by chance: more bits or a smaller distance"
                : "");
    fprintf(out, "  %-9s %6s  %-7s %4s %12s %10s  %10s %10s %10s\n", "design", "tables", "key",
            "fill", "candidates", "lines", "memory", "build", "query");
}

/* The designs that --tables or --key-bits ask for. */
static enum nd_status plan_wish(const struct hamming_settings *h,
                                const struct nd_hamming_problem *problem,
                                const struct nd_hamming_machine *machine,
                                struct nd_hamming_plan *plan, size_t *n, struct nd_error *err)
{
    static const enum nd_hamming_family family[] = {ND_HAMMING_BLOCKS, ND_HAMMING_COVERING};
    enum nd_status status = ND_OK;

    for (*n = 0; *n < 2 && status == ND_OK; ++*n)
        status =
            nd_hamming_design(problem, machine, family[*n], h->key_bits, h->tables, &plan[*n], err);
    if (status == ND_OK) /* not for every problem and wish */
        *n += nd_hamming_design(problem, machine, ND_HAMMING_WINDOWS, h->key_bits, h->tables,
                                &plan[*n], NULL) == ND_OK;
    return status;
}

/* Write a measured machine where it will be looked for. */
static enum nd_status write_machine(const char *path, const struct nd_hamming_machine *machine,
                                    struct nd_error *err)
{
    char text[ND_HAMMING_MACHINE_TEXT];
    size_t n = nd_hamming_machine_print(machine, text);
    struct nd_result_file *file;
    enum nd_status status = nd_result_file_open(&file, path, NULL, 0, err);

    if (status != ND_OK)
        return status;
    (void)fwrite(text, 1, n, nd_result_file_stream(file)); /* publishing tells a failure */
    return nd_result_file_publish(file, err);
}

/* From the file of --calibration, which is written first where there is none. */
static enum nd_status read_machine(const char *path, struct nd_hamming_machine *machine,
                                   struct nd_error *err)
{
    char text[ND_HAMMING_MACHINE_TEXT];
    FILE *file = fopen(path, "rb");
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
        file = fopen(path, "rb"); /* as the next run will read it: rounded */
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

static enum nd_status make_plans(const struct hamming_settings *h,
                                 const struct nd_hamming_problem *problem,
                                 struct nd_hamming_plan *plan, size_t *n, struct nd_error *err)
{
    struct nd_hamming_machine machine = nd_hamming_machine_default();
    enum nd_status status = ND_OK;

    if (h->calibration)
        status = read_machine(h->calibration, &machine, err);
    else if (h->calibrate)
        status = nd_hamming_calibrate(&machine, err);
    if (status != ND_OK)
        return status;
    if (h->tables || h->key_bits)
        return plan_wish(h, problem, &machine, plan, n, err);
    return nd_hamming_plans(problem, &machine, plan, ND_HAMMING_PLANS_MAX, n, err);
}

static int print_plans(FILE *out, const struct hamming_settings *h,
                       const struct nd_hamming_problem *problem, const struct nd_hamming_plan *plan,
                       size_t n)
{
    bool taken = false;

    print_head(out, problem);
    for (size_t i = 0; i < n; i++) {
        bool fits = h->memory <= 0 || plan[i].bytes <= h->memory;

        print_plan(out, &plan[i], fits && !taken);
        taken |= fits;
    }
    if (!taken)
        say("no design fits in the memory");
    return taken ? 0 : 2;
}

static int index_plan(const struct hamming_settings *h)
{
    const struct nd_hamming_problem problem = {h->bits, h->distance, (uint64_t)h->count};
    struct nd_hamming_plan plan[ND_HAMMING_PLANS_MAX];
    struct results to;
    struct nd_error err;
    size_t n;

    if (h->count < 1 || (h->tables && h->key_bits)) {
        say(h->count < 1 ? "index plan wants --count N"
                         : "--tables and --key-bits exclude one another");
        return 2;
    }
    if (!results_open(&to, h->output, &h->calibration, 1))
        return 2;
    if (make_plans(h, &problem, plan, &n, &err) != ND_OK) {
        say("%s", err.message);
        return results_close(&to, 2);
    }
    return results_close(&to, print_plans(to.file, h, &problem, plan, n));
}

/* Options that would do nothing.  False: it was said which. */
static bool check_outputs(const struct hamming_settings *h, const char *what)
{
    if (h->svg && strcmp(what, "stats") != 0)
        say("--svg is for index stats");
    else if (h->calibration && strcmp(what, "plan") != 0)
        say("--calibration is for index plan");
    else
        return true;
    return false;
}

int cmd_index(struct settings *s)
{
    static const char *const standard = "-";
    const char *what = s->paths.count ? s->paths.at[0] : "";
    const char *const *path = s->paths.count > 1 ? s->paths.at + 1 : &standard;
    size_t n = s->paths.count ? s->paths.count - 1 : 0;

    if (!check_outputs(&s->hamming, what))
        return 2;
    if (strcmp(what, "plan") == 0 && n == 0)
        return index_plan(&s->hamming);
    if (strcmp(what, "pairs") == 0)
        return index_pairs(s, path, n ? n : 1);
    if (strcmp(what, "build") == 0)
        return index_build(s, path, n ? n : 1);
    if (strcmp(what, "add") == 0 && n >= 1)
        return index_add(s, path[0], n > 1 ? path + 1 : &standard, n > 1 ? n - 1 : 1);
    if (strcmp(what, "merge") == 0 && n >= 1)
        return index_merge(s, path, n);
    if (strcmp(what, "stats") == 0)
        return index_stats(s, path, n ? n : 1);
    if (strcmp(what, "info") == 0 && n == 1)
        return index_info(s, path[0]);
    if (strcmp(what, "verify") == 0 && n == 1)
        return index_verify(s, path[0]);
    if (strcmp(what, "query") == 0 && (n == 1 || n == 2))
        return index_query(s, path[0], n == 2 ? path[1] : standard);
    say("index takes plan; pairs, stats or build and files; add, merge, info, verify or query and "
        "an "
        "index; see neardup help index");
    return 2;
}
