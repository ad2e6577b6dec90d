// What TVM's run time for CUDA links against, libcudart.so.13 and libcuda.so.1 in one, for a device that is the CPU:
// kernels are those of `cuda-cpu`, built by `nvcc.py` beside this file.
//
// As on hardware: memory of the device is out of the host's reach, launches return at once and say nothing of faults,
// after a fault every call fails with it, and a child of a process that has asked for devices cannot use any. Written against the public headers' declarations (CUDA 13.0).

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

enum {
  SUCCESS = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NOT_FOUND = 500,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_FAILURE = 719
};
constexpr size_t PAGE = 4096, MEMORY = size_t(1) << 30;

int sticky = SUCCESS;
pid_t user = 0;  // The process that has begun with the driver.

// What a call has to say that finds nothing wrong itself.
int state() {
  if (!user) user = getpid();
  return user == getpid() ? sticky : NOT_INITIALIZED;
}
size_t used = 0;
std::map<char*, size_t> allocations;  // Start, and bytes asked for.

size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE + (bytes ? 0 : PAGE); }

// While one lives, the host reaches the device's memory: for copies and kernels alone.
struct Reach {
  Reach() { protect(PROT_READ | PROT_WRITE); }
  ~Reach() { protect(PROT_NONE); }
  static void protect(int how) {
    for (auto& [start, bytes] : allocations) mprotect(start, pages(bytes), how);
  }
};

// How many bytes of the device's memory lie behind an address; -2 where it is none of the device's.
int64_t behind(void* address) {
  auto next = allocations.upper_bound((char*)address);
  if (next == allocations.begin()) return -2;
  auto& [start, bytes] = *--next;
  return (char*)address <= start + bytes ? start + bytes - (char*)address : -2;
}

union Slot {
  void* pointer;
  int64_t integer;
  double real;
};

struct Kernel {
  void (*entry)(const Slot*);
  int (*arity)();
  int (*slots)(void**, Slot*, bool*);
};

struct Library {
  void* handle;
  int (*launch)(void (*)(const Slot*), Slot*, const int64_t*, int, const uint32_t*, uint64_t, int, uint64_t, double, char*,
                uint64_t);
  std::map<std::string, Kernel> kernels;
};

struct Function {
  Library* library;
  Kernel kernel;
};

struct Config {
  unsigned extents[6], shared;
  void* stream;
  void* attributes;
  unsigned attribute_count;
};

using Graph = std::vector<std::function<void()>>;
Graph* captured = nullptr;  // What streams are told while one of them captures.

int told(std::function<void()> what) {
  if (int wrong = state()) return wrong;
  if (captured) {
    captured->push_back(what);
  } else {
    what();
  }
  return SUCCESS;
}

void run(Function* function, Config config, std::vector<Slot> slots, std::vector<int64_t> bytes) {
  if (sticky) return;
  Reach reach;
  char text[512] = "";
  if (function->library->launch(function->kernel.entry, slots.data(), bytes.data(), int(bytes.size()), config.extents,
                                config.shared, 0, 1, 1e9, text, sizeof text)) {
    fprintf(stderr, "CUDA simulator: %s\n", text);
    sticky = strncmp(text, "out of bounds", 13) && strncmp(text, "bad access", 10) ? LAUNCH_FAILURE : ILLEGAL_ADDRESS;
  }
}

const char* name_of(int code) {
  switch (code) {
    case SUCCESS: return "CUDA_SUCCESS";
    case INVALID_VALUE: return "CUDA_ERROR_INVALID_VALUE";
    case NOT_INITIALIZED: return "CUDA_ERROR_NOT_INITIALIZED";
    case OUT_OF_MEMORY: return "CUDA_ERROR_OUT_OF_MEMORY";
    case NOT_FOUND: return "CUDA_ERROR_NOT_FOUND";
    case ILLEGAL_ADDRESS: return "CUDA_ERROR_ILLEGAL_ADDRESS";
    case LAUNCH_FAILURE: return "CUDA_ERROR_LAUNCH_FAILED";
  }
  return "CUDA_ERROR_UNKNOWN";
}

}  // namespace

extern "C" {

// --- the driver ---

int cuInit(unsigned) { return state(); }
int cuDriverGetVersion(int* version) { return *version = 13000, SUCCESS; }
int cuGetErrorName(int code, const char** name) { return *name = name_of(code), SUCCESS; }
int cuGetErrorString(int code, const char** text) { return *text = name_of(code), SUCCESS; }
int cuDeviceGetName(char* name, int size, int) {
  if (!user) return NOT_INITIALIZED;  // Of the driver's own calls, none begins with it.
  return snprintf(name, size, "CPU"), state();
}
int cuFuncSetAttribute(void*, int, int) { return state(); }
int cuTensorMapEncodeTiled() { return INVALID_VALUE; }

int cuModuleLoadData(void** module, const void* image) {
  std::string text((const char*)image), line = text.substr(0, text.find('\n'));
  std::string runtime = text.substr(line.size() + 1, text.find('\n', line.size() + 1) - line.size() - 1);
  auto library = new Library;
  void* scheduler = dlopen(runtime.c_str(), RTLD_NOW | RTLD_GLOBAL);
  library->handle = scheduler ? dlopen(line.c_str(), RTLD_NOW) : nullptr;
  if (!library->handle) return fprintf(stderr, "CUDA simulator: %s\n", dlerror()), INVALID_VALUE;
  library->launch = (decltype(library->launch))dlsym(scheduler, "cc_launch");
  return *module = library, state();
}

int cuModuleUnload(void*) { return SUCCESS; }

int cuModuleGetFunction(void** function, void* module, const char* name) {
  auto library = (Library*)module;
  auto symbol = [&](std::string prefix, std::string suffix = "") {
    return dlsym(library->handle, (prefix + name + suffix).c_str());
  };
  Kernel kernel{(void (*)(const Slot*))symbol("cc_run_"), (int (*)())symbol("cc_run_", "_arity"),
                (int (*)(void**, Slot*, bool*))symbol("sim_slots_")};
  if (!kernel.entry || !kernel.slots) return NOT_FOUND;
  return *function = new Function{library, kernel}, SUCCESS;
}

int cuLaunchKernelEx(const Config* config, void* function, void** parameters, void**) {
  auto called = (Function*)function;
  int count = called->kernel.arity();
  std::vector<Slot> slots(count + 1);
  bool pointers[256] = {};
  called->kernel.slots(parameters, slots.data(), pointers);
  unsigned long long threads = 1ull * config->extents[3] * config->extents[4] * config->extents[5];
  for (unsigned extent : config->extents)
    if (!extent) return INVALID_VALUE;
  if (threads > 1024 || config->extents[1] > 65535 || config->extents[2] > 65535) return INVALID_VALUE;
  std::vector<int64_t> bytes(count);
  for (int number = 0; number < count; number++) bytes[number] = pointers[number] ? behind(slots[number].pointer) : -1;
  return told([=, copied = *config] { run(called, copied, slots, bytes); });
}

// --- the run time ---

const char* cudaGetErrorName(int code) { return name_of(code); }
const char* cudaGetErrorString(int code) { return name_of(code); }
int cudaGetLastError() { return state(); }
int cudaPeekAtLastError() { return state(); }
int cudaGetDeviceCount(int* count) { return *count = 1, state(); }
int cudaGetDevice(int* device) { return *device = 0, SUCCESS; }
int cudaSetDevice(int) { return state(); }
int cudaGetDeviceProperties(void*, int) { return INVALID_VALUE; }
int cudaMemGetInfo(size_t* free, size_t* total) { return *free = MEMORY - used, *total = MEMORY, state(); }

int cudaDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> values{{1, 1024}, {2, 1024},  {3, 1024}, {4, 64}, {8, 49152}, {10, 32}, {12, 65536},
                                         {13, 1},   {16, 4},    {38, 1 << 20}, {75, 8}, {76, 6}};
  auto found = values.find(attribute);
  return found == values.end() ? INVALID_VALUE : (*value = found->second, SUCCESS);
}

int cudaMalloc(void** memory, size_t bytes) {
  if (int wrong = state()) return wrong;
  if (used + bytes > MEMORY) return OUT_OF_MEMORY;
  char* start = (char*)mmap(nullptr, pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return OUT_OF_MEMORY;
  memset(start, 0xA5, pages(bytes));  // Whoever had it before has left something.
  mprotect(start, pages(bytes), PROT_NONE);
  used += bytes;
  allocations[start] = bytes;
  return *memory = start, SUCCESS;
}

int cudaFree(void* memory) {
  if (int wrong = state(); wrong || !memory) return wrong;
  auto found = allocations.find((char*)memory);
  if (found == allocations.end()) return INVALID_VALUE;
  munmap(memory, pages(found->second));
  used -= found->second;
  allocations.erase(found);
  return SUCCESS;
}

int cudaMallocHost(void** memory, size_t bytes) { return *memory = malloc(bytes ? bytes : 1), state(); }
int cudaFreeHost(void* memory) { return free(memory), state(); }

int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void*) {
  // 1 host to device, 2 device to host, 3 device to device.
  if ((kind != 2 && bytes && behind(to) < (int64_t)bytes) ||
      (kind != 1 && bytes && behind((void*)from) < (int64_t)bytes)) {
    return INVALID_VALUE;
  }
  return told([=] {
    Reach reach;
    memmove(to, from, bytes);
  });
}

int cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, void* stream) {
  return cudaMemcpyAsync(to, from, bytes, 3, stream);
}

int cudaStreamCreate(void** stream) { return *stream = malloc(1), state(); }
int cudaStreamCreateWithFlags(void** stream, unsigned) { return cudaStreamCreate(stream); }
int cudaStreamDestroy(void* stream) { return free(stream), state(); }
int cudaStreamSynchronize(void*) { return state(); }
int cudaStreamWaitEvent(void*, void*, unsigned) { return state(); }
int cudaEventCreate(void** event) { return *event = malloc(1), state(); }
int cudaEventDestroy(void* event) { return free(event), state(); }
int cudaEventRecord(void*, void*) { return state(); }
int cudaEventSynchronize(void*) { return state(); }
int cudaEventElapsedTime(float* milliseconds, void*, void*) { return *milliseconds = 1, state(); }

int cudaStreamBeginCapture(void*, int) { return captured = new Graph, state(); }
int cudaStreamEndCapture(void*, void** graph) {
  *graph = captured;
  captured = nullptr;
  return state();
}
int cudaGraphInstantiate(void** exec, void* graph, unsigned long long) { return *exec = new Graph(*(Graph*)graph), state(); }
int cudaGraphDestroy(void* graph) { return delete (Graph*)graph, state(); }
int cudaGraphExecDestroy(void* exec) { return delete (Graph*)exec, state(); }
int cudaGraphLaunch(void* exec, void*) {
  for (auto& step : *(Graph*)exec) step();
  return state();
}
}
