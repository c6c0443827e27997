"""What a bundle may show: no secret under any of its names and shapes, and all that is needed to find a fault."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from trn.running.bundle.redact import Redactor
from trn.running.bundle.secrets import REDACTED, is_secret_name

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAcanary\nqqcanary1==\n-----END RSA PRIVATE KEY-----"
TEXTS = {
    "access key id": ("caller AKIAIOSFODNN7CANARY1 is not allowed", "AKIAIOSFODNN7CANARY1"),
    "secret access key": ("signed with wJalrXUtnFEMI/K7MDENG/bPxRfiCYCANARYKEY0 and sent", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYCANARYKEY0"),
    "session token": ("got IQoJb3JpZ2luX2VjECanary+/=abc from STS", "IQoJb3JpZ2luX2VjECanary"),
    "EKS token": ("k8s-aws-v1.aHR0cHM6Ly9zdHMuCanary", "aHR0cHM6Ly9zdHMuCanary"),
    "web token": ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl", "eyJzdWIiOiJjYW5hcnkifQ"),
    "Hugging Face": ("login hf_canaryCANARYcanary1234", "hf_canaryCANARYcanary1234"),
    "GitHub": ("clone with ghp_canaryCANARYcanary1234567", "ghp_canaryCANARYcanary1234567"),
    "Pulumi's token": ("pul-0123456789abcdefcafe0123456789abcdefcafe", "pul-0123456789abcdef"),
    "Pulumi's passphrase": ("v1:canary1234canary=:canary5678canary9012==", "canary5678"),
    "URL": ("postgres://train:c4nary/@db.example:5432/x", "c4nary"),
    "URL with a token": ("https://c4narytoken@github.com/org/repo.git", "c4narytoken"),
    "signed URL": ("GET https://b.s3.amazonaws.com/k?X-Amz-Signature=c4nary99&X-Amz-Date=1", "c4nary99"),
    "header": ("> Authorization: Bearer c4nary.c4nary", "c4nary"),
    "basic": ("authorization is Basic dXNlcjpjYW5hcnk=", "dXNlcjpjYW5hcnk"),
    "assignment": ("started with DB_PASSWORD=c4nary,c4nary&x lr=3", "c4nary"),
    "line of an environment": ("export MY_API_KEY=c4nary with blanks", "blanks"),
    "short name": ("DBPASS=c4nary dbPass: c4nary", "c4nary"),
    "quoted": ("config {'password': 'c4nary \"with\" blanks', 'lr': 3}", "c4nary"),
    "JSON in JSON": ('{"body": "{\\"clientSecret\\": \\"c4nary\\"}"}', "c4nary"),
    "option": ("torchrun train.py --wandb-api-key c4nary --steps 10", "c4nary"),
    "option with a sign": ("train.py --hf_token=c4nary", "c4nary"),
    "curl": ("curl -u me:c4nary https://example", "c4nary"),
    "docker": ("docker login -u me -p c4nary registry", "c4nary"),
    "PEM": (f"before\n{PEM}\nafter", "canary"),
    "PEM in one line": (PEM.replace("\n", "\\n"), "canary"),
    "PEM without its beginning": ("\n".join(PEM.splitlines()[1:]) + "\nafter", "canary"),
    "PEM without its end": ("\n".join(PEM.splitlines()[:-1]), "canary"),
    "CA in base64": ("certificate: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURCVENDQWUyZ0F3SUJBZ0lJ", "RVJUSUZJQ0FURS0tLS0"),
    "coloured": ("\x1b[1mpassword\x1b[0m=\x1b[31mc4nary\x1b[0m", "c4nary"),
    "kubeconfig": ("users:\n- name: a\n  user:\n    client-key-data: c4nary\n    token: c4nary\n", "c4nary"),
    "YAML block": ("password: |\n  c4nary\n  c4nary\nnext: 1", "c4nary"),
}
KEPT = (
    "epoch 1 step 200 loss 2.31 tokens_per_second=12345 max_tokens: 4096 tokenizer=bert-base",
    "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
    "secretName: neuron-monitor",
    "image 763104351884.dkr.ecr.us-west-2.amazonaws.com/train@sha256:0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
    "arn:aws:eks:us-west-2:111122223333:cluster/trainium-dev fs-0123456789abcdef0 commit 5e3b0c1f9a7d2e4b6c8a0f1e3d5b7a9c1e3f5a7b",
    "key: aws.amazon.com/neuron",
    "encryptionKeyArn: arn:aws:kms:us-west-2:111122223333:key/1b1e1b1e-0000-4000-8000-00000000b10e",
    "secret_arn=arn:aws:secretsmanager:us-west-2:111122223333:secret:wandb",
    "workspaceArn: arn:aws:aps:us-west-2:111122223333:workspace/ws-0123abcd-0123-0123-0123-0123456789ab",
    "alarm: {emails: [team@example.com], snsTopicArn: arn:aws:sns:us-west-2:111122223333:money}",
    "roles: {node: arn:aws:iam::111122223333:role/company/nodes}",
    "/fsx/checkpoints/bert-large/2026-11-22T17-00-00/step-001000/optimizer",
    "https://oidc.eks.us-west-2.amazonaws.com/id/ABCDEF0123456789 answered 200",
)


@pytest.mark.parametrize("name", TEXTS)
def test_a_secret_in_a_text_is_redacted(name: str):
    """By its name, or by its shape."""
    text, canary = TEXTS[name]
    assert canary in text
    redacted = Redactor().text(text)
    assert canary not in redacted
    assert REDACTED in redacted


@pytest.mark.parametrize("line", KEPT)
def test_what_is_no_secret_is_kept(line: str):
    """A bundle without figures, digests and names helps no one."""
    assert Redactor().text(line) == line


def test_a_given_keys_arn_is_known_in_every_part():
    """EKS shows the same ARN: hidden there, no reader sees that the two differ."""
    arn = "arn:aws:kms:us-west-2:111122223333:key/1b1e1b1e-0000-4000-8000-00000000b10e"
    redactor = Redactor()
    assert redactor.value({"controlPlane": {"encryptionKeyArn": arn}}) == {"controlPlane": {"encryptionKeyArn": arn}}
    assert redactor.everywhere(f"provider: {{keyArn: {arn}}}") == f"provider: {{keyArn: {arn}}}"
    assert redactor.text("password_learn: c4nary-c4nary") != "password_learn: c4nary-c4nary"


def test_objects_keep_their_form_and_lose_their_secrets():
    """Variables of the user's own are not shown, whatever they are called; references are."""
    pod = {
        "metadata": {
            "annotations": {
                "example.com/db-password": "c4nary",
                "kubectl.kubernetes.io/last-applied-configuration": '{"env": "c4nary"}',
                "note": '{"apiToken": "c4nary", "kept": 1}',
            },
            "managedFields": [{"c4nary": 1}],
        },
        "spec": {
            "env": [
                {"name": "GREETING", "value": "c4nary"},
                {"name": "NEURON_RT_LOG_LEVEL", "value": "INFO"},
                {"name": "FI_TOKEN", "value": "c4nary"},
                {"name": "PORT", "value": "$(MASTER_PORT)"},
                {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "wandb", "key": "api-key"}}},
            ],
            "args": ["train.py", "--api-key", "c4nary", "--lr", "3", "--token=c4nary"],
            "command": ["sh", "-c", "login --password c4nary && train --lr 3"],
            "imagePullSecrets": [{"name": "registry"}],
            "volumes": [{"secret": {"secretName": "wandb"}}],
            "runtime": {"env_vars": {"HOST": "c4nary", "RANK": "0"}},
            "runtimeEnvYAML": "env_vars:\n  GREETING: c4nary\n",
            "tags": [{"Key": "db-password", "Value": "c4nary"}, {"key": "aws.amazon.com/neuron", "value": "true"}],
            "credentials": {"value": "c4nary", "username": "train", "pin": 1234},
        },
        "other": [
            {"kind": "Secret", "data": {"x": "c4nary"}},
            {"secure": "c4nary"},
            {"4dabf18193072939515e22adb298388d": "x", "c": "c4nary"},
        ],
    }
    redacted = Redactor().value(pod)
    assert "c4nary" not in json.dumps(redacted)
    spec = redacted["spec"]
    assert [entry.get("value") for entry in spec["env"]] == [REDACTED, "INFO", REDACTED, "$(MASTER_PORT)", None]
    assert spec["env"][4] == pod["spec"]["env"][4]
    assert spec["args"] == ["train.py", "--api-key", REDACTED, "--lr", "3", f"--token={REDACTED}"]
    assert spec["command"][2] == f"login --password {REDACTED} && train --lr 3"
    assert (spec["imagePullSecrets"], spec["volumes"]) == (pod["spec"]["imagePullSecrets"], pod["spec"]["volumes"])
    assert spec["runtime"]["env_vars"] == {"HOST": REDACTED, "RANK": "0"}
    assert spec["tags"] == [{"Key": "db-password", "Value": REDACTED}, {"key": "aws.amazon.com/neuron", "value": "true"}]
    assert spec["credentials"] == {"value": REDACTED, "username": "train", "pin": REDACTED}
    assert json.loads(redacted["metadata"]["annotations"]["note"])["kept"] == 1


def test_a_secret_that_was_seen_under_its_name_is_found_everywhere():
    """In a log it has no name; it may be written for a URL or in base64."""
    redactor = Redactor(known=["from/the=shell"])
    redactor.value({"env": [{"name": "DB_PASSWORD", "value": "plain c4nary"}]})
    text = "opened with plain c4nary, then plain%20c4nary, then cGxhaW4gYzRuYXJ5, then from/the=shell"
    assert redactor.everywhere(text) == f"opened with {REDACTED}, then {REDACTED}, then {REDACTED}, then {REDACTED}"


def test_short_and_common_values_are_not_looked_for():
    """`true` or `default` would take half of the bundle with it; so would the folder that $PWD names."""
    redactor = Redactor(known=["true", "default", "/srv/project", "$SECRET"])
    assert redactor.everywhere("true default /srv/project $SECRET") == "true default /srv/project $SECRET"


def test_a_text_of_yaml_that_grows_without_end_is_not_read():
    """A page of aliases stands for a terabyte."""
    levels = "\n".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 9)}]" for n in range(9))
    assert Redactor().value({"runtimeEnvYAML": f"a0: &a0 [x]\n{levels}\n"}) == {"runtimeEnvYAML": REDACTED}


WORDS = st.lists(st.integers(1, 99).map(lambda number: f"c4nary{number}"), min_size=1, max_size=12)
SEPARATORS = st.sampled_from([" ", "\n", "\n\n", ": ", " # ", "'", '"', "\\", ", ", "é", "-", "\t", "{", "]"])


@given(WORDS, SEPARATORS, st.sampled_from(["password", "secure", "wandbApiKey", "authToken"]), st.booleans())
def test_whatever_a_secret_of_a_stack_file_is_made_of_it_does_not_stay(words: list[str], separator: str, key: str, in_flow: bool):
    """YAML writes long and odd texts on several lines, in quotes, in blocks."""
    given_file = {"config": {"trn:name": "dev", "other:thing": {key: separator.join(words), "kept": 1}}}
    text = yaml.safe_dump(given_file, width=40, default_flow_style=in_flow, allow_unicode=True)
    redactor = Redactor()
    redacted = redactor.everywhere(redactor.text(text, is_yaml=True))
    assert "c4nary" not in redacted
    assert "trn:name" in redacted


@pytest.mark.parametrize(
    ("name", "is_secret"),
    [
        ("password", True), ("DB_PASS", True), ("dbPass", True), ("AWS_SECRET_ACCESS_KEY", True), ("apiKey", True), ("encryptionsalt", True),
        ("HF_TOKEN", True), ("Authorization", True), ("tokens_per_second", False), ("tokenizer", False), ("bypass", False),
        ("secretName", False), ("TOKEN_FILE", False), ("authenticationMode", False), ("key", False), ("compass", False),
    ],
)  # fmt: skip
def test_names_of_secrets_are_told_from_names_of_places(name: str, is_secret: bool):
    """Words of training and of Kubernetes are none."""
    assert is_secret_name(name) is is_secret
