"""A certificate authority of a control plane's own, and what it signs: keys on the P-256 curve, which cost a millisecond each."""

import datetime
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFE = datetime.timedelta(days=365)
"""A practice cluster may be up for long."""
SKEW = datetime.timedelta(hours=1)


class Authority:
    """Signs servers and clients into a folder: `NAME.crt` and `NAME.key`; its own certificate is `ca.crt` there."""

    def __init__(self, folder: Path, kept: Path | None = None) -> None:
        """`kept`: a folder from which `ca.crt` and `ca.key` are taken where they are there, and else kept in: who believes the authority
        once does so the next time."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "control-plane-ca")])
        if kept is not None and (kept / "ca.crt").exists():
            self._key, self.certificate = _read(kept)
            _write(folder, "ca", self.certificate, self._key)
            return
        self._key = ec.generate_private_key(ec.SECP256R1())
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        builder = _builder(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.certificate = builder.add_extension(usage, critical=True).sign(self._key, hashes.SHA256())
        _write(folder, "ca", self.certificate, self._key)
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
            _write(kept, "ca", self.certificate, self._key)

    @property
    def pem(self) -> bytes:
        """The authority's certificate, for those who are to believe it."""
        return (self.folder / "ca.crt").read_bytes()

    def server(self, name: str, hosts: Sequence[str]) -> None:
        """A server's certificate for host names and addresses."""
        names = x509.SubjectAlternativeName([_general_name(host) for host in hosts])
        self._sign(name, [x509.NameAttribute(NameOID.COMMON_NAME, hosts[0][:64])], ExtendedKeyUsageOID.SERVER_AUTH, names)

    def client(self, name: str, user: str, groups: Sequence[str] = ()) -> None:
        """A client's certificate: Kubernetes takes the user and the groups from its subject."""
        subject = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        self._sign(name, [*subject, x509.NameAttribute(NameOID.COMMON_NAME, user)], ExtendedKeyUsageOID.CLIENT_AUTH)

    def key_pair(self, name: str) -> None:
        """A key without a certificate: `NAME.key` and `NAME.pub`."""
        key = ec.generate_private_key(ec.SECP256R1())
        (self.folder / f"{name}.key").write_bytes(_pem(key))
        public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        (self.folder / f"{name}.pub").write_bytes(public)

    def _sign(
        self, name: str, subject: list[x509.NameAttribute], usage: x509.ObjectIdentifier, names: x509.SubjectAlternativeName | None = None
    ) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(x509.Name(subject), self._name, key.public_key()).add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if names is not None:
            builder = builder.add_extension(names, critical=False)
        _write(self.folder, name, builder.sign(self._key, hashes.SHA256()), key)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key)
    return builder.serial_number(x509.random_serial_number()).not_valid_before(now - SKEW).not_valid_after(now + LIFE)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _read(folder: Path) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = serialization.load_pem_private_key((folder / "ca.key").read_bytes(), password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key, x509.load_pem_x509_certificate((folder / "ca.crt").read_bytes())


def _write(folder: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    (folder / f"{name}.key").touch(mode=0o600)
    (folder / f"{name}.key").write_bytes(_pem(key))
    # Last: a certificate that is there has its key.
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
