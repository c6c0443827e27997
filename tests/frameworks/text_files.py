"""Text in every form that is read, and two tokenizers trained on it: `text_files.py FOLDER`, run by a Python that has tokenizers and pyarrow."""

# Both are in the environment of a framework.
# pyright: reportMissingImports=false

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow
import pyarrow.parquet
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

DOCUMENTS = 300
random_words = random.Random(7)
WORDS = ["".join(random_words.choices("abcdefghij", k=random_words.randint(2, 6))) for _ in range(400)]


def documents() -> Iterator[str]:
    """Each with a number of its own, and a few sentences."""
    for number in range(DOCUMENTS):
        sentences = [" ".join(random_words.choices(WORDS, k=random_words.randint(4, 12))) for _ in range(random_words.randint(1, 6))]
        yield f"Document {number}. " + " ".join(f"{sentence.capitalize()}." for sentence in sentences)


def wordpiece(texts: list[str], path: Path) -> None:
    """As BERT's; it asks to cut and to fill up, as many published ones do."""
    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    made.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=400, special_tokens=special))
    made.enable_truncation(8)
    made.enable_padding(length=8)
    made.save(str(path))


def bytes_pairs(texts: list[str], path: Path) -> None:
    """As GPT's and Llama's: what is decoded is the text to the byte."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer, made.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<|begin_of_text|>", "<|end_of_text|>"]
    made.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=500, special_tokens=special, initial_alphabet=alphabet))
    made.save(str(path))


def main(folder: Path) -> None:
    """Writes all of it: a fifth of the documents in each form, and the last once more."""
    texts = list(documents())
    fifths = [texts[first::5] for first in range(5)]
    place = folder / "text"
    (place / "more").mkdir(parents=True)
    (place / "a.txt").write_text("\n\n".join(fifths[0]) + "\n\n\n")
    lines = ["".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(fifth)) for fifth in fifths]
    (place / "b.jsonl").write_text(lines[1] + "\n")
    with gzip.open(place / "c.json.gz", "wt") as file:
        file.write(lines[2])
    with pyarrow.CompressedOutputStream(str(place / "d.ndjson.zst"), "zstd") as file:
        file.write(lines[3].encode())
    table = pyarrow.table({"id": list(range(len(fifths[4]))), "text": fifths[4]})
    pyarrow.parquet.write_table(table, place / "more" / "e.parquet", row_group_size=7)
    (place / "README.md").write_text("no text")
    (place / ".hidden.txt").write_text("no text")
    (folder / "texts.json").write_text(json.dumps(texts))
    wordpiece(texts, folder / "wordpiece.json")
    bytes_pairs(texts, folder / "pairs.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
