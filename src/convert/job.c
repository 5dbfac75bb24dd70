/* job.c — one document, in a process of its own: a folder that is empty and nobody else's, the
 * rights taken away, a look at the bytes, and then LibreOffice, step by step. Commands such as
 * "update the fields" are carried out by LibreOffice's loop, so between two steps the process
 * returns to it. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/utf.h"
#include "convert/nursery_int.h"

/* Of LibreOfficeKitEnums.h, which no compiler of C can read in this version. */
#define LOK_DOCTYPE_TEXT 0
#define LOK_CALLBACK_UNO_COMMAND_RESULT 16

#define COMMANDS_MAX 8
/* for a command; the document's own limit is usually nearer */
#define ANSWER_MS 60000
#define FOLDERS_MAX 16

/* A command to LibreOffice and its arguments (JSON). */
struct command {
	const char *name;
	char arguments[512];
};

struct convert_job {
	const struct convert_nursery *nursery;
	struct convert_order order;
	const struct convert_format_row *format;
	int output, report;
	char folder[CONVERT_PATH_MAX - 64], input[CONVERT_PATH_MAX], result[CONVERT_PATH_MAX];
	struct convert_sniffed what;
	LibreOfficeKitDocument *doc;
	struct command commands[COMMANDS_MAX];
	size_t ncommands, at;
	bool posted, answered, failed;
	int64_t posted_at;
	bool saved; /* a command has saved it */
};

static void __attribute__((noreturn)) end(const struct convert_job *j, int error, const char *text)
{
	struct convert_report r = { .error = error };

	str_copy(r.text, sizeof(r.text), str_of(text));
	(void)!write(j->report, &r, sizeof(r));
	_exit(0);
}

static void __attribute__((noreturn)) end_errno(const struct convert_job *j, int error, const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), "%s: %s", what, strerror(errno));
	end(j, error, text);
}

/* --- before LibreOffice ------------------------------------------------------------------- */

int convert_copy(int from, int to)
{
	char piece[65536];
	ssize_t n;

	while ((n = read(from, piece, sizeof(piece))) > 0)
		for (ssize_t at = 0, put; at < n; at += put) {
			put = write(to, piece + at, (size_t)(n - at));
			if (put <= 0)
				return -1;
		}
	return (int)n;
}

/* /tmp is ours alone from now on. LibreOffice remembers its folders there: they are there again,
 * empty. */
static int make_room(struct convert_job *j)
{
	char names[FOLDERS_MAX][64];
	size_t n = 0;
	DIR *d;
	struct dirent *entry;

	if (!j->nursery->hello.jailed) {
		snprintf(j->folder, sizeof(j->folder), "%s/%d", j->nursery->hello.base, (int)getpid());
		return mkdir(j->folder, 0700);
	}
	snprintf(j->folder, sizeof(j->folder), "/tmp/document");
	d = opendir("/tmp");
	while (d != NULL && (entry = readdir(d)) != NULL && n < FOLDERS_MAX)
		if (entry->d_name[0] != '.' && entry->d_type == DT_DIR)
			snprintf(names[n++], sizeof(names[0]), "/tmp/%.50s", entry->d_name);
	if (d != NULL)
		closedir(d);
	if (jail_private_tmp(j->nursery->hello.tmp_size) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (mkdir(names[i], 0700) < 0)
			return -1;
	return mkdir(j->folder, 0700);
}

static void confine(const struct convert_job *j, const struct convert_request *r)
{
	const struct convert_hello *h = &j->nursery->hello;
	struct jail_limits limits = {
		.address_space = h->memory,
		.file_size = h->output_max > h->unpacked_max ? h->output_max : h->unpacked_max,
		.cpu_seconds = r->seconds + 1,
		.files = 512,
		.processes = 1024,
	};
	const struct jail_filter *filter = r->way == CONVERT_BY_OFFICE ? j->nursery->executing
								       : j->nursery->alone;

	signal(SIGXFSZ, SIG_IGN); /* a write that is too long fails instead */
	if (jail_confine(filter, &limits, h->jailed) < 0)
		end_errno(j, DOCUMENT_UNKNOWN, "the process of the document could not be confined");
}

/* Text in another encoding than UTF-8 would be taken for what it is not: it becomes UTF-8, with
 * a mark. */
static int write_text(int fd, const uint8_t *p, size_t n, const struct convert_sniffed *what)
{
	char piece[3 * 4096];

	if (!what->marked && write(fd, "\xEF\xBB\xBF", 3) != 3)
		return -1;
	for (size_t at = 0; at < n; at += 4096) {
		size_t len = n - at < 4096 ? n - at : 4096;
		size_t out = what->windows ? utf8_from_cp1252(piece, p + at, len) : len;

		if (!what->windows)
			memcpy(piece, p + at, len);
		if (write(fd, piece, out) != (ssize_t)out)
			return -1;
	}
	return 0;
}

static const uint8_t *map(const struct convert_job *j, const char *path, size_t *ret_n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	if (fd < 0 || fstat(fd, &st) < 0)
		end_errno(j, DOCUMENT_INPUT_READ, "the copy of the input cannot be read");
	*ret_n = (size_t)st.st_size;
	if (st.st_size == 0)
		return (const uint8_t *)"";
	p = mmap(NULL, *ret_n, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		end_errno(j, DOCUMENT_OUT_OF_MEMORY, "the input does not fit into memory");
	close(fd);
	return p;
}

/* The type by its bytes, and the input under a name that says it. */
static void look(struct convert_job *j, const struct convert_request *r, const char *copy)
{
	struct err e = { 0 };
	size_t n;
	const uint8_t *p = map(j, copy, &n);
	int fd;

	if (convert_sniff(p, n, r->name, j->nursery->hello.unpacked_max, &j->what, &e) < 0)
		end(j, e.number, e.text);
	snprintf(j->input, sizeof(j->input), "%s/document.%s", j->folder, j->what.extension);
	if (j->what.type == CONVERT_IS_TEXT) {
		fd = open(j->input, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
		if (fd < 0 || write_text(fd, p, n, &j->what) < 0)
			end_errno(j, DOCUMENT_UNKNOWN, "the text could not be copied");
		close(fd);
	} else if (rename(copy, j->input) < 0) {
		end_errno(j, DOCUMENT_UNKNOWN, "the input could not be renamed");
	}
	if (n > 0)
		munmap((void *)p, n);
}

static void take_input(const struct convert_job *j, int input, const char *copy)
{
	int fd = open(copy, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0 || lseek(input, 0, SEEK_SET) < 0 || convert_copy(input, fd) < 0)
		end_errno(j,
			  errno == ENOSPC || errno == EFBIG ? DOCUMENT_INPUT_TOO_LARGE : DOCUMENT_INPUT_READ,
			  "the input could not be copied");
	close(fd);
	close(input);
}

/* --- after LibreOffice -------------------------------------------------------------------- */

/* 0, or -1 with errno. The limit of the output is narrower than that of the files on the way. */
static int write_output(const struct convert_job *j, int from)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0)
		return -1;
	if (limit.rlim_cur > j->nursery->hello.output_max)
		limit.rlim_cur = j->nursery->hello.output_max;
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0 || lseek(j->output, 0, SEEK_SET) < 0 ||
	    ftruncate(j->output, 0) < 0)
		return -1;
	return j->format->finish == CONVERT_TO_MHTML ? convert_write_mhtml(j->folder, j->result, j->output)
						     : convert_copy(from, j->output);
}

static void __attribute__((noreturn)) deliver(const struct convert_job *j)
{
	char text[128];
	struct stat st;
	int fd = open(j->result, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		end(j, DOCUMENT_UNKNOWN, "LibreOffice said that it was done, but there is no output");
	if (j->format->finish == CONVERT_TO_TEMPLATE || j->format->finish == CONVERT_WITHOUT_MACROS) {
		if (j->format->finish == CONVERT_TO_TEMPLATE && convert_make_template(j->result) < 0)
			end(j, DOCUMENT_UNKNOWN, "the output could not be made a template");
		if (j->format->finish == CONVERT_WITHOUT_MACROS && convert_drop_macros(j->result) < 0)
			end(j, DOCUMENT_UNKNOWN, "the macros could not be taken out of the output");
		close(fd);
		fd = open(j->result, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (write_output(j, fd) == 0)
		end(j, 0, "");
	if (errno != EFBIG)
		end_errno(j, DOCUMENT_OUTPUT_WRITE, "the output could not be written");
	snprintf(text, sizeof(text), "the output is larger than the limit of %llu MiB",
		 (unsigned long long)(j->nursery->hello.output_max >> 20));
	end(j, DOCUMENT_OUTPUT_WRITE, text);
}

/* --- LibreOffice -------------------------------------------------------------------------- */

static void load(struct convert_job *j)
{
	LibreOfficeKit *kit = j->nursery->kit;
	char url[CONVERT_PATH_MAX + 8], options[64], text[512];

	snprintf(url, sizeof(url), "file://%s", j->input);
	snprintf(options, sizeof(options), "Batch=true%s%s", j->order.language[0] != '\0' ? ",Language=" : "",
		 j->order.language);
	j->doc = kit->pClass->documentLoadWithOptions(kit, url, options);
	if (j->doc == NULL) {
		snprintf(text, sizeof(text), "LibreOffice cannot read it: %.400s",
			 kit->pClass->getError(kit));
		end(j, DOCUMENT_INPUT_CORRUPT, text);
	}
	if (j->doc->pClass->getDocumentType(j->doc) != LOK_DOCTYPE_TEXT)
		end(j, DOCUMENT_INPUT_UNSUPPORTED, "it is no text document");
}

/* LibreOffice's answers to commands; we have one command at a time on its way. */
static void answer(int type, const char *payload, void *job)
{
	struct convert_job *j = job;

	if (type == LOK_CALLBACK_UNO_COMMAND_RESULT) {
		j->answered = true;
		j->failed = payload == NULL || strstr(payload, "\"success\": true") == NULL;
	}
}

static struct command *add_command(struct convert_job *j, const char *name)
{
	struct command *c = &j->commands[j->ncommands++];

	c->name = name;
	return c;
}

static void plan(struct convert_job *j)
{
	struct command *c;

	if (j->order.update_fields) {
		add_command(j, ".uno:UpdateFields");
		add_command(j, ".uno:UpdateAllIndexes");
	}
	if (j->order.reject_changes)
		add_command(j, ".uno:RejectAllTrackedChanges");
	if (j->order.hide_changes) {
		c = add_command(j, ".uno:ShowTrackedChanges");
		snprintf(c->arguments, sizeof(c->arguments),
			 "{\"ShowTrackedChanges\":{\"type\":\"boolean\",\"value\":\"false\"}}");
	}
	if (j->format->kit != NULL)
		return;
	c = add_command(j, ".uno:SaveAs");
	snprintf(c->arguments, sizeof(c->arguments),
		 "{\"URL\":{\"type\":\"string\",\"value\":\"file://"
		 "%s\"},\"FilterName\":{\"type\":\"string\",\"value\":\"%s\"}}",
		 j->result, j->format->filter);
	j->saved = true;
}

static void save(const struct convert_job *j)
{
	LibreOfficeKit *kit = j->nursery->kit;
	char url[CONVERT_PATH_MAX + 8], text[512];

	snprintf(url, sizeof(url), "file://%s", j->result);
	if (j->doc->pClass->saveAs(j->doc, url, j->format->kit, j->order.options))
		return;
	snprintf(text, sizeof(text), "LibreOffice could not save it: %.400s", kit->pClass->getError(kit));
	end(j, DOCUMENT_UNKNOWN, text);
}

/* LibreOffice says "success" for commands that give something back, and not for the others, nor
 * for those that find nothing to do: its answer to these tells when it has come, and no more. So
 * what must be true afterwards is looked at. Of a document that is protected changes cannot be
 * undone. */
static void check_command(const struct convert_job *j, const struct command *c)
{
	char *left;
	bool none;

	if (strcmp(c->name, ".uno:SaveAs") == 0 && j->failed)
		end(j, DOCUMENT_UNKNOWN, "LibreOffice could not save it");
	if (strcmp(c->name, ".uno:RejectAllTrackedChanges") != 0)
		return;
	left = j->doc->pClass->getCommandValues(j->doc, ".uno:AcceptTrackedChanges");
	none = left != NULL && strstr(left, "\"index\"") == NULL;
	free(left);
	if (!none)
		end(j, DOCUMENT_SETTING_UNSUPPORTED,
		    "RevisionState Original: the document is protected, and its changes cannot be undone");
}

void convert_job_step(struct convert_job *j, int timeout_ms)
{
	const struct command *c = &j->commands[j->at];

	if (j->at < j->ncommands && !j->posted) {
		j->posted = true;
		j->answered = false;
		j->posted_at = clock_mono_ms();
		j->doc->pClass->postUnoCommand(j->doc, c->name, c->arguments[0] != '\0' ? c->arguments : NULL,
					       true);
		return;
	}
	if (j->at < j->ncommands && !j->answered) {
		if (clock_mono_ms() - j->posted_at > ANSWER_MS)
			end(j, DOCUMENT_UNKNOWN, "LibreOffice did not answer a command");
		if (timeout_ms != 0) /* it has nothing to do at the moment */
			usleep(1000);
		return;
	}
	if (j->at < j->ncommands) {
		check_command(j, c);
		j->posted = false;
		j->at++;
		return;
	}
	if (!j->saved)
		save(j);
	deliver(j);
}

/* --- the whole ---------------------------------------------------------------------------- */

static void __attribute__((noreturn)) by_office(struct convert_job *j)
{
	struct err e = { 0 };

	if (convert_by_office(j->nursery, &j->order, j->folder, j->input, j->result, &e) < 0)
		end(j, e.number, e.text);
	deliver(j);
}

void convert_job_begin(struct convert_nursery *n, const struct convert_request *r, int input, int output,
		       int report)
{
	struct convert_job *j = calloc(1, sizeof(*j));
	char copy[CONVERT_PATH_MAX];

	setpgid(0, 0);
	if (j == NULL || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		_exit(1);
	*j = (struct convert_job){ .nursery = n, .order = r->order, .output = output, .report = report };
	n->job = j;
	j->format = convert_format_of(j->order.format);
	if (j->format == NULL)
		_exit(1);
	if (make_room(j) < 0)
		end_errno(j, DOCUMENT_UNKNOWN, "no folder for the document");
	snprintf(copy, sizeof(copy), "%s/copy", j->folder);
	snprintf(j->result, sizeof(j->result), "%s/output.%s", j->folder,
		 j->format->kit != NULL ? j->format->kit : j->format->extension);
	take_input(j, input, copy);
	confine(j, r);
	look(j, r, copy);
	if (r->way == CONVERT_BY_OFFICE)
		by_office(j);
	if (j->order.update_fields && convert_package_is_read_only(j->input))
		end(j, DOCUMENT_SETTING_UNSUPPORTED,
		    "UpdateFields: the document is protected against changes, and its fields stay as they "
		    "are");
	load(j);
	j->doc->pClass->registerCallback(j->doc, answer, j);
	plan(j);
	if (j->ncommands > 0)
		return; /* LibreOffice's loop has to run */
	save(j);
	deliver(j);
}
