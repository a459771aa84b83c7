"""What a feature declares: its record, the call that makes it, where it is offered, how it reads.

Front ends, pages, bundles and the history are made from declarations; the one list of them stands in
`workbench.features`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal, TypeAlias

from workbench.core.bundle.kinds import Kind
from workbench.core.command import Command
from workbench.core.form import Field, Source, call_source
from workbench.core.measure.gates import Gate

Per = Literal["run", "config", "baseline", "runs", "candidate"]
Need = Literal["comparison", "precision"]
Argument = Literal["inputs", "data", "calibration", "seed", "budget_s", "progress", "keep", "on_step"]
Place: TypeAlias = "str | Callable[..., Any]"  # a function, or "module:function" to import it when called
Effort: TypeAlias = tuple[float, int, int]
NextQuestion: TypeAlias = tuple[int, str, str]
Role = Literal[
    "",
    "finds",  # fixes to try, and marks on nodes
    "improves",  # a config to serve, with what was found on the way
    "explains",  # which passes fired
    "judges outputs",  # made where precisions differ
    "bears load",  # how many callers a config bears
    "for generators",  # what is made first of such a model, as of the next
    "for fixed sizes",
]
Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]  # positional ones, keywords


def function_at(place: Place) -> Callable[..., Any]:
    """Return the function of a text "module:function", which is imported now, or the function itself."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


def _first_line(function: Callable[..., Any]) -> str:
    """Return what a function does, as the help of a command says it."""
    line = (function.__doc__ or "").partition("\n")[0].rstrip(".")
    return line[:1].lower() + line[1:]


def plain_call(model: Any, configs: tuple[Any, ...], options: dict[str, Any]) -> Arguments:
    """Return the arguments of a function that takes a model, its configs, and keywords."""
    return (model, *configs), options


@dataclass(frozen=True, slots=True)
class Offer:
    """A feature as its button and its tabs show it; the fields are those of `Feature`."""

    name: str
    button: str
    hint: str
    tabs: tuple[str, ...]
    per: str
    key: str | None
    has_form: bool = False
    side_by_side: bool = False
    public_name: str = ""
    does: str = ""  # the first line of the call's docstring
    effort: Effort | None = None
    question: str = ""
    title: str = ""
    has_cards: bool = False
    next_question: NextQuestion | None = None
    role: Role = ""

    def cost_s(self, load_s: float | None, run_s: float | None) -> float | None:
        """Return about how many seconds it takes, from a load and a run of the model; None: nobody knows."""
        if self.effort is None or load_s is None or run_s is None:
            return None
        base_s, loads, runs = self.effort
        return base_s + loads * load_s + runs * run_s

    @property
    def command_name(self) -> str:
        """The command of its call."""
        return self.public_name.replace("_", "-")

    @property
    def method(self) -> str:
        """How a comparison calls it."""
        return self.name.replace(" ", "_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature(Kind):
    """One feature. The fields of `Kind` say how its record is saved and checked.

    `per` says what one result is about: "run" (each of the compared configs has one), "config" (the config
    that the panels show), "baseline" (A), "candidate" (the first candidate of a comparison) or "runs" (all
    configs at once).
    """

    result: type[Any]  # a Result, made of the record when a bundle is opened
    chart: Place = ""  # record → Chart, drawn live and still
    figure: Place = ""  # the live figure, where it is drawn otherwise than by the chart
    picture: Place = ""  # the still picture, likewise
    per: Per = "config"
    call: Place = ""  # the public function that makes it
    takes: tuple[Argument, ...] = ()  # what that function takes besides model, config and cancel
    form: tuple[Field, ...] = ()  # what the panels ask for
    arguments: Callable[[Any, tuple[Any, ...], dict[str, Any]], Arguments] = plain_call
    needs: tuple[Need, ...] = ()  # what must be there before it can be made
    examine: Callable[[Any], object] | None = None  # ExaminedRun → record, for `comparison.examine`
    side_by_side: bool = False  # all runs are shown as one: `result.memory()`, one section, one card
    command: Command = field(default_factory=Command)
    """Its options and its words beside what the signature of the call says."""
    gates: Callable[..., Iterable[Gate]] | None = None
    """The record, and options of its command by their names → the checks that give its exit code."""
    says_stopped: bool = False  # a result that was stopped holds what is known by then, and says so
    keeps_accuracy: bool = False  # its result measures the accuracy of its configs and keeps it
    fact: str = ""  # what the rules of findings call the record
    heading: str = ""  # of its section in the page of a comparison; empty: the page has its own section
    button: str = ""  # the label of its button; empty: the panels do not offer it
    hint: str = ""  # the tooltip of the button
    step: str = ""  # what the job says while it runs
    effort: Effort | None = None  # what it takes: seconds of its own, loads of the model, runs
    question: str = ""  # what it answers; its tabs ask it beside the answer of a comparison
    next_question: NextQuestion | None = None
    """What is asked next about a comparison: its place among all such, about which, and the words.

    About "any", about one with several "precisions", or about one with a verdict of this kind.
    """
    role: Role = ""  # what the panels ask of its results beside cards, or which models it is made for first
    tabs: tuple[str, ...] = ()  # the tabs that offer it, its own first
    title: str = ""  # of its first card; empty: its name
    cards: Place = ""  # what a front end holds → its cards; empty: one with figure and table for each result
    key: str | None = None  # the column of its table that names nodes, for the linked selection
    code: str = ""  # how a comparison gets it, where `making_code` cannot know

    @property
    def offer(self) -> Offer:
        """What the panels show of it before they make one."""
        return Offer(
            self.name, self.button, self.hint, self.tabs, self.per, self.key, bool(self.form),
            self.side_by_side, self.public_name, _first_line(self.function) if self.call else "",
            self.effort, self.question, self.title or self.name, bool(self.cards),
            self.next_question, self.role,
        )  # fmt: skip

    @property
    def function(self) -> Callable[..., Any]:
        """The public function that makes it."""
        return function_at(self.call)

    @property
    def public_name(self) -> str:
        """The name of that function in `wb`; empty where there is none."""
        return self.call.partition(":")[2] if isinstance(self.call, str) else self.call.__name__

    def make(self, model: Any, configs: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """Call the public function."""
        arguments, keywords = self.arguments(model, tuple(configs), dict(options))
        return self.function(*arguments, **keywords)

    def call_code(self, configs: Sequence[str], options: Mapping[str, Any]) -> str:
        """Return the call of the public function; `configs` are names of variables."""
        arguments, keywords = self.arguments(Source("model"), tuple(map(Source, configs)), dict(options))
        return call_source(f"wb.{self.public_name}", arguments, keywords)

    def making_code(self, configs: Sequence[str], label: str, options: Mapping[str, Any]) -> str:
        """Return Python that adds one to `result`; `label` is the source of a text."""
        if self.code:
            return self.code
        if self.examine is not None:
            return f'result.examine("{self.name}")'
        if "comparison" in self.needs:
            made = f"wb.{self.public_name}(result)"
        else:
            made = self.call_code(configs, options)
        return f"result.add({made})" if self.per == "runs" else f"result.add({made}, {label})"
