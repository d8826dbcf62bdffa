// Entry points: single operators, which the provider uses with enable_cann_graph=0.
//
// Only element-wise operators on float32 of one shape are computed. Any other answers
// "operator not found", so a session can be made and its first run shows the failure.
#include <cmath>
#include <map>
#include <string>

#include "acl_api.h"
#include "codes.h"
#include "data_types.h"
#include "device.h"
#include "device_memory.h"
#include "report.h"
#include "stream.h"

using namespace sim;

// Attributes are accepted and forgotten: no operator that is computed here has any.
struct aclopAttr {};

ACL_API aclopAttr* aclopCreateAttr() {
  return new aclopAttr;
}

ACL_API void aclopDestroyAttr(const aclopAttr* attributes) {
  delete attributes;
}

ACL_API aclError aclopSetAttrBool(aclopAttr*, const char*, uint8_t) {
  return ACL_SUCCESS;
}

ACL_API aclError aclopSetAttrInt(aclopAttr*, const char*, int64_t) {
  return ACL_SUCCESS;
}

ACL_API aclError aclopSetAttrFloat(aclopAttr*, const char*, float) {
  return ACL_SUCCESS;
}

ACL_API aclError aclopSetAttrListInt(aclopAttr*, const char*, int, const int64_t*) {
  return ACL_SUCCESS;
}

ACL_API aclError aclopSetAttrString(aclopAttr*, const char*, const char*) {
  return ACL_SUCCESS;
}

namespace {

using Function = float (*)(float, float);

struct Operator {
  int inputs;
  Function function;  // of one input: the second argument is unused
};

const std::map<std::string, Operator> kOperators = {
    {"Add",
     {2,
      [](float a, float b) {
        return a + b;
      }}},
    {"Sub",
     {2,
      [](float a, float b) {
        return a - b;
      }}},
    {"Mul",
     {2,
      [](float a, float b) {
        return a * b;
      }}},
    {"RealDiv",
     {2,
      [](float a, float b) {
        return a / b;
      }}},
    {"Relu",
     {1,
      [](float a, float) {
        return a > 0 ? a : 0;
      }}},
    {"Abs",
     {1,
      [](float a, float) {
        return std::fabs(a);
      }}},
    {"Neg",
     {1,
      [](float a, float) {
        return -a;
      }}},
};

// nullptr when the simulator cannot compute this operator on these tensors.
const Operator* find_operator(const char* name, int input_count,
                              const aclTensorDesc* const inputs[], int output_count,
                              const aclTensorDesc* const outputs[]) {
  const auto found = kOperators.find(name);
  if (found == kOperators.end() || found->second.inputs != input_count || output_count != 1)
    return nullptr;
  const aclTensorDesc* output = outputs[0];
  if (output->data_type != kAclFloat)
    return nullptr;
  for (int i = 0; i < input_count; i++)
    if (inputs[i]->data_type != kAclFloat || inputs[i]->dims != output->dims)
      return nullptr;
  return &found->second;
}

float* floats_at(void* address, size_t size) {
  return reinterpret_cast<float*>(locate(address, size).bytes);
}

int apply(Function function, void* first, void* second, void* result, size_t size) {
  const float* a = floats_at(first, size);
  const float* b = floats_at(second, size);
  float* to = floats_at(result, size);
  for (size_t i = 0; i < size / sizeof(float); i++)
    to[i] = function(a[i], b[i]);
  return ACL_SUCCESS;
}

}  // namespace

ACL_API aclError aclopCompileAndExecute(const char* name, int input_count,
                                        const aclTensorDesc* const input_descs[],
                                        const aclDataBuffer* const inputs[], int output_count,
                                        const aclTensorDesc* const output_descs[],
                                        aclDataBuffer* const outputs[], const aclopAttr*,
                                        int /*engine*/, int /*compile_flag*/,
                                        const char* /*op_path*/, void* handle) {
  int code = refusal("aclopCompileAndExecute");
  if (!code) {
    const Operator* op = find_operator(name, input_count, input_descs, output_count, output_descs);
    if (op) {
      void* first = inputs[0]->address;
      void* second = inputs[op->inputs - 1]->address;
      void* result = outputs[0]->address;
      const size_t size = output_descs[0]->size();
      stream_of(handle)->push([=, function = op->function] {
        return apply(function, first, second, result, size);
      });
    } else {
      set_error_text("EZ3003: [aclsim] no kernel for operator [%s]", name);
      code = ACL_ERROR_OP_NOT_FOUND;
    }
  }
  trace("aclopCompileAndExecute", code, "\"op\":\"%s\"", name);
  return code;
}
