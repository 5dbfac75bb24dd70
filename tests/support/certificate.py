"""Certificates that are valid for as long as a test wants them to be."""
import subprocess


def certificate(folder, days):
    """A pair that is valid for so many days, from now on: the settings that name it."""
    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)
    key, request, cert = folder / "key.pem", folder / "request.pem", folder / "cert.pem"
    openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=localhost")
    openssl("x509", "-req", "-in", request, "-signkey", key, "-out", cert, "-days", days)
    key.chmod(0o600)
    return {"tls_certificate": cert, "tls_key": key}
