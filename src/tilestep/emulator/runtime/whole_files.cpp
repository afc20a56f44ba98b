#include "whole_files.h"

#include <fcntl.h>
#include <unistd.h>

#include "result.h"

namespace tilestep {

void read_file(const char* path, void* to, size_t bytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) give_up("cannot open an input file");
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = read(file, static_cast<unsigned char*>(to) + done, bytes - done);
    if (n <= 0) give_up("an input file is too short");
    done += size_t(n);
  }
  ::close(file);  // warps have a close() of their own
}

void write_file(const char* path, const void* from, size_t bytes) {
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) give_up("cannot open an output file");
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = write(file, static_cast<const unsigned char*>(from) + done, bytes - done);
    if (n <= 0) give_up("cannot write an output file");
    done += size_t(n);
  }
  ::close(file);  // warps have a close() of their own
}

}  // namespace tilestep
