"""`make outside`: how the program does against what others wrote, by group."""

from collections import Counter

from tests.outside.jobs import FAULTS, planted
from tests.outside.test_jobs import CASES, PAIRS, dev, rules


def main() -> None:
    """Manifests of others: precision and recall of each rule of `trn lint`."""
    right, false, missed = Counter[str](), Counter[str](), Counter[str]()
    for case in CASES:
        for said, expected in ((rules(case.manifest()), case.alone), (rules(case.manifest(), dev()), case.on_dev)):
            right.update(said & expected)
            false.update(said - expected)
            missed.update(expected - said)
    for case, fault in PAIRS:
        (right if fault.rule in rules(planted(case, fault)) else missed)[fault.rule] += 1
    print(f"trn lint: {len(CASES)} manifests of others, {len(FAULTS)} faults planted into those that they fit, {len(PAIRS)} in all")
    print(f"{'rule':28} {'right':>6} {'false':>6} {'missed':>6}")
    for name in sorted(right | false | missed):
        print(f"{name:28} {right[name]:6} {false[name]:6} {missed[name]:6}")
    whole = right.total() + missed.total()
    print(f"precision {right.total() / (right.total() + false.total()):.1%}, recall {right.total() / whole:.1%}")


if __name__ == "__main__":
    main()
