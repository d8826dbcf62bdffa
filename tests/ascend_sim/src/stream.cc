// One worker thread for each stream: calls return at once and errors come out at the next
// synchronise, which is where a caller has to look for them on hardware too.
#include "stream.h"

#include <map>
#include <set>

#include "device.h"

namespace sim {
namespace {

std::mutex registry;
std::set<Stream*> streams;
std::map<int, Stream*> default_streams;  // by device

}  // namespace

Stream::Stream(int device)
    : device_(device), thread_([this] {
        work();
      }) {}

Stream::~Stream() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    quit_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Stream::work() {
  set_current_device(device_);
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] {
      return quit_ || !tasks_.empty();
    });
    if (tasks_.empty())
      return;
    const Task task = std::move(tasks_.front());
    tasks_.pop_front();
    busy_ = true;
    const bool failed_before = error_ != 0;
    lock.unlock();
    // After a failed task the rest is dropped, as after a real task exception.
    const int code = failed_before ? 0 : task();
    lock.lock();
    if (code && !error_)
      error_ = code;
    busy_ = false;
    if (tasks_.empty())
      idle_.notify_all();
  }
}

void Stream::push(Task task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  wake_.notify_one();
}

int Stream::synchronize() {
  std::unique_lock<std::mutex> lock(mutex_);
  idle_.wait(lock, [&] {
    return tasks_.empty() && !busy_;
  });
  return error_;
}

Stream* create_stream(int device) {
  auto* stream = new Stream(device);
  std::lock_guard<std::mutex> lock(registry);
  streams.insert(stream);
  return stream;
}

bool destroy_stream(void* handle) {
  auto* stream = static_cast<Stream*>(handle);
  {
    std::lock_guard<std::mutex> lock(registry);
    if (!streams.erase(stream))
      return false;
  }
  delete stream;
  return true;
}

Stream* stream_of(void* handle) {
  if (handle)
    return static_cast<Stream*>(handle);
  const int device = current_device() == kNoDevice ? 0 : current_device();
  std::lock_guard<std::mutex> lock(registry);
  Stream*& stream = default_streams[device];
  if (!stream) {
    stream = new Stream(device);
    streams.insert(stream);
  }
  return stream;
}

std::vector<Stream*> streams_of_device(int device) {
  std::vector<Stream*> found;
  std::lock_guard<std::mutex> lock(registry);
  for (Stream* stream : streams)
    if (stream->device() == device)
      found.push_back(stream);
  return found;
}

long Event::record() {
  std::lock_guard<std::mutex> lock(mutex_);
  return ++recorded_;
}

long Event::latest() {
  std::lock_guard<std::mutex> lock(mutex_);
  return recorded_;
}

void Event::reach(long record) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (record > reached_)
      reached_ = record;
  }
  changed_.notify_all();
}

void Event::wait_for(long record) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] {
    return reached_ >= record;
  });
}

}  // namespace sim
