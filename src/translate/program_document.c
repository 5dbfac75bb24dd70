/* program_document.c — the program that translates one document, inside a jail (src/jail):
 * translate-document NAME FROM TO blocks|lines. Descriptors: 0 input, 1 output, 2 for what the
 * programs it runs complain about, 3 to the engine, 4 from it, 5 for its failure. Its folder is an
 * empty one of its own. It ends with status 0, or with a struct translate_failure in 5 and status
 * 1, or 3 when the engine was in the middle of an answer. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "translate/work.h"

int main(int argc, char **argv)
{
	char folder[] = "translate-XXXXXX", path[64];
	struct translate_failure f = { 0 };
	struct translate_work w = { .input = 0, .output = 1, .channel = { .to = 3, .from = 4 } };
	int rc;

	if (argc != 5 || mkdtemp(folder) == NULL)
		return 2;
	(void)signal(SIGPIPE, SIG_IGN);
	snprintf(path, sizeof(path), "%s/state", folder);
	w.name = argv[1];
	w.from = argv[2];
	w.to = argv[3];
	w.folder = path;
	w.channel.kind = strcmp(argv[4], "blocks") == 0 ? TRANSLATE_BLOCKS : TRANSLATE_LINES;
	rc = translate_work(&w, &f);
	if (rc < 0 && write(5, &f, sizeof(f)) != (ssize_t)sizeof(f))
		return 2;
	return rc == 0 ? 0 : w.channel.mid_talk ? 3 : 1;
}
