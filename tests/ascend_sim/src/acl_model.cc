// Entry points: loading, describing and executing compiled models.
#include <cstdio>
#include <cstring>
#include <string>

#include "acl_api.h"
#include "codes.h"
#include "device.h"
#include "faults.h"
#include "model.h"
#include "report.h"
#include "stream.h"

using namespace sim;

struct aclmdlDataset {
  std::vector<aclDataBuffer*> buffers;
  std::vector<aclTensorDesc*> descs;  // of outputs whose shape is known only after a run
};

struct aclmdlDesc {
  uint32_t model = 0;
};

// The one structure here whose layout the provider knows.
struct aclmdlIODims {
  char name[128];
  size_t dimCount;
  int64_t dims[128];
};

// ------------------------------------------------------------------------------- loading
ACL_API aclError aclmdlLoadFromMem(const void* bytes, size_t size, uint32_t* id) {
  int code = refusal("aclmdlLoadFromMem");
  if (!code)
    code = load_model(std::string(static_cast<const char*>(bytes), size), current_device(), id);
  trace("aclmdlLoadFromMem", code, "\"bytes\":%zu,\"model\":%u,\"device\":%d", size, code ? 0 : *id,
        current_device());
  return code;
}

static bool read_file(const char* path, std::string* bytes) {
  FILE* file = fopen(path, "rb");
  if (!file)
    return false;
  char buffer[65536];
  while (size_t count = fread(buffer, 1, sizeof buffer, file))
    bytes->append(buffer, count);
  fclose(file);
  return true;
}

ACL_API aclError aclmdlLoadFromFile(const char* path, uint32_t* id) {
  std::string bytes;
  int code = refusal("aclmdlLoadFromFile");
  if (!code && !read_file(path, &bytes)) {
    set_error_text("[aclsim] cannot open %s", path);
    code = ACL_ERROR_INVALID_FILE;
  }
  if (!code)
    code = load_model(bytes, current_device(), id);
  trace("aclmdlLoadFromFile", code, "\"file\":\"%s\",\"bytes\":%zu,\"model\":%u,\"device\":%d",
        json_escaped(path).c_str(), bytes.size(), code ? 0 : *id, current_device());
  return code;
}

ACL_API aclError aclmdlUnload(uint32_t id) {
  const int code = unload_model(id);
  trace("aclmdlUnload", code, "\"model\":%u", id);
  return code;
}

// ------------------------------------------------------------------------------- describing
ACL_API aclmdlDesc* aclmdlCreateDesc() {
  return new aclmdlDesc;
}

ACL_API aclError aclmdlDestroyDesc(aclmdlDesc* desc) {
  delete desc;
  return ACL_SUCCESS;
}

ACL_API aclError aclmdlGetDesc(aclmdlDesc* desc, uint32_t id) {
  if (!model_inputs(id))
    return ACL_ERROR_INVALID_MODEL_ID;
  desc->model = id;
  return ACL_SUCCESS;
}

static size_t count_of(const std::vector<TensorInfo>* tensors) {
  return tensors ? tensors->size() : 0;
}

static size_t size_at(const std::vector<TensorInfo>* tensors, size_t index) {
  return index < count_of(tensors) ? (*tensors)[index].size() : 0;
}

ACL_API size_t aclmdlGetNumInputs(aclmdlDesc* desc) {
  return count_of(model_inputs(desc->model));
}

ACL_API size_t aclmdlGetNumOutputs(aclmdlDesc* desc) {
  return count_of(model_outputs(desc->model));
}

ACL_API size_t aclmdlGetInputSizeByIndex(aclmdlDesc* desc, size_t index) {
  return size_at(model_inputs(desc->model), index);
}

ACL_API size_t aclmdlGetOutputSizeByIndex(aclmdlDesc* desc, size_t index) {
  return size_at(model_outputs(desc->model), index);
}

ACL_API aclError aclmdlGetOutputDims(const aclmdlDesc* desc, size_t index, aclmdlIODims* dims) {
  const std::vector<TensorInfo>* tensors = model_outputs(desc->model);
  if (index >= count_of(tensors))
    return ACL_ERROR_INVALID_PARAM;
  const TensorInfo& tensor = (*tensors)[index];
  memset(dims, 0, sizeof *dims);
  snprintf(dims->name, sizeof dims->name, "%s", tensor.name.c_str());
  dims->dimCount = tensor.dims.size();
  for (size_t i = 0; i < tensor.dims.size() && i < 128; i++)
    dims->dims[i] = tensor.dims[i];
  return ACL_SUCCESS;
}

// ------------------------------------------------------------------------------- data sets
ACL_API aclmdlDataset* aclmdlCreateDataset() {
  return new aclmdlDataset;
}

ACL_API aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  for (aclTensorDesc* desc : dataset->descs)
    delete desc;
  delete dataset;
  return ACL_SUCCESS;
}

ACL_API aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* buffer) {
  dataset->buffers.push_back(buffer);
  dataset->descs.push_back(nullptr);
  return ACL_SUCCESS;
}

ACL_API aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  return dataset && index < dataset->buffers.size() ? dataset->buffers[index] : nullptr;
}

ACL_API aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  return dataset && index < dataset->descs.size() ? dataset->descs[index] : nullptr;
}

static std::vector<Buffer> buffers_of(const aclmdlDataset* dataset) {
  std::vector<Buffer> buffers;
  for (const aclDataBuffer* buffer : dataset->buffers)
    buffers.push_back({buffer->address, buffer->size});
  return buffers;
}

static void take_over(const LateOutput& late, size_t index, aclmdlDataset* dataset) {
  if (!late.address)
    return;
  const int format_nd = 2;
  *dataset->buffers[index] = {late.address, late.size};
  delete dataset->descs[index];
  dataset->descs[index] = new aclTensorDesc{late.acl_type, late.dims, format_nd};
}

// ------------------------------------------------------------------------------- executing
static int run_task(uint32_t id, int device, const std::vector<Buffer>& inputs,
                    const std::vector<Buffer>& outputs) {
  int code = planned_fault("task.exec", real_device(device));
  if (!code)
    code = run_model(id, inputs, outputs, nullptr);
  if (code)
    note_failed_task(device, code);
  trace("task.exec", code, "\"model\":%u,\"device\":%d", id, device);
  return code;
}

ACL_API aclError aclmdlExecuteAsync(uint32_t id, const aclmdlDataset* inputs,
                                    aclmdlDataset* outputs, void* handle) {
  int code = refusal("aclmdlExecuteAsync");
  if (!code && !model_inputs(id))
    code = ACL_ERROR_INVALID_MODEL_ID;
  if (!code) {
    // The caller may destroy its data sets as soon as this returns.
    const auto from = buffers_of(inputs);
    const auto to = buffers_of(outputs);
    Stream* stream = stream_of(handle);
    stream->push([=, device = stream->device()] {
      return run_task(id, device, from, to);
    });
  }
  trace("aclmdlExecuteAsync", code, "\"model\":%u,\"device\":%d,\"stream\":\"%p\"", id,
        current_device(), handle);
  return code;
}

ACL_API aclError aclmdlExecute(uint32_t id, const aclmdlDataset* inputs, aclmdlDataset* outputs) {
  const int device = current_device();
  std::vector<LateOutput> late;
  int code = refusal("aclmdlExecute");
  if (!code) {
    code = planned_fault("task.exec", real_device(device));
    if (code)
      note_failed_task(device, code);
  }
  if (!code)
    code = run_model(id, buffers_of(inputs), buffers_of(outputs), &late);
  if (!code)
    for (size_t i = 0; i < late.size(); i++)
      take_over(late[i], i, outputs);
  trace("aclmdlExecute", code, "\"model\":%u,\"device\":%d", id, device);
  return code;
}
