/* sniff_compound.c — compound files ([MS-CFB]): a small file system of sectors. Word 97
 * documents are such files, and so are Open XML documents with a password. The names in the
 * directory tell; of a Word document its header tells whether it is encrypted ([MS-DOC] 2.5.2,
 * fEncrypted).
 *
 * Every number comes from outside. A sector is looked up in one place, which compares with the
 * length of the file, and a chain is followed at most as far as there are sectors. */
#include "convert/sniff_int.h"

#include <assert.h>

#define HEADER 512
#define IN_HEADER 109 /* locations of the table's sectors that the header itself has */
#define ENTRY 128
#define STREAM 2
#define SMALL_STREAM 4096 /* shorter ones lie in small sectors */
#define SMALL_SECTOR 64

struct compound {
	const uint8_t *p;
	size_t n, sector; /* bytes of the file, of a sector */
	size_t sectors;   /* that the file has room for */
	uint32_t small;   /* the first sector of the stream of small sectors */
};

static uint32_t get16(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | get16(p + 2) << 16;
}

/* NULL: the file ends before. Sector 0 follows the header, which takes up one sector. */
static const uint8_t *sector_at(const struct compound *c, uint32_t number)
{
	if (number >= c->sectors)
		return NULL;
	assert((number + (size_t)2) * c->sector <= c->n);
	return c->p + (number + (size_t)1) * c->sector;
}

/* Where the i-th sector of the table lies: in the header, or in a chain of sectors of such
 * numbers. */
static const uint8_t *table_sector(const struct compound *c, uint32_t i)
{
	const uint32_t each = (uint32_t)(c->sector / 4) - 1;
	uint32_t next = get32(c->p + 0x44);

	if (i < IN_HEADER)
		return sector_at(c, get32(c->p + 0x4C + 4 * (size_t)i));
	i -= IN_HEADER;
	for (size_t steps = 0; steps <= c->sectors; steps++) {
		const uint8_t *s = sector_at(c, next);

		if (s == NULL)
			return NULL;
		if (i < each)
			return sector_at(c, get32(s + 4 * (size_t)i));
		i -= each;
		next = get32(s + 4 * (size_t)each);
	}
	return NULL;
}

/* The sector after this one in its chain; a number that is no sector ends it. */
static uint32_t next_sector(const struct compound *c, uint32_t number)
{
	const uint32_t each = (uint32_t)(c->sector / 4);
	const uint8_t *table = table_sector(c, number / each);

	return table == NULL ? UINT32_MAX : get32(table + 4 * (size_t)(number % each));
}

static bool named(const uint8_t *entry, const char *name)
{
	size_t n = strlen(name);

	if (get16(entry + 0x40) != 2 * (n + 1))
		return false;
	for (size_t i = 0; i < n; i++)
		if (get16(entry + 2 * i) != (uint8_t)name[i])
			return false;
	return true;
}

/* The first bytes of a stream; they lie in one piece. Short streams lie in the file's own stream of
 * small sectors, which the first entry of the directory leads to. NULL: not in the file. */
static const uint8_t *stream_at(const struct compound *c, const uint8_t *entry)
{
	uint32_t start = get32(entry + 0x74), at = c->small;
	uint64_t offset = (uint64_t)start * SMALL_SECTOR;
	const uint8_t *s;

	if (get32(entry + 0x78) >= SMALL_STREAM)
		return sector_at(c, start);
	if (offset >= c->n)
		return NULL;
	for (; offset >= c->sector; offset -= c->sector)
		at = next_sector(c, at);
	s = sector_at(c, at);
	return s == NULL ? NULL : s + offset;
}

static int word(const struct compound *c, const uint8_t *entry, struct convert_sniffed *ret,
		struct err *reterr)
{
	const uint8_t *fib = stream_at(c, entry);
	uint32_t magic = fib != NULL ? get16(fib) : 0;

	if (magic != 0xA5EC && magic != 0xA5DC)
		return err_raise(reterr, DOCUMENT_INPUT_CORRUPT, 16, 1,
				 "the Word document is damaged: it has no header");
	if ((get16(fib + 0x0A) & 0x0100) != 0)
		return err_raise(reterr, DOCUMENT_INPUT_ENCRYPTED, 16, 1, "the document has a password");
	*ret = (struct convert_sniffed){ .type = CONVERT_IS_WORD97, .extension = "doc" };
	return 0;
}

/* 1: this entry decides; its answer is in *ret_rc. */
static bool decides(const struct compound *c, const uint8_t *entry, struct convert_sniffed *ret, int *ret_rc,
		    struct err *reterr)
{
	if (entry[0x42] != STREAM)
		return false;
	if (named(entry, "WordDocument"))
		*ret_rc = word(c, entry, ret, reterr);
	else if (named(entry, "EncryptedPackage"))
		*ret_rc = err_raise(reterr, DOCUMENT_INPUT_ENCRYPTED, 16, 1, "the document has a password");
	else if (named(entry, "\tDRMContent"))
		*ret_rc = err_raise(reterr, DOCUMENT_INPUT_ENCRYPTED, 16, 1,
				    "the document is protected by rights management");
	else if (named(entry, "Workbook") || named(entry, "Book"))
		*ret_rc = err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
				    "it is a spreadsheet; text documents are converted");
	else if (named(entry, "PowerPoint Document"))
		*ret_rc = err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
				    "it is a presentation; text documents are converted");
	else
		return false;
	return true;
}

int convert_sniff_compound(const uint8_t *p, size_t n, struct convert_sniffed *ret, struct err *reterr)
{
	struct compound c = { .p = p, .n = n };
	uint32_t at;
	int rc;

	if (n < HEADER || (get16(p + 0x1E) != 9 && get16(p + 0x1E) != 12))
		return err_raise(reterr, DOCUMENT_INPUT_CORRUPT, 16, 1,
				 "the compound file is damaged: its header is cut or wrong");
	c.sector = (size_t)1 << get16(p + 0x1E);
	c.sectors = n / c.sector > 0 ? n / c.sector - 1 : 0;
	at = get32(p + 0x30);
	for (size_t steps = 0; steps < c.sectors; steps++) {
		const uint8_t *s = sector_at(&c, at);

		if (s == NULL)
			break;
		if (steps == 0)
			c.small = get32(s + 0x74);
		for (size_t i = 0; i < c.sector; i += ENTRY)
			if (decides(&c, s + i, ret, &rc, reterr))
				return rc;
		at = next_sector(&c, at);
	}
	return err_raise(reterr, DOCUMENT_INPUT_CORRUPT, 16, 1,
			 "the compound file is damaged, or no document: its directory names none");
}
