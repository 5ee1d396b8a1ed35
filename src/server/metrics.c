/* metrics.c - counters, a histogram of times, and their text */
#define _GNU_SOURCE
#include "server/metrics.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <neardup/version.h>

/* The statuses that are counted by themselves; the last is any other. */
static const unsigned STATUS[ND_METRICS_STATUSES] = {200, 201, 204, 304, 400, 401, 403, 404,
                                                     405, 408, 409, 411, 413, 414, 415, 421,
                                                     422, 429, 431, 500, 503, 507, 0,   1};

/* Upper ends, in microseconds; the last bucket has no end. */
static const uint64_t BUCKET[ND_METRICS_BUCKETS] = {
    50,    100,    250,    500,     1000,    2500,     5000,     10000,
    25000, 100000, 250000, 1000000, 2500000, 10000000, 60000000, UINT64_MAX};

void nd_metrics_count(struct nd_metrics *m, enum nd_route route, unsigned status,
                      uint64_t microseconds)
{
    size_t s = 0, b = 0;

    while (s + 1 < ND_METRICS_STATUSES && STATUS[s] != status)
        s++;
    while (microseconds > BUCKET[b])
        b++;
    atomic_fetch_add_explicit(&m->requests[route][s], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->bucket[route][b], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&m->microseconds[route], microseconds, memory_order_relaxed);
}

void nd_metrics_verdict(struct nd_metrics *m, enum nd_verdict_kind kind)
{
    atomic_fetch_add_explicit(&m->verdicts[kind], 1, memory_order_relaxed);
}

static uint64_t value_of(const atomic_uint_least64_t *counter)
{
    return atomic_load_explicit((atomic_uint_least64_t *)(uintptr_t)counter, memory_order_relaxed);
}

ND_PRINTF(2, 3) static void put(struct nd_json *out, const char *format, ...)
{
    char line[256];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (len > 0)
        nd_json_bytes(out, line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1);
}

static void put_one(struct nd_json *out, const char *name, const char *type, const char *help,
                    uint64_t value)
{
    put(out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n", name, help, name, type, name, value);
}

static void put_requests(const struct nd_metrics *m, struct nd_json *out)
{
    put(out, "# HELP neardup_requests_total Requests by route and status; 0: the connection "
             "ended.\n# TYPE neardup_requests_total counter\n");
    for (int r = 0; r < ND_ROUTE_COUNT; r++)
        for (int s = 0; s < ND_METRICS_STATUSES; s++) {
            uint64_t n = value_of(&m->requests[r][s]);

            if (n && STATUS[s] != 1)
                put(out, "neardup_requests_total{route=\"%s\",status=\"%u\"} %" PRIu64 "\n",
                    nd_route_name((enum nd_route)r), STATUS[s], n);
            else if (n)
                put(out, "neardup_requests_total{route=\"%s\",status=\"other\"} %" PRIu64 "\n",
                    nd_route_name((enum nd_route)r), n);
        }
}

static void put_histogram(const struct nd_metrics *m, enum nd_route route, struct nd_json *out)
{
    const char *name = nd_route_name(route);
    uint64_t total = 0;

    for (int b = 0; b < ND_METRICS_BUCKETS; b++)
        total += value_of(&m->bucket[route][b]);
    if (!total)
        return;
    total = 0;
    for (int b = 0; b < ND_METRICS_BUCKETS; b++) {
        total += value_of(&m->bucket[route][b]);
        if (BUCKET[b] == UINT64_MAX)
            put(out, "neardup_request_seconds_bucket{route=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name,
                total);
        else
            put(out, "neardup_request_seconds_bucket{route=\"%s\",le=\"%g\"} %" PRIu64 "\n", name,
                (double)BUCKET[b] / 1e6, total);
    }
    put(out, "neardup_request_seconds_sum{route=\"%s\"} %.6f\n", name,
        (double)value_of(&m->microseconds[route]) / 1e6);
    put(out, "neardup_request_seconds_count{route=\"%s\"} %" PRIu64 "\n", name, total);
}

static void put_verdicts(const struct nd_metrics *m, struct nd_json *out)
{
    static const char *const name[ND_METRICS_VERDICTS] = {"new", "duplicate", "near-duplicate"};

    put(out, "# HELP neardup_verdicts_total Texts that were asked about or stored, by verdict.\n"
             "# TYPE neardup_verdicts_total counter\n");
    for (int i = 0; i < ND_METRICS_VERDICTS; i++)
        put(out, "neardup_verdicts_total{verdict=\"%s\"} %" PRIu64 "\n", name[i],
            value_of(&m->verdicts[i]));
}

/* Clock ticks since the system was booted at which the process began; 0: not known. */
static uint64_t begun_ticks(void)
{
    unsigned long long ticks = 0;
    FILE *file = fopen("/proc/self/stat", "re");
    char line[1024], *rest;

    if (!file)
        return 0;
    rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    for (int field = 2; rest && field < 22; field++)
        rest = strchr(rest + 1, ' ');
    if (rest && sscanf(rest, "%llu", &ticks) != 1)
        ticks = 0;
    fclose(file);
    return ticks;
}

static double begun_seconds(void)
{
    struct timespec now, up;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)clock_gettime(CLOCK_BOOTTIME, &up);
    return (double)(now.tv_sec - up.tv_sec) + (double)(now.tv_nsec - up.tv_nsec) / 1e9 +
           (double)begun_ticks() / (double)sysconf(_SC_CLK_TCK);
}

static uint64_t resident_bytes(void)
{
    unsigned long long pages[2] = {0};
    FILE *file = fopen("/proc/self/statm", "re");

    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &pages[0], &pages[1]) != 2)
        pages[1] = 0;
    fclose(file);
    return pages[1] * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    uint64_t n = 0;

    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n > 3 ? n - 3 : 0; /* without ".", ".." and the folder itself */
}

/* The figures that client libraries of Prometheus give, by their names. */
static void put_process(struct nd_json *out)
{
    struct rlimit files = {0};
    struct timespec spent;

    (void)getrlimit(RLIMIT_NOFILE, &files);
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    put(out,
        "# HELP process_cpu_seconds_total Processor time.\n"
        "# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total %.3f\n",
        (double)spent.tv_sec + (double)spent.tv_nsec / 1e9);
    put(out,
        "# HELP process_start_time_seconds When it began, in seconds since 1970.\n"
        "# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %.2f\n",
        begun_seconds());
    put_one(out, "process_resident_memory_bytes", "gauge", "Resident memory.", resident_bytes());
    put_one(out, "process_open_fds", "gauge", "Open files.", open_files());
    put_one(out, "process_max_fds", "gauge", "Files that may be open.", (uint64_t)files.rlim_cur);
}

static void put_store(const struct nd_store_stats *s, struct nd_json *out)
{
    put_one(out, "neardup_documents", "gauge", "Documents.", s->documents);
    put_one(out, "neardup_versions", "gauge", "Versions.", s->versions);
    put_one(out, "neardup_contents", "gauge", "Different texts.", s->contents);
    put_one(out, "neardup_pairs", "gauge", "Verified pairs.", s->pairs);
    put_one(out, "neardup_security_sets", "gauge", "Sets of security labels.", s->label_sets);
    put_one(out, "neardup_text_bytes", "gauge", "Bytes of texts.", s->text_bytes);
    put_one(out, "neardup_segment_bytes", "gauge", "Bytes of segments.", s->segment_bytes);
    put_one(out, "neardup_garbage_bytes", "gauge", "Of these, of deleted texts.", s->garbage_bytes);
    put_one(out, "neardup_database_bytes", "gauge", "Bytes of the database.", s->database_bytes);
    put_one(out, "neardup_index_bytes", "gauge", "Bytes of the index.", s->index_bytes);
    put_one(out, "neardup_commits_total", "counter", "Commits.", s->commits);
    put_one(out, "neardup_writes_total", "counter", "Writes.", s->writes);
    put_one(out, "neardup_syncs_total", "counter", "Syncs of the disk.", s->syncs);
    put_one(out, "neardup_queue_documents", "gauge", "Writes that wait.", s->queue_documents);
    put_one(out, "neardup_queue_bytes", "gauge", "Bytes of writes that wait.", s->queue_bytes);
}

void nd_metrics_write(const struct nd_metrics *m, const struct nd_server_gauges *gauges,
                      const struct nd_store_stats *store, struct nd_json *out)
{
    put_requests(m, out);
    put(out, "# HELP neardup_request_seconds From the request line to the end of the answer.\n"
             "# TYPE neardup_request_seconds histogram\n");
    for (int r = 0; r < ND_ROUTE_COUNT; r++)
        put_histogram(m, (enum nd_route)r, out);
    put_one(out, "neardup_received_bytes_total", "counter", "Bytes of bodies.",
            value_of(&m->received_bytes));
    put_one(out, "neardup_lines_total", "counter", "Lines of NDJSON.", value_of(&m->lines));
    put_one(out, "neardup_connections", "gauge", "Connections.", gauges->connections);
    put_one(out, "neardup_active_requests", "gauge", "Requests under way.", gauges->active);
    put_one(out, "neardup_waiting_jobs", "gauge", "Long requests that wait for a thread.",
            gauges->waiting_jobs);
    put_one(out, "neardup_buffered_bytes", "gauge", "Bytes of bodies in memory.",
            gauges->buffered_bytes);
    put_verdicts(m, out);
    put(out,
        "# HELP neardup_build_info Version of the program, fingerprint of the recipe.\n"
        "# TYPE neardup_build_info gauge\n"
        "neardup_build_info{version=\"%s\",recipe=\"%016" PRIx64 "\"} 1\n",
        nd_version(), gauges->recipe);
    put_process(out);
    put_store(store, out);
}
