/* fuzz_convert_settings.c — the Settings of a conversion job, and what becomes of them.
 * Input: the name of the output, a line feed, the settings. */
#include <ctype.h>
#include <string.h>

#include "convert/order.h"
#include "fuzz.h"

#define NAME_MAX_BYTES 64

/* What goes to LibreOffice inside a text of ours must not be able to end it. */
static bool is_plain(const char *text, const char *also)
{
	for (; *text != '\0'; text++)
		if (!isalnum((unsigned char)*text) && strchr(also, *text) == NULL)
			return false;
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t n = line != NULL ? (size_t)(line - data) : 0;
	char name[NAME_MAX_BYTES];
	struct convert_settings s;
	struct convert_order o;
	struct err e = { 0 };

	if (line == NULL || n >= sizeof(name))
		return 0;
	memcpy(name, data, n);
	name[n] = '\0';
	if (convert_settings_read((const char *)line + 1, size - n - 1, &s, &e) < 0) {
		HOLDS(e.number == DOCUMENT_SETTINGS_INVALID && e.text[0] != '\0');
		return 0;
	}
	HOLDS(is_plain(s.language, "-") && is_plain(s.pages, ",-"));
	if (convert_order_make(&s, name, &o, &e) < 0) {
		HOLDS(e.number == DOCUMENT_OUTPUT_UNSUPPORTED || e.number == DOCUMENT_SETTING_UNSUPPORTED);
		return 0;
	}
	HOLDS(convert_format_of(o.format) != NULL);
	HOLDS(is_plain(o.options, "{}\":,-"));
	HOLDS((o.options[0] == '{') == (o.format == CONVERT_PDF));
	return 0;
}
