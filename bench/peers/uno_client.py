"""Feeds documents to a soffice that runs already, over its pipe: uno_client.py PIPE FOLDER FILE…"""
import pathlib
import sys
import time

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException


def value(name, content):
    p = PropertyValue()
    p.Name, p.Value = name, content
    return p


def connect(pipe):
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    end = time.monotonic() + 120
    while True:
        try:
            return resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        except NoConnectException:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def main():
    pipe, folder, *files = sys.argv[1:]
    context = connect(pipe)
    desktop = context.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", context)
    for f in map(pathlib.Path, files):
        document = desktop.loadComponentFromURL(f.as_uri(), "_blank", 0, (value("Hidden", True),))
        document.storeToURL((pathlib.Path(folder) / (f.stem + ".pdf")).as_uri(), (value("FilterName", "writer_pdf_Export"),))
        document.close(True)


main()
