/* version.c — which TDS a session speaks (wire notes 8.2). */
#include <string.h>

#include "tds/login7.h"

static const struct {
	uint32_t wire;
	const char *name;
	uint8_t ack[4];
} versions[] = {
	[TDS_70] = { 0x70000000, "7.0", { 0x07, 0x00, 0x00, 0x00 } },
	[TDS_71] = { 0x71000000, "7.1", { 0x07, 0x01, 0x00, 0x00 } },
	[TDS_71R1] = { 0x71000001, "7.1r1", { 0x71, 0x00, 0x00, 0x01 } },
	[TDS_72] = { 0x72090002, "7.2", { 0x72, 0x09, 0x00, 0x02 } },
	[TDS_73A] = { 0x730A0003, "7.3A", { 0x73, 0x0A, 0x00, 0x03 } },
	[TDS_73B] = { 0x730B0003, "7.3B", { 0x73, 0x0B, 0x00, 0x03 } },
	[TDS_74] = { 0x74000004, "7.4", { 0x74, 0x00, 0x00, 0x04 } },
	[TDS_80] = { 0x08000000, "8.0", { 0x08, 0x00, 0x00, 0x00 } },
};

bool tds_version_agree(uint32_t v, enum tds_version *ret)
{
	if (v == versions[TDS_80].wire) { /* numerically the smallest */
		*ret = TDS_80;
		return true;
	}
	for (int i = TDS_74; i >= TDS_70; i--) {
		if (v >= versions[i].wire) {
			*ret = (enum tds_version)i;
			return true;
		}
	}
	return false;
}

void tds_version_ack(enum tds_version v, uint32_t asked, uint8_t ret[4])
{
	(void)asked; /* each value asked for that differs has a version of its own */
	memcpy(ret, versions[v].ack, sizeof(versions[v].ack));
}

const char *tds_version_name(enum tds_version v)
{
	return versions[v].name;
}
