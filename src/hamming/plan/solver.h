/* solver.h - fewest tables for a key length: X(f, k, d) of Manku 2007, §3.1.2 */
#ifndef ND_HAMMING_PLAN_SOLVER_H
#define ND_HAMMING_PLAN_SOLVER_H

#include <stdbool.h>
#include <stdint.h>

#include <neardup/hamming.h>

enum { ND_HAMMING_KEY_MAX = 64, ND_HAMMING_NO_TABLES = ND_HAMMING_TABLES_MAX + 1 };

/* For one distance; coverings: covering designs beside the plain blocks at every step. */
struct nd_hamming_solver;
struct nd_hamming_solver *nd_hamming_solver_new(unsigned distance, bool coverings);
void nd_hamming_solver_free(struct nd_hamming_solver *s);

/* The fewest tables whose keys of `bits` bits all have key_bits bits at least, or
 * ND_HAMMING_NO_TABLES. */
unsigned nd_hamming_solver_tables(struct nd_hamming_solver *s, unsigned bits, int key_bits);

/* The longest key that at most `tables` tables can have; 0: none. */
unsigned nd_hamming_solver_key_bits(struct nd_hamming_solver *s, unsigned bits, unsigned tables);

/* Write those tables' keys, nd_hamming_words(bits) words each. */
void nd_hamming_solver_keys(struct nd_hamming_solver *s, unsigned bits, int key_bits,
                            uint64_t *keys);

#endif
