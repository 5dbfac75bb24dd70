/* progress.c — what people see while documents are worked on: one line that changes on a
 * terminal, a line a document elsewhere. */
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "cli/batch.h"

#define NAMES 4
#define REDRAW_MS 100

struct cli_progress {
	bool terminal, quiet;
	size_t total, done, failed;
	int64_t begun, drawn;    /* monotonic ms */
	char current[NAMES][64]; /* what runs; empty: none */
};

struct cli_progress *cli_progress_new(const struct cli *cli, size_t total)
{
	struct cli_progress *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return NULL;
	p->terminal = isatty(STDERR_FILENO) == 1;
	p->quiet = cli->json;
	p->total = total;
	p->begun = clock_mono_ms();
	return p;
}

static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash != NULL ? slash + 1 : name;
}

static void set_current(struct cli_progress *p, const char *from, const char *to)
{
	for (size_t i = 0; i < NAMES; i++) {
		if (strncmp(p->current[i], from, sizeof(p->current[i]) - 1) == 0) {
			str_copy(p->current[i], sizeof(p->current[i]), str_of(to));
			return;
		}
	}
}

static size_t width(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
}

static void put_duration(FILE *f, int64_t seconds)
{
	if (seconds >= 3600)
		fprintf(f, "%lld h %02lld min", (long long)seconds / 3600, (long long)seconds / 60 % 60);
	else if (seconds >= 60)
		fprintf(f, "%lld min %02lld s", (long long)seconds / 60, (long long)seconds % 60);
	else
		fprintf(f, "%lld s", (long long)seconds);
}

/* The words of the line, as long as they are. */
static void put_words(const struct cli_progress *p, FILE *f)
{
	int64_t ms = clock_mono_ms() - p->begun;
	size_t ended = p->done + p->failed;
	const char *between = "  ";

	fprintf(f, "%zu of %zu", ended, p->total);
	if (p->failed > 0)
		fprintf(f, ", %zu failed", p->failed);
	if (ended > 0 && ms > 0) {
		fprintf(f, "  %lld a minute", (long long)ended * 60000 / (long long)ms);
		if (ended < p->total) {
			fputs("  ", f);
			put_duration(f, ms * (int64_t)(p->total - ended) / (int64_t)ended / 1000 + 1);
			fputs(" left", f);
		}
	}
	for (size_t i = 0; i < NAMES; i++) {
		if (p->current[i][0] != '\0') {
			fputs(between, f);
			cli_output_text(f, p->current[i]);
			between = ", ";
		}
	}
}

static void draw(struct cli_progress *p)
{
	static const size_t cells = 16;
	size_t full = p->total > 0 ? (p->done + p->failed) * cells / p->total : cells, size = 0,
	       room = width();
	char *line = NULL;
	FILE *f = open_memstream(&line, &size);

	p->drawn = clock_mono_ms();
	if (f == NULL)
		return;
	put_words(p, f);
	fclose(f);
	/* Cut at a character, so that it stays one line. */
	if (room > cells + 5 && size > room - cells - 5) {
		size = room - cells - 5;
		while (size > 0 && ((unsigned char)line[size] & 0xc0) == 0x80)
			size--;
	}
	fputs("\r\033[K[", stderr);
	for (size_t i = 0; i < cells; i++)
		fputs(i < full ? "#" : ".", stderr);
	fprintf(stderr, "] %.*s", (int)size, line);
	fflush(stderr);
	free(line);
}

void cli_progress_begun(void *progress, const struct worker_event *e)
{
	set_current(progress, "", last_part(e->input));
}

static void put_result(const struct worker_event *e)
{
	fputs(e->error == 0 ? "done    " : "failed  ", stdout);
	cli_output_text(stdout, e->input);
	if (e->error == 0) {
		fputs(" -> ", stdout);
		cli_output_text(stdout, e->output);
	} else {
		printf(": %s: ", document_error_name(e->error));
		cli_output_text(stdout, e->text);
	}
	fputc('\n', stdout);
	fflush(stdout);
}

void cli_progress_ended(void *progress, const struct worker_event *e)
{
	struct cli_progress *p = progress;

	set_current(p, last_part(e->input), "");
	if (!e->final)
		return;
	if (e->error == 0)
		p->done++;
	else
		p->failed++;
	if (!p->terminal && !p->quiet)
		put_result(e);
}

void cli_progress_counted(void *progress, size_t done, size_t failed)
{
	struct cli_progress *p = progress;
	bool news = done + failed != p->done + p->failed;

	p->done = done;
	p->failed = failed;
	if (news && !p->terminal && !p->quiet) {
		put_words(p, stderr);
		fputc('\n', stderr);
	}
	cli_progress_tick(p);
}

void cli_progress_tick(void *progress)
{
	struct cli_progress *p = progress;

	if (p->terminal && !p->quiet && clock_mono_ms() >= p->drawn + REDRAW_MS)
		draw(p);
}

void cli_progress_end(struct cli_progress *p)
{
	if (p != NULL && p->terminal && !p->quiet) {
		fputs("\r\033[K", stderr);
		fflush(stderr);
	}
	free(p);
}
