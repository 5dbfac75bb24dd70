/* What is long is given up without a trace and done again elsewhere; names cost the same however
 * many there are; results have a bound. */
#include "batch.h"

static bool never(void *arg)
{
	++*(unsigned *)arg;
	return false;
}

/* A statement needs more than a slice: tsql_next leaves it, tsql_next_long does it, and nothing
 * is done or sent twice. */
static void long_statements_move(void **state)
{
	static const char text[] =
		"declare @s varchar(max) = replicate(cast('a' as varchar(max)), 400000), @n int = 0;"
		"select @n = @n + 1, @s = reverse(@s), @n = @n + 1, @s = @s + @s, @n += len(@s);"
		"select @n as n union all select len(reverse(@s)); print @n; if @s like '%b%' print 'never' "
		"else print 'done'; return 5";
	struct host h;

	(void)state;
	host_init(&h);
	assert_string_equal(host_run(&h, text),
			    "done C1 1\ndone C1 1\ndone C1 1\ncols n:int\nrow 800002\nrow 800000\ndone C1 "
			    "2\ninfo 0/0/1 L1 800002\ndone F7\n"
			    "done C0\ninfo 0/0/1 L1 done\ndone F7\ndone C1 1\nend\nreturned 5");
	host_fini(&h);
}

/* The same batch with a meter that gives up at every possible place, and is then given more:
 * always the same lines. */
static void given_up_anywhere(void **state)
{
	static const char text[] = "declare @s varchar(max) = 'abc', @n int = 0; select @n = @n + 1, @s = @s "
				   "+ 'd', @n += len(@s), @s = replace(@s, 'b', 'xyz');"
				   "select @n, @s union all select 2, left(@s, 2); if @s like '%z%d' print "
				   "'yes'; return len(@s)";
	struct tsql_program *p;
	char expected[400] = "";
	struct tsql_run r;
	struct err e;
	struct host h;

	(void)state;
	for (uint64_t steps = 5000; steps > 0; steps -= 1 + steps / 40) {
		enum tsql_wants w;
		uint64_t most = steps;

		host_init(&h);
		assert_int_equal(tsql_compile(STR(text), &h.vars, NULL, 0, NULL, &h.arena, &p, &e), 0);
		assert_int_equal(tsql_run_start(p, &h.host, NULL, 0, &h.arena, &r, &e), 0);
		do {
			struct meter m = { .left = most };

			w = tsql_next_long(&r, &m);
			most += m.gave_up; /* a little more each time, so that every place is met */
		} while (w == TSQL_YIELD);
		assert_int_equal(w, TSQL_ENDED);
		assert_int_equal(r.return_value, 6);
		buf_put_u8(&h.out, 0);
		if (expected[0] == '\0')
			snprintf(expected, sizeof(expected), "%s", (char *)h.out.data);
		assert_string_equal((char *)h.out.data, expected);
		tsql_run_end(&r);
		host_fini(&h);
	}
}

/* The meter is asked now and then, and its yes ends the statement, not the run. */
static void a_meter_is_asked(void **state)
{
	unsigned asked = 0;
	struct meter m = { .left = 1, .stop = never, .arg = &asked };
	struct tsql_program *p;
	struct tsql_run r;
	struct err e;
	struct host h;

	(void)state;
	host_init(&h);
	assert_int_equal(tsql_compile(STR("declare @s varchar(max) = replicate(cast('a' as varchar(max)), "
					  "3000000) print len(reverse(upper(@s)))"),
				      &h.vars, NULL, 0, NULL, &h.arena, &p, &e),
			 0);
	assert_int_equal(tsql_run_start(p, &h.host, NULL, 0, &h.arena, &r, &e), 0);
	while (tsql_next_long(&r, &m) == TSQL_YIELD)
		;
	assert_in_range(asked, 4, 100);
	tsql_run_end(&r);
	host_fini(&h);
}

/* Steps of a compilation grow with the text, also when every name is new. */
static void compiling_is_linear(void **state)
{
	uint64_t spent[2] = { 0 };

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		size_t n = k == 0 ? 2000 : 20000;
		struct meter m = { .left = UINT64_MAX };
		struct tsql_program *p;
		struct err e;
		struct host h;
		struct buf b;

		host_init(&h);
		buf_init(&b, 4 << 20);
		for (size_t i = 0; i < n; i++)
			buf_printf(&b, "declare @Variable%06zu int set @vaRIABLE%06zu = 1 ", i, i / 2);
		assert_int_equal(tsql_compile((struct str){ (char *)b.data, b.len }, &h.vars, NULL, 0, &m,
					      &h.arena, &p, &e),
				 0);
		spent[k] = UINT64_MAX - m.left;
		buf_fini(&b);
		host_fini(&h);
	}
	assert_true(spent[1] < 20 * spent[0]);
}

static void a_compilation_can_be_given_up(void **state)
{
	struct meter m = { .left = 100 };
	struct tsql_program *p;
	struct err e;
	struct host h;

	(void)state;
	host_init(&h);
	assert_int_equal(tsql_compile(STR("declare @a int, @b int, @c int, @d int, @e int, @f int, @g int "
					  "select 1, 2, 3, 4"),
				      &h.vars, NULL, 0, &m, &h.arena, &p, &e),
			 -1);
	assert_true(m.gave_up);
	host_fini(&h);
}

static void results_are_bounded(void **state)
{
	static const char *const texts[] = {
		"print replicate(cast('a' as varchar(max)), 2147483647)",
		"print replicate(cast('ab' as varchar(max)), 501)",
		"print replace(cast('aaaaa' as varchar(max)), 'a', replicate('b', 201))",
		"print replicate('a', 600) + replicate('a', 600)",
		"print concat(replicate('a', 600), replicate('a', 600))",
		"print stuff(replicate('a', 600), 3, 1, replicate('a', 600))",
		"declare @s varchar(max) = replicate('a', 600) set @s += @s",
		"declare @s varchar(max) = replicate('a', 600) select @s += @s",
		"print convert(varchar(max), cast(replicate('a', 600) as varbinary(max)), 1)",
	};
	struct host h;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		host_init(&h);
		h.host.max_value = 1000;
		if (strstr(host_run(&h, texts[i]), "error 50005/16/1") == NULL)
			fail_msg("%s: %s", texts[i], (char *)h.out.data);
		assert_true(h.arena.used < 1 << 20);
		host_fini(&h);
	}
	host_init(&h);
	assert_string_equal(host_run(&h, "select len(replicate('a', 2147483647)), len(replicate(n'a', "
					 "2147483647)), len(space(2147483647) + 'b')"),
			    "cols :int, :int, :int\nrow 8000|4000|0\ndone C1 1\nend");
	host_fini(&h);
}

static void parameters_are_bounded(void **state)
{
	struct tsql_declared *d;
	struct err e;
	struct host h;
	struct buf b;
	size_t n;

	(void)state;
	host_init(&h);
	buf_init(&b, 1 << 20);
	buf_printf(&b, "exec p 1");
	for (int i = 0; i < 2100; i++)
		buf_printf(&b, ", 1");
	buf_put_u8(&b, 0);
	assert_non_null(strstr(host_run(&h, (char *)b.data), "compile 180/15/1"));
	buf_reset(&b, 0);
	for (int i = 0; i < 2101; i++)
		buf_printf(&b, "%s@p%d int", i == 0 ? "" : ", ", i);
	assert_int_equal(tsql_parse_declarations((struct str){ (char *)b.data, b.len }, &h.arena, &d, &n, &e),
			 -1);
	assert_int_equal(e.number, 8003);
	buf_fini(&b);
	host_fini(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_statements_move),
		cmocka_unit_test(given_up_anywhere),
		cmocka_unit_test(a_meter_is_asked),
		cmocka_unit_test(compiling_is_linear),
		cmocka_unit_test(a_compilation_can_be_given_up),
		cmocka_unit_test(results_are_bounded),
		cmocka_unit_test(parameters_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
