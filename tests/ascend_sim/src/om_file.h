// The compiled model ("OM") of the simulator: the ONNX bytes in a checksummed container.
#pragma once
#include <string>

namespace sim {

struct OmContents {
  std::string soc;
  std::string input_shape;
  std::string compiler_options;
  std::string onnx;
};

std::string pack_om(const OmContents& contents);

// False for bytes that are not one whole container, such as a file that is still being written.
bool unpack_om(const std::string& bytes, OmContents* contents);

}  // namespace sim
