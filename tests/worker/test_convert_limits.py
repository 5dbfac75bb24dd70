"""What a document may use: memory, and room for its output. The converter is built without a sanitizer, so that both have their limits."""
import pytest

from support import documents as made
from support.converter import OK, OUT_OF_MEMORY, OUTPUT_WRITE, Converter, pdf_text

PLAIN = made.docx(made.paragraph("a whole document"))


def test_memory(tmp_path):
    """An error of its own, which is not tried again; the next document has its own memory."""
    with Converter(slots=1, memory=600) as converter:
        result = converter.convert(tmp_path, "large.docx", made.endless(), "large.pdf")
        assert (result.error, "600 MiB" in result.text) == (OUT_OF_MEMORY, True), result
        assert result.output.stat().st_size == 0
        assert pdf_text(converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf").output) == "a whole document"


LARGE = {"large.pdf": made.endless(12000), "large.mht": made.docx_with_picture("noise", noise=True, size=900)}


@pytest.mark.parametrize("output", LARGE)
def test_the_size_of_the_output(tmp_path, output):
    """By every way on which it is written; what fits is as it would be without."""
    with Converter(slots=1, output=1) as converter:
        result = converter.convert(tmp_path, "large.docx", LARGE[output], output)
        assert (result.error, "larger than the limit of 1 MiB" in result.text) == (OUTPUT_WRITE, True), result
        assert result.output.stat().st_size == 0
        result = converter.convert(tmp_path, "a.docx", PLAIN, "a.pdf")
        assert result.error == OK and pdf_text(result.output) == "a whole document"
