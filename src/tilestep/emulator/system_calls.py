"""Functions that reach past a launch plan, by what they do: a seam may call none of them.

A rule looks for these names in the text, and the build looks for them in the object file, where no macro and
no pointer hides them: only there can `read` be told from a function of the person's own.
"""

from __future__ import annotations

DEEDS = {
    "opens files": (
        "fopen fopen64 freopen fdopen open openat creat tmpfile mkstemp unlink rename mkdir rmdir opendir"
        " chdir truncate"
    ),
    "starts processes": (
        "system popen fork vfork clone execl execlp execle execv execvp execve posix_spawn waitpid kill raise"
    ),
    "starts threads": "pthread_create thrd_create",
    "reads a clock": "time gettimeofday clock_gettime timespec_get sleep usleep nanosleep alarm",
    "reads the environment": "getenv secure_getenv setenv putenv unsetenv",
    "opens sockets": "socket connect listen accept sendto recvfrom getaddrinfo",
    "loads libraries": "dlopen dlsym dladdr dl_iterate_phdr",
    "reaches the operating system": (
        "mmap munmap mprotect ptrace syscall ioctl sigaction signal process_vm_readv process_vm_writev"
        " setjmp longjmp atexit at_quick_exit"
    ),
}
_SYMBOLS = {
    "copies memory out of the checkers' sight": (
        "mempcpy __mempcpy memccpy bcopy memmem memrchr rawmemchr strncpy stpncpy strndup wmemcpy wmemmove"
        " wmempcpy swab"
    ),
    "opens files": "open64 openat64 freopen64 tmpfile64 mkstemp64 memfd_create",
    "reaches the operating system": (
        "read write pread pwrite pread64 pwrite64 readv writev dup dup2 dup3 fcntl fcntl64 lseek lseek64"
        " ftruncate ftruncate64 sendfile _setjmp __sigsetjmp siglongjmp _longjmp sigprocmask getppid mremap"
        " sbrk brk prctl"
    ),
}
OF_OBJECTS = {
    name: deed for table in (DEEDS, _SYMBOLS) for deed, names in table.items() for name in names.split()
}
