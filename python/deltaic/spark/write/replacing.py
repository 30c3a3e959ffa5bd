"""The options `replaceUsing` and `replaceOn` of an overwrite: which rows of the table its rows replace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from deltaic.exceptions import InvalidArgumentError
from deltaic.spark.session.kind import is_connect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from deltaic.spark.session.settings import Settings

ON, USING = "replaceOn", "replaceUsing"


@dataclass(frozen=True)
class Replacing:
    """Removes rows of the table that match one of the rows to be written."""

    on: str | None
    """A condition on both."""
    using: str | None
    """Columns that are equal, separated by commas."""
    alias: str | None
    """Name by which the condition may call the table."""
    has_overwrite_mode: bool = False
    """Whether `partitionOverwriteMode` is given, too."""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Replacing | None:
        """From the options of a write, names in lower case."""
        on, using = given.get("replaceon"), given.get("replaceusing")
        if on is None and using is None:
            return None
        return cls(
            on,
            using,
            given.get("targetalias"),
            has_overwrite_mode="partitionoverwritemode" in given,
        )

    @property
    def option(self) -> str:
        """The name of the option."""
        return USING if self.on is None else ON

    @property
    def text(self) -> str:
        """The condition, or the columns, as they were given."""
        return str(self.using if self.on is None else self.on)

    @property
    def shown(self) -> dict[str, str]:
        """What the history shows."""
        shown = {} if self.on is None else {"replaceOnCond": self.on}
        return shown if self.using is None else {**shown, "replaceUsingCols": f"({self.using})"}

    @property
    def columns(self) -> list[str]:
        """The columns of `using`.

        Raises:
            InvalidArgumentError: one has no name.
        """
        given = str(self.using)
        columns = list(dict.fromkeys(name.strip() for name in given.split(",")))
        if not all(columns):
            explain = "must not contain empty column names"
            error = InvalidArgumentError.of(USING, f"`{given}` {explain}")
            raise error.named("DELTA_ILLEGAL_OPTION", input=given, explain=explain)
        return columns

    def check(self, session: Any, settings: Settings) -> None:
        """Makes the checks that need no read of the table.

        Raises:
            InvalidArgumentError: the session does not allow the option, or a column has no name.
            ParseException: of Spark, for what is not a condition. On Spark Connect the analysis of the write raises
                it.
        """
        for option, given in ((ON, self.on), (USING, self.using)):
            if given is not None and option in settings.replacing_refused:
                setting = f"`spark.databricks.delta.{option}.dataframe.writer.enabled` is false"
                error = InvalidArgumentError.of(option, setting)
                raise error.named("DELTA_OPERATION_NOT_ALLOWED", operation=option)
        if self.on is None:
            _ = self.columns
        elif not is_connect(session):
            session._jsparkSession.sessionState().sqlParser().parseExpression(self.on)

    def refuse_definition(self) -> NoReturn:
        """Refuses a write that creates or replaces the table.

        Raises:
            InvalidArgumentError: always.
        """
        error = InvalidArgumentError.of(self.option, "needs an existing table that is not replaced")
        raise error.named("DELTA_DFV2_CREATE_REPLACE_INCOMPATIBLE_REPLACE_ON_OR_USING")
