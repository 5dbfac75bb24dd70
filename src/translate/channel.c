/* channel.c — see channel.h. Writing and reading go on at once, since an engine answers while it is
 * still being asked and pipes are short. */
#include "translate/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/utf.h"

/* An answer may be longer than its question, but not without end. */
static size_t answer_max(size_t request)
{
	return request * 16 + ((size_t)1 << 20);
}

struct talk {
	struct translate_channel *channel;
	struct str unsent;
	size_t expected, seen; /* separators */
	int to, from;          /* -1: done with it */
	struct buf *answer;
};

static int broken(struct translate_failure *f, const char *what)
{
	return translate_fail(f, DOCUMENT_SERVICE_UNAVAILABLE, "The translation engine %s.", what);
}

static int send_some(struct talk *t, struct translate_failure *f)
{
	ssize_t n = write(t->to, t->unsent.p, t->unsent.n);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return broken(f, "ended before it had read everything");
	t->unsent.p += n;
	t->unsent.n -= (size_t)n;
	if (t->unsent.n > 0)
		return 0;
	/* The end of the input is how an engine of lines knows that all has come. */
	if (t->channel->kind == TRANSLATE_LINES)
		(void)close(t->to);
	t->to = -1;
	return 0;
}

static int receive_some(struct talk *t, struct translate_failure *f)
{
	char separator = t->channel->kind == TRANSLATE_BLOCKS ? '\0' : '\n';
	uint8_t *room = buf_reserve(t->answer, 65536);
	ssize_t n;

	if (room == NULL)
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				      "The translation engine answered far more than it was asked.");
	n = read(t->from, room, 65536);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return broken(f, "cannot be read from");
	if (n == 0) {
		t->from = -1;
		return t->channel->kind == TRANSLATE_BLOCKS ? broken(f, "ended in the middle of the document")
							    : 0;
	}
	for (ssize_t i = 0; i < n; i++)
		t->seen += room[i] == (uint8_t)separator;
	t->answer->len += (size_t)n;
	return 0;
}

static bool is_complete(const struct talk *t)
{
	if (t->channel->kind == TRANSLATE_BLOCKS)
		return t->to < 0 && t->seen >= t->expected;
	return t->from < 0;
}

static int talk(struct talk *t, struct translate_failure *f)
{
	while (!is_complete(t)) {
		struct pollfd p[2] = { { .fd = t->from, .events = POLLIN },
				       { .fd = t->to, .events = POLLOUT } };

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return translate_fail(f, DOCUMENT_UNKNOWN, "poll failed.");
		if ((p[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0 && receive_some(t, f) < 0)
			return -1;
		if ((p[1].revents & (POLLOUT | POLLHUP | POLLERR)) != 0 && send_some(t, f) < 0)
			return -1;
	}
	return 0;
}

int translate_channel_ask(struct translate_channel *c, struct str request, size_t n, struct buf *ret,
			  struct translate_failure *f)
{
	struct talk t = {
		.channel = c, .unsent = request, .expected = n, .to = c->to, .from = c->from, .answer = ret
	};

	if (fcntl(c->to, F_SETFL, O_NONBLOCK) < 0 || fcntl(c->from, F_SETFL, O_NONBLOCK) < 0)
		return translate_fail(f, DOCUMENT_UNKNOWN, "A pipe cannot be set up.");
	ret->max = answer_max(request.n);
	c->mid_talk = true;
	if (talk(&t, f) < 0)
		return -1;
	c->mid_talk = t.seen != n;
	/* The last line may lack its end. */
	if (c->kind == TRANSLATE_LINES && ret->len > 0 && ret->data[ret->len - 1] != '\n') {
		buf_put_u8(ret, '\n');
		t.seen++;
	}
	if (t.seen != n)
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				      "The translation engine answered %zu pieces to %zu that it was asked.",
				      t.seen, n);
	if (!utf8_valid((const char *)ret->data, ret->len, false))
		return translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				      "The translation engine answered what is not text (UTF-8).");
	return 0;
}

bool translate_cut(struct str *rest, char separator, struct str *ret)
{
	const char *end = rest->n == 0 ? NULL : memchr(rest->p, separator, rest->n);

	if (end == NULL)
		return false;
	*ret = (struct str){ rest->p, (size_t)(end - rest->p) };
	rest->n -= ret->n + 1;
	rest->p = end + 1;
	return true;
}
