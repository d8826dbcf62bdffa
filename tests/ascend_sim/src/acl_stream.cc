// Entry points: streams and events.
#include <memory>

#include "acl_api.h"
#include "codes.h"
#include "device.h"
#include "report.h"
#include "stream.h"

using namespace sim;

ACL_API aclError aclrtCreateStream(void** handle) {
  const int code = refusal("aclrtCreateStream");
  *handle = code ? nullptr : create_stream(current_device());
  trace("aclrtCreateStream", code, "\"stream\":\"%p\",\"device\":%d", *handle, current_device());
  return code;
}

ACL_API aclError aclrtDestroyStream(void* handle) {
  if (!destroy_stream(handle))
    return ACL_ERROR_RT_INVALID_HANDLE;
  trace("aclrtDestroyStream", ACL_SUCCESS, "\"stream\":\"%p\"", handle);
  return ACL_SUCCESS;
}

ACL_API aclError aclrtSynchronizeStream(void* handle) {
  int code = refusal("aclrtSynchronizeStream");
  if (!code)
    code = stream_of(handle)->synchronize();
  if (code)
    set_error_text("EZ9999: [aclsim] stream synchronize failed with %d", code);
  trace("aclrtSynchronizeStream", code, "\"stream\":\"%p\"", handle);
  return code;
}

// A handle is a shared pointer of its own: queued work may outlive the caller's destroy.
using EventHandle = std::shared_ptr<Event>;

static EventHandle event_of(void* handle) {
  return *static_cast<EventHandle*>(handle);
}

ACL_API aclError aclrtCreateEvent(void** handle) {
  const int code = refusal("aclrtCreateEvent");
  if (!code)
    *handle = new EventHandle(std::make_shared<Event>());
  return code;
}

ACL_API aclError aclrtDestroyEvent(void* handle) {
  delete static_cast<EventHandle*>(handle);
  return ACL_SUCCESS;
}

ACL_API aclError aclrtRecordEvent(void* handle, void* stream) {
  if (int code = refusal("aclrtRecordEvent"))
    return code;
  const EventHandle event = event_of(handle);
  const long record = event->record();
  stream_of(stream)->push([event, record] {
    event->reach(record);
    return 0;
  });
  return ACL_SUCCESS;
}

ACL_API aclError aclrtStreamWaitEvent(void* stream, void* handle) {
  if (int code = refusal("aclrtStreamWaitEvent"))
    return code;
  const EventHandle event = event_of(handle);
  const long record = event->latest();
  stream_of(stream)->push([event, record] {
    event->wait_for(record);
    return 0;
  });
  return ACL_SUCCESS;
}

ACL_API aclError aclrtSynchronizeEvent(void* handle) {
  if (int code = refusal("aclrtSynchronizeEvent"))
    return code;
  const EventHandle event = event_of(handle);
  event->wait_for(event->latest());
  return ACL_SUCCESS;
}
