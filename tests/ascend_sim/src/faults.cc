// ACLSIM_FAULT = item[,item...] with item = function[@device][:n[+]]=action
//   n       the n-th call in this process, from 1; "n+" that one and all later; absent: every call
//   action  a number (the call's code), hang, sleepMS, exitN, abort, segv
#include "faults.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "report.h"
#include "settings.h"

namespace sim {
namespace {

struct Plan {
  std::string function;
  int device = -1;  // any
  long nth = 0;     // every call
  bool onwards = false;
  std::string action;
};

bool parse(const std::string& item, Plan* plan) {
  const size_t equals = item.find('=');
  if (equals == std::string::npos)
    return false;
  std::string target = item.substr(0, equals);
  plan->action = item.substr(equals + 1);
  const size_t colon = target.find(':');
  if (colon != std::string::npos) {
    plan->nth = atol(target.c_str() + colon + 1);
    plan->onwards = target.back() == '+';
    target.resize(colon);
  }
  const size_t at = target.find('@');
  if (at != std::string::npos) {
    plan->device = atoi(target.c_str() + at + 1);
    target.resize(at);
  }
  plan->function = target;
  return true;
}

std::vector<Plan> read_plans() {
  std::vector<Plan> plans;
  for (const std::string& item : split(setting("ACLSIM_FAULT", ""), ',')) {
    Plan plan;
    if (parse(item, &plan))
      plans.push_back(plan);
    else
      fprintf(stderr, "aclsim: ACLSIM_FAULT: '%s' has no '=action' and is ignored\n", item.c_str());
  }
  return plans;
}

// The calls so far, in this process: of each function, and of each function on each device.
class CallCounter {
 public:
  struct Counts {
    long anywhere;
    long on_device;
  };

  Counts count(const std::string& function, int device) {
    std::lock_guard<std::mutex> lock(mutex_);
    return {++counts_[function], ++counts_[function + "@" + std::to_string(device)]};
  }

 private:
  std::mutex mutex_;
  std::map<std::string, long> counts_;
};

bool applies(const Plan& plan, const std::string& function, int device,
             const CallCounter::Counts& counts) {
  if (plan.function != function)
    return false;
  if (plan.device >= 0 && plan.device != device)
    return false;
  if (plan.nth == 0)
    return true;
  const long nth = plan.device >= 0 ? counts.on_device : counts.anywhere;
  return plan.onwards ? nth >= plan.nth : nth == plan.nth;
}

bool starts_with(const std::string& text, const char* start) {
  return text.rfind(start, 0) == 0;
}

int carry_out(const std::string& action, const char* function) {
  while (action == "hang")
    sleep(3600);
  if (starts_with(action, "sleep")) {
    sleep_ms(atol(action.c_str() + 5));
    return 0;
  }
  if (starts_with(action, "exit"))
    _exit(atoi(action.c_str() + 4));
  if (action == "abort")
    abort();
  if (action == "segv")
    raise(SIGSEGV);
  const int code = static_cast<int>(strtoll(action.c_str(), nullptr, 0));
  if (code)
    set_error_text("EZ9999: [aclsim] planned fault %d at %s", code, function);
  return code;
}

}  // namespace

int planned_fault(const char* function, int device) {
  static const std::vector<Plan> plans = read_plans();
  static CallCounter counter;
  if (plans.empty())
    return 0;
  const CallCounter::Counts counts = counter.count(function, device);
  for (const Plan& plan : plans) {
    if (!applies(plan, function, device, counts))
      continue;
    trace("FAULT", 0, "\"at\":\"%s\",\"action\":\"%s\",\"device\":%d", function,
          json_escaped(plan.action).c_str(), device);
    return carry_out(plan.action, function);
  }
  return 0;
}

bool marked_lost(int device) {
  static const char* path = setting("ACLSIM_LOST_FILE", "");
  if (!*path)
    return false;
  FILE* file = fopen(path, "r");
  if (!file)
    return false;
  char buffer[256];
  std::string text(buffer, fread(buffer, 1, sizeof buffer, file));
  fclose(file);
  if (text.empty())
    return true;
  for (char& c : text)
    if (c == '\n' || c == ',')
      c = ' ';
  for (const std::string& number : split(text, ' '))
    if (!number.empty() && atoi(number.c_str()) == device)
      return true;
  return false;
}

}  // namespace sim
