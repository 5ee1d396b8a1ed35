/* here.c - this is the program that runs the commands of the service */
#include "settings.h"

/* As opposed to ../elsewhere.c, which starts this program. */
void run_elsewhere(char **argument)
{
    (void)argument;
}

bool find_server(void)
{
    return true;
}
