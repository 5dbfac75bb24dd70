/* top.c — `procession top`: looks at a server's numbers every now and then and shows what happened
 * in between. A thread asks the server, so that keys and the window are answered even while it does
 * not. */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/thread.h"
#include "cli/answer.h"
#include "cli/top.h"

#define CTRL_C 3
#define CTRL_Z 26

struct top {
	struct cli *cli;
	int64_t interval_ms;
	/* the thread that asks */
	pthread_t thread;
	struct client *client; /* owned; its own while it runs */
	int come, looked;      /* eventfds: look now; a look is there */
	/* under the lock: what it brings, and how its look went */
	struct lock lock;
	struct top_sample brought;
	struct err failure; /* number 0: none */
	bool busy, leaves;
};

static bool read_interval(const char *text, int64_t *ret_ms)
{
	char *end = NULL;
	double seconds = text == NULL ? 1 : strtod(text, &end);

	if (text != NULL && (end == text || *end != '\0'))
		return false;
	*ret_ms = (int64_t)(seconds * 1000);
	return seconds >= 0.1 && seconds <= 3600;
}

/* ---- without a screen: --once, --json ---- */

static void pause_ms(int64_t ms)
{
	(void)poll(NULL, 0, (int)ms);
}

static void show_plain(const struct top *t, const struct top_sample *now)
{
	size_t lines, columns;

	if (t->cli->json) {
		cli_top_show_json(stdout, now);
	} else {
		cli_top_screen_size(&lines, &columns);
		cli_top_show(stdout, now, 0, isatty(STDOUT_FILENO) == 1 ? columns : 160, NULL);
	}
	fflush(stdout);
}

/* Objects for as long as somebody takes them, or one of them. */
static int run_plain(struct top *t, struct err *reterr)
{
	struct top_sample before = { .uptime_s = 0 }, now, between;
	int rc = cli_top_look(t->client, &before, reterr);
	bool more = rc == 0;

	while (more) {
		pause_ms(t->interval_ms);
		rc = cli_top_look(t->client, &now, reterr);
		if (rc == 0)
			rc = cli_top_compare(&before, &now, &between, reterr);
		if (rc == 0) {
			show_plain(t, &between);
			cli_top_sample_fini(&between);
		}
		cli_top_sample_fini(&before);
		before = now;
		more = rc == 0 && !t->cli->once && !ferror(stdout);
	}
	cli_top_sample_fini(&before);
	return rc;
}

/* ---- the thread that asks ---- */

/* Only where nobody has to be asked for a password: the screen is in the way. */
static bool may_reconnect(const struct cli *cli)
{
	return cli->password_file != NULL || cli->data != NULL || getenv("PROCESSION_PASSWORD_FILE") != NULL;
}

static void look_once(struct top *t)
{
	struct top_sample s = { .uptime_s = 0 };
	struct err e = { 0 };
	int rc = t->client != NULL ? 0 : cli_connect(t->cli, &t->client, &e);

	if (rc == 0)
		rc = cli_top_look(t->client, &s, &e);
	if (rc < 0) {
		client_close(t->client);
		t->client = NULL;
		cli_top_sample_fini(&s);
	}
	lock_take(&t->lock);
	assert(t->busy && (rc < 0) == (t->client == NULL));
	cli_top_sample_fini(&t->brought);
	t->brought = s;
	t->failure = rc < 0 ? e : (struct err){ 0 };
	t->busy = false;
	lock_give(&t->lock);
}

static void signal_event(int fd)
{
	uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
}

static void take_event(int fd)
{
	uint64_t n;

	while (read(fd, &n, sizeof(n)) < 0 && errno == EINTR)
		continue;
}

static void *asker_main(void *arg)
{
	struct top *t = arg;

	for (;;) {
		bool leaves;

		take_event(t->come);
		lock_take(&t->lock);
		assert(t->busy || t->leaves); /* it is woken for nothing else */
		leaves = t->leaves;
		lock_give(&t->lock);
		if (leaves)
			return NULL;
		look_once(t);
		signal_event(t->looked);
	}
}

static void ask(struct top *t)
{
	lock_take(&t->lock);
	assert(!t->busy && !t->leaves); /* one look at a time: the thread has the connection */
	t->busy = true;
	lock_give(&t->lock);
	signal_event(t->come);
}

/* ---- the screen ---- */

struct live {
	struct top *top;
	struct top_screen *screen;
	int signals;              /* signalfd */
	struct top_sample before; /* the last look; uptime 0: none yet */
	struct top_sample shown;
	bool has_shown;
	char note[400]; /* what is wrong now */
	int64_t next_ms;
	int status; /* of the program, when it ends by itself */
	struct err failure;
	bool failed;
};

static void draw(struct live *l)
{
	size_t lines, columns, size = 0;
	char *text = NULL;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		return;
	cli_top_screen_size(&lines, &columns);
	if (l->has_shown)
		cli_top_show(f, &l->shown, lines, columns, l->note[0] != '\0' ? l->note : NULL);
	else
		cli_output_cell(f, l->note[0] != '\0' ? l->note : "looking; q quits", columns, CLI_CUT);
	fclose(f);
	cli_top_screen_draw(l->screen, text);
	free(text);
}

/* What the thread has brought. False: there is no going on. */
static bool take_look(struct live *l)
{
	struct top *t = l->top;
	struct top_sample now, between;
	struct err e;

	take_event(t->looked);
	lock_take(&t->lock);
	now = t->brought;
	t->brought = (struct top_sample){ .uptime_s = 0 };
	e = t->failure;
	lock_give(&t->lock);
	if (e.number != 0) {
		snprintf(l->note, sizeof(l->note), "%.380s", e.text);
		l->failed = !may_reconnect(t->cli) || cli_connect_status(&e) == EXIT_REFUSED;
		l->failure = e;
		return !l->failed;
	}
	l->note[0] = '\0';
	if (l->before.uptime_s > 0 && cli_top_compare(&l->before, &now, &between, &e) == 0) {
		cli_top_sample_fini(&l->shown);
		l->shown = between;
		l->has_shown = true;
	}
	cli_top_sample_fini(&l->before);
	l->before = now;
	return true;
}

/* False: the user leaves, or the terminal is gone. */
static bool take_keys(struct live *l)
{
	char keys[64];
	ssize_t n = read(STDIN_FILENO, keys, sizeof(keys));

	if (n < 0 && errno == EINTR)
		return true;
	for (ssize_t i = 0; i < n; i++) {
		if (keys[i] == 'q' || keys[i] == 'Q' || keys[i] == CTRL_C)
			return false;
		if (keys[i] == CTRL_Z)
			cli_top_screen_suspend(l->screen);
	}
	return n > 0;
}

/* False: it is time to go. A changed window needs no more than drawing again. */
static bool take_signal(const struct live *l)
{
	struct signalfd_siginfo s;

	if (read(l->signals, &s, sizeof(s)) != (ssize_t)sizeof(s))
		return true;
	return s.ssi_signo == SIGWINCH || s.ssi_signo == SIGCONT;
}

static bool turn(struct live *l)
{
	struct pollfd fds[] = { { STDIN_FILENO, POLLIN, 0 },
				{ l->signals, POLLIN, 0 },
				{ l->top->looked, POLLIN, 0 } };
	int64_t wait = l->next_ms - clock_mono_ms();
	bool busy, goes_on = true;

	if (poll(fds, ARRAY_LEN(fds), (int)(wait < 0 ? 0 : wait)) < 0)
		return errno == EINTR;
	if (fds[2].revents != 0)
		goes_on = take_look(l);
	if (goes_on && fds[1].revents != 0)
		goes_on = take_signal(l);
	if (goes_on && fds[0].revents != 0)
		goes_on = take_keys(l);
	if (!goes_on)
		return false;
	lock_take(&l->top->lock);
	busy = l->top->busy;
	lock_give(&l->top->lock);
	if (clock_mono_ms() >= l->next_ms) {
		l->next_ms = clock_mono_ms() + l->top->interval_ms;
		if (!busy)
			ask(l->top);
		else if (l->note[0] == '\0')
			snprintf(l->note, sizeof(l->note), "the server has not answered yet");
	}
	draw(l);
	return true;
}

static int watch_signals(void)
{
	static const int some[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		sigaddset(&set, some[i]);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A thread that still waits for the server is left behind with the process. */
static void end_asker(struct top *t)
{
	bool busy;

	lock_take(&t->lock);
	busy = t->busy;
	t->leaves = true;
	lock_give(&t->lock);
	if (busy) {
		fflush(NULL);
		_exit(EXIT_OK);
	}
	signal_event(t->come);
	pthread_join(t->thread, NULL);
}

static int run_live(struct top *t, struct err *reterr)
{
	struct live l = { .top = t, .signals = watch_signals() };

	t->come = eventfd(0, EFD_CLOEXEC);
	t->looked = eventfd(0, EFD_CLOEXEC);
	if (l.signals < 0 || t->come < 0 || t->looked < 0)
		return err_raise(reterr, 50000, 16, 1, "the system has no descriptors to give");
	if (cli_top_screen_open(&l.screen, reterr) < 0)
		return -1;
	if (thread_start(&t->thread, asker_main, t) < 0) {
		cli_top_screen_close(l.screen);
		return err_nomem(reterr);
	}
	while (turn(&l))
		continue;
	cli_top_screen_close(l.screen);
	end_asker(t);
	cli_top_sample_fini(&l.before);
	cli_top_sample_fini(&l.shown);
	close(l.signals);
	close(t->come);
	close(t->looked);
	*reterr = l.failure;
	return l.failed ? -1 : 0;
}

int cli_run_top(struct cli *cli, const struct command *cmd)
{
	struct top t = { .cli = cli };
	struct err e = { 0 };
	int rc;

	(void)cmd;
	if (!read_interval(cli->interval, &t.interval_ms)) {
		err_raise(&e, 50000, CLI_USAGE_SEVERITY, 1,
			  "--interval takes a number of seconds, 0.1 to 3600");
		return cli_answer_failed(cli, &e, EXIT_USAGE);
	}
	if (cli_connect(cli, &t.client, &e) < 0)
		return cli_answer_failed(cli, &e, cli_connect_status(&e));
	lock_init(&t.lock);
	rc = cli->once || cli->json ? run_plain(&t, &e) : run_live(&t, &e);
	client_close(t.client);
	cli_top_sample_fini(&t.brought);
	lock_fini(&t.lock);
	if (rc == 0)
		return EXIT_OK;
	return cli_answer_failed(cli, &e, cli_connect_status(&e));
}
