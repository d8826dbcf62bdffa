// Entry points: the runtime of a process, and its devices.
#include "acl_api.h"
#include "codes.h"
#include "device.h"
#include "faults.h"
#include "report.h"
#include "settings.h"
#include "stream.h"

using namespace sim;

ACL_API aclError aclInit(const char* config) {
  if (int code = planned_fault("aclInit")) {
    trace("aclInit", code);
    return code;
  }
  int calls = 0;
  const int code = begin_runtime(&calls);
  trace("aclInit", code, "\"call\":%d,\"config\":\"%s\"", calls,
        json_escaped(config ? config : "").c_str());
  return code;
}

ACL_API aclError aclFinalize() {
  const int code = end_runtime();
  trace("aclFinalize", code);
  return code;
}

ACL_API const char* aclGetRecentErrMsg() {
  return take_error_text();
}

ACL_API const char* aclrtGetSocName() {
  return soc_name();
}

ACL_API aclError aclrtGetDeviceCount(uint32_t* count) {
  if (int code = planned_fault("aclrtGetDeviceCount")) {
    trace("aclrtGetDeviceCount", code);
    return code;
  }
  *count = static_cast<uint32_t>(device_count());
  trace("aclrtGetDeviceCount", ACL_SUCCESS, "\"n\":%u", *count);
  return ACL_SUCCESS;
}

static int refusal_to_set(int device) {
  if (!runtime_has_begun()) {
    set_error_text("[aclsim] aclrtSetDevice before aclInit");
    return ACL_ERROR_UNINITIALIZE;
  }
  if (device < 0 || device >= device_count()) {
    set_error_text("EE1001: [aclsim] device id %d is not in [0, %d)", device, device_count());
    return ACL_ERROR_RT_INVALID_DEVICEID;
  }
  if (int code = planned_fault("aclrtSetDevice", real_device(device)))
    return code;
  if (!is_lost(device))
    return ACL_SUCCESS;
  set_error_text("[aclsim] device %d is lost", real_device(device));
  return ACL_ERROR_RT_LOST_HEARTBEAT;
}

ACL_API aclError aclrtSetDevice(int32_t device) {
  if (int code = refusal_to_set(device)) {
    trace("aclrtSetDevice", code, "\"device\":%d", device);
    return code;
  }
  // The provider calls this before every run: only a change is worth a line.
  if (current_device() != device)
    trace("aclrtSetDevice", ACL_SUCCESS, "\"device\":%d,\"physical\":%d,\"visible\":\"%s\"", device,
          real_device(device), json_escaped(setting("ASCEND_RT_VISIBLE_DEVICES", "")).c_str());
  set_current_device(device);
  return ACL_SUCCESS;
}

ACL_API aclError aclrtGetDevice(int32_t* device) {
  const bool none = current_device() == kNoDevice;
  *device = none ? 0 : current_device();
  return none ? ACL_ERROR_RT_CONTEXT_NULL : ACL_SUCCESS;
}

ACL_API aclError aclrtSynchronizeDevice() {
  int code = refusal("aclrtSynchronizeDevice");
  if (!code)
    for (Stream* stream : streams_of_device(current_device()))
      if (int error = stream->synchronize())
        code = error;
  trace("aclrtSynchronizeDevice", code);
  return code;
}
