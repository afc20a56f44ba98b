// Which files a submission may touch, by Linux's Landlock: it writes in its own folder only, and reads there, its
// own executable and (where it is not linked statically) the system's libraries.
#pragma once

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The kernel's interface, stated here because older systems' headers lack it.
namespace landlock {
constexpr int kCreate = 444, kAddRule = 445, kRestrict = 446;
constexpr uint32_t kVersion = 1;        // flag of kCreate: which version of the interface
constexpr int kPathBeneath = 1;
constexpr uint64_t kWriteFile = 1 << 1, kReadFile = 1 << 2, kReadDir = 1 << 3, kRemoveFile = 1 << 5, kMakeFile = 1 << 8;
constexpr uint64_t kAllOfVersion1 = ((1 << 13) - 1) & ~uint64_t(1);  // all but executing
constexpr uint64_t kRefer = 1 << 13, kTruncate = 1 << 14, kDevices = 1 << 15;

struct Ruleset {
  uint64_t files, network, scopes;
};
struct __attribute__((packed)) Beneath {
  uint64_t allowed;
  int32_t parent;
};
}  // namespace landlock

class FileRules {
 public:
  FileRules() {
    using namespace landlock;
    const long version = syscall(kCreate, nullptr, size_t(0), kVersion);
    if (version < 1) return;
    handled_ = kAllOfVersion1;
    if (version >= 2) handled_ |= kRefer;
    if (version >= 3) handled_ |= kTruncate;
    if (version >= 5) handled_ |= kDevices;
    Ruleset rules{handled_, version >= 4 ? 3u : 0u, version >= 6 ? 3u : 0u};  // TCP; abstract sockets and signals
    const size_t size = version >= 6 ? sizeof(Ruleset) : version >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    set_ = static_cast<int>(syscall(kCreate, &rules, size, 0u));
  }

  bool available() const { return set_ >= 0; }

  void allow_read(const char* path) { allow(path, landlock::kReadFile | landlock::kReadDir); }
  void allow_write(const char* path) {
    using namespace landlock;
    allow(path, kReadFile | kReadDir | kWriteFile | kRemoveFile | kMakeFile | kTruncate);
  }

  // Needs "no new privileges".
  bool restrict_self() { return available() && syscall(landlock::kRestrict, set_, 0u) == 0; }

 private:
  void allow(const char* path, uint64_t access) {
    if (!available()) return;
    const int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0) return;
    struct stat status;
    const bool folder = fstat(parent, &status) == 0 && S_ISDIR(status.st_mode);
    const uint64_t of_a_file = landlock::kReadFile | landlock::kWriteFile | landlock::kTruncate;
    landlock::Beneath rule{access & handled_ & (folder ? ~uint64_t(0) : of_a_file), parent};
    syscall(landlock::kAddRule, set_, landlock::kPathBeneath, &rule, 0u);
    close(parent);
  }

  int set_ = -1;
  uint64_t handled_ = 0;
};
