// Device memory: addresses the host must not touch, each with a hidden block that holds the bytes.
#pragma once
#include <cstddef>
#include <cstdint>

namespace sim {

// Both return a code. What a device has in use is counted per process.
int allocate_on_device(int device, size_t size, void** address);
int free_on_device(void* address);
size_t bytes_in_use(int device);

// Where the bytes behind an address really are.
struct Location {
  uint8_t* bytes;  // a device address gives its hidden block, a host address itself
  bool on_device;
  bool past_end;  // the range starts in a device block and runs past its end
};
Location locate(const void* address, size_t size);

// Copies as aclrtMemcpy does: refuses a kind that does not fit the two addresses.
enum MemcpyKind : int {
  kHostToHost = 0,
  kHostToDevice = 1,
  kDeviceToHost = 2,
  kDeviceToDevice = 3
};
int copy_memory(void* target, size_t target_size, const void* source, size_t size, int kind);

}  // namespace sim
