/* errors.c — the list of errors.def as lookups. */
#include "document/errors.h"

static const struct entry {
	int number;
	const char *name, *text;
	bool retry;
} entries[] = {
#define DOCUMENT_ERROR(id, number, name, retry, text) { id, name, text, retry },
#include "document/errors.def"
#undef DOCUMENT_ERROR
};

static const struct entry *find(int number)
{
	static const struct entry unknown = { 0, "Error", "", true };

	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		if (entries[i].number == number)
			return &entries[i];
	}
	return &unknown;
}

const char *document_error_name(int number)
{
	return find(number)->name;
}

const char *document_error_text(int number)
{
	return find(number)->text;
}

bool document_error_retry(int number)
{
	return find(number)->retry;
}
