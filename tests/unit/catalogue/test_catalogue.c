/* test_catalogue.c — finding procedures and views, and what must hold for every generated table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "catalogue/catalogue.h"
#include "catalogue/meta.h"

static void procedures_are_found_without_case(void **state)
{
	const struct proc *p = catalogue_find(SERVICE_STATE, STR("DBO"), STR("PROC_additem"));

	(void)state;
	assert_non_null(p);
	assert_string_equal(p->name, "proc_AddItem");
	assert_ptr_equal(p, catalogue_find(SERVICE_STATE, STR(""), STR("proc_AddItem")));
	assert_null(catalogue_find(SERVICE_STATE, STR("sys"), STR("proc_AddItem")));
	assert_null(catalogue_find(SERVICE_STATE, STR("other"), STR("proc_AddItem")));
	assert_null(catalogue_find(SERVICE_STATE, STR(""), STR("proc_AddIte")));
	assert_null(catalogue_find(SERVICE_STATE, STR(""), STR("proc_AddItems")));
	assert_null(catalogue_find(SERVICE_STATE, STR(""), STR("")));
	assert_null(catalogue_find(SERVICE_SYSTEM, STR(""), STR("proc_AddItem")));
}

static void system_procedures_are_found_from_everywhere(void **state)
{
	(void)state;
	for (int s = 0; s < SERVICE_COUNT; s++) {
		const struct proc *p = catalogue_find((enum service)s, STR("sys"), STR("sp_help"));

		assert_non_null(p);
		assert_ptr_equal(p, catalogue_find((enum service)s, STR(""), STR("SP_HELP")));
		assert_ptr_equal(p, catalogue_find((enum service)s, STR("dbo"), STR("sp_help")));
		assert_int_equal(p->service, SERVICE_SYSTEM);
	}
}

static void views_are_found_by_schema(void **state)
{
	const struct view *v = catalogue_find_view(SERVICE_STATE, STR(""), STR("items"));

	(void)state;
	assert_non_null(v);
	assert_string_equal(v->store_name, "view_Items");
	assert_non_null(catalogue_find_view(SERVICE_STATE, STR("SYS"), STR("Procedures")));
	assert_non_null(catalogue_find_view(SERVICE_STATE, STR("information_schema"), STR("parameters")));
	assert_non_null(catalogue_find_view(SERVICE_SYSTEM, STR(""), STR("sysdatabases")));
	assert_null(catalogue_find_view(SERVICE_STATE, STR(""), STR("procedures")));
	assert_null(catalogue_find_view(SERVICE_SYSTEM, STR(""), STR("items")));
}

static void services_have_names(void **state)
{
	enum service s = SERVICE_COUNT;

	(void)state;
	assert_string_equal(catalogue_service_name(SERVICE_STATE), "state");
	assert_true(catalogue_service_by_name(STR("Schedule"), &s));
	assert_int_equal(s, SERVICE_SCHEDULE);
	assert_false(catalogue_service_by_name(STR("mail"), &s));
}

static void check_binds(const struct proc *p, const struct bind *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_in_range(b[i].source, BIND_PARAM, BIND_DATABASE);
		if (b[i].source == BIND_PARAM)
			assert_true(b[i].index < p->nparams + p->nlocals);
	}
}

static bool check_step(const struct proc *p, const struct step *s, size_t nstatements)
{
	bool needs_sql = s->kind == STEP_RUN || s->kind == STEP_SET || s->kind == STEP_ROWS ||
			 s->kind == STEP_EACH;

	assert_true(!needs_sql || s->stmt != NULL);
	assert_true((s->kind != STEP_NATIVE && s->kind != STEP_EACH) || s->native != NULL);
	assert_true((s->kind == STEP_ROWS) == (s->ncolumns > 0));
	assert_true(s->kind != STEP_IF || s->jump <= p->nsteps);
	assert_true(s->kind != STEP_CHECK || (s->number > 0 && s->text != NULL));
	check_binds(p, s->args, s->nargs);
	for (size_t i = 0; i < s->ntargets; i++)
		assert_true(s->targets[i] < p->nparams + p->nlocals);
	if (s->stmt == NULL)
		return s->kind == STEP_NATIVE;
	assert_true(s->stmt->id < nstatements);
	check_binds(p, s->stmt->binds, s->stmt->nbinds);
	return s->stmt->writes;
}

static void check_proc(const struct service_procs *sp, const struct proc *p)
{
	bool writes = false;
	size_t results = 0;

	assert_true(p->section[0] != '\0' && p->summary[0] != '\0' &&
		    strncmp(p->source, "PROCEDURE ", 10) == 0);
	for (size_t i = 0; i < p->nparams; i++)
		assert_int_equal(p->params[i].name[0], '@');
	for (size_t i = 0; i < p->nsteps; i++) {
		writes = check_step(p, &p->steps[i], sp->nstatements) || writes;
		results += p->steps[i].kind == STEP_ROWS;
	}
	assert_int_equal(writes, !p->read_only);
	assert_int_equal(results, p->nresults);
}

static void the_tables_hold_together(void **state)
{
	(void)state;
	for (int s = 0; s < SERVICE_COUNT; s++) {
		const struct service_procs *sp = &catalogue_service_procs[s];

		assert_non_null(sp->views_sql);
		for (size_t i = 0; i < sp->nprocs; i++) {
			check_proc(sp, &sp->procs[i]);
			assert_int_equal(sp->procs[i].service, s);
			if (i > 0)
				assert_true(str_cmp_nocase(str_of(sp->procs[i - 1].name),
							   str_of(sp->procs[i].name)) < 0);
			assert_ptr_equal(catalogue_find((enum service)s, STR(""), str_of(sp->procs[i].name)),
					 &sp->procs[i]);
		}
	}
}

static void the_metadata_ends_with_its_hash(void **state)
{
	(void)state;
	assert_int_equal(strlen(catalogue_meta_hash), 32);
	assert_non_null(strstr(catalogue_meta_sql, catalogue_meta_hash));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(procedures_are_found_without_case),
		cmocka_unit_test(system_procedures_are_found_from_everywhere),
		cmocka_unit_test(views_are_found_by_schema),
		cmocka_unit_test(services_have_names),
		cmocka_unit_test(the_tables_hold_together),
		cmocka_unit_test(the_metadata_ends_with_its_hash),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
