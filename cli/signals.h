/* signals.h - a process that is told to stop leaves no half file */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

void handle_signals(void);
/* Die like `yes | head` if nobody reads the standard output any more. */
void die_where_output_is_closed(void);

#endif
