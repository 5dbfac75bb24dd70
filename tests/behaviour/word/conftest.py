"""What only the conversion jobs (MS-WORDSSP2) promise."""
from support.jobs import jobs_fixture

db = jobs_fixture("word")
