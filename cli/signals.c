/* signals.c - a process that is told to stop leaves no half file */
#include "signals.h"

#include <neardup/hamming_file.h>
#include <neardup/run.h>

#include <stdbool.h>

#include "base/system/descriptor.h"
#include "base/system/process.h"

/*
 * Remove temporary files, then die of the signal, so that a shell sees the reason: status 130 after
 * Ctrl-C, 143 after SIGTERM.  Once outputs are being published, the first signal is of no effect.
 */
static bool abandon(void)
{
    int run = nd_run_abandon(), index = nd_hamming_file_abandon();

    return run && index; /* otherwise outputs have begun to appear: all of them shall */
}

/*
 * Index files and df tables are mapped into memory. If one is truncated while it is read, or its
 * device fails, the thread that reads gets here instead of an error from a call.
 */
static void stop_at_lost_page(void)
{
    nd_run_abandon();
    nd_hamming_file_abandon();
    nd_process_die(
        "neardup: an index or df table was cut short while it was read, or its device failed\n"
        "neardup: stopped\n",
        2);
}

void handle_signals(void)
{
    nd_signals_on_stop(abandon);
    nd_signals_on_lost_page(stop_at_lost_page);
}

void die_where_output_is_closed(void)
{
    if (!nd_descriptor_is_unread(1))
        return;
    nd_run_abandon();
    nd_process_die_of_pipe();
}
