"""Forms that values of a file may take, each with words for what was expected."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)


class Section(BaseModel):
    """A mapping of the file: nothing but known keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def expected(words: str) -> WrapValidator:
    """Say `words` of a value that has none of the allowed forms.

    Pydantic would tell a fault for each form that it tried, in terms of its own.
    """

    def check(value: Any, allowed: ValidatorFunctionWrapHandler) -> Any:
        try:
            return allowed(value)
        except ValidationError:
            raise ValueError(f"expected {words}") from None

    return WrapValidator(check)


# Strict floats take whole numbers too, but neither text nor true and false.
Number = Annotated[float, Field(strict=True), expected("a number")]
Finite = Annotated[float, Field(strict=True, allow_inf_nan=False), expected("a finite number")]
# Shown to people and written into tags and XML: no control characters, and not blank.
Title = Annotated[StrictStr, Field(pattern=r"^[^\x00-\x1f]*[^\x00-\x20][^\x00-\x1f]*$")]
