/* token.h — first bytes of the tokens that we send [MS-TDS] 2.2.7. Private to this folder. */
#ifndef TDS_TOKEN_H
#define TDS_TOKEN_H

enum tds_token {
	TDS_TOKEN_RETURNSTATUS = 0x79,
	TDS_TOKEN_COLMETADATA = 0x81,
	TDS_TOKEN_COLINFO = 0xA5,
	TDS_TOKEN_ERROR = 0xAA,
	TDS_TOKEN_INFO = 0xAB,
	TDS_TOKEN_RETURNVALUE = 0xAC,
	TDS_TOKEN_LOGINACK = 0xAD,
	TDS_TOKEN_FEATUREEXTACK = 0xAE,
	TDS_TOKEN_ROW = 0xD1,
	TDS_TOKEN_ENVCHANGE = 0xE3,
	TDS_TOKEN_SSPI = 0xED,
};

#endif
