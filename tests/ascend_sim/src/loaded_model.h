// What model_load.cc and model_run.cc share.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "model.h"

namespace sim {

struct LoadedModel {
  int device = 0;
  void* session = nullptr;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  // One run at a time, as on the one stream a model has here; also keeps CPU use to one session.
  std::mutex running;
};

// nullptr for a model that is not loaded.
std::shared_ptr<LoadedModel> find_model(uint32_t id);

}  // namespace sim
