/* manifest.h — manifest.json of an archive: written, read, and checked before it is believed. */
#ifndef CLI_MANIFEST_H
#define CLI_MANIFEST_H

#include "cli/backupfile.h"

/* From malloc; NULL: no memory. */
char *cli_manifest_text(const struct archive_manifest *m);
MUST_CHECK int cli_manifest_parse(const char *text, size_t n, struct archive_manifest *ret,
				  struct err *reterr);
/* Which databases are not in it: in JSON "left_out": […] on standard output, always a remark on
 * standard error when there are some. */
void cli_archive_show_left_out(const struct archive_manifest *m, bool json);
/* Whether a version, such as 0.2.0, is newer than another. Not a version: newer than all. */
bool cli_manifest_is_newer(const char *version, const char *than);

#endif
