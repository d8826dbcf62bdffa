// Layout: magic, the four members each after its length, FNV-1a of all that came before.
#include "om_file.h"

#include <cstdint>
#include <cstring>

namespace sim {
namespace {

const std::string kMagic = "ACLSIM-OM-1\n";
constexpr size_t kWord = sizeof(uint64_t);

uint64_t checksum(const char* bytes, size_t size) {
  uint64_t hash = 1469598103934665603ull;
  for (size_t i = 0; i < size; i++) {
    hash ^= static_cast<uint8_t>(bytes[i]);
    hash *= 1099511628211ull;
  }
  return hash;
}

void append_word(std::string* bytes, uint64_t word) {
  char raw[kWord];
  memcpy(raw, &word, kWord);
  bytes->append(raw, kWord);
}

uint64_t word_at(const std::string& bytes, size_t offset) {
  uint64_t word;
  memcpy(&word, bytes.data() + offset, kWord);
  return word;
}

}  // namespace

std::string pack_om(const OmContents& contents) {
  std::string bytes = kMagic;
  for (const std::string* member :
       {&contents.soc, &contents.input_shape, &contents.compiler_options, &contents.onnx}) {
    append_word(&bytes, member->size());
    bytes += *member;
  }
  append_word(&bytes, checksum(bytes.data(), bytes.size()));
  return bytes;
}

bool unpack_om(const std::string& bytes, OmContents* contents) {
  if (bytes.size() < kMagic.size() + 5 * kWord)
    return false;
  if (bytes.compare(0, kMagic.size(), kMagic) != 0)
    return false;
  const size_t end = bytes.size() - kWord;
  if (word_at(bytes, end) != checksum(bytes.data(), end))
    return false;
  size_t offset = kMagic.size();
  for (std::string* member :
       {&contents->soc, &contents->input_shape, &contents->compiler_options, &contents->onnx}) {
    if (offset + kWord > end)
      return false;
    const uint64_t length = word_at(bytes, offset);
    offset += kWord;
    if (length > end - offset)
      return false;
    *member = bytes.substr(offset, length);
    offset += length;
  }
  return true;
}

}  // namespace sim
