/* transfuse.c — see transfuse.h. */
#include "translate/transfuse.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "translate/bytes.h"

extern char **environ;

static const char *format_name(enum translate_format format)
{
	switch (format) {
	case TRANSLATE_FORMAT_HTML: return "html";
	case TRANSLATE_FORMAT_DOCX: return "docx";
	case TRANSLATE_FORMAT_PPTX: return "pptx";
	case TRANSLATE_FORMAT_ODT: return "odt";
	case TRANSLATE_FORMAT_ODP: return "odp";
	default: return "text";
	}
}

/* Runs a program between two descriptors and waits for it. What it says on standard error is the
 * caller's standard error. */
static int run(const char *const *argv, int in, int out, struct translate_failure *f)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int status = 0, rc;

	if (posix_spawn_file_actions_init(&actions) != 0)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	(void)posix_spawn_file_actions_adddup2(&actions, in, 0);
	(void)posix_spawn_file_actions_adddup2(&actions, out, 1);
	rc = posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (rc == ENOENT)
		return translate_fail(f, DOCUMENT_ENGINE_MISSING,
				      "%s is not installed: install the package transfuse.", argv[0]);
	if (rc != 0)
		return translate_fail(f, DOCUMENT_UNKNOWN, "%s could not be started: %s.", argv[0],
				      strerror(rc));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				      "The document cannot be taken apart: %s crashed (signal %d).", argv[0],
				      WTERMSIG(status));
	if (WEXITSTATUS(status) != 0)
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				      "The document cannot be taken apart: %s failed (status %d).", argv[0],
				      WEXITSTATUS(status));
	return 0;
}

int translate_extract(enum translate_format format, int input, const char *folder, struct buf *ret_blocks,
		      struct translate_failure *f)
{
	const char *const argv[] = { "tf-extract", "-f", format_name(format), "-d", folder, NULL };
	int out = memfd_create("blocks", MFD_CLOEXEC);
	int rc = -1;

	if (out < 0)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	if (lseek(input, 0, SEEK_SET) == 0 && run(argv, input, out, f) == 0)
		rc = translate_bytes_read(out, ret_blocks, f);
	(void)close(out);
	if (rc == 0 && ret_blocks->len == 0)
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				      "The document cannot be taken apart: tf-extract gave nothing.");
	return rc;
}

int translate_inject(struct str blocks, const char *folder, int output, struct translate_failure *f)
{
	const char *const argv[] = { "tf-inject", "-d", folder, NULL };
	int in = memfd_create("blocks", MFD_CLOEXEC);
	struct stat st;
	int rc = -1;

	if (in < 0)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	if (translate_bytes_write(in, blocks, f) == 0 && lseek(in, 0, SEEK_SET) == 0)
		rc = run(argv, in, output, f);
	(void)close(in);
	if (rc == 0 && (fstat(output, &st) < 0 || st.st_size == 0))
		return translate_fail(
			f, DOCUMENT_CANNOT_TRANSLATE,
			"The translated document cannot be put together: tf-inject gave nothing.");
	return rc;
}
