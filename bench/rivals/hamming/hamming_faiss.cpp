/* hamming_faiss.cpp - Debian's faiss by the protocol of bench/hamming_side.c
 *
 *     hamming_faiss KIND FINGERPRINTS QUERIES COUNT N_QUERIES ANSWERS
 *
 * KIND: flat; hash:BITS; multi:TABLESxBITS.  One thread.  A hash of BITS flips 3 of them, which is
 * what makes it exact within 3; the multi-hash looks at T tables for what lies in the same bucket,
 * and is exact with 4 tables of 16.
 */
#include <malloc.h>
#include <omp.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/impl/AuxIndexStructures.h>

namespace
{

constexpr int BITS = 64, RADIUS = 4; /* faiss: less than this */
constexpr size_t SINGLES = 20000;
constexpr int ROUNDS = 3;

double clock_of(clockid_t clock)
{
    timespec t;
    clock_gettime(clock, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double resident()
{
    long all = 0, here = 0;
    malloc_trim(0);
    std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen("/proc/self/statm", "r"), std::fclose);
    if (!file || std::fscanf(file.get(), "%ld %ld", &all, &here) != 2)
        std::exit(2);
    return static_cast<double>(here) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

std::vector<uint64_t> read_words(const char *path, size_t n)
{
    std::vector<uint64_t> row(n);
    std::unique_ptr<FILE, int (*)(FILE *)> file(std::fopen(path, "rb"), std::fclose);
    if (!file || std::fread(row.data(), 8, n, file.get()) != n)
        std::exit(2);
    return row;
}

std::unique_ptr<faiss::IndexBinary> make_index(const std::string &kind)
{
    int tables = 0, bits = 0;
    if (kind == "flat")
        return std::make_unique<faiss::IndexBinaryFlat>(BITS);
    if (std::sscanf(kind.c_str(), "hash:%d", &bits) == 1) {
        auto index = std::make_unique<faiss::IndexBinaryHash>(BITS, bits);
        index->nflip = 3;
        return index;
    }
    if (std::sscanf(kind.c_str(), "multi:%dx%d", &tables, &bits) == 2)
        return std::make_unique<faiss::IndexBinaryMultiHash>(BITS, tables, bits);
    std::exit(2);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 7)
        return 2;
    const size_t n = std::strtoull(argv[4], nullptr, 10);
    const size_t n_queries = std::strtoull(argv[5], nullptr, 10);
    const auto row = read_words(argv[2], n), query = read_words(argv[3], n_queries);
    const auto *codes = reinterpret_cast<const uint8_t *>(row.data());
    const auto *asked = reinterpret_cast<const uint8_t *>(query.data());
    omp_set_num_threads(1);

    const double before = resident();
    double start = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    auto index = make_index(argv[1]);
    index->add(static_cast<faiss::IndexBinary::idx_t>(n), codes);
    const double build = clock_of(CLOCK_PROCESS_CPUTIME_ID) - start;
    const double grown = resident() - before;

    std::vector<double> single;
    for (size_t i = 0; i < std::min(n_queries, SINGLES); i++) {
        start = clock_of(CLOCK_MONOTONIC);
        faiss::RangeSearchResult out(1);
        index->range_search(1, asked + 8 * i, RADIUS, &out);
        single.push_back(clock_of(CLOCK_MONOTONIC) - start);
    }
    std::sort(single.begin(), single.end());

    std::unique_ptr<faiss::RangeSearchResult> out;
    std::vector<double> took;
    for (int round = 0; round < ROUNDS; round++) {
        start = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        out = std::make_unique<faiss::RangeSearchResult>(n_queries);
        index->range_search(static_cast<faiss::IndexBinary::idx_t>(n_queries), asked, RADIUS,
                            out.get());
        took.push_back(clock_of(CLOCK_PROCESS_CPUTIME_ID) - start);
    }
    std::sort(took.begin(), took.end());

    std::vector<uint64_t> answer(2 * n_queries);
    for (size_t i = 0; i < n_queries; i++)
        for (size_t at = out->lims[i]; at < out->lims[i + 1]; at++) {
            const auto id = static_cast<uint64_t>(out->labels[at]) + 1;
            answer[2 * i]++;
            answer[2 * i + 1] += id * id * id;
        }
    FILE *file = std::fopen(argv[6], "wb");
    if (!file || std::fwrite(answer.data(), 8, answer.size(), file) != answer.size() ||
        std::fclose(file) != 0)
        return 2;
    std::printf("{\"tool\":\"faiss %d.%d.%d (Debian)\",\"count\":%zu,\"design\":\"%s\","
                "\"build_s\":%.3f,\"inserts_per_s\":%.0f,\"bytes_each\":%.2f,"
                "\"queries_per_s\":%.0f,\"p50_us\":%.3f,\"p99_us\":%.3f,\"found\":%zu}\n",
                FAISS_VERSION_MAJOR, FAISS_VERSION_MINOR, FAISS_VERSION_PATCH, n, argv[1], build,
                static_cast<double>(n) / build, grown / static_cast<double>(n),
                static_cast<double>(n_queries) / took[ROUNDS / 2], single[single.size() / 2] * 1e6,
                single[single.size() * 99 / 100] * 1e6, out->lims[n_queries]);
    return 0;
}
