/* test_files.c — where documents are, and that nothing outside of the roots is reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include "document/behaviour.h"
#include "document/document_int.h"
#include "document/places.h"

struct fixture {
	char base[64];
	struct document_places *p;
};

static void shell(const char *fmt, const char *base)
{
	char command[512];

	snprintf(command, sizeof(command), fmt, base);
	assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct document_limits limits = { .max_bytes = 100, .seconds = 5 };
	char root[128];

	strncpy(f->base, "/tmp/procession-files-XXXXXX", sizeof(f->base) - 1);
	assert_non_null(mkdtemp(f->base));
	shell("cd %s && mkdir -p root/sub other && echo in > root/a.txt && echo secret > other/b.txt && "
	      "ln -s ../other/b.txt root/out.txt && ln -s ../other root/outdir && ln -s a.txt "
	      "root/inside.txt && "
	      "mkfifo root/pipe && head -c 101 /dev/zero > root/large",
	      f->base);
	assert_int_equal(document_places_new(&limits, &f->p, NULL), 0);
	snprintf(root, sizeof(root), "%s/root", f->base);
	assert_int_equal(document_places_add_root(f->p, root, NULL), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	document_places_free(f->p);
	shell("rm -rf %s", f->base);
	free(f);
	return 0;
}

static struct document_location at(const struct fixture *f, const char *name)
{
	struct document_location l;
	char text[DOCUMENT_TEXT_MAX], root[128];

	snprintf(root, sizeof(root), "%s/root", f->base);
	assert_int_equal(document_locate(root, name, &l, text), DOCUMENT_OK);
	return l;
}

static int open_input(struct fixture *f, const char *name)
{
	struct document_location l = at(f, name);
	char text[DOCUMENT_TEXT_MAX];
	int fd = -1, error = document_input_open(f->p, &l, &fd, text);

	if (fd >= 0)
		close(fd);
	document_location_fini(&l);
	return error;
}

static void no_way_leads_out_of_a_root(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(open_input(f, "a.txt"), DOCUMENT_OK);
	assert_int_equal(open_input(f, "sub/../a.txt"), DOCUMENT_OK);
	assert_int_equal(open_input(f, "inside.txt"), DOCUMENT_OK);
	assert_int_equal(open_input(f, "../other/b.txt"), DOCUMENT_OUTSIDE_ROOTS);
	assert_int_equal(open_input(f, "out.txt"), DOCUMENT_OUTSIDE_ROOTS);
	assert_int_equal(open_input(f, "outdir/b.txt"), DOCUMENT_OUTSIDE_ROOTS);
	assert_int_equal(open_input(f, "none.txt"), DOCUMENT_INPUT_NOT_FOUND);
	assert_int_equal(open_input(f, "pipe"), DOCUMENT_INPUT_UNSUPPORTED);
	assert_int_equal(open_input(f, "sub"), DOCUMENT_INPUT_UNSUPPORTED);
	assert_int_equal(open_input(f, "large"), DOCUMENT_INPUT_TOO_LARGE);
}

static int write_output(struct fixture *f, const char *name, bool replace, bool commit, const char *word)
{
	struct document_location l = at(f, name);
	struct document_output *o = NULL;
	char text[DOCUMENT_TEXT_MAX];
	int error = document_output_open(f->p, &l, &(struct document_claim){ .tag = "c-1-1-1" }, replace, &o,
					 text);

	if (error == DOCUMENT_OK) {
		assert_int_equal(write(document_output_fd(o), word, strlen(word)), strlen(word));
		if (commit)
			error = document_output_commit(o, text);
	}
	document_output_close(o);
	document_location_fini(&l);
	return error;
}

/* The content of a file of the root, or NULL. */
static char *content(struct fixture *f, const char *name)
{
	static char data[200];
	char path[256];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "%s/root/%s", f->base, name);
	file = fopen(path, "re");
	if (file == NULL)
		return NULL;
	n = fread(data, 1, sizeof(data) - 1, file);
	data[n] = '\0';
	fclose(file);
	return data;
}

static void an_output_is_whole_or_not_there(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(write_output(f, "new/deep/x.pdf", false, false, "half"), DOCUMENT_OK);
	assert_null(content(f, "new/deep/x.pdf"));
	assert_null(content(f, "new/deep/.procession-c-1-1-1.part"));
	assert_int_equal(write_output(f, "new/deep/x.pdf", false, true, "whole"), DOCUMENT_OK);
	assert_string_equal(content(f, "new/deep/x.pdf"), "whole");
	assert_null(content(f, "new/deep/.procession-c-1-1-1.part"));
	assert_int_equal(write_output(f, "new/deep/x.pdf", false, true, "again"), DOCUMENT_OUTPUT_EXISTS);
	assert_string_equal(content(f, "new/deep/x.pdf"), "whole");
	assert_int_equal(write_output(f, "new/deep/x.pdf", true, true, "again"), DOCUMENT_OK);
	assert_string_equal(content(f, "new/deep/x.pdf"), "again");
	assert_int_equal(write_output(f, "sub", true, true, "x"), DOCUMENT_OUTPUT_DENIED);
}

static void no_output_leaves_the_roots(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(write_output(f, "../x", true, true, "x"), DOCUMENT_OUTSIDE_ROOTS);
	assert_int_equal(write_output(f, "outdir/x", true, true, "x"), DOCUMENT_OUTSIDE_ROOTS);
	assert_int_equal(write_output(f, "outdir/new/x", true, true, "x"), DOCUMENT_OUTSIDE_ROOTS);
	assert_int_equal(write_output(f, "new/../../x", true, true, "x"), DOCUMENT_OUTSIDE_ROOTS);
	/* A link in the place of the file is replaced, not followed. */
	assert_int_equal(write_output(f, "out.txt", true, true, "x"), DOCUMENT_OK);
	shell("test \"$(cat %s/other/b.txt)\" = secret", f->base);
}

/* The process dies between the commit and the end: both names are there. */
static void what_an_earlier_attempt_finished_is_recognised(void **state)
{
	struct fixture *f = *state;
	struct document_location l = at(f, "x.pdf");
	struct document_output *o;
	char text[DOCUMENT_TEXT_MAX];

	assert_int_equal(
		document_output_open(f->p, &l, &(struct document_claim){ .tag = "c-9-1-1" }, false, &o, text),
		DOCUMENT_OK);
	assert_int_equal(write(document_output_fd(o), "one", 3), 3);
	assert_int_equal(document_output_commit(o, text), DOCUMENT_OK);
	shell("test -e %s/root/.procession-c-9-1-1.part", f->base);
	assert_true(document_output_recover(f->p, &l, "c-9-1-1"));
	shell("test ! -e %s/root/.procession-c-9-1-1.part", f->base);
	assert_false(document_output_recover(f->p, &l, "c-9-1-1"));
	document_output_close(o);
	assert_string_equal(content(f, "x.pdf"), "one");
	document_location_fini(&l);
}

static void a_later_attempt_replaces_what_an_earlier_one_of_its_own_made(void **state)
{
	struct fixture *f = *state;

	shell("cd %s/root && echo own > y.pdf && ln y.pdf .procession-c-1-1-1.part", f->base);
	assert_int_equal(write_output(f, "y.pdf", false, true, "later"), DOCUMENT_OK);
	assert_string_equal(content(f, "y.pdf"), "later");
}

/* Somebody else began the item anew while this attempt was slow: nothing is published by it. */
static void a_part_that_is_not_its_own_is_not_published(void **state)
{
	struct fixture *f = *state;
	struct document_location l = at(f, "z.pdf");
	struct document_output *slow, *quick;
	char text[DOCUMENT_TEXT_MAX];

	assert_int_equal(document_output_open(f->p, &l, &(struct document_claim){ .tag = "c-2-1-1" }, true,
					      &slow, text),
			 DOCUMENT_OK);
	assert_int_equal(document_output_open(f->p, &l, &(struct document_claim){ .tag = "c-2-1-1" }, true,
					      &quick, text),
			 DOCUMENT_OK);
	assert_int_equal(document_output_commit(slow, text), DOCUMENT_OUTPUT_WRITE);
	document_output_close(slow);
	assert_int_equal(write(document_output_fd(quick), "q", 1), 1);
	assert_int_equal(document_output_commit(quick, text), DOCUMENT_OK);
	document_output_close(quick);
	assert_string_equal(content(f, "z.pdf"), "q");
	document_location_fini(&l);
}

static int spool_with(const char *text, size_t n)
{
	int fd = document_spool_open();

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, n), (ssize_t)n);
	return fd;
}

/* How a host's document is known again for one's own: by a line, or but for some bytes. */
static void documents_that_are_alike(void **state)
{
	static const struct {
		const char *a, *b;
		size_t others;
		bool alike;
	} pairs[] = {
		{ "", "", 0, true },       { "abc", "abc", 0, true },  { "abc", "abd", 0, false },
		{ "abc", "xbd", 2, true }, { "abc", "xyd", 2, false }, { "abc", "abcd", 9, false },
		{ "", "a", 9, false },
	};
	char line[DOCUMENT_NOTE_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		int a = spool_with(pairs[i].a, strlen(pairs[i].a)),
		    b = spool_with(pairs[i].b, strlen(pairs[i].b));

		assert_int_equal(document_contents_alike(a, b, pairs[i].others), pairs[i].alike);
		assert_false(document_contents_alike(a, -1, 100));
		close(a);
		if (strcmp(pairs[i].b, "abc") == 0) {
			assert_true(document_contents_describe(b, line));
			assert_string_equal(line,
					    "3 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f"
					    "20015ad");
		}
		close(b);
	}
	assert_false(document_contents_describe(-1, line));
}

static void locations(void **state)
{
	static const struct {
		const char *root, *name, *text;
		bool remote;
	} good[] = {
		{ "/srv", "a.docx", "/srv/a.docx", false },
		{ "/srv//x/", "./b/../a.docx", "/srv/x/b/../a.docx", false },
		{ NULL, "/srv/a%20b.docx", "/srv/a%20b.docx", false },
		{ "file:///srv/my%20docs", "a%c3%a9.docx", "/srv/my docs/a\xc3\xa9.docx", false },
		{ "FILE://localhost/srv", "a", "/srv/a", false },
		{ "https://h/site/", "/a%20b.docx", "https://h/site/a%20b.docx", true },
		{ "", "http://h/a", "http://h/a", true },
	};
	static const struct {
		const char *root, *name;
	} bad[] = { { NULL, "a.docx" },          { "srv", "a" },      { "ftp://h", "a" },
		    { "file:///srv", "a%00b" },  { "file://h", "x" }, { "file:///srv", "%zz" },
		    { "\\\\server\\share", "a" } };
	char text[DOCUMENT_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct document_location l;

		assert_int_equal(document_locate(good[i].root, good[i].name, &l, text), DOCUMENT_OK);
		assert_string_equal(l.text, good[i].text);
		assert_int_equal(l.remote, good[i].remote);
		document_location_fini(&l);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct document_location l;

		assert_int_equal(document_locate(bad[i].root, bad[i].name, &l, text), DOCUMENT_OUTSIDE_ROOTS);
	}
}

static bool private_address(const char *text)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &in.sin_addr) == 1)
		return document_address_is_private((const struct sockaddr *)&in);
	assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
	return document_address_is_private((const struct sockaddr *)&in6);
}

static void which_addresses_are_private(void **state)
{
	static const char *const inside[] = {
		"127.0.0.1",       "10.1.2.3",        "172.16.0.1", "172.31.255.255",
		"192.168.1.1",     "169.254.169.254", "100.64.0.1", "0.0.0.0",
		"224.0.0.1",       "255.255.255.255", "::1",        "::",
		"fe80::1",         "fc00::1",         "ff02::1",    "::ffff:10.0.0.1",
		"64:ff9b::7f00:1", "2002:7f00:1::",   "::7f00:1"
	};
	static const char *const outside[] = { "1.1.1.1",       "172.32.0.1",   "100.128.0.1",
					       "9.255.255.255", "2606:4700::1", "::ffff:1.1.1.1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(inside); i++)
		assert_true(private_address(inside[i]));
	for (size_t i = 0; i < ARRAY_LEN(outside); i++)
		assert_false(private_address(outside[i]));
}

static void hosts_of_the_list(void **state)
{
	struct fixture *f = *state;
	bool named;

	assert_int_equal(document_places_add_host(f->p, "Files.example.org", NULL), 0);
	assert_int_equal(document_places_add_host(f->p, "dav.example.org:8443", NULL), 0);
	assert_int_equal(document_places_add_host(f->p, "*.example.net", NULL), 0);
	assert_int_equal(document_places_add_host(f->p, "[::1]:80", NULL), 0);
	assert_true(document_http_host_allowed(f->p, "files.EXAMPLE.org", 80, &named) && named);
	assert_true(document_http_host_allowed(f->p, "dav.example.org", 8443, &named) && named);
	assert_false(document_http_host_allowed(f->p, "dav.example.org", 443, &named));
	assert_true(document_http_host_allowed(f->p, "a.b.example.net", 443, &named) && !named);
	assert_false(document_http_host_allowed(f->p, "example.net", 443, &named));
	assert_false(document_http_host_allowed(f->p, "evil-example.net", 443, &named));
	assert_false(document_http_host_allowed(f->p, "files.example.org.evil", 80, &named));
	assert_true(document_http_host_allowed(f->p, "::1", 80, &named) && named);
	assert_int_equal(document_places_add_host(f->p, "a*b", NULL), -1);
	assert_int_equal(document_places_add_host(f->p, "host:99999", NULL), -1);
	assert_int_equal(document_places_add_host(f->p, "", NULL), -1);
	assert_int_equal(document_places_add_host(f->p, "http://x", NULL), -1);
}

static bool replaces(const char *settings)
{
	return document_settings_replace(settings, strlen(settings));
}

static void which_settings_replace_an_output(void **state)
{
	(void)state;
	assert_true(replaces("<s><OutputSaveBehavior> AlwaysOverwrite\n</OutputSaveBehavior></s>"));
	assert_true(replaces(
		"<s xmlns='u:x'><a><OutputSaveBehavior>AppendIfPossible</OutputSaveBehavior></a></s>"));
	assert_true(replaces("<s OutputSaveBehavior='AlwaysOverwrite'/>"));
	assert_false(replaces("<s><OutputSaveBehavior>NeverOverwrite</OutputSaveBehavior></s>"));
	assert_false(replaces("<s><OutputSaveBehavior/></s>"));
	assert_false(replaces("<s>AlwaysOverwrite</s>"));
	assert_false(replaces(""));
	assert_false(replaces("no XML: OutputSaveBehavior AlwaysOverwrite"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(no_way_leads_out_of_a_root, setup, teardown),
		cmocka_unit_test_setup_teardown(an_output_is_whole_or_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(no_output_leaves_the_roots, setup, teardown),
		cmocka_unit_test_setup_teardown(what_an_earlier_attempt_finished_is_recognised, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_later_attempt_replaces_what_an_earlier_one_of_its_own_made,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_part_that_is_not_its_own_is_not_published, setup, teardown),
		cmocka_unit_test(documents_that_are_alike),
		cmocka_unit_test(locations),
		cmocka_unit_test(which_addresses_are_private),
		cmocka_unit_test_setup_teardown(hosts_of_the_list, setup, teardown),
		cmocka_unit_test(which_settings_replace_an_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
