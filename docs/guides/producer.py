#!/usr/bin/python3
"""Adds a conversion job with the documents named on the command line, submits it, and shows how it goes until it has ended.

    producer.py a.docx b.docx
"""
import os
import sys
import time
import uuid
from xml.sax.saxutils import quoteattr

import pytds

NAMESPACE = "http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd"


def group_xml(documents):
    items = "".join(f'<item id="{n}" in={quoteattr(name)} out={quoteattr(name + ".pdf")}/>' for n, name in enumerate(documents, 1))
    return f'<group xmlns="{NAMESPACE}">{items}</group>'


def add_job(cursor, documents):
    """Three calls; the job is nobody's business before the last one."""
    job = uuid.uuid4().int % 2**62              # the number of a job is the client's to choose
    cursor.callproc("proc_AddJob", {"@JobId": job, "@Settings": "<settings format='pdf'/>", "@Name": "from the guide"})
    cursor.callproc("proc_AddGroup", {"@JobId": job, "@GroupId": 1, "@InputRoot": "in", "@OutputRoot": "out", "@MaxAttemptsCount": 3,
                                      "@JobXml": group_xml(documents)})
    cursor.callproc("proc_SubmitJob", {"@JobId": job})
    return job


def status(cursor, job):
    cursor.callproc("proc_GetJobStatus", {"@JobId": job})
    names = [column[0] for column in cursor.description]
    return dict(zip(names, cursor.fetchone()))


def main():
    documents = sys.argv[1:]
    if not documents:
        sys.exit(__doc__)
    with pytds.connect(os.environ["PROCESSION_HOST"], "WordAutomation", os.environ["PROCESSION_USER"], os.environ["PROCESSION_PASSWORD"],
                       port=int(os.environ["PROCESSION_PORT"]), autocommit=True) as db, db.cursor() as cursor:
        job = add_job(cursor, documents)
        print(f"job {job}: {len(documents)} documents", flush=True)
        while True:
            now = status(cursor, job)
            print(f"waiting {now['NotStarted']}, in progress {now['InProgress']}, succeeded {now['Succeeded']}, failed {now['Failed']}", flush=True)
            if now["Succeeded"] + now["Failed"] + now["Canceled"] == now["Total"]:
                sys.exit(1 if now["Failed"] else 0)
            time.sleep(1)


if __name__ == "__main__":
    main()
