// A loaded compiled model. What an NPU would compute, an ONNX Runtime CPU session computes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sim {

struct TensorInfo {
  std::string name;
  int acl_type;
  int onnx_type;
  size_t element_size;
  std::vector<int64_t> dims;  // -1: known only after a run

  // Bytes of the whole tensor; 0 while a dimension is not known.
  size_t size() const;
};

// A caller's buffer. An output without an address has a shape that is known only after the run.
struct Buffer {
  void* address;
  size_t size;
};

// An output for which the runtime brought the memory.
struct LateOutput {
  void* address = nullptr;
  size_t size = 0;
  std::vector<int64_t> dims;
  int acl_type = -1;
};

// All of these return a code. `late` may be nullptr: then every output needs a buffer.
int load_model(const std::string& om, int device, uint32_t* id);
int unload_model(uint32_t id);
int run_model(uint32_t id, const std::vector<Buffer>& inputs, const std::vector<Buffer>& outputs,
              std::vector<LateOutput>* late);

// nullptr for a model that is not loaded.
const std::vector<TensorInfo>* model_inputs(uint32_t id);
const std::vector<TensorInfo>* model_outputs(uint32_t id);

}  // namespace sim
