// Streams and events: queued work that runs in order, in a thread of the stream's own.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sim {

using Task = std::function<int()>;  // answers a code

class Stream {
 public:
  explicit Stream(int device);
  ~Stream();

  int device() const { return device_; }
  void push(Task task);

  // Waits until all work is done. Answers the code of the first task that failed, from then on
  // always: an error sticks to its stream.
  int synchronize();

 private:
  void work();

  const int device_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::deque<Task> tasks_;
  bool busy_ = false;
  bool quit_ = false;
  int error_ = 0;
  std::thread thread_;  // last: it uses all of the above
};

Stream* create_stream(int device);
bool destroy_stream(void* handle);  // false for a handle that is not known

// The stream of a handle; for nullptr the default stream of the thread's device.
Stream* stream_of(void* handle);
std::vector<Stream*> streams_of_device(int device);

// A mark in a stream that other streams and the host can wait for. Recording it anew moves it.
class Event {
 public:
  long record();  // number of this record
  long latest();
  void reach(long record);
  void wait_for(long record);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  long recorded_ = 0;
  long reached_ = 0;
};

}  // namespace sim
