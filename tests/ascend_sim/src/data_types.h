// Element types: the numbers of aclDataType and of ONNX's TensorProto.DataType.
#pragma once
#include <cstddef>

namespace sim {

constexpr int kAclFloat = 0;
constexpr int kAclTypeUnknown = -1;

// Bytes of one element; 0 for a type that is not known here.
size_t acl_type_size(int acl_type);

// The aclDataType of an ONNX element type, or kAclTypeUnknown.
int acl_type_of_onnx(int onnx_type);

}  // namespace sim
