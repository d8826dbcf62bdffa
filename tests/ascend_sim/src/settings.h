// The ACLSIM_* switches, read from the environment of the process.
#pragma once
#include <string>
#include <vector>

namespace sim {

// The value of a variable, or `fallback` where it is not set or empty.
const char* setting(const char* name, const char* fallback);
long long setting_number(const char* name, long long fallback);

// ACLSIM_SOC. Compiled models carry it, so build and load must agree on the default.
const char* soc_name();

// Parts between separators; an empty text has none, and one at the end of the text starts no part.
std::vector<std::string> split(const std::string& text, char separator);

void sleep_ms(long long milliseconds);

}  // namespace sim
