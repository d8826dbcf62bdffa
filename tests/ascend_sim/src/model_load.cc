// From the bytes of a compiled model to a CPU session and the description of its tensors.
#include <map>

#include "codes.h"
#include "data_types.h"
#include "loaded_model.h"
#include "om_file.h"
#include "ort_library.h"
#include "report.h"
#include "settings.h"

namespace sim {
namespace {

std::mutex mutex;
std::map<uint32_t, std::shared_ptr<LoadedModel>> models;
uint32_t next_id = 1;

// The functions that ask about a session's inputs, or about its outputs.
struct Side {
  OrtFunction count;
  OrtFunction name;
  OrtFunction type_info;
};
constexpr Side kInputs = {OrtFunction::SessionGetInputCount, OrtFunction::SessionGetInputName,
                          OrtFunction::SessionGetInputTypeInfo};
constexpr Side kOutputs = {OrtFunction::SessionGetOutputCount, OrtFunction::SessionGetOutputName,
                           OrtFunction::SessionGetOutputTypeInfo};

bool read_name(OrtLibrary* ort, void* session, const Side& side, size_t index, TensorInfo* info) {
  char* name = nullptr;
  if (!ort->call(side.name, session, index, ort->allocator(), &name))
    return false;
  info->name = name;
  return ort->call(OrtFunction::AllocatorFree, ort->allocator(), static_cast<void*>(name));
}

bool read_type(OrtLibrary* ort, const void* type_info, TensorInfo* info) {
  const void* tensor = nullptr;
  if (!ort->call(OrtFunction::CastTypeInfoToTensorInfo, type_info, &tensor) || !tensor)
    return false;
  size_t rank = 0;
  if (!ort->call(OrtFunction::GetTensorElementType, tensor, &info->onnx_type) ||
      !ort->call(OrtFunction::GetDimensionsCount, tensor, &rank))
    return false;
  info->acl_type = acl_type_of_onnx(info->onnx_type);
  info->element_size = acl_type_size(info->acl_type);
  info->dims.resize(rank);
  return ort->call(OrtFunction::GetDimensions, tensor, info->dims.data(), rank) &&
         info->acl_type != kAclTypeUnknown;
}

bool describe(OrtLibrary* ort, void* session, const Side& side, std::vector<TensorInfo>* infos) {
  size_t count = 0;
  if (!ort->call(side.count, session, &count))
    return false;
  for (size_t i = 0; i < count; i++) {
    TensorInfo info{};
    void* type_info = nullptr;
    if (!read_name(ort, session, side, i, &info) ||
        !ort->call(side.type_info, session, i, &type_info))
      return false;
    const bool known = read_type(ort, type_info, &info);
    ort->release(OrtFunction::ReleaseTypeInfo, type_info);
    if (!known) {
      set_error_text("[aclsim] %s is not a tensor of a known type", info.name.c_str());
      return false;
    }
    infos->push_back(info);
  }
  return true;
}

void* make_session(OrtLibrary* ort, const std::string& onnx) {
  void* options = nullptr;
  void* session = nullptr;
  if (!ort->call(OrtFunction::CreateSessionOptions, &options))
    return nullptr;
  const int threads = static_cast<int>(setting_number("ACLSIM_THREADS", 1));
  const int level = static_cast<int>(setting_number("ACLSIM_OPT", 1));
  ort->call(OrtFunction::SetIntraOpNumThreads, options, threads);
  ort->call(OrtFunction::SetSessionGraphOptimizationLevel, options, level);
  const void* bytes = onnx.data();
  const bool made = ort->call(OrtFunction::CreateSessionFromArray, ort->environment(), bytes,
                              onnx.size(), options, &session);
  if (!made)
    set_error_text("[aclsim] %s", ort->error().c_str());
  ort->release(OrtFunction::ReleaseSessionOptions, options);
  return made ? session : nullptr;
}

}  // namespace

int load_model(const std::string& om, int device, uint32_t* id) {
  OmContents contents;
  if (!unpack_om(om, &contents)) {
    set_error_text("EE1001: [aclsim] not a whole OM file (%zu bytes)", om.size());
    return ACL_ERROR_PARSE_MODEL;
  }
  if (contents.soc != soc_name()) {
    set_error_text("[aclsim] OM was built for %s", contents.soc.c_str());
    return ACL_ERROR_GE_FAILURE;
  }
  OrtLibrary* ort = OrtLibrary::instance();
  if (!ort) {
    set_error_text("[aclsim] no ONNX Runtime library for the CPU stand-in");
    return ACL_ERROR_GE_FAILURE;
  }
  auto model = std::make_shared<LoadedModel>();
  model->device = device;
  model->session = make_session(ort, contents.onnx);
  if (!model->session || !describe(ort, model->session, kInputs, &model->inputs) ||
      !describe(ort, model->session, kOutputs, &model->outputs))
    return ACL_ERROR_GE_FAILURE;
  std::lock_guard<std::mutex> lock(mutex);
  *id = next_id++;
  models[*id] = model;
  return ACL_SUCCESS;
}

int unload_model(uint32_t id) {
  std::shared_ptr<LoadedModel> model;
  {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = models.find(id);
    if (found == models.end())
      return ACL_ERROR_INVALID_MODEL_ID;
    model = found->second;
    models.erase(found);
  }
  if (OrtLibrary* ort = OrtLibrary::instance())
    ort->release(OrtFunction::ReleaseSession, model->session);
  return ACL_SUCCESS;
}

std::shared_ptr<LoadedModel> find_model(uint32_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = models.find(id);
  return found == models.end() ? nullptr : found->second;
}

const std::vector<TensorInfo>* model_inputs(uint32_t id) {
  const auto model = find_model(id);
  return model ? &model->inputs : nullptr;
}

const std::vector<TensorInfo>* model_outputs(uint32_t id) {
  const auto model = find_model(id);
  return model ? &model->outputs : nullptr;
}

size_t TensorInfo::size() const {
  size_t bytes = element_size;
  for (int64_t dim : dims) {
    if (dim < 0)
      return 0;
    bytes *= static_cast<size_t>(dim);
  }
  return bytes;
}

}  // namespace sim
