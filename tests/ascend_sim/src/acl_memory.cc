// Entry points: memory and copies.
#include <cstdlib>
#include <cstring>

#include "acl_api.h"
#include "codes.h"
#include "device.h"
#include "device_memory.h"
#include "faults.h"
#include "report.h"
#include "stream.h"

using namespace sim;

ACL_API aclError aclrtMalloc(void** address, size_t size, int policy) {
  int code = refusal("aclrtMalloc");
  const int device = current_device();
  if (!code)
    code = allocate_on_device(device, size, address);
  trace("aclrtMalloc", code, "\"device\":%d,\"bytes\":%zu,\"in_use\":%zu,\"policy\":%d", device,
        size, bytes_in_use(device), policy);
  return code;
}

ACL_API aclError aclrtFree(void* address) {
  const int code = free_on_device(address);
  trace("aclrtFree", code, "\"in_use\":%zu", bytes_in_use(current_device()));
  return code;
}

ACL_API aclError aclrtMallocHost(void** address, size_t size) {
  const size_t alignment = 64;
  int code = refusal("aclrtMallocHost");
  if (!code) {
    *address = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    if (!*address)
      code = ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  trace("aclrtMallocHost", code, "\"bytes\":%zu", size);
  return code;
}

ACL_API aclError aclrtFreeHost(void* address) {
  free(address);
  trace("aclrtFreeHost", ACL_SUCCESS);
  return ACL_SUCCESS;
}

// Does not wait for work queued on any stream, as documented: a caller that copies results before
// it has synchronised gets what was there before.
ACL_API aclError aclrtMemcpy(void* target, size_t target_size, const void* source, size_t size,
                             int kind) {
  int code = refusal("aclrtMemcpy");
  if (!code)
    code = copy_memory(target, target_size, source, size, kind);
  trace("aclrtMemcpy", code, "\"kind\":%d,\"bytes\":%zu", kind, size);
  return code;
}

ACL_API aclError aclrtMemcpyAsync(void* target, size_t target_size, const void* source, size_t size,
                                  int kind, void* handle) {
  const int code = refusal("aclrtMemcpyAsync");
  if (!code) {
    Stream* stream = stream_of(handle);
    const int device = stream->device();
    stream->push([=] {
      const int fault = planned_fault("task.memcpy", real_device(device));
      if (!fault)
        return copy_memory(target, target_size, source, size, kind);
      note_failed_task(device, fault);
      return fault;
    });
  }
  trace("aclrtMemcpyAsync", code, "\"kind\":%d,\"bytes\":%zu,\"stream\":\"%p\"", kind, size,
        handle);
  return code;
}

static int set_memory(void* target, int value, size_t size) {
  const Location place = locate(target, size);
  if (!place.on_device || place.past_end)
    return ACL_ERROR_RT_PARAM_INVALID;
  memset(place.bytes, value, size);
  return ACL_SUCCESS;
}

ACL_API aclError aclrtMemsetAsync(void* target, size_t target_size, int32_t value, size_t size,
                                  void* handle) {
  int code = refusal("aclrtMemsetAsync");
  if (!code && size > target_size)
    code = ACL_ERROR_RT_PARAM_INVALID;
  if (!code)
    stream_of(handle)->push([=] {
      return set_memory(target, value, size);
    });
  trace("aclrtMemsetAsync", code, "\"bytes\":%zu", size);
  return code;
}
