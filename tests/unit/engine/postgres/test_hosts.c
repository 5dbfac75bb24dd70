/* test_hosts.c — the hosts that the setting postgres names, and connecting to one of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

static struct pg_engine engine;

static void init(const char *conninfo)
{
	struct err err;

	memset(&engine, 0, sizeof(engine));
	engine.conninfo = (char *)conninfo;
	assert_int_equal(postgres_hosts_init(&engine, &err), 0);
}

static void same(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		assert_ptr_equal(a, b);
	else
		assert_string_equal(a, b);
}

static void is_host(int i, const char *host, const char *hostaddr, const char *port)
{
	same(engine.hosts[i].host, host);
	same(engine.hosts[i].hostaddr, hostaddr);
	same(engine.hosts[i].port, port);
}

static void without_a_host_libpq_finds_it(void **state)
{
	(void)state;
	init("user=procession dbname=procession");
	assert_int_equal(engine.nhosts, 1);
	is_host(0, NULL, NULL, NULL);
	postgres_hosts_fini(&engine);
}

static void one_host(void **state)
{
	(void)state;
	init("host=pg1 dbname=procession");
	assert_int_equal(engine.nhosts, 1);
	is_host(0, "pg1", NULL, NULL);
	postgres_hosts_fini(&engine);
	init("postgresql://procession@pg1:5433/procession");
	assert_int_equal(engine.nhosts, 1);
	is_host(0, "pg1", NULL, "5433");
	postgres_hosts_fini(&engine);
}

static void several_hosts_with_a_port_for_all(void **state)
{
	(void)state;
	init("host=pg1,pg2,pg3 port=5433");
	assert_int_equal(engine.nhosts, 3);
	is_host(0, "pg1", NULL, "5433");
	is_host(1, "pg2", NULL, "5433");
	is_host(2, "pg3", NULL, "5433");
	postgres_hosts_fini(&engine);
}

static void several_hosts_with_ports_of_their_own(void **state)
{
	(void)state;
	init("host=pg1,pg2,pg3 port=1,,3");
	is_host(0, "pg1", NULL, "1");
	is_host(1, "pg2", NULL, NULL);
	is_host(2, "pg3", NULL, "3");
	postgres_hosts_fini(&engine);
	init("postgresql://pg1:1,pg2:2/procession");
	assert_int_equal(engine.nhosts, 2);
	is_host(0, "pg1", NULL, "1");
	is_host(1, "pg2", NULL, "2");
	postgres_hosts_fini(&engine);
}

/* A name for the certificate, an address to go to. */
static void addresses_count_where_there_are_any(void **state)
{
	(void)state;
	init("host=pg1,pg2 hostaddr=10.0.0.1,10.0.0.2");
	assert_int_equal(engine.nhosts, 2);
	is_host(0, "pg1", "10.0.0.1", NULL);
	is_host(1, "pg2", "10.0.0.2", NULL);
	postgres_hosts_fini(&engine);
	init("hostaddr=10.0.0.1,10.0.0.2,10.0.0.3");
	assert_int_equal(engine.nhosts, 3);
	is_host(2, NULL, "10.0.0.3", NULL);
	postgres_hosts_fini(&engine);
}

/* The seventeenth would never be asked, and might be the primary. */
static void more_hosts_than_are_asked_are_refused(void **state)
{
	char text[400] = "host=h0";
	struct err err;

	(void)state;
	for (int i = 1; i < PG_HOSTS_MAX; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",h%d", i);
	init(text);
	assert_int_equal(engine.nhosts, PG_HOSTS_MAX);
	is_host(PG_HOSTS_MAX - 1, "h15", NULL, NULL);
	postgres_hosts_fini(&engine);
	snprintf(text + strlen(text), sizeof(text) - strlen(text), ",h%d", PG_HOSTS_MAX);
	memset(&engine, 0, sizeof(engine));
	engine.conninfo = text;
	assert_int_equal(postgres_hosts_init(&engine, &err), -1);
	assert_int_equal(err.number, 50021);
	assert_non_null(strstr(err.text, "17 hosts"));
	postgres_hosts_fini(&engine);
}

static void how_long_a_connection_may_take(void **state)
{
	static const struct {
		const char *conninfo;
		int ms;
	} cases[] = { { "host=pg1", 3000 },
		      { "host=pg1 connect_timeout=7", 7000 },
		      { "host=pg1 connect_timeout=0", 3000 },
		      { "host=pg1 connect_timeout=-1", 3000 },
		      { "host=pg1 connect_timeout=999999", 3000 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		init(cases[i].conninfo);
		assert_int_equal(engine.connect_ms, cases[i].ms);
		postgres_hosts_fini(&engine);
	}
}

/* ---- connecting ---- */

static int listening(int *ret_port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 8) == 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*ret_port = ntohs(a.sin_port);
	return fd;
}

static char *option(PGconn *h, const char *keyword)
{
	static char value[100];
	PQconninfoOption *all = PQconninfo(h);

	value[0] = '\0';
	for (const PQconninfoOption *o = all; o->keyword != NULL; o++) {
		if (strcmp(o->keyword, keyword) == 0 && o->val != NULL)
			snprintf(value, sizeof(value), "%s", o->val);
	}
	PQconninfoFree(all);
	return value;
}

/* What was told is of the host, whatever else CONNINFO names. */
static void begins_at_one_of_them(void **state)
{
	char text[100];
	PGconn *h;
	int port, fd = listening(&port);

	(void)state;
	snprintf(text, sizeof(text), "host=127.0.0.1,127.0.0.2 port=%d,1 application_name=mine", port);
	init(text);
	h = postgres_host_begin(&engine, 0, "procession test");
	assert_int_not_equal(PQstatus(h), CONNECTION_BAD);
	assert_string_equal(option(h, "application_name"), "procession test");
	assert_string_equal(PQhost(h), "127.0.0.1");
	PQfinish(h);
	h = postgres_host_begin(&engine, 1, "procession test");
	assert_string_equal(PQhost(h), "127.0.0.2");
	assert_string_equal(PQport(h), "1");
	PQfinish(h);
	postgres_hosts_fini(&engine);
	close(fd);
}

static void is_begun_at(int which, const char *host, const char *port)
{
	PGconn *h = postgres_host_begin(&engine, which, "procession test");

	assert_null(strstr(PQerrorMessage(h), "match")); /* numbers of hosts, addresses, ports */
	same(PQhost(h), host);
	same(PQport(h), port);
	PQfinish(h);
}

/* An empty place in a list is the default of libpq, for that host. */
static void lists_may_have_empty_places(void **state)
{
	(void)state;
	init("host=127.0.0.1,127.0.0.2 port=1,");
	is_begun_at(0, "127.0.0.1", "1");
	is_begun_at(1, "127.0.0.2", "5432");
	postgres_hosts_fini(&engine);
	init("host=name.invalid,127.0.0.2 hostaddr=127.0.0.1, port=1");
	is_begun_at(0, "name.invalid", "1");
	is_begun_at(1, "127.0.0.2", "1");
	postgres_hosts_fini(&engine);
	init("postgresql://127.0.0.1,127.0.0.2:2/procession?sslmode=disable");
	is_begun_at(0, "127.0.0.1", "5432");
	is_begun_at(1, "127.0.0.2", "2");
	postgres_hosts_fini(&engine);
}

static void who_takes_the_connection_and_says_nothing_is_left(void **state)
{
	char text[100];
	atomic_bool stop = false;
	int port, fd = listening(&port);
	int64_t began_ms;

	(void)state;
	snprintf(text, sizeof(text), "host=127.0.0.1 port=%d sslmode=disable connect_timeout=1", port);
	init(text);
	began_ms = clock_mono_ms();
	assert_null(postgres_host_connect(&engine, 0, "procession test", &stop, 0));
	assert_true(clock_mono_ms() - began_ms >= 1000);
	/* nor is it waited for when it is time to stop, or when another host is the primary */
	engine.connect_ms = 600000;
	assert_null(postgres_host_connect(&engine, 0, "procession test", &stop, 1));
	stop = true;
	assert_null(postgres_host_connect(&engine, 0, "procession test", &stop, 0));
	postgres_hosts_fini(&engine);
	close(fd);
}

static void who_refuses_the_connection_says_why(void **state)
{
	char text[100], why[200];
	atomic_bool stop = false;
	int port, fd = listening(&port);
	PGconn *h;

	(void)state;
	close(fd);
	snprintf(text, sizeof(text), "host=127.0.0.1 port=%d", port);
	init(text);
	h = postgres_host_connect(&engine, 0, "procession test", &stop, 0);
	assert_non_null(h);
	assert_int_equal(PQstatus(h), CONNECTION_BAD);
	postgres_conn_why(h, why, sizeof(why));
	assert_non_null(strstr(why, "refused"));
	assert_null(strchr(why, '\n'));
	PQfinish(h);
	postgres_hosts_fini(&engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_host_libpq_finds_it),
		cmocka_unit_test(one_host),
		cmocka_unit_test(several_hosts_with_a_port_for_all),
		cmocka_unit_test(several_hosts_with_ports_of_their_own),
		cmocka_unit_test(addresses_count_where_there_are_any),
		cmocka_unit_test(more_hosts_than_are_asked_are_refused),
		cmocka_unit_test(how_long_a_connection_may_take),
		cmocka_unit_test(begins_at_one_of_them),
		cmocka_unit_test(lists_may_have_empty_places),
		cmocka_unit_test(who_takes_the_connection_and_says_nothing_is_left),
		cmocka_unit_test(who_refuses_the_connection_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
