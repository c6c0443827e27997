"""What a secret looks like: names of keys, variables and options that hold one, and shapes of tokens that need no name."""

import re

REDACTED = "[redacted]"

_KEY_OF = "api|access|secret|private|client|signing|encryption|encrypted|license|ssh|deploy|account|master|shared|storage|session|service"
WORDS = rf"""(?:
    pass(?:word|wd|phrase|code) | (?<![a-z])pass(?![a-z]) | (?-i:(?<=[a-z0-9])(?:Pass|Auth)(?![a-z]) | PASS(?![A-Z])) | pwd | secret | credential | ciphertext
  | token(?!s|i[sz]) | (?:{_KEY_OF})[-_.\ ]?key | (?<![a-z])(?:auth|sig|sas|jwt|dsn|secure|salt)(?![a-z])
  | encryptionsalt | authorization | bearer | cookie | signature | conn(?:ection)?[-_.\ ]?str | session[-_.\ ]?id | webhook[-_.\ ]?url
)"""
"""Parts of names, for `re.VERBOSE | re.IGNORECASE`. `tokens` and `tokenizer` are words of training."""
_HINTS = (
    "pass", "pwd", "secret", "credential", "ciphertext", "token", "key", "auth", "sig", "sas", "jwt", "dsn", "secure", "salt", "bearer",
    "cookie", "conn", "session", "webhook", "-u", "--proxy-user", "mysql", "mariadb", "login", "curl",
)  # fmt: skip
_FLAGS = re.VERBOSE | re.IGNORECASE
_NAME = re.compile(WORDS, _FLAGS)
_OF_A_PLACE = re.compile(
    r"(?:names?|refs?|file|path|dir|errors?|exception|provider|seconds|mode|policy|type|class|(?-i:Arn|ARN|[_-]arn)s?)$", re.IGNORECASE
)
"""Ends of names that say where a secret is, or what went wrong with it, and not what it is."""

SAFE_VARIABLES = re.compile(
    r"(?:NEURON|FI|XLA|PJRT|JAX|TORCH|PYTORCH|TORCHELASTIC|NCCL|OFI|OMP|MASTER|RDZV|NPROC|NODE|LOCAL|LD|KUBERNETES|VC|MALLOC)_\w+"
    r"|WORLD_SIZE|RANK|NRANKS|HOME|PATH|PYTHONUNBUFFERED|PYTHONPATH|AWS_REGION|AWS_DEFAULT_REGION|POD_NAME|POD_NAMESPACE|HOSTNAME|LOGLEVEL"
)
"""Variables whose value is shown: those of the launchers and of the Neuron software. All others are the user's own, and are not."""

TOKENS = re.compile(
    r"""
    \b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}                     # AWS access key ids (IAM user guide, unique identifiers)
  | \b(?:IQoJ|FwoG)[\w+/=%-]{16,}                              # AWS session tokens
  | \bk8s-aws-v1\.[\w=.-]+                                     # EKS tokens
  | \beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?                        # JSON web tokens
  | \bgh[pousr]_\w{16,} | \bgithub_pat_\w{16,} | \bglpat-[\w-]{16,}
  | \bhf_[A-Za-z0-9]{16,} | \bxox[abeoprs]-[\w-]{10,} | \bsk-[\w-]{16,} | \bpul-[0-9a-f]{16,} | \bAIza[\w-]{30,} | \bya29\.[\w-]+
  | \bdckr_pat_[\w-]{10,} | \bnpm_\w{20,} | \bpypi-[\w-]{30,} | \bnvapi-[\w-]{20,} | \bwhsec_\w{10,}
  | \bv1:[A-Za-z0-9+/]{8,}={0,2}:[A-Za-z0-9+/]{12,}={0,2}      # values that Pulumi encrypted with a passphrase
  | (?<=hooks\.slack\.com/services/)[\w/]+
    """,
    re.VERBOSE,
)
LONG = re.compile(r"[A-Za-z0-9+/]{40,}={0,2}")
"""May be a secret access key of AWS, which has 40 characters and no mark, or encoded data: see `is_random`."""


def has_hint(line: str) -> bool:
    """Whether a line may name a secret: most lines of a log do not, and this is ten times as fast as the patterns."""
    lowered = line.lower()
    return any(hint in lowered for hint in _HINTS)


def is_secret_name(name: str) -> bool:
    """Whether a key, variable or option of this name holds a secret, not only the name or the place of one."""
    return _NAME.search(name) is not None and not is_place(name)


def is_place(name: str) -> bool:
    """Whether a key says where something is, or of what kind."""
    return _OF_A_PLACE.search(name) is not None


def is_random(text: str) -> bool:
    """Whether a long run of letters and digits is a key or encoded data: hexadecimal digests have one case, and paths many slashes."""
    kinds = (any(map(str.isupper, text)), any(map(str.islower, text)), any(map(str.isdigit, text)))
    return all(kinds) and (len(text) == 40 or text.count("/") * 12 < len(text))


def is_telling(value: str) -> bool:
    """Whether a value that stood under a secret's name can be looked for elsewhere: short and common words would hide too much."""
    is_path = value.startswith("/") and (len(value) < 40 or value.count("/") > 3)
    return len(value) >= 6 and not is_path and not value.startswith("$") and REDACTED not in value and value.lower() not in _COMMON


_COMMON = frozenset(
    {
        "default",
        "enabled",
        "disabled",
        "required",
        "optional",
        "password",
        "secret",
        "changeme",
        "unknown",
        "bearer",
        "always",
        "passphrase",
    }
)
