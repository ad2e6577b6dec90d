/* One-shot probes on the basic blocks of one shared library, in this process and in all that it forks.

A probe is a breakpoint instruction in place of a block's first byte. The first process that comes there gets
SIGTRAP; the handler marks the block in a file that is shared, puts the byte back and goes on. Afterwards the block
costs nothing in that process. What a child reaches is taken over before the next fork, so that no other child pays for
it again. Marks are in the file as soon as they are made, so a kill loses none.

The library is armed between its mapping and its first instruction: the dynamic loader calls a function of its own
where it has mapped libraries (r_brk of <link.h>, made for debuggers), and a probe is there as well.

In one file with the blocks of other builds nothing is armed: every first byte must be as the file of blocks says.
Errors are texts; none is "". Nothing that runs in the handler may call the dynamic loader: link with -z now. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define BREAKPOINT 0xCC

struct blocks { char magic[16]; uint64_t count; uint32_t at[]; };  /* after `at`, the first byte of each */
struct hits { char magic[16]; uint64_t count, offset; };           /* a byte for each block from `offset` on */

static enum { UNUSED, WAITING, ARMED, REFUSED } state = UNUSED;
static const char *why_not = "";
static char library[256];          /* its file name without folders */
static uint64_t count;
static const uint32_t *place;      /* of each block from where the library is mapped, ascending */
static const uint8_t *first_byte;
static volatile uint8_t *hit;      /* shared with other processes */
static uint8_t *gone;              /* of this process: the probe is not there, or not any more */
static uint8_t *base;              /* where the library is mapped */
static uint8_t *loader, loader_byte;
static struct sigaction before;

static const char *fail(const char *why) {
  state = REFUSED;
  return why_not = why;
}

static int writable(uint8_t *from, uint8_t *to) {
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)from & ~(page - 1);
  return mprotect((void *)start, (uintptr_t)to - start, PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
}

static void arm(void) {
  base = NULL;
  for (struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
    const char *slash = strrchr(map->l_name, '/');
    if (strcmp(slash ? slash + 1 : map->l_name, library) == 0) base = (uint8_t *)map->l_addr;
  }
  if (base == NULL) return;
  for (uint64_t i = 0; i < count; i++)
    if (base[place[i]] != first_byte[i]) { fail("the library that is loaded is not the one that was looked at"); return; }
  if (!writable(base + place[0], base + place[count - 1] + 1)) { fail("the system lets no process change its code"); return; }
  for (uint64_t i = 0; i < count; i++) {
    gone[i] = hit[i] || first_byte[i] == BREAKPOINT;
    if (!gone[i]) base[place[i]] = BREAKPOINT;
  }
  if (loader != NULL) *loader = loader_byte;
  state = ARMED;
}

static int64_t block_at(const uint8_t *address) {
  if (state != ARMED || address < base || (uint64_t)(address - base) > UINT32_MAX) return -1;
  uint32_t wanted = (uint32_t)(address - base);
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (place[middle] < wanted) low = middle + 1; else high = middle;
  }
  return low < count && place[low] == wanted ? (int64_t)low : -1;
}

static void not_ours(int number, siginfo_t *info, void *context) {
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler == SIG_DFL || (before.sa_handler == SIG_IGN && info->si_code == SI_KERNEL)) {
    sigaction(SIGTRAP, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    raise(number);  /* which ends the process when this handler returns */
  } else if (before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

static void on_trap(int number, siginfo_t *info, void *context) {
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  uint8_t *address = (uint8_t *)registers[REG_RIP] - 1;
  int64_t block;
  if (info->si_code == SI_KERNEL && address == loader) {  /* that function does nothing but return */
    registers[REG_RIP] = *(greg_t *)registers[REG_RSP];
    registers[REG_RSP] += 8;
    if (state == WAITING) arm();
  } else if (info->si_code == SI_KERNEL && (block = block_at(address)) >= 0) {
    *address = first_byte[block];
    gone[block] = hit[block] = 1;
    registers[REG_RIP] = (greg_t)address;
  } else {
    not_ours(number, info, context);
  }
}

static void adopt(void) {
  if (state != ARMED) return;
  for (uint64_t word = 0; word < count; word += 8) {
    if (memcmp((const void *)(hit + word), gone + word, 8) == 0) continue;
    for (uint64_t i = word; i < word + 8 && i < count; i++)
      if (hit[i] && !gone[i]) { base[place[i]] = first_byte[i]; gone[i] = 1; }
  }
}

static void watch_loader(void) {
  static const uint8_t plain[] = {0xC3}, marked[] = {0xF3, 0x0F, 0x1E, 0xFA, 0xC3};
  uint8_t *function = (uint8_t *)_r_debug.r_brk;
  if (function == NULL || (memcmp(function, plain, 1) != 0 && memcmp(function, marked, sizeof marked) != 0)) return;
  if (!writable(function, function + 1)) return;
  loader_byte = *function;
  loader = function;
  *function = BREAKPOINT;
}

static void *mapped(const char *path, int writes, size_t least, size_t *size) {
  struct stat status;
  int file = open(path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  if (file < 0) return NULL;
  *size = fstat(file, &status) == 0 ? (size_t)status.st_size : 0;
  int protection = PROT_READ | (writes ? PROT_WRITE : 0);
  void *memory = *size < least ? MAP_FAILED : mmap(NULL, *size, protection, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

/* Arms the library of that file name now, or when it is loaded. To be called once. */
const char *coverage_begin(const char *name, const char *blocks_path, const char *hits_path) {
  size_t blocks_size = 0, hits_size = 0;
  if (state != UNUSED) return fail("coverage has begun in this process before");
  struct blocks *blocks = mapped(blocks_path, 0, sizeof *blocks, &blocks_size);
  struct hits *hits = mapped(hits_path, 1, sizeof *hits, &hits_size);
  if (blocks == NULL || hits == NULL) return fail("the files of blocks and hits cannot be mapped");
  count = blocks->count;
  if (count == 0 || hits->count != count || blocks_size != sizeof *blocks + count * 5 || strlen(name) >= sizeof library ||
      hits->offset > hits_size || hits_size - hits->offset != (count + 7) / 8 * 8)
    return fail("the files of blocks and hits do not belong together");
  strcpy(library, name);
  place = blocks->at;
  first_byte = (const uint8_t *)(blocks->at + count);
  hit = (uint8_t *)hits + hits->offset;
  gone = mmap(NULL, count + 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (gone == MAP_FAILED) return fail("no memory");
  struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigfillset(&action.sa_mask);
  if (sigaction(SIGTRAP, &action, &before) != 0 || pthread_atfork(adopt, NULL, NULL) != 0) return fail("no handler");
  state = WAITING;
  arm();
  if (state == WAITING) watch_loader();
  return why_not;
}

/* Why nothing is counted, to be asked when the library should be there; "" where it is. */
const char *coverage_why_not(void) {
  if (state == WAITING) arm();  /* where the loader could not be watched */
  return state == WAITING ? "the library is not loaded" : state == UNUSED ? "coverage has not begun" : why_not;
}

/* Of a process that was started with this file in LD_PRELOAD: three lines say what coverage_begin is given. */
__attribute__((constructor)) static void begin_by_environment(void) {
  const char *said = getenv("PASSFUZZ_COVERAGE");
  char *lines[3], *text = said != NULL ? strdup(said) : NULL, *rest = text;
  for (int i = 0; i < 3; i++) if ((lines[i] = strsep(&rest, "\n")) == NULL) { free(text); return; }
  coverage_begin(lines[0], lines[1], lines[2]);
  free(text);
}
