// One table, because the two numberings share no order.
#include "data_types.h"

namespace sim {
namespace {

struct DataType {
  int acl;
  int onnx;
  size_t size;
};

constexpr int kNone = 0;  // ONNX's own "undefined"

constexpr DataType kTypes[] = {
    {kAclFloat, 1, 4},  // float32
    {1, 10, 2},         // float16
    {2, 3, 1},          // int8
    {3, 6, 4},          // int32
    {4, 2, 1},          // uint8
    {6, 5, 2},          // int16
    {7, 4, 2},          // uint16
    {8, 12, 4},         // uint32
    {9, 7, 8},          // int64
    {10, 13, 8},        // uint64
    {11, 11, 8},        // float64
    {12, 9, 1},         // bool
    {16, kNone, 8},     // complex64
    {17, kNone, 16},    // complex128
    {27, 16, 2},        // bfloat16
};

}  // namespace

size_t acl_type_size(int acl_type) {
  for (const DataType& type : kTypes)
    if (type.acl == acl_type)
      return type.size;
  return 0;
}

int acl_type_of_onnx(int onnx_type) {
  for (const DataType& type : kTypes)
    if (type.onnx == onnx_type && onnx_type != kNone)
      return type.acl;
  return kAclTypeUnknown;
}

}  // namespace sim
