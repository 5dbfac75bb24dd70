/* tds.h — words that all files of the folder share: versions, message types, statuses, limits. */
#ifndef TDS_TDS_H
#define TDS_TDS_H

#include "base/base.h"

enum tds_status { TDS_OK = 0, TDS_MORE, TDS_MALFORMED, TDS_TOO_BIG };

/* Agreed version of a session, in order. */
enum tds_version { TDS_70, TDS_71, TDS_71R1, TDS_72, TDS_73A, TDS_73B, TDS_74, TDS_80 };

enum tds_message_type {
	TDS_MSG_BATCH = 0x01,
	TDS_MSG_LOGIN_OLD = 0x02,
	TDS_MSG_RPC = 0x03,
	TDS_MSG_RESPONSE = 0x04,
	TDS_MSG_ATTENTION = 0x06,
	TDS_MSG_BULK = 0x07,
	TDS_MSG_FEDAUTH = 0x08,
	TDS_MSG_TM = 0x0E,
	TDS_MSG_LOGIN7 = 0x10,
	TDS_MSG_SSPI = 0x11,
	TDS_MSG_PRELOGIN = 0x12,
};
enum tds_packet_status {
	TDS_STATUS_EOM = 0x01,
	TDS_STATUS_IGNORE = 0x02,
	TDS_STATUS_RESET = 0x08,
	TDS_STATUS_RESET_SKIPTRAN = 0x10,
};

#define TDS_HEADER_LEN 8
#define TDS_PACKET_MIN 512
#define TDS_PACKET_MAX 32767
#define TDS_PACKET_DEFAULT 4096

/* What we say we are: at least 11 for mssql-jdbc; the same in PRELOGIN, LOGINACK, @@VERSION,
 * SERVERPROPERTY. */
#define TDS_PRODUCT_MAJOR 16
#define TDS_PRODUCT_MINOR 0
#define TDS_PRODUCT_BUILD 4108
#define TDS_PRODUCT_VERSION "16.0.4108.5"

/* 5 bytes of SQL_Latin1_General_CP1_CI_AS */
extern const uint8_t tds_collation_default[5];

#endif
