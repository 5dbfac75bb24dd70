/* web_files.h — the files of web/ as they are embedded; tools/embed.py makes the definitions. */
#ifndef HTTP_WEB_FILES_H
#define HTTP_WEB_FILES_H

#include "base/base.h"

struct http_web_file {
	const char *path, *type, *tag;
	const unsigned char *data;
	size_t size;
};
extern const struct http_web_file http_web_files[];
extern const size_t http_web_files_count;

#endif
