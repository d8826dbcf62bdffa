// What the simulator tells the outside: the call trace and the text of the last error.
#pragma once
#include <string>

namespace sim {

// Appends one JSON line about a call to the file $ACLSIM_TRACE; does nothing without it.
// `format` and what follows give further members, written as JSON: "\"bytes\":%zu".
void trace(const char* function, int code, const char* format = nullptr, ...)
    __attribute__((format(printf, 3, 4)));

// A text as it may stand between the quotes of a JSON string.
std::string json_escaped(const std::string& text);

// Keeps the text that aclGetRecentErrMsg answers next in this thread.
void set_error_text(const char* format, ...) __attribute__((format(printf, 1, 2)));

// Hands the text out once, as AscendCL does: nullptr when there is none since the last time.
const char* take_error_text();

}  // namespace sim
