// One execution: inputs are read where they lie in device memory, results are copied to it.
#include <cstdlib>
#include <cstring>

#include "codes.h"
#include "data_types.h"
#include "device_memory.h"
#include "loaded_model.h"
#include "ort_library.h"
#include "report.h"
#include "settings.h"

namespace sim {
namespace {

// Values of ONNX Runtime, released together.
class OrtValues {
 public:
  OrtValues(OrtLibrary* ort, size_t count) : values_(count), ort_(ort) {}
  OrtValues(const OrtValues&) = delete;
  OrtValues& operator=(const OrtValues&) = delete;
  ~OrtValues() {
    for (void* value : values_)
      if (value)
        ort_->release(OrtFunction::ReleaseValue, value);
  }
  void** data() { return values_.data(); }
  void*& operator[](size_t index) { return values_[index]; }

 private:
  std::vector<void*> values_;
  OrtLibrary* ort_;
};

int bind_input(OrtLibrary* ort, const TensorInfo& info, size_t index, const Buffer& buffer,
               void** value) {
  const Location place = locate(buffer.address, buffer.size);
  const size_t size = info.size();
  if (place.past_end || buffer.size < size) {
    set_error_text("[aclsim] input %zu has %zu bytes, model needs %zu", index, buffer.size, size);
    return ACL_ERROR_MODEL_INPUT_NOT_MATCH;
  }
  // Real hardware would fault on a host address; here a test can find the line in the trace.
  if (!place.on_device && size)
    trace("WARN", 0, "\"host_address_as_model_input\":%zu", index);
  static uint8_t nothing = 0;  // an empty tensor needs an address too
  if (!place.bytes && size) {
    set_error_text("[aclsim] input %zu has no address", index);
    return ACL_ERROR_MODEL_INPUT_NOT_MATCH;
  }
  void* bytes = place.bytes ? place.bytes : &nothing;
  const bool made = ort->call(OrtFunction::CreateTensorWithDataAsOrtValue, ort->cpu_memory(), bytes,
                              size, info.dims.data(), info.dims.size(), info.onnx_type, value);
  if (!made)
    set_error_text("[aclsim] %s", ort->error().c_str());
  return made ? ACL_SUCCESS : ACL_ERROR_GE_FAILURE;
}

std::vector<const char*> names_of(const std::vector<TensorInfo>& infos) {
  std::vector<const char*> names;
  for (const TensorInfo& info : infos)
    names.push_back(info.name.c_str());
  return names;
}

int compute(OrtLibrary* ort, LoadedModel* model, OrtValues* inputs, OrtValues* outputs) {
  const auto input_names = names_of(model->inputs);
  const auto output_names = names_of(model->outputs);
  const void* default_run_options = nullptr;
  std::lock_guard<std::mutex> lock(model->running);
  if (ort->call(OrtFunction::Run, model->session, default_run_options, input_names.data(),
                inputs->data(), input_names.size(), output_names.data(), output_names.size(),
                outputs->data()))
    return ACL_SUCCESS;
  set_error_text("[aclsim] %s", ort->error().c_str());
  return ACL_ERROR_RT_MODEL_EXECUTE;
}

struct Result {
  uint8_t* bytes = nullptr;
  size_t size = 0;
  std::vector<int64_t> dims;
};

bool read_result(OrtLibrary* ort, const TensorInfo& info, void* value, Result* result) {
  void* shape = nullptr;
  if (!ort->call(OrtFunction::GetTensorTypeAndShape, value, &shape))
    return false;
  size_t rank = 0;
  bool known = ort->call(OrtFunction::GetDimensionsCount, shape, &rank);
  result->dims.resize(rank);
  known = known && ort->call(OrtFunction::GetDimensions, shape, result->dims.data(), rank);
  ort->release(OrtFunction::ReleaseTensorTypeAndShapeInfo, shape);
  result->size = info.element_size;
  for (int64_t dim : result->dims)
    result->size *= static_cast<size_t>(dim);
  return known && ort->call(OrtFunction::GetTensorMutableData, value, &result->bytes);
}

// The same values get the same noise in every run, so that a test can be repeated.
void add_noise(const TensorInfo& info, double amplitude, const Result& result) {
  if (amplitude <= 0 || info.acl_type != kAclFloat)
    return;
  float* values = reinterpret_cast<float*>(result.bytes);
  for (size_t i = 0; i < result.size / sizeof(float); i++) {
    const uint32_t hash = static_cast<uint32_t>(i) * 2654435761u;
    const double between_minus_one_and_one = (hash >> 8) / 8388608.0 - 1.0;
    values[i] *= 1.0f + static_cast<float>(amplitude * between_minus_one_and_one);
  }
}

int deliver_late(int device, const TensorInfo& info, const Result& result, LateOutput* late) {
  late->size = result.size;
  late->dims = result.dims;
  late->acl_type = info.acl_type;
  const int code = allocate_on_device(device, result.size ? result.size : 1, &late->address);
  if (code == ACL_SUCCESS)
    memcpy(locate(late->address, result.size).bytes, result.bytes, result.size);
  return code;
}

int deliver(size_t index, const Result& result, const Buffer& buffer, const Location& place) {
  if (result.size == 0)
    return ACL_SUCCESS;
  if (!place.bytes || result.size > buffer.size) {
    set_error_text("[aclsim] output %zu needs %zu bytes, buffer has %zu", index, result.size,
                   buffer.size);
    return ACL_ERROR_MODEL_OUTPUT_NOT_MATCH;
  }
  memcpy(place.bytes, result.bytes, result.size);
  return ACL_SUCCESS;
}

int deliver_all(OrtLibrary* ort, const LoadedModel& model, const std::vector<Buffer>& buffers,
                OrtValues* values, std::vector<LateOutput>* late) {
  const double noise = atof(setting("ACLSIM_NOISE", "0"));
  for (size_t i = 0; i < buffers.size(); i++) {
    const Location place = locate(buffers[i].address, buffers[i].size);
    if (place.past_end)
      return ACL_ERROR_MODEL_OUTPUT_NOT_MATCH;
    Result result;
    if (!read_result(ort, model.outputs[i], (*values)[i], &result))
      return ACL_ERROR_RT_MODEL_EXECUTE;
    add_noise(model.outputs[i], noise, result);
    const bool is_late = late && !buffers[i].address;
    const int code = is_late ? deliver_late(model.device, model.outputs[i], result, &(*late)[i])
                             : deliver(i, result, buffers[i], place);
    if (code != ACL_SUCCESS)
      return code;
  }
  return ACL_SUCCESS;
}

int deliver_zeros(const std::vector<Buffer>& buffers) {
  for (const Buffer& buffer : buffers) {
    const Location place = locate(buffer.address, buffer.size);
    if (place.past_end)
      return ACL_ERROR_MODEL_OUTPUT_NOT_MATCH;
    if (place.bytes)
      memset(place.bytes, 0, buffer.size);
  }
  return ACL_SUCCESS;
}

}  // namespace

int run_model(uint32_t id, const std::vector<Buffer>& inputs, const std::vector<Buffer>& outputs,
              std::vector<LateOutput>* late) {
  const auto model = find_model(id);
  if (!model)
    return ACL_ERROR_INVALID_MODEL_ID;
  OrtLibrary* ort = OrtLibrary::instance();
  if (!ort)
    return ACL_ERROR_GE_FAILURE;
  if (inputs.size() != model->inputs.size()) {
    set_error_text("[aclsim] %zu inputs, model has %zu", inputs.size(), model->inputs.size());
    return ACL_ERROR_MODEL_INPUT_NOT_MATCH;
  }
  if (outputs.size() != model->outputs.size())
    return ACL_ERROR_MODEL_OUTPUT_NOT_MATCH;
  sleep_ms(setting_number("ACLSIM_EXEC_MS", 0));
  OrtValues input_values(ort, inputs.size());
  for (size_t i = 0; i < inputs.size(); i++)
    if (int code = bind_input(ort, model->inputs[i], i, inputs[i], &input_values[i]))
      return code;
  if (setting_number("ACLSIM_NOCOMPUTE", 0))
    return deliver_zeros(outputs);
  OrtValues output_values(ort, outputs.size());
  if (int code = compute(ort, model.get(), &input_values, &output_values))
    return code;
  if (late)
    late->resize(outputs.size());
  return deliver_all(ort, *model, outputs, &output_values, late);
}

}  // namespace sim
