/* test_lock.c - the lock of many readers: who waits sleeps, and the child of a fork can free it */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <neardup/hamming.h>

#include "base/hash.h"
#include "base/system/threads.h"

enum { TIMES = 20000, THREADS = 4, TRIALS = 199, FORKS = 20, SECONDS = 300 };

static struct nd_rwlock *lock;
static uint64_t first, second; /* always equal to whoever holds the lock */

static void *count_up(void *context)
{
    for (int i = 0; i < TIMES; i++) {
        nd_rwlock_write(lock);
        first++;
        second++;
        nd_rwlock_unlock(lock);
    }
    return context;
}

static void *compare(void *context)
{
    for (int i = 0; i < TIMES; i++) {
        nd_rwlock_read(lock);
        if (first != second)
            *(bool *)context = true;
        nd_rwlock_unlock(lock);
    }
    return context;
}

static void a_writer_is_alone(void **state)
{
    pthread_t thread[2 * THREADS];
    bool differed[THREADS] = {false};

    (void)state;
    lock = nd_rwlock_new();
    assert_non_null(lock);
    first = second = 0;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, count_up, NULL), 0);
        assert_int_equal(pthread_create(&thread[THREADS + i], NULL, compare, &differed[i]), 0);
    }
    for (size_t i = 0; i < 2 * THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(first, TIMES * THREADS);
    for (size_t i = 0; i < THREADS; i++)
        assert_false(differed[i]);
    nd_rwlock_free(lock);
}

/* How often the thread has given its processor away because it had to wait. */
static void *wait_to_read(void *context)
{
    struct rusage before, after;

    getrusage(RUSAGE_THREAD, &before);
    nd_rwlock_read(lock);
    getrusage(RUSAGE_THREAD, &after);
    nd_rwlock_unlock(lock);
    *(long *)context = after.ru_nvcsw - before.ru_nvcsw;
    return NULL;
}

/* On a busy machine the other thread may come only when the lock is free again: so try often, and
 * wait longer each time. */
static void who_waits_sleeps(void **state)
{
    long slept = 0;

    (void)state;
    lock = nd_rwlock_new();
    assert_non_null(lock);
    for (int i = 0; i < TRIALS && slept == 0; i++) {
        const struct timespec moment = {0, 5000000 * (1 + i)};
        pthread_t thread;

        nd_rwlock_write(lock);
        assert_int_equal(pthread_create(&thread, NULL, wait_to_read, &slept), 0);
        nanosleep(&moment, NULL);
        nd_rwlock_unlock(lock);
        pthread_join(thread, NULL);
    }
    assert_true(slept > 0);
    nd_rwlock_free(lock);
}

static void the_child_frees_what_the_parent_holds(void **state)
{
    (void)state;
    lock = nd_rwlock_new();
    assert_non_null(lock);
    for (int writes = 0; writes < 2; writes++) {
        pid_t child;
        int status;

        (writes ? nd_rwlock_write : nd_rwlock_read)(lock);
        child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(SECONDS);
            nd_rwlock_free(lock);
            _exit(0);
        }
        nd_rwlock_unlock(lock);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    nd_rwlock_free(lock);
}

struct asked {
    struct nd_hamming *index;
    pthread_mutex_t mutex;
    int n_around; /* threads that have asked for each fingerprint */
    bool over;
    bool failed;
};

static bool is_over(struct asked *a)
{
    bool over;

    pthread_mutex_lock(&a->mutex);
    over = a->over;
    pthread_mutex_unlock(&a->mutex);
    return over;
}

/* From then on they allocate nothing: gcc's address sanitizer has locks around its memory that a
 * fork leaves locked in the child, if another thread holds one. */
static void await_all_around(struct asked *a)
{
    const struct timespec moment = {0, 1000000};
    bool all = false;

    while (!all) {
        nanosleep(&moment, NULL);
        pthread_mutex_lock(&a->mutex);
        all = a->n_around == THREADS;
        pthread_mutex_unlock(&a->mutex);
    }
}

static void *ask_on(void *context)
{
    struct asked *a = context;
    struct nd_hamming_matches found = {.items = NULL};

    for (uint64_t i = 0; !is_over(a); i++) {
        uint64_t query = nd_mix64(i % 1000);

        if (i == 1000) {
            pthread_mutex_lock(&a->mutex);
            a->n_around++;
            pthread_mutex_unlock(&a->mutex);
        }
        found.count = 0;
        if (nd_hamming_query(a->index, &query, 1, 3, &found, NULL) != ND_OK || found.count == 0)
            a->failed = true;
    }
    nd_hamming_matches_release(&found);
    return NULL;
}

static struct nd_hamming *index_of_a_thousand(void)
{
    const struct nd_hamming_problem problem = {64, 3, 1000};
    struct nd_hamming_plan plan;
    struct nd_hamming *index;

    if (nd_hamming_choose(&problem, NULL, 0, &plan, NULL) != ND_OK ||
        nd_hamming_new(&index, &plan, NULL) != ND_OK)
        return NULL;
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t row = nd_mix64(i);

        if (nd_hamming_add(index, &row, NULL, i, 1, NULL) != ND_OK)
            return NULL;
    }
    return index;
}

/* In the child: what was asked there can be freed, and a new one works. */
static int use_in_child(struct nd_hamming *index)
{
    struct nd_hamming_matches found = {.items = NULL};
    uint64_t query = nd_mix64(7);
    int status = 0;

    alarm(SECONDS);
    nd_hamming_free(index);
    index = index_of_a_thousand();
    if (!index || nd_hamming_query(index, &query, 1, 0, &found, NULL) != ND_OK || found.count != 1)
        status = 1;
    nd_hamming_matches_release(&found);
    nd_hamming_free(index);
    return status;
}

static void the_child_frees_an_index_that_others_ask(void **state)
{
    struct asked asked = {.index = index_of_a_thousand(), .over = false};
    pthread_t thread[THREADS];

    (void)state;
    assert_non_null(asked.index);
    pthread_mutex_init(&asked.mutex, NULL);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_on, &asked), 0);
    await_all_around(&asked);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        int status;

        assert_true(child >= 0);
        if (child == 0)
            _exit(use_in_child(asked.index));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    pthread_mutex_lock(&asked.mutex);
    asked.over = true;
    pthread_mutex_unlock(&asked.mutex);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    assert_false(asked.failed);
    nd_hamming_free(asked.index);
    pthread_mutex_destroy(&asked.mutex);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_writer_is_alone),
        cmocka_unit_test(who_waits_sleeps),
        cmocka_unit_test(the_child_frees_what_the_parent_holds),
        cmocka_unit_test(the_child_frees_an_index_that_others_ask),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
