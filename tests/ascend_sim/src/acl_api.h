// The C types of AscendCL that cross the library's border, and what an entry point looks like.
//
// The acl_*.cc files hold the functions that the provider imports from libascendcl.so and
// libacl_op_compiler.so: all that 1.22.1, 1.23.2 and 1.24.4 import, and no others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#define ACL_API extern "C" __attribute__((visibility("default")))

using aclError = int;

// The provider only holds pointers to these, so their members are ours to choose.
struct aclDataBuffer {
  void* address;
  size_t size;
};

struct aclTensorDesc {
  int data_type;
  std::vector<int64_t> dims;
  int format;

  size_t size() const;  // bytes
};
