/* xml_error.c — libxml2 says what is not well formed; clients know SQL Server's numbers for it
 * (wire notes 16.5). One table. */
#include "service/xml_int.h"

#define NO_DOCUMENT 6901 /* there is no element at all */

static const struct {
	int code, number;
	const char *reason;
} errors[] = {
	{ XML_ERR_DOCUMENT_EMPTY, NO_DOCUMENT, NULL },
	{ XML_ERR_DOCUMENT_END, NO_DOCUMENT, NULL },
	{ XML_ERR_TAG_NOT_FINISHED, 9400, "unexpected end of input" },
	{ XML_ERR_GT_REQUIRED, 9412, "'>' expected" },
	{ XML_ERR_SPACE_REQUIRED, 9410, "whitespace expected" },
	{ XML_ERR_ENTITYREF_SEMICOL_MISSING, 9411, "semicolon expected" },
	{ XML_ERR_ATTRIBUTE_NOT_STARTED, 9413, "A string literal was expected" },
	{ XML_ERR_ATTRIBUTE_NOT_FINISHED, 9400, "unexpected end of input" },
	{ XML_ERR_EQUAL_REQUIRED, 9414, "equal expected" },
	{ XML_ERR_ATTRIBUTE_WITHOUT_VALUE, 9414, "equal expected" },
	{ XML_ERR_LT_IN_ATTRIBUTE, 9415, "well formed check: no '<' in attribute value" },
	{ XML_ERR_INVALID_HEX_CHARREF, 9416, "hexadecimal digit expected" },
	{ XML_ERR_INVALID_DEC_CHARREF, 9417, "decimal digit expected" },
	{ XML_ERR_INVALID_CHAR, 9420, "illegal xml character" },
	{ XML_ERR_INVALID_CHARREF, 9420, "illegal xml character" },
	{ XML_ERR_INVALID_ENCODING, 9420, "illegal xml character" },
	{ XML_ERR_LT_REQUIRED, 9422, "incorrect document syntax" },
	{ XML_ERR_DOCUMENT_START, 9422, "incorrect document syntax" },
	{ XML_ERR_CDATA_NOT_FINISHED, 9423, "incorrect CDATA section syntax" },
	{ XML_ERR_COMMENT_NOT_FINISHED, 9424, "incorrect comment syntax" },
	{ XML_ERR_HYPHEN_IN_COMMENT, 9424, "incorrect comment syntax" },
	{ XML_ERR_DOCTYPE_NOT_FINISHED, 9427, "incorrect DOCTYPE declaration syntax" },
	{ XML_ERR_NAME_REQUIRED, 9434, "name expected" },
	{ XML_ERR_ENTITYREF_NO_NAME, 9434, "name expected" },
	{ XML_ERR_TAG_NAME_MISMATCH, 9436, "end tag does not match start tag" },
	{ XML_ERR_LTSLASH_REQUIRED, 9436, "end tag does not match start tag" },
	{ XML_ERR_ATTRIBUTE_REDEFINED, 9437, "duplicate attribute" },
	{ XML_NS_ERR_ATTRIBUTE_REDEFINED, 9437, "duplicate attribute" },
	{ XML_ERR_RESERVED_XML_NAME, 9438, "text/xmldecl not at the beginning of input" },
	{ XML_ERR_XMLDECL_NOT_STARTED, 9441, "incorrect xml declaration syntax" },
	{ XML_ERR_XMLDECL_NOT_FINISHED, 9441, "incorrect xml declaration syntax" },
	{ XML_ERR_VERSION_MISSING, 9441, "incorrect xml declaration syntax" },
	{ XML_ERR_STANDALONE_VALUE, 9441, "incorrect xml declaration syntax" },
	{ XML_ERR_ENCODING_NAME, 9442, "incorrect encoding name syntax" },
	{ XML_ERR_UNKNOWN_ENCODING, 9401, "unrecognized encoding" },
	{ XML_ERR_UNSUPPORTED_ENCODING, 9401, "unrecognized encoding" },
	{ XML_ERR_ENTITY_LOOP, 9446, "well formed check: no recursion" },
	{ XML_ERR_UNDECLARED_ENTITY, 9448, "well formed check: undeclared entity" },
	{ XML_ERR_ENTITY_IS_EXTERNAL, 9450, "well formed check: no external entity references" },
	{ XML_ERR_PI_NOT_STARTED, 9451, "incorrect processing instruction syntax" },
	{ XML_ERR_PI_NOT_FINISHED, 9451, "incorrect processing instruction syntax" },
	{ XML_ERR_MISPLACED_CDATA_END, 9454, "no ']]>' in element content" },
	{ XML_NS_ERR_QNAME, 9455, "illegal qualified name character" },
	{ XML_NS_ERR_COLON, 9457, "colon in name" },
	{ XML_NS_ERR_UNDEFINED_NAMESPACE, 9459, "undeclared prefix" },
	{ XML_NS_ERR_EMPTY, 9460, "non default namespace with empty uri" },
	{ XML_NS_ERR_XML_NAMESPACE, 9464, "misuse of a reserved prefix" },
	{ XML_ERR_NO_MEMORY, ERR_XML_MEMORY_NUMBER, NULL },
	{ XML_ERR_NAME_TOO_LONG, ERR_XML_MEMORY_NUMBER, NULL },
	{ XML_ERR_INTERNAL_ERROR, ERR_XML_MEMORY_NUMBER, NULL },
};

int service_xml_parse_error(struct xml_reader *r, int code, int line, int column)
{
	int number = 9422;
	const char *reason = "incorrect document syntax";

	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		if (errors[i].code == code) {
			number = errors[i].number;
			reason = errors[i].reason;
		}
	}
	r->failed = true;
	if (number == NO_DOCUMENT)
		return err_raise(r->reterr, NO_DOCUMENT, 16, 1,
				 "XML Validation: XML instance must be a document.");
	if (number == ERR_XML_MEMORY_NUMBER)
		return err_set(r->reterr, ERR_XML_MEMORY);
	return err_raise(r->reterr, number, 16, 1, "XML parsing: line %d, character %d, %s", line, column,
			 reason);
}
