/* bytes.h — files read and written whole. */
#ifndef TRANSLATE_BYTES_H
#define TRANSLATE_BYTES_H

#include "base/buf.h"
#include "base/str.h"
#include "translate/failure.h"

/* From the beginning to the end, as much as the buffer may hold. */
MUST_CHECK int translate_bytes_read(int fd, struct buf *ret, struct translate_failure *f);
MUST_CHECK int translate_bytes_write(int fd, struct str bytes, struct translate_failure *f);

#endif
