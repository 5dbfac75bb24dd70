/* bytes.c — see bytes.h. */
#include "translate/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int translate_bytes_read(int fd, struct buf *ret, struct translate_failure *f)
{
	struct stat st;
	uint8_t *room;
	ssize_t n;

	if (fstat(fd, &st) < 0 || st.st_size < 0)
		return translate_fail(f, DOCUMENT_INPUT_READ, "The input cannot be read: %s.",
				      strerror(errno));
	if ((uint64_t)st.st_size > ret->max)
		return translate_fail(f, DOCUMENT_INPUT_TOO_LARGE,
				      "The document has %lld bytes: more than %zu MiB are not translated.",
				      (long long)st.st_size, ret->max >> 20);
	while (ret->len < (size_t)st.st_size) {
		room = buf_reserve(ret, (size_t)st.st_size - ret->len);
		if (room == NULL)
			return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
		n = pread(fd, room, (size_t)st.st_size - ret->len, (off_t)ret->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return translate_fail(f, DOCUMENT_INPUT_READ, "The input cannot be read.");
		ret->len += (size_t)n;
	}
	return 0;
}

int translate_bytes_write(int fd, struct str bytes, struct translate_failure *f)
{
	while (bytes.n > 0) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return translate_fail(f, DOCUMENT_OUTPUT_WRITE, "The output cannot be written: %s.",
					      strerror(errno));
		bytes.p += n;
		bytes.n -= (size_t)n;
	}
	return 0;
}
