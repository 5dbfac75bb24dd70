/* test_output.c — outputs of owned, lent and generated pieces, in every order, in clear and with
 * TLS: they arrive whole and in order, sources are released once and in time, what fails or is
 * given up leaves nothing behind, and what was to be encrypted is never sent in clear. */
#include "net_test.h"

#include <openssl/ssl.h>

#include "tls_files.h"

#define LENT_STEP ((size_t)4000)
#define GENERATED ((size_t)600 * (4 + LENT_STEP)) /* more than a batch */
#define OWNED_LARGE ((size_t)512 << 10)

static struct tls_files files;
static uint8_t lent_bytes[1 << 16];
static atomic_int sources; /* made and not released */
static atomic_int fail_at; /* this step of a source finds no memory; 0: none */

/* ---- a source: a number and lent bytes, again and again ---- */

struct source {
	struct output_source source;
	uint32_t step;
};

static const uint8_t *lent_at(uint32_t step)
{
	return lent_bytes + step * 37 % (sizeof(lent_bytes) - LENT_STEP);
}

static void make(struct output_source *src, struct output *to, size_t max_pieces)
{
	struct source *g = (struct source *)src;

	while (src->left > 0 && to->npieces < max_pieces) {
		buf_put(&to->bytes, &g->step, sizeof(g->step));
		output_lend(to, (struct str){ (const char *)lent_at(g->step), LENT_STEP });
		src->left -= sizeof(g->step) + LENT_STEP;
		if (++g->step == (uint32_t)atomic_load(&fail_at))
			to->bytes.failed = true;
	}
}

static void release(struct output_source *src)
{
	atomic_fetch_sub(&sources, 1);
	free(src);
}

static void put_generated(struct output *o)
{
	struct source *g = calloc(1, sizeof(*g));

	g->source = (struct output_source){ GENERATED, make, release };
	atomic_fetch_add(&sources, 1);
	if (!output_generate(o, &g->source))
		abort();
}

/* ---- what is sent: pieces of four kinds, by a number of base four ---- */

enum { SMALL, LARGE, LENT, MADE, KINDS };
#define PIECES 3
#define ORDERS (KINDS * KINDS * KINDS)

static void put_owned(struct buf *b, size_t n, uint8_t seed)
{
	for (size_t at = 0; at < n; at += sizeof(lent_bytes) - seed)
		buf_put(b, lent_bytes + seed,
			n - at < sizeof(lent_bytes) - seed ? n - at : sizeof(lent_bytes) - seed);
}

static void put_piece(struct output *o, int kind)
{
	switch (kind) {
	case SMALL: put_owned(&o->bytes, 100, 1); break;
	case LARGE: put_owned(&o->bytes, OWNED_LARGE, 2); break;
	case LENT: output_lend(o, (struct str){ (const char *)lent_bytes, sizeof(lent_bytes) }); break;
	default: put_generated(o); break;
	}
}

static void put_flat(struct buf *b, int kind)
{
	switch (kind) {
	case SMALL: put_owned(b, 100, 1); break;
	case LARGE: put_owned(b, OWNED_LARGE, 2); break;
	case LENT: buf_put(b, lent_bytes, sizeof(lent_bytes)); break;
	default:
		for (uint32_t i = 0; i < GENERATED / (sizeof(i) + LENT_STEP); i++) {
			buf_put(b, &i, sizeof(i));
			buf_put(b, lent_at(i), LENT_STEP);
		}
	}
}

/* All in one output, or each in one of its own. */
static void send_order(struct net_stream *s, int order, bool apart)
{
	struct output o;

	output_init(&o, (size_t)1 << 30);
	for (int i = 0; i < PIECES; i++, order /= KINDS) {
		put_piece(&o, order % KINDS);
		if (apart)
			net_stream_send(s, &o);
	}
	net_stream_send(s, &o);
	output_fini(&o);
}

static struct buf flat_order(int order)
{
	struct buf b;

	buf_init(&b, (size_t)1 << 30);
	for (int i = 0; i < PIECES; i++, order /= KINDS)
		put_flat(&b, order % KINDS);
	return b;
}

/* ---- owners: the first byte 0x16 is TLS; then two bytes are an order and how it is sent ---- */

enum { APART = 1, THEN_CLOSE = 2 };

static size_t sending_data(struct conn *c, const uint8_t *p, size_t n)
{
	struct err e;

	if (p[0] == 0x16 && !net_stream_is_tls(c->s)) {
		if (net_stream_start_tls(c->s, c->h->tls, NET_TLS_DIRECT, &e) < 0)
			net_stream_close(c->s, false, "no TLS");
		return 0;
	}
	if (n < 2)
		return 0;
	send_order(c->s, p[0] & 0x7F, (p[1] & APART) != 0);
	atomic_store(&c->h->most_pending, net_stream_pending(c->s));
	if ((p[1] & THEN_CLOSE) != 0)
		net_stream_close(c->s, true, "done");
	return 2;
}

/* ---- clients, in clear or with TLS ---- */

struct client {
	int fd;
	SSL *ssl; /* NULL: in clear */
};

static void client_start(struct client *c, struct harness *h, bool tls)
{
	SSL_CTX *ctx;

	*c = (struct client){ .fd = client_connect(h) };
	if (!tls)
		return;
	ctx = SSL_CTX_new(TLS_client_method());
	c->ssl = SSL_new(ctx);
	SSL_CTX_free(ctx);
	SSL_set_fd(c->ssl, c->fd);
	assert_int_equal(SSL_connect(c->ssl), 1);
}

static void client_ask(struct client *c, int order, uint8_t how)
{
	const uint8_t ask[2] = { (uint8_t)(0x80 | order), how }; /* never 0x16 */

	if (c->ssl != NULL)
		assert_int_equal(SSL_write(c->ssl, ask, 2), 2);
	else
		send_all(c->fd, ask, 2);
}

static void client_read(struct client *c, uint8_t *p, size_t n)
{
	size_t got = 0;

	if (c->ssl == NULL) {
		recv_all(c->fd, p, n);
		return;
	}
	while (got < n) {
		int k = SSL_read(c->ssl, p + got, (int)(n - got));

		assert_true(k > 0);
		got += (size_t)k;
	}
}

static void client_expect(struct client *c, int order)
{
	struct buf want = flat_order(order);
	uint8_t *got = malloc(want.len);

	client_read(c, got, want.len);
	assert_memory_equal(got, want.data, want.len);
	free(got);
	buf_fini(&want);
}

static void client_end(struct client *c)
{
	SSL_free(c->ssl);
	close(c->fd);
}

static void start(struct harness *h)
{
	struct err e;

	*h = (struct harness){ .data = sending_data };
	if (net_tls_ctx_new(files.cert, files.key, NULL, &h->tls, &e) < 0)
		fail_msg("%s", e.text);
	harness_start(h, 1, 10);
}

/* ---- tests ---- */

static void every_order_arrives(void **state)
{
	struct harness h;

	(void)state;
	start(&h);
	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		client_start(&c, &h, tls);
		for (int order = 0; order < ORDERS; order++) {
			client_ask(&c, order, order % 2 == 0 ? APART : 0);
			client_expect(&c, order);
		}
		client_end(&c);
	}
	harness_stop(&h);
	assert_int_equal(atomic_load(&sources), 0);
}

/* Requests come before the answers are read: everything waits for its turn. */
static void what_comes_behind_waits(void **state)
{
	struct harness h;

	(void)state;
	start(&h);
	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		client_start(&c, &h, tls);
		for (int order = 3; order < ORDERS; order += 19)
			client_ask(&c, order, APART);
		WAIT_FOR(atomic_load(&h.most_pending) > GENERATED);
		for (int order = 3; order < ORDERS; order += 19)
			client_expect(&c, order);
		client_end(&c);
	}
	harness_stop(&h);
	assert_int_equal(atomic_load(&sources), 0);
}

/* The owner's memory may go when the source is released, and drained() tells of it. */
static atomic_int drained_after_release;

static void count_drained(void *owner)
{
	if (atomic_load(&sources) == 0)
		atomic_fetch_add(&drained_after_release, 1);
	h_drained(owner);
}

static void drained_follows_the_release(void **state)
{
	struct harness h;

	(void)state;
	start(&h);
	h.handler.drained = count_drained;
	for (int tls = 0; tls < 2; tls++) {
		struct client c;

		client_start(&c, &h, tls);
		atomic_store(&drained_after_release, 0);
		client_ask(&c, MADE + KINDS * MADE, 0);
		WAIT_FOR(atomic_load(&h.most_pending) > GENERATED);
		client_expect(&c, MADE + KINDS * MADE);
		WAIT_FOR(atomic_load(&drained_after_release) > 0);
		client_end(&c);
	}
	harness_stop(&h);
}

/* A graceful close sends what waits, and with TLS says goodbye behind it. */
static void a_graceful_close_waits_for_all(void **state)
{
	struct harness h;

	(void)state;
	start(&h);
	for (int tls = 0; tls < 2; tls++) {
		for (int order = MADE; order < ORDERS; order += 21) {
			struct client c;
			uint8_t end;

			client_start(&c, &h, tls);
			client_ask(&c, order, THEN_CLOSE);
			client_expect(&c, order);
			if (tls) {
				assert_true(SSL_read(c.ssl, &end, 1) <= 0);
				assert_int_equal(SSL_get_error(c.ssl, 0), SSL_ERROR_ZERO_RETURN);
			}
			assert_ended(c.fd);
			client_end(&c);
		}
	}
	WAIT_FOR(atomic_load(&h.closes) == atomic_load(&h.opens));
	assert_true(reason_has(&h, "done"));
	harness_stop(&h);
	assert_int_equal(atomic_load(&sources), 0);
}

static void a_client_that_goes_away_leaves_nothing(void **state)
{
	struct harness h;

	(void)state;
	start(&h);
	for (int tls = 0; tls < 2; tls++) {
		for (int order = 0; order < ORDERS; order += 3) {
			struct client c;
			uint8_t got[6];

			client_start(&c, &h, tls);
			client_ask(&c, order, order % 2);
			client_read(&c, got, sizeof(got));
			client_end(&c);
		}
	}
	WAIT_FOR(atomic_load(&h.closes) == atomic_load(&h.opens));
	harness_stop(&h);
	assert_int_equal(atomic_load(&sources), 0);
}

/* In the first batch and in a later one. */
static void a_source_without_memory_ends_the_stream(void **state)
{
	struct harness h;

	(void)state;
	start(&h);
	for (int tls = 0; tls < 2; tls++) {
		for (int at = 1; at < 600; at += 250) {
			int before = atomic_load(&h.closes);
			static char bytes[1 << 16];
			struct client c;

			client_start(&c, &h, tls);
			atomic_store(&fail_at, at);
			client_ask(&c, MADE, 0);
			while (recv(c.fd, bytes, sizeof(bytes), 0) > 0)
				;
			WAIT_FOR(atomic_load(&h.closes) == before + 1);
			assert_true(reason_has(&h, "out of memory"));
			atomic_store(&fail_at, 0);
			client_end(&c);
		}
	}
	harness_stop(&h);
	assert_int_equal(atomic_load(&sources), 0);
}

/* All that the socket has, taken as TLS records: true if it consists of such. */
static bool all_are_records(int fd)
{
	uint8_t *all = malloc((size_t)16 << 20);
	size_t n = 0, at = 0;
	ssize_t k;

	while ((k = recv(fd, all + n, ((size_t)16 << 20) - n, 0)) > 0)
		n += (size_t)k;
	while (at + 5 <= n && (all[at] == 0x17 || all[at] == 0x15) && all[at + 1] == 3)
		at += 5 + (size_t)(all[at + 3] << 8 | all[at + 4]);
	free(all);
	return n > 0 && at >= n;
}

/* An error of TLS while much waits to be encrypted: none of it is sent in clear. */
static void nothing_is_sent_in_clear_after_an_error_of_tls(void **state)
{
	static const uint8_t broken[5 + 40] = { 0x17, 3, 3, 0, 40 };
	struct harness h;
	struct client c;

	(void)state;
	start(&h);
	client_start(&c, &h, true);
	client_ask(&c, MADE + KINDS * MADE + KINDS * KINDS * MADE, 0);
	WAIT_FOR(atomic_load(&h.most_pending) > GENERATED);
	send_all(c.fd, broken, sizeof(broken));
	WAIT_FOR(atomic_load(&sources) == 0); /* dropped, without anybody having read */
	assert_true(all_are_records(c.fd));
	client_end(&c);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "TLS"));
	harness_stop(&h);
}

/* One client, in clear, whose bytes the owner takes with data(), which closes the stream. */
static void ask_once(struct harness *h, size_t (*data)(struct conn *c, const uint8_t *p, size_t n))
{
	struct client c;

	start(h);
	h->data = data;
	client_start(&c, h, false);
	client_ask(&c, 0, 0);
	WAIT_FOR(atomic_load(&h->closes) == 1);
	client_end(&c);
}

static size_t close_and_send(struct conn *c, const uint8_t *p, size_t n)
{
	(void)p;
	net_stream_close(c->s, false, "done");
	send_order(c->s, MADE, false);
	return n;
}

static void what_is_sent_after_the_end_is_dropped(void **state)
{
	struct harness h;

	(void)state;
	ask_once(&h, close_and_send);
	assert_int_equal(atomic_load(&sources), 0);
	harness_stop(&h);
}

/* A large buffer goes out of the memory it was put in; a small one is the owner's again. */
static size_t look_at_memory(struct conn *c, const uint8_t *p, size_t n)
{
	struct output o;
	const uint8_t *memory;
	bool right;

	(void)p;
	output_init(&o, 16 << 20);
	buf_put(&o.bytes, "before", 6);
	memory = o.bytes.data;
	net_stream_send(c->s, &o);
	right = o.bytes.data == memory && o.bytes.len == 0;
	put_owned(&o.bytes, 8 << 20, 0);
	net_stream_send(c->s, &o);
	right = right && o.bytes.data == NULL && net_stream_pending(c->s) > 256 * 1024;
	output_fini(&o);
	net_stream_close(c->s, false, right ? "right" : "wrong");
	return n;
}

static void memory_goes_with_what_is_large(void **state)
{
	struct harness h;

	(void)state;
	ask_once(&h, look_at_memory);
	assert_true(reason_has(&h, "right"));
	harness_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_arrives),
		cmocka_unit_test(what_comes_behind_waits),
		cmocka_unit_test(drained_follows_the_release),
		cmocka_unit_test(a_graceful_close_waits_for_all),
		cmocka_unit_test(a_client_that_goes_away_leaves_nothing),
		cmocka_unit_test(a_source_without_memory_ends_the_stream),
		cmocka_unit_test(nothing_is_sent_in_clear_after_an_error_of_tls),
		cmocka_unit_test(what_is_sent_after_the_end_is_dropped),
		cmocka_unit_test(memory_goes_with_what_is_large),
	};
	int rc;

	for (size_t i = 0; i < sizeof(lent_bytes); i++)
		lent_bytes[i] = (uint8_t)(i * 7 + i / 4000);
	tls_files_make(&files);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	tls_files_remove(&files);
	return rc;
}
