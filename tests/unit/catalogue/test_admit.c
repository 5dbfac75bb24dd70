/* test_admit.c — the gate: every fault, and which of two faults is reported (errata,
 * clarifications 2, 3, 8, 9). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "catalogue/catalogue.h"

static struct arena arena;
static struct call call;
static struct err err;
static int *origin;

static const struct param params[] = {
	{ .name = "@id", .type = { TYPE_VARCHAR, 0, 0, 4 }, .null_rule = NULL_ERROR },
	{ .name = "@n",
	  .type = { TYPE_SMALLINT, 0, 0, 0 },
	  .min = 1,
	  .max = 9,
	  .range_error = 50003,
	  .range_text = "1 to 9" },
	{ .name = "@flag", .type = { TYPE_BIT, 0, 0, 0 }, .has_default = true, .default_int = 1 },
	{ .name = "@more",
	  .type = { TYPE_INT, 0, 0, 0 },
	  .has_default = true,
	  .default_is_null = true,
	  .min = 0,
	  .max = INT32_MAX,
	  .range_error = 127,
	  .range_text = "not negative",
	  .range_severity = 15 },
	{ .name = "@out",
	  .type = { TYPE_INT, 0, 0, 0 },
	  .output = true,
	  .has_default = true,
	  .default_is_null = true },
};
static const struct param locals[] = { { .name = "@x", .type = { TYPE_BIGINT, 0, 0, 0 } } };
static const struct proc proc = { .name = "proc_Test",
				  .needs = RIGHT_EXECUTE,
				  .params = params,
				  .nparams = 5,
				  .locals = locals,
				  .nlocals = 1 };
static const struct proc bare = { .name = "proc_Bare", .needs = RIGHT_EXECUTE };
static const struct param required_out[] = {
	{ .name = "@out", .type = { TYPE_INT, 0, 0, 0 }, .output = true }
};
static const struct proc outputs = { .name = "proc_Out", .params = required_out, .nparams = 1 };

static int setup(void **state)
{
	(void)state;
	arena_init(&arena, 1 << 20);
	memset(&call, 0, sizeof(call));
	call.proc = &proc;
	call.arena = &arena;
	call.rights = RIGHT_EXECUTE;
	call.database = "db";
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_fini(&arena);
	return 0;
}

static struct argument text(const char *name, const char *s)
{
	return (struct argument){ .name = str_of(name), .value = value_varchar(s) };
}

static struct argument number(const char *name, int64_t i)
{
	return (struct argument){ .name = str_of(name), .value = value_int(TYPE_INT, i) };
}

static struct argument null(const char *name)
{
	return (struct argument){ .name = str_of(name), .value = value_null(TYPE_OF(TYPE_INT)) };
}

static struct argument by_default(const char *name)
{
	return (struct argument){ .name = str_of(name),
				  .value = value_null(TYPE_OF(TYPE_INT)),
				  .is_default = true };
}

static struct argument wanted(struct argument a)
{
	a.is_output = true;
	return a;
}

#define ADMIT(...) \
	catalogue_admit(&call, (const struct argument[]){ __VA_ARGS__ }, \
			sizeof((const struct argument[]){ __VA_ARGS__ }) / sizeof(struct argument), true, \
			&origin, &err)
#define REFUSED(wanted_number, ...) \
	do { \
		err_clear(&err); \
		assert_int_equal(ADMIT(__VA_ARGS__), -1); \
		assert_int_equal(err.number, (wanted_number)); \
	} while (0)

static void binds_by_position_and_name(void **state)
{
	(void)state;
	assert_int_equal(ADMIT(text("", "k"), number("@MORE", 7), number("@N", 3)), 0);
	assert_int_equal(call.nvalues, 6);
	assert_memory_equal(call.values[0].u.s.p, "k", 1);
	assert_int_equal(call.values[1].u.i, 3);
	assert_int_equal(call.values[1].type.id, TYPE_SMALLINT);
	assert_int_equal(call.values[2].u.i, 1);
	assert_false(call.values[2].null);
	assert_int_equal(call.values[3].u.i, 7);
	assert_true(call.values[4].null);
	assert_true(call.values[5].null);
	assert_int_equal(call.values[5].type.id, TYPE_BIGINT);
	assert_int_equal(origin[0], 0);
	assert_int_equal(origin[1], 2);
	assert_int_equal(origin[2], -1);
	assert_int_equal(origin[3], 1);
	assert_false(call.wanted[4]);
}

static void outputs_are_wanted_but_never_looked_at(void **state)
{
	(void)state;
	assert_int_equal(ADMIT(text("", "k"), number("", 1), wanted(text("@out", "not a number"))), 0);
	assert_true(call.values[4].null);
	assert_int_equal(call.values[4].type.id, TYPE_INT);
	assert_true(call.wanted[4]);
	assert_int_equal(origin[4], 2);
}

static void defaults_are_taken_for_the_default_flag(void **state)
{
	(void)state;
	assert_int_equal(ADMIT(text("", "k"), number("", 1), by_default(""), by_default("@more")), 0);
	assert_int_equal(call.values[2].u.i, 1);
	assert_true(call.values[3].null);
	REFUSED(201, by_default("@id"), number("@n", 1));
	call.proc = &outputs;
	REFUSED(201, wanted(by_default("@out")));
	assert_int_equal(catalogue_admit(&call, NULL, 0, true, &origin, &err), -1);
	assert_int_equal(err.number, 201);
}

static void every_fault_has_its_number(void **state)
{
	(void)state;
	REFUSED(8144, text("", "k"), number("", 1), number("", 1), number("", 1), number("", 1),
		number("", 1));
	REFUSED(8145, text("", "k"), number("", 1), number("@zz", 1));
	assert_string_equal(err.text, "@zz is not a parameter for procedure proc_Test.");
	assert_string_equal(err.proc, "proc_Test");
	REFUSED(8143, text("", "k"), number("", 1), text("@ID", "k"));
	assert_string_equal(err.text, "Parameter '@id' was supplied multiple times.");
	REFUSED(201, text("", "k"));
	assert_string_equal(
		err.text,
		"Procedure or function 'proc_Test' expects parameter '@n', which was not supplied.");
	REFUSED(8162, wanted(text("", "k")), number("", 1));
	REFUSED(8114, text("", "k"), text("", "abc"));
	assert_int_equal(err.state, 1);
	REFUSED(8114, text("", "k"), number("", 70000));
	REFUSED(8152, text("", "12345"), number("", 1));
	REFUSED(515, null(""), number("", 1));
	REFUSED(50003, text("", "k"), number("", 10));
	assert_string_equal(err.text, "1 to 9");
	assert_int_equal(err.severity, 16);
	REFUSED(50003, text("", "k"), number("", 0));
	REFUSED(127, text("", "k"), number("", 1), number("@more", -1));
	assert_int_equal(err.severity, 15);
	assert_int_equal(ADMIT(text("", "k"), null("")), 0);
}

static void state_of_8114_tells_rpc_from_batch(void **state)
{
	struct argument args[] = { text("", "k"), text("", "abc") };

	(void)state;
	assert_int_equal(catalogue_admit(&call, args, 2, false, &origin, &err), -1);
	assert_int_equal(err.number, 8114);
	assert_int_equal(err.state, 5);
}

static void no_parameters_is_8146(void **state)
{
	(void)state;
	call.proc = &bare;
	REFUSED(8146, number("", 1));
	assert_int_equal(catalogue_admit(&call, NULL, 0, true, &origin, &err), 0);
	assert_int_equal(call.nvalues, 0);
	assert_non_null(call.values);
}

static void rights_come_first(void **state)
{
	(void)state;
	call.rights = RIGHT_SELECT;
	REFUSED(229, number("@zz", 1), number("@zz", 1));
	assert_int_equal(err.severity, 14);
	assert_string_equal(
		err.text,
		"The EXECUTE permission was denied on the object 'proc_Test', database 'db', schema 'dbo'.");
	call.rights = 0;
	call.proc = &outputs;
	assert_int_equal(ADMIT(wanted(number("", 1))), 0);
}

/* Each line holds a fault and the next one in order: the first is reported. */
static void the_first_fault_in_order_is_reported(void **state)
{
	(void)state;
	REFUSED(8144, number("@a", 1), number("@b", 1), number("@c", 1), number("@d", 1), number("@e", 1),
		number("@f", 1));
	REFUSED(8145, text("@id", "k"), text("@id", "k"), number("@zz", 1));
	REFUSED(8143, text("@id", "k"), text("@id", "k"));
	REFUSED(201, wanted(text("@id", "k")), text("@more", "abc"));
	REFUSED(8162, text("", "12345"), wanted(number("", 70000)));
	REFUSED(8152, text("", "12345"), text("", "abc"));
	REFUSED(8114, null(""), text("", "abc"));
	REFUSED(515, null(""), number("", 10));
}

static void memory_that_runs_out_is_an_error(void **state)
{
	struct arena small;
	struct argument args[] = { text("", "k"), number("", 1) };

	(void)state;
	arena_init(&small, 1);
	call.arena = &small;
	assert_int_equal(catalogue_admit(&call, args, 2, true, &origin, &err), -1);
	assert_int_equal(err.number, 701);
	arena_fini(&small);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(binds_by_position_and_name),
		TEST(outputs_are_wanted_but_never_looked_at),
		TEST(defaults_are_taken_for_the_default_flag),
		TEST(every_fault_has_its_number),
		TEST(state_of_8114_tells_rpc_from_batch),
		TEST(no_parameters_is_8146),
		TEST(rights_come_first),
		TEST(the_first_fault_in_order_is_reported),
		TEST(memory_that_runs_out_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
