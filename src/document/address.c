/* address.c — which addresses belong to the public network. A document from outside must not
 * make a worker ask the machines of its own network. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "document/document_int.h"

/* Networks that are not public: IANA's special-purpose registries. */
static const struct {
	uint32_t net;
	unsigned bits;
} v4[] = {
	{ 0x00000000, 8 },  { 0x0a000000, 8 },  { 0x64400000, 10 }, { 0x7f000000, 8 },  { 0xa9fe0000, 16 },
	{ 0xac100000, 12 }, { 0xc0000000, 24 }, { 0xc0000200, 24 }, { 0xc0a80000, 16 }, { 0xc6120000, 15 },
	{ 0xc6336400, 24 }, { 0xcb007100, 24 }, { 0xe0000000, 4 },  { 0xf0000000, 4 },
};

static bool v4_is_private(uint32_t address)
{
	for (size_t i = 0; i < ARRAY_LEN(v4); i++)
		if ((address ^ v4[i].net) >> (32 - v4[i].bits) == 0)
			return true;
	return false;
}

static uint32_t v4_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Those that carry an IPv4 address are judged by it. */
static bool v6_is_private(const uint8_t a[16])
{
	static const uint8_t zeros[12], mapped[12] = { [10] = 0xff, [11] = 0xff },
					translated[12] = { 0, 0x64, 0xff, 0x9b };

	if (memcmp(a, mapped, 12) == 0 || memcmp(a, translated, 12) == 0)
		return v4_is_private(v4_at(a + 12));
	if (memcmp(a, zeros, 12) == 0)
		return true; /* ::, ::1 and the old compatible form */
	if (a[0] == 0x20 && a[1] == 0x02)
		return v4_is_private(v4_at(a + 2)); /* 6to4 */
	return (a[0] & 0xe0) != 0x20 || /* outside of 2000::/3: local, link-local, multicast, unassigned */
	       (a[0] == 0x20 && a[1] == 0x01 &&
		(a[2] & 0xfe) == 0); /* 2001::/23: Teredo, benchmarks and others */
}

bool document_address_is_private(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET) {
		struct sockaddr_in in;

		memcpy(&in, sa, sizeof(in));
		return v4_is_private(ntohl(in.sin_addr.s_addr));
	}
	if (sa->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;

		memcpy(&in6, sa, sizeof(in6));
		return v6_is_private(in6.sin6_addr.s6_addr);
	}
	return true;
}
