// A host read or write of a device address is a SIGSEGV here, as a stray dereference of an NPU
// address would be: a test then sees a missing copy instead of silently right numbers. So what is
// handed out is an address range without access rights, and the bytes lie in a second, hidden
// mapping. ACLSIM_GUARD=0 hands out the block itself.
#include "device_memory.h"

#include <sys/mman.h>

#include <cstring>
#include <map>
#include <mutex>

#include "codes.h"
#include "report.h"
#include "settings.h"

namespace sim {
namespace {

struct Block {
  uint8_t* address;  // handed out
  uint8_t* store;    // where the bytes are
  size_t size;       // asked for
  size_t mapped;     // in whole pages
  int device;
};

std::mutex mutex;
std::map<uintptr_t, Block> blocks;  // by address handed out
std::map<int, size_t> used;         // by device

uintptr_t number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

uint8_t* map_pages(size_t size, int protection) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* address = mmap(nullptr, size, protection, flags, -1, 0);
  return address == MAP_FAILED ? nullptr : static_cast<uint8_t*>(address);
}

// AscendCL pads a request by 32 bytes; callers may rely on being able to copy that far.
size_t whole_pages(size_t size) {
  const size_t page = 4096;
  return (size + 31 + page) / page * page;
}

bool map_block(size_t size, bool guarded, Block* block) {
  block->size = size;
  block->mapped = whole_pages(size);
  block->store = map_pages(block->mapped, PROT_READ | PROT_WRITE);
  if (!block->store)
    return false;
  block->address = guarded ? map_pages(block->mapped, PROT_NONE) : block->store;
  if (block->address)
    return true;
  munmap(block->store, block->mapped);
  return false;
}

}  // namespace

int allocate_on_device(int device, size_t size, void** address) {
  static const bool guarded = setting_number("ACLSIM_GUARD", 1) != 0;
  static const size_t limit = setting_number("ACLSIM_MEM_BYTES", 32LL << 30);
  *address = nullptr;
  if (size == 0) {
    set_error_text("EH0001: [aclsim] size 0");
    return ACL_ERROR_INVALID_PARAM;
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (used[device] + size > limit) {
    set_error_text(
        "EL0004: [aclsim] Failed to allocate memory: device %d has %zu of %zu bytes in use, "
        "asked for %zu",
        device, used[device], limit, size);
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  }
  Block block;
  if (!map_block(size, guarded, &block))
    return ACL_ERROR_RT_MEMORY_ALLOCATION;
  block.device = device;
  blocks[number(block.address)] = block;
  used[device] += size;
  *address = block.address;
  return ACL_SUCCESS;
}

int free_on_device(void* address) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = blocks.find(number(address));
  if (found == blocks.end()) {
    set_error_text("[aclsim] free of an unknown device address %p", address);
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  const Block block = found->second;
  blocks.erase(found);
  if (block.address != block.store)
    munmap(block.address, block.mapped);
  munmap(block.store, block.mapped);
  used[block.device] -= block.size;
  return ACL_SUCCESS;
}

size_t bytes_in_use(int device) {
  std::lock_guard<std::mutex> lock(mutex);
  return used[device];
}

Location locate(const void* address, size_t size) {
  const Location host{static_cast<uint8_t*>(const_cast<void*>(address)), false, false};
  std::lock_guard<std::mutex> lock(mutex);
  auto after = blocks.upper_bound(number(address));
  if (after == blocks.begin())
    return host;
  const Block& block = std::prev(after)->second;
  const size_t offset = number(address) - number(block.address);
  if (offset >= block.mapped)
    return host;
  return {block.store + offset, true, offset + size > block.mapped};
}

int copy_memory(void* target, size_t target_size, const void* source, size_t size, int kind) {
  if (size > target_size)
    return ACL_ERROR_RT_PARAM_INVALID;
  const Location to = locate(target, size);
  const Location from = locate(source, size);
  const bool to_device = kind == kHostToDevice || kind == kDeviceToDevice;
  const bool from_device = kind == kDeviceToHost || kind == kDeviceToDevice;
  const bool past_end = to.past_end || from.past_end;
  if (past_end || to_device != to.on_device || from_device != from.on_device) {
    set_error_text("[aclsim] memcpy kind %d does not fit: dst is %s, src is %s%s", kind,
                   to.on_device ? "device" : "host", from.on_device ? "device" : "host",
                   past_end ? ", past the end" : "");
    return ACL_ERROR_RT_PARAM_INVALID;
  }
  memcpy(to.bytes, from.bytes, size);
  return ACL_SUCCESS;
}

}  // namespace sim
