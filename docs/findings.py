"""Write docs/findings.md from the rules: `python -m docs.findings`."""

from __future__ import annotations

from pathlib import Path

from workbench.advisor.registry import FAMILIES, Rule, rules

PAGE = Path(__file__).with_suffix(".md")
HEAD = """# Findings

`wb.findings(model, config)`, `result.findings()` and `workbench findings MODEL` ask each of these rules
whether time, memory or accuracy is lost, and what would fix it. `finding.try_fix()` measures one fix against
the config as it is; `wb.improve(model)` and `workbench improve MODEL` try them all, largest gain first, and
keep what was measured better. A rule that needs a fact nobody made (a cold start, a thread scan) is listed as
such, never passed over in silence.

A gain below 3 % of a run, 10 % of the memory or 20 % of the load stands under *small things*. *Sure* means
that the structure proves it, *likely* that a share of the profile and a measured factor say so, *maybe* that
only a measurement can tell.

A fix that was measured slower, equal or with other outputs is remembered for this model, config, processor
and version of ONNX Runtime: its finding says what was measured, and `wb.improve` does not try it again.

`python -m benchmarks.findings --parts recall sound exact speed` plants flaws into sound models and counts how
many are found with the right nodes, how many findings sound models have, and whether exact fixes are exact;
`--parts gain improve` measures, so it needs a quiet machine. Each goes on where it was stopped.

This page is made from the rules by `python -m docs.findings`.
"""

NO_FINDINGS = {  # what users ask about and no rule says, with the reason
    "a busy machine": "a doubt of each comparison (*other load*); disturbed blocks are set aside",
    "two sessions measured in one process": "never done here: each session has a process of its own",
    "a profile taken for the latency": "never done here: the latency is measured without the profiler",
    "inputs of zeros or denormal numbers": "random inputs are normal numbers; your own are taken as they are",
    "a batch of 1 measured, a larger one used": "the workbench cannot know: `wb.sweep(model, batch=(1, 8))`",
}


def page() -> str:
    """Return the page: one section a family, one table row a rule, and what is no finding."""
    sections = [HEAD]
    for family in FAMILIES:
        rows = [_row(rule) for rule in rules() if rule.family == family]
        title = family.replace("_", " ").capitalize()
        table = ["| finding | recognised by | what to do | known from |", "|---|---|---|---|", *rows]
        sections.append("\n".join([f"## {title}", "", *table]) + "\n")
    rows = [f"| {question} | {reason} |" for question, reason in NO_FINDINGS.items()]
    sections.append("\n".join(["## No findings", "", "| | why |", "|---|---|", *rows]) + "\n")
    return "\n".join(sections)


def _row(rule: Rule) -> str:
    cells = (f"**{rule.id}** {rule.meaning}", rule.recognised, rule.advice, rule.source)
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
