/* metrics.h - what was answered and how fast, for Prometheus */
#ifndef ND_SERVER_METRICS_H
#define ND_SERVER_METRICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/json_out.h"
#include "server/wire/target.h"
#include "store/store.h"

enum { ND_METRICS_STATUSES = 24, ND_METRICS_BUCKETS = 16, ND_METRICS_VERDICTS = 3 };

/* Starts from zeroes; any thread counts. */
struct nd_metrics {
    atomic_uint_least64_t requests[ND_ROUTE_COUNT][ND_METRICS_STATUSES];
    atomic_uint_least64_t bucket[ND_ROUTE_COUNT][ND_METRICS_BUCKETS];
    atomic_uint_least64_t microseconds[ND_ROUTE_COUNT];
    atomic_uint_least64_t received_bytes, lines;
    atomic_uint_least64_t verdicts[ND_METRICS_VERDICTS];
};

/* A request ended with this status; 0: its connection ended before it. */
void nd_metrics_count(struct nd_metrics *m, enum nd_route route, unsigned status,
                      uint64_t microseconds);

/* A text, of a request or of a line, had this verdict. */
void nd_metrics_verdict(struct nd_metrics *m, enum nd_verdict_kind kind);

/* Figures of the server at this moment. */
struct nd_server_gauges {
    size_t connections, active, waiting_jobs, buffered_bytes;
    uint64_t recipe; /* its fingerprint */
};
/* Append all of it in the text format of Prometheus. */
void nd_metrics_write(const struct nd_metrics *m, const struct nd_server_gauges *gauges,
                      const struct nd_store_stats *store, struct nd_json *out);

#endif
