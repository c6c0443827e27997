"""Documents as tokens, by a tokenizer of the tokenizers library. Runs in a pod."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

SPECIAL = {
    "padding": ("[PAD]", "<pad>"),
    "class": ("[CLS]", "<s>"),
    "separator": ("[SEP]", "</s>"),
    "mask": ("[MASK]", "<mask>"),
}
END = ("<|end_of_text|>", "<|endoftext|>", "</s>", "<eos>")
"""What ends a document: of Llama 3; of GPT-2 and Qwen 3; of Llama 2 and Mistral; of Gemma (their tokenizer.json)."""
SENTENCE_END = re.compile(
    r"""(?<=[.!?])["')\]\u201d\u2019]?\s+(?=["'(\[\u201c\u2018]?[A-Z0-9\u00c0-\u00de])|(?<=[\u3002\uff01\uff1f])|\s*\n\s*"""
)
"""Where a sentence ends, near enough for the task of the next sentence: an abbreviation before a name counts as an end."""


class Unfit(Exception):
    """The tokenizer cannot be used as it is asked for; says why."""


class Text:
    """A tokenizer, and how documents become tokens by it."""

    def __init__(self, name: str, body: bytes, options: Mapping[str, Any]) -> None:
        """`body`: of its tokenizer.json; `options`: begin, end and sentences of `data.prepare`. Raises Unfit."""
        from tokenizers import Tokenizer

        try:
            self.made: Any = Tokenizer.from_str(body.decode())
        except Exception as error:  # the library raises nothing more exact
            raise Unfit(f"{name} is no tokenizer.json of the tokenizers library: {error}") from error
        # It may ask to cut and to fill up, for use with one model.
        self.made.no_truncation()
        self.made.no_padding()
        found = {key: self._first(names) for key, names in SPECIAL.items()}
        is_masked, sentences, end = found["mask"] is not None, options.get("sentences"), options.get("end")
        self.has_sentences: bool = is_masked if sentences is None else sentences
        self.begin, self.end = self._named("begin", options.get("begin")), self._named("end", end)
        if end is None and not is_masked:
            self.end = self._first(END)
            if self.end is None:
                raise Unfit(f"{name} has none of {', '.join(END)}: say what ends a document by `data.prepare.end`, '' for nothing")
        self.special = {**found, "begin": self.begin, "end": self.end}
        vocabulary = 1 + max(self.made.get_vocab(with_added_tokens=True).values())
        self.about = {"name": name, "sha256": hashlib.sha256(body).hexdigest(), "vocabulary": vocabulary}
        self.kind = "uint16" if vocabulary <= 1 << 16 else "uint32"
        # Without offsets in the text, where the library can do so.
        self._encode: Any = getattr(self.made, "encode_batch_fast", self.made.encode_batch)

    def _first(self, names: tuple[str, ...]) -> int | None:
        return next((token for token in map(self.made.token_to_id, names) if token is not None), None)

    def _named(self, key: str, token: str | None) -> int | None:
        if not token:
            return None
        found: int | None = self.made.token_to_id(token)
        if found is None:
            raise Unfit(f"data.prepare.{key} is `{token}`, which the tokenizer does not have as one token")
        return found

    def tokens(self, documents: list[str]) -> Iterator[list[list[int]]]:
        """Ids of each document by sentences, or in one piece; nothing for one without any token."""
        parts = [SENTENCE_END.split(document) if self.has_sentences else [document] for document in documents]
        encoded = iter(self._encode([part for each in parts for part in each], add_special_tokens=False))
        for each in parts:
            found = [ids for ids in (next(encoded).ids for _ in each) if ids]
            if found and self.begin is not None:
                found[0] = [self.begin, *found[0]]
            if found and self.end is not None:
                found[-1] = [*found[-1], self.end]
            yield found
