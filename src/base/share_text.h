/* share_text.h - a number from 0 to 1 as the shortest decimal that reads back to it */
#ifndef ND_BASE_SHARE_TEXT_H
#define ND_BASE_SHARE_TEXT_H

/*
 * The text that "%.*g" gives with 1, 15, 16 or 17 digits, whichever first reads back to the value:
 * its length, zero-terminated.  0: the value is below 1/1000 or above 1, or lies where only the
 * library's own conversion can be trusted.  Ten times as fast as that.
 */
int nd_share_text(double value, char out[32]);

#endif
