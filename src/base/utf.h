/* utf.h — text at the edge: UTF-16LE and Windows-1252 on the wire, UTF-8 inside. Lone surrogates
 * are kept: inside they are three bytes (the generalised form of UTF-8), and come back as they
 * were. */
#ifndef BASE_UTF_H
#define BASE_UTF_H

#include "base/base.h"

/* dst must have room for 3 bytes for every 2 of src (n even). Returns the length written. */
size_t utf8_from_utf16le(char *dst, const uint8_t *src, size_t n);
/* dst must have room for 2 bytes for every byte of src. Returns the length in bytes. Bad UTF-8
 * becomes U+FFFD. */
size_t utf16le_from_utf8(uint8_t *dst, const char *src, size_t n);
/* Number of UTF-16 code units of the text (what T-SQL's LEN and nvarchar(n) count). */
size_t utf16_units(const char *src, size_t n);
/* Byte offset after at most units code units, never splitting a character. */
size_t utf8_prefix(const char *src, size_t n, size_t units);
/* dst: 3 bytes for every byte of src. The five undefined bytes stand for U+0081 … both ways. */
size_t utf8_from_cp1252(char *dst, const uint8_t *src, size_t n);
/* dst: n bytes. Characters that the code page lacks become '?' and are counted in *ret_lost (may
 * be NULL). */
size_t cp1252_from_utf8(uint8_t *dst, const char *src, size_t n, size_t *ret_lost);
/* The same without writing: how many bytes it would be, and how many characters would be lost. */
size_t cp1252_count(const char *src, size_t n, size_t *ret_lost);
/* Strict: no overlong forms, nothing above U+10FFFF; surrogates allowed only if lone_ok. */
bool utf8_valid(const char *s, size_t n, bool lone_ok);

#endif
