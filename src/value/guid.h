/* guid.h — uniqueidentifier: 16 bytes in wire order (first three groups little-endian). */
#ifndef VALUE_GUID_H
#define VALUE_GUID_H

#include "value/value.h"

/* 36 characters, upper case, as SQL Server prints it; dst has 37 bytes. */
void guid_format(const uint8_t guid[16], char dst[37]);
/* With or without braces; what follows the 36th character is ignored as SQL Server does only up
 * to blanks. */
bool guid_parse(struct str s, uint8_t ret[16]);
void guid_random(uint8_t ret[16]);
/* SQL Server's order: last six bytes first. */
int guid_compare(const uint8_t a[16], const uint8_t b[16]);

#endif
