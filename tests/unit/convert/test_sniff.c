/* test_sniff.c — compound files that lead in circles or nowhere. What documents are is tried
 * from outside (tests/worker) with files of LibreOffice's own making. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "convert/sniff.h"

#define SECTOR 512
#define SECTORS 8

struct file {
	uint8_t bytes[(SECTORS + 1) * SECTOR];
};

static void put32(struct file *f, size_t at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		f->bytes[at + (size_t)i] = (uint8_t)(v >> 8 * i);
}

/* A header, a table in sector 0 that is all free, a directory that begins in sector 1. */
static struct file *file_new(void)
{
	struct file *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	memcpy(f->bytes, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8);
	f->bytes[0x1E] = 9;
	put32(f, 0x30, 1);
	put32(f, 0x44, 0xFFFFFFFE);
	for (size_t i = 0; i < 109; i++)
		put32(f, 0x4C + 4 * i, i == 0 ? 0 : 0xFFFFFFFF);
	memset(f->bytes + SECTOR, 0xFF, SECTOR);
	return f;
}

/* The entry at this place of the directory's first sector. */
static void entry(struct file *f, size_t at, const char *name, uint32_t start, uint32_t size)
{
	uint8_t *p = f->bytes + 2 * SECTOR + at * 128;

	for (size_t i = 0; name[i] != '\0'; i++)
		p[2 * i] = (uint8_t)name[i];
	p[0x40] = (uint8_t)(2 * (strlen(name) + 1));
	p[0x42] = at == 0 ? 5 : 2;
	put32(f, 2 * SECTOR + at * 128 + 0x74, start);
	put32(f, 2 * SECTOR + at * 128 + 0x78, size);
}

static int sniffed(struct file *f, size_t n)
{
	struct convert_sniffed what;
	struct err e = { 0 };
	int rc = convert_sniff(f->bytes, n, "a.doc", 1 << 20, &what, &e);

	free(f);
	return rc == 0 ? 0 : e.number;
}

static void test_a_long_and_a_short_word_document(void **state)
{
	struct file *f = file_new();

	(void)state;
	entry(f, 0, "Root Entry", 0xFFFFFFFE, 0);
	entry(f, 1, "WordDocument", 3, 4096);
	memcpy(f->bytes + 4 * SECTOR, "\xEC\xA5", 2);
	assert_int_equal(sniffed(f, sizeof(f->bytes)), 0);

	/* In the tenth small sector: the second sector of the chain 3, 5. */
	f = file_new();
	entry(f, 0, "Root Entry", 3, 1024);
	entry(f, 1, "WordDocument", 9, 1000);
	put32(f, SECTOR + 4 * 3, 5);
	memcpy(f->bytes + 6 * SECTOR + 64, "\xEC\xA5", 2);
	assert_int_equal(sniffed(f, sizeof(f->bytes)), 0);
	f = file_new();
	entry(f, 0, "Root Entry", 3, 1024);
	entry(f, 1, "WordDocument", 9, 1000);
	put32(f, SECTOR + 4 * 3, 5);
	memcpy(f->bytes + 6 * SECTOR + 64, "\xEC\xA5", 2);
	f->bytes[6 * SECTOR + 64 + 11] = 1;
	assert_int_equal(sniffed(f, sizeof(f->bytes)), DOCUMENT_INPUT_ENCRYPTED);
}

static void test_circles_end(void **state)
{
	struct file *f = file_new();

	(void)state;
	put32(f, SECTOR + 4 * 1, 2); /* the directory: 1, 2, 1, 2 … */
	put32(f, SECTOR + 4 * 2, 1);
	assert_int_equal(sniffed(f, sizeof(f->bytes)), DOCUMENT_INPUT_CORRUPT);
	f = file_new();
	/* a directory whose place is said by a table that is its own successor */
	put32(f, 0x30, 120 * 128);
	put32(f, 0x44, 4);
	memset(f->bytes + 5 * SECTOR, 0, SECTOR);
	put32(f, 5 * SECTOR + 4 * 127, 4);
	assert_int_equal(sniffed(f, sizeof(f->bytes)), DOCUMENT_INPUT_CORRUPT);
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	for (size_t n = 8; n < sizeof(struct file); n += 61) {
		struct file *f = file_new();

		entry(f, 0, "Root Entry", 6, 4000);
		entry(f, 1, "WordDocument", 60, 1000);
		(void)sniffed(f, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_long_and_a_short_word_document),
		cmocka_unit_test(test_circles_end),
		cmocka_unit_test(test_cut_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
