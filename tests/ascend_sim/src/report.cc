// The trace is opened anew for each line: a process can be killed at any time, and a test may
// truncate the file between two sessions.
#include "report.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <ctime>

#include "settings.h"

namespace sim {
namespace {

thread_local std::string last_error;
// The caller of aclGetRecentErrMsg gets a pointer and no way to free it, so the text stays here.
thread_local std::string handed_out;

std::string formatted(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(nullptr, 0, format, arguments);
  std::string text(length > 0 ? length : 0, '\0');
  vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string line_start(const char* function, int code) {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  char text[256];
  snprintf(text, sizeof text, "{\"t\":%lld.%06ld,\"pid\":%d,\"tid\":%ld,\"fn\":\"%s\",\"rc\":%d",
           static_cast<long long>(now.tv_sec), now.tv_nsec / 1000, getpid(), syscall(SYS_gettid),
           function, code);
  return text;
}

// One write of a whole line to a file opened for appending: lines of several processes do not mix.
void append(const char* path, const std::string& line) {
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0)
    return;
  if (write(file, line.data(), line.size()) < 0)
    fprintf(stderr, "aclsim: cannot write the trace %s\n", path);
  close(file);
}

}  // namespace

void trace(const char* function, int code, const char* format, ...) {
  static const char* path = setting("ACLSIM_TRACE", "");
  if (!*path)
    return;
  std::string line = line_start(function, code);
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    line += "," + formatted(format, arguments);
    va_end(arguments);
  }
  append(path, line + "}\n");
}

std::string json_escaped(const std::string& text) {
  std::string escaped;
  for (char c : text) {
    if (c == '"' || c == '\\')
      escaped += '\\';
    const bool control = static_cast<unsigned char>(c) < 0x20;
    escaped += control ? ' ' : c;
  }
  return escaped;
}

void set_error_text(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  last_error = formatted(format, arguments);
  va_end(arguments);
}

const char* take_error_text() {
  if (last_error.empty())
    return nullptr;
  handed_out.swap(last_error);
  last_error.clear();
  return handed_out.c_str();
}

}  // namespace sim
