/* number.h - numbers in text */
#ifndef ND_BASE_NUMBER_H
#define ND_BASE_NUMBER_H

/* strtod, with a point in any locale: a program that uses the library may have set another one. */
double nd_number_read(const char *text, char **end);

#endif
