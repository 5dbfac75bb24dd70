/* json.c — see json.h. */
#include "base/json.h"

void json_put_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(f, "\\%c", *s);
		else if ((unsigned char)*s < 0x20 || *s == 0x7F)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character behind a backslash at *p, which is then at its last byte. -1: none of ours. */
static int unescape(const char **p)
{
	if (**p == '"' || **p == '\\')
		return **p;
	if (**p != 'u' || (*p)[1] != '0' || (*p)[2] != '0' || hex_digit((*p)[3]) < 0 ||
	    hex_digit((*p)[4]) < 0)
		return -1;
	*p += 4;
	return hex_digit((*p)[-1]) << 4 | hex_digit((*p)[0]);
}

bool json_get_string(const char **p, char *dst, size_t size)
{
	const char *s = *p;
	size_t n = 0;

	if (*s != '"')
		return false;
	for (s++; *s != '"'; s++) {
		int c = (unsigned char)*s;

		if (c == '\\') {
			s++;
			c = unescape(&s);
		}
		if (c <= 0)
			return false;
		if (n + 1 < size)
			dst[n++] = (char)c;
	}
	dst[n] = '\0';
	*p = s + 1;
	return true;
}
