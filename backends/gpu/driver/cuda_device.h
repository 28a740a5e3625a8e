// Uses a GPU by the functions of NVIDIA's driver, a library that is opened at run time. No header of CUDA is needed.
//
//   CudaDevice gpu;
//   if (std::string problem = gpu.Open(); !problem.empty()) ...
//   const uint64_t a = gpu.Allocate(bytes);
//   gpu.Upload(a, values, bytes);
//   gpu.Launch(kernel, {.blocks = 8, .threads = 128}, {a});
//   gpu.Synchronize();
//   if (!gpu.ok()) ... gpu.error() ...
//
// The first failure is kept; what is called after it, before Forgive, does nothing. After some failures, such as an
// illegal address, the driver refuses everything until the process ends: `sticky()`. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kiln {

struct CudaMachine {
  std::string name, uuid;
  int driver = 0;            // 13000 for CUDA 13.0
  int major = 0, minor = 0;  // of the compute capability
  int sms = 0, clock_khz = 0, memory_clock_khz = 0, memory_bits = 0;
  int64_t l2_bytes = 0, memory_bytes = 0;
  int shared_per_block = 0, shared_per_sm = 0, registers_per_sm = 0, threads_per_sm = 0, blocks_per_sm = 0;

  // Returns the name of this kind of GPU for records: "NVIDIA H100 80GB HBM3, sm_90, 132 SMs".
  std::string Fingerprint() const;
  // Returns all fields of this description of a GPU, and its fingerprint, as a JSON object. The compute capability is
  // one number: 90 for 9.0.
  std::string Json() const;
};

struct CudaGrid {
  int64_t blocks = 1, threads = 1, shared = 0;
};

class CudaDevice {
 public:
  // Opens NVIDIA's driver, libcuda.so.1, and its first GPU. Returns "", or a message if that fails.
  std::string Open();
  // True if Open failed only because this machine has no driver or no GPU.
  bool absent() const { return absent_; }
  const CudaMachine& machine() const { return machine_; }

  uint64_t Allocate(int64_t bytes);
  void Free(uint64_t address);
  void Upload(uint64_t to, const void* from, int64_t bytes);
  void Download(void* to, uint64_t from, int64_t bytes);
  void Copy(uint64_t to, uint64_t from, int64_t bytes);  // on the GPU
  void Fill(uint64_t at, uint8_t value, int64_t bytes);

  // Loads a cubin, which must live until Unload. Returns null if that fails.
  void* Load(const std::string& cubin);
  void Unload(void* library);
  // Returns a kernel of the library, and allows it `shared` bytes of dynamic shared memory. Null if there is none,
  // which is a failure.
  void* Kernel(void* library, const std::string& name, int64_t shared);
  int BlocksPerSm(void* kernel, int64_t threads, int64_t shared);
  void Launch(void* kernel, const CudaGrid& grid, std::vector<uint64_t> arguments);
  void Synchronize();

  // Records the kernels that `launches` launches, without running them, and returns the record; null if that fails.
  // Until Forget, each Replay of it runs all these kernels in order, with one call of the driver, so that the host
  // takes no time between kernels.
  void* Capture(const std::function<void()>& launches);
  void Replay(void* captured);
  void Forget(void* captured);

  // Records event 0 or 1 in the default stream: the beginning or the end of a time to measure.
  void Mark(int event);
  // Waits for event 1, and returns the seconds between the events 0 and 1 on the GPU; 0 if that fails.
  double SecondsBetweenMarks();

  bool ok() const { return status_ == 0; }
  int status() const { return status_; }
  const std::string& error() const { return error_; }
  bool sticky() const;
  // Forgets the first failure, so that calls work again. Does nothing if the driver refuses all calls after it
  // (sticky).
  void Forgive();

 private:
  struct Functions;
  std::string FillMachine();
  // Stores the failure of a driver call (a status other than 0) if it is the first one. Returns whether this call and
  // all before it succeeded.
  bool Keep(const char* call, int status);

  const Functions* functions_ = nullptr;
  CudaMachine machine_;
  int device_ = 0;
  void* events_[2] = {};
  void* capturing_ = nullptr;  // the stream for Capture, once it was used
  void* captured_ = nullptr;   // the stream of Launch: null, but for the time of Capture
  bool absent_ = false;
  int status_ = 0;
  std::string error_;
};

}  // namespace kiln
