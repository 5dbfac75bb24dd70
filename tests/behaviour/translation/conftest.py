"""What only the translation jobs (MS-TSSPROC) promise."""
from support.jobs import jobs_fixture

db = jobs_fixture("translation")
