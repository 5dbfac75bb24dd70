/* test_colmeta_cache.c — COLMETADATA that was made once is what would be made each time, for
 * every result set and every version that gets it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "catalogue/proc.h"
#include "session/colmeta_cache.h"
#include "tds/out.h"

static struct colmeta_cache colmeta;

static int up(void **state)
{
	struct err e;

	(void)state;
	return session_colmeta_cache_make(&colmeta, &e);
}

static int down(void **state)
{
	(void)state;
	session_colmeta_cache_fini(&colmeta);
	return 0;
}

static void assert_as_made_anew(const struct step *st, enum tds_version v)
{
	struct str found = session_colmeta_cache_find(&colmeta, st->columns, v);
	struct tds_out o;

	tds_out_init(&o, TDS_PACKET_MAX);
	o.packet_size = TDS_PACKET_MAX;
	o.version = v;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_colmetadata(&o, st->columns, st->ncolumns);
	tds_out_end(&o);
	assert_false(o.wire.bytes.failed);
	assert_int_equal(found.n, o.wire.bytes.len - TDS_HEADER_LEN);
	assert_memory_equal(found.p, o.wire.bytes.data + TDS_HEADER_LEN, found.n);
	tds_out_fini(&o);
}

static void every_result_set_has_the_metadata_that_would_be_made(void **state)
{
	size_t n = 0;

	(void)state;
	for (int s = 0; s < SERVICE_COUNT; s++)
		for (size_t i = 0; i < catalogue_service_procs[s].nprocs; i++)
			for (size_t k = 0; k < catalogue_service_procs[s].procs[i].nsteps; k++) {
				const struct step *st = &catalogue_service_procs[s].procs[i].steps[k];

				if (st->kind != STEP_ROWS)
					continue;
				n++;
				for (enum tds_version v = TDS_73A; v <= TDS_80; v++)
					assert_as_made_anew(st, v);
			}
	assert_true(n > 20);
}

static void old_versions_have_none(void **state)
{
	const struct step *st = NULL;

	(void)state;
	for (size_t k = 0; st == NULL; k++)
		if (catalogue_service_procs[SERVICE_SCHEDULE].procs[1].steps[k].kind == STEP_ROWS)
			st = &catalogue_service_procs[SERVICE_SCHEDULE].procs[1].steps[k];
	assert_true(session_colmeta_cache_find(&colmeta, st->columns, TDS_74).n > 0);
	for (enum tds_version v = TDS_70; v <= TDS_72; v++)
		assert_int_equal(session_colmeta_cache_find(&colmeta, st->columns, v).n, 0);
}

static void other_columns_have_none(void **state)
{
	static const struct column columns[] = { { "a", { TYPE_INT, 0, 0, 0 }, false } };

	(void)state;
	assert_int_equal(session_colmeta_cache_find(&colmeta, columns, TDS_74).n, 0);
	assert_int_equal(session_colmeta_cache_find(&colmeta, NULL, TDS_74).n, 0);
	assert_int_equal(session_colmeta_cache_find(&(struct colmeta_cache){ .n = 0 }, columns, TDS_74).n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_result_set_has_the_metadata_that_would_be_made),
		cmocka_unit_test(old_versions_have_none),
		cmocka_unit_test(other_columns_have_none),
	};

	return cmocka_run_group_tests(tests, up, down);
}
