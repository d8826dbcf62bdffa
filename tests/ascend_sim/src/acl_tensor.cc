// Entry points: descriptions of tensors and buffers.
#include "acl_api.h"
#include "codes.h"
#include "data_types.h"

using namespace sim;

size_t aclTensorDesc::size() const {
  size_t bytes = acl_type_size(data_type);
  for (int64_t dim : dims)
    bytes *= static_cast<size_t>(dim);
  return bytes;
}

ACL_API aclDataBuffer* aclCreateDataBuffer(void* address, size_t size) {
  return new aclDataBuffer{address, size};
}

ACL_API aclError aclDestroyDataBuffer(const aclDataBuffer* buffer) {
  delete buffer;
  return ACL_SUCCESS;
}

ACL_API void* aclGetDataBufferAddr(const aclDataBuffer* buffer) {
  return buffer ? buffer->address : nullptr;
}

ACL_API aclTensorDesc* aclCreateTensorDesc(int type, int rank, const int64_t* dims, int format) {
  return new aclTensorDesc{type, {dims, dims + rank}, format};
}

ACL_API void aclDestroyTensorDesc(const aclTensorDesc* desc) {
  delete desc;
}

// Single operators read their constant inputs from the buffers, so there is nothing to keep.
ACL_API aclError aclSetTensorConst(aclTensorDesc*, void*, size_t) {
  return ACL_SUCCESS;
}

ACL_API size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  return desc ? desc->dims.size() : 0;
}

ACL_API aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dim) {
  if (!desc || index >= desc->dims.size())
    return ACL_ERROR_INVALID_PARAM;
  *dim = desc->dims[index];
  return ACL_SUCCESS;
}

ACL_API size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  return desc ? desc->size() : 0;
}

ACL_API size_t aclDataTypeSize(int type) {
  return acl_type_size(type);
}
