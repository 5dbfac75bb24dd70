"""The client's side of GSSAPI through ctypes: tokens as a test wants them, with any mechanism and any channel binding."""
import contextlib
import ctypes
import os

KERBEROS = bytes.fromhex("2a864886f712010202")
SPNEGO = bytes.fromhex("2b0601050502")
NTLM = bytes.fromhex("2b06010401823702020a")
PRINCIPAL_NAME = bytes.fromhex("2a864886f71201020201")
HOSTBASED_SERVICE = bytes.fromhex("2a864886f712010201" "04")
USER_NAME = bytes.fromhex("2a864886f712010201" "01")

MUTUAL, REPLAY, SEQUENCE, CONFIDENTIAL, INTEGRITY = 2, 4, 8, 16, 32
CONTINUE_NEEDED = 1


class Buffer(ctypes.Structure):
    _fields_ = [("length", ctypes.c_size_t), ("value", ctypes.c_void_p)]


class Oid(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint32), ("elements", ctypes.c_void_p)]


class OidSet(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("elements", ctypes.POINTER(Oid))]


class Bindings(ctypes.Structure):
    _fields_ = [("initiator_type", ctypes.c_uint32), ("initiator", Buffer), ("acceptor_type", ctypes.c_uint32), ("acceptor", Buffer),
                ("application", Buffer)]


class GssError(Exception):
    pass


lib = ctypes.CDLL("libgssapi_krb5.so.2")
u32 = ctypes.c_uint32


def oid(raw):
    keep = ctypes.create_string_buffer(raw, len(raw))
    made = Oid(len(raw), ctypes.cast(keep, ctypes.c_void_p))
    made.keep = keep
    return made


def buffer(raw):
    keep = ctypes.create_string_buffer(raw, len(raw))
    made = Buffer(len(raw), ctypes.cast(keep, ctypes.c_void_p))
    made.keep = keep
    return made


def explain(major, minor, mech):
    texts = []
    for code, kind in ((major, 1), (minor, 2)):
        context, text = u32(0), Buffer()
        lib.gss_display_status(ctypes.byref(u32()), u32(code), kind, ctypes.byref(mech), ctypes.byref(context), ctypes.byref(text))
        texts.append(ctypes.string_at(text.value, text.length).decode("utf-8", "replace") if text.value else "")
    return ": ".join(texts)


@contextlib.contextmanager
def environment(env):
    """The library reads the environment of the process."""
    before = {name: os.environ.get(name) for name in env}
    os.environ.update(env)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Initiator:
    """One exchange as the client sees it: step(b"") gives the first token, step(answer) the next; done tells the end."""

    def __init__(self, target, mech=KERBEROS, env=None, bindings=None, flags=MUTUAL, user=None, password=None, hostbased=False):
        self.mech, self.env, self.flags = oid(mech), env or {}, flags
        self.context, self.cred, self.name, self.done = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), False
        self.bindings = None
        if bindings is not None:
            self.bindings = Bindings()
            self.data = buffer(bindings)
            self.bindings.application = self.data
        with environment(self.env):
            self.name = self.import_name(target, HOSTBASED_SERVICE if hostbased else PRINCIPAL_NAME)
            if user is not None:
                self.acquire(user, password, mech)

    def check(self, major, minor):
        if major & 0xFFFF0000:
            raise GssError(explain(major, minor.value, self.mech))
        return major

    def import_name(self, text, kind):
        minor, name = u32(), ctypes.c_void_p()
        self.check(lib.gss_import_name(ctypes.byref(minor), ctypes.byref(buffer(text.encode())), ctypes.byref(oid(kind)), ctypes.byref(name)), minor)
        return name

    def acquire(self, user, password, mech):
        minor = u32()
        wanted = oid(mech)
        mechs = OidSet(1, ctypes.pointer(wanted))
        self.check(lib.gss_acquire_cred_with_password(ctypes.byref(minor), self.import_name(user, USER_NAME), ctypes.byref(buffer(password.encode())),
                                                      u32(0), ctypes.byref(mechs), 1, ctypes.byref(self.cred), None, None), minor)

    def step(self, token=b""):
        minor, out, given = u32(), Buffer(), buffer(token)
        with environment(self.env):
            major = lib.gss_init_sec_context(
                ctypes.byref(minor), self.cred, ctypes.byref(self.context), self.name, ctypes.byref(self.mech), u32(self.flags), u32(0),
                ctypes.byref(self.bindings) if self.bindings is not None else None, ctypes.byref(given) if token else None, None,
                ctypes.byref(out), None, None)
        self.check(major, minor)
        self.done = not major & CONTINUE_NEEDED
        result = ctypes.string_at(out.value, out.length) if out.value else b""
        lib.gss_release_buffer(ctypes.byref(u32()), ctypes.byref(out))
        return result
