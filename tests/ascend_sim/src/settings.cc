// Values are read at each call, not kept: a test may change the environment between two sessions.
// Where a value must not change within a process, its user keeps it in a static variable.
#include "settings.h"

#include <unistd.h>

#include <cstdlib>

namespace sim {

const char* setting(const char* name, const char* fallback) {
  const char* value = getenv(name);
  return value && *value ? value : fallback;
}

long long setting_number(const char* name, long long fallback) {
  const char* value = setting(name, nullptr);
  return value ? atoll(value) : fallback;
}

const char* soc_name() {
  return setting("ACLSIM_SOC", "Ascend910B3");
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (start < text.size()) {
    size_t end = text.find(separator, start);
    if (end == std::string::npos)
      end = text.size();
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

void sleep_ms(long long milliseconds) {
  if (milliseconds > 0)
    usleep(1000 * static_cast<useconds_t>(milliseconds));
}

}  // namespace sim
