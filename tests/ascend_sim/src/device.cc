// What the runtime knows of its devices. Every entry point that needs a device asks refusal()
// first, so the order of the checks in it is the order in which failures win.
#include "device.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <vector>

#include "codes.h"
#include "faults.h"
#include "report.h"
#include "settings.h"

namespace sim {
namespace {

thread_local int thread_device = kNoDevice;
std::atomic<bool> begun{false};

// What has happened to the devices, by the number the process knows them by.
std::mutex mutex;
std::map<int, bool> lost;
std::map<int, int> broken_by;

// ASCEND_RT_VISIBLE_DEVICES=2,3 shows devices 2 and 3 as 0 and 1. An entry that does not exist
// ends the list.
std::vector<int> find_devices() {
  const int existing = static_cast<int>(setting_number("ACLSIM_DEVICES", 2));
  const std::vector<std::string> chosen = split(setting("ASCEND_RT_VISIBLE_DEVICES", ""), ',');
  std::vector<int> devices;
  if (chosen.empty())
    for (int device = 0; device < existing; device++)
      devices.push_back(device);
  for (const std::string& entry : chosen) {
    const int device = atoi(entry.c_str());
    if (device < 0 || device >= existing)
      break;
    devices.push_back(device);
  }
  return devices;
}

const std::vector<int>& devices() {
  static const std::vector<int> found = find_devices();
  return found;
}

int refusal_of_device(int device) {
  bool gone = is_lost(device);
  if (!gone && planned_fault("device.lost", real_device(device))) {
    std::lock_guard<std::mutex> lock(mutex);
    lost[device] = gone = true;
  }
  if (gone) {
    set_error_text("EL9999: [aclsim] device %d is lost", real_device(device));
    return ACL_ERROR_RT_LOST_HEARTBEAT;
  }
  std::lock_guard<std::mutex> lock(mutex);
  const auto broken = broken_by.find(device);
  if (broken == broken_by.end())
    return ACL_SUCCESS;
  set_error_text("EZ9999: [aclsim] device %d is unusable in this process after error %d",
                 real_device(device), broken->second);
  return ACL_ERROR_RT_DRV_INTERNAL_ERROR;
}

}  // namespace

int device_count() {
  return static_cast<int>(devices().size());
}

int real_device(int device) {
  return device >= 0 && device < device_count() ? devices()[device] : device;
}

int current_device() {
  return thread_device;
}

void set_current_device(int device) {
  thread_device = device;
}

// Once lost, lost for good in this process, even when the mark goes away: so it is on hardware.
bool is_lost(int device) {
  const bool marked = marked_lost(real_device(device));
  std::lock_guard<std::mutex> lock(mutex);
  bool& is = lost[device];
  is = is || marked;
  return is;
}

int begin_runtime(int* calls) {
  static std::atomic<int> count{0};
  *calls = ++count;
  // ACLSIM_PREINIT=1: as if something else in this process, torch_npu say, had been first.
  const bool again = begun.exchange(true) || setting_number("ACLSIM_PREINIT", 0);
  if (!again)
    return ACL_SUCCESS;
  set_error_text("EE4001: [aclsim] Repeat initialize");
  return ACL_ERROR_REPEAT_INITIALIZE;
}

int end_runtime() {
  return begun.exchange(false) ? ACL_SUCCESS : ACL_ERROR_REPEAT_FINALIZE;
}

bool runtime_has_begun() {
  return begun;
}

int refusal(const char* function) {
  if (!begun) {
    set_error_text("EH0002: [aclsim] %s before aclInit", function);
    return ACL_ERROR_UNINITIALIZE;
  }
  const int device = thread_device;
  if (device == kNoDevice) {
    set_error_text(
        "EE9999: [aclsim] %s: no current context in this thread (aclrtSetDevice was not called in "
        "it)",
        function);
    return ACL_ERROR_RT_CONTEXT_NULL;
  }
  if (int code = refusal_of_device(device))
    return code;
  return planned_fault(function, real_device(device));
}

void note_failed_task(int device, int code) {
  if (!setting_number("ACLSIM_STICKY", 0))
    return;
  std::lock_guard<std::mutex> lock(mutex);
  broken_by[device] = code;
}

}  // namespace sim
