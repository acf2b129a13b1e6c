/* A library to preload into a program under test: it records what the program does to the files of one folder, in order,
 * and makes the n-th such call fail, stop short, wait, or stop or kill the process. `src/disk` reads the record.
 *
 * LOCHAN_FAULTS_FOLDER   absolute path of the folder; nothing else is looked at
 * LOCHAN_FAULTS_MARKS    file whose writes are kept in the record as marks, in order with everything else
 * LOCHAN_FAULTS_RECORD   file that the record is appended to; without it nothing is recorded
 * LOCHAN_FAULTS_CONTROL  file of `struct control`, mapped; without it nothing fails
 *
 * Calls that change a file or a name run one at a time, so that the order of the record is the order on disk. A sync is
 * recorded at its begin and at its end: it covers what was recorded before it began. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind {
  OPEN = 1,   /* path, inode; flags: 1 created, 2 emptied, 4 a folder */
  WRITE,      /* inode, offset, data */
  TRUNCATE,   /* inode, offset: the new size */
  RENAME,     /* path, data: the new path */
  UNLINK,     /* path */
  MKDIR,      /* path */
  RMDIR,      /* path */
  SYNC_BEGIN, /* inode, offset: number of the sync */
  SYNC_END,   /* inode, offset: number of the sync, result */
  RANGE,      /* sync_file_range: inode; makes nothing durable */
  MARK,       /* data */
  STRUCK,     /* offset: the kind whose call was made to fail, result: the action */
  STRANGE,    /* path: a call that the model does not know */
};

struct control {
  uint32_t magic, mask; /* a bit per kind whose calls are counted */
  uint64_t nth;         /* the call that is struck, from 1; 0 for none */
  uint32_t action, arg; /* see `act` */
  uint32_t sticky;      /* all later ones too */
  uint32_t lose;        /* after a failed sync: 0 nothing, 1 all unsynced writes, 2 some of their pages */
  uint64_t seed;
  uint64_t seen, struck; /* told */
  uint64_t free_bytes;   /* what statvfs says; 0 for the truth */
  uint64_t budget;       /* bytes that can still be written, if `is_small` */
  uint32_t is_small;
  uint32_t late_ms;      /* a call that is struck and fails or stops short returns so much later */
};

enum action { FAIL = 1, SHORT, DELAY, STOP, KILL };

struct head {
  uint8_t kind, flags;
  uint16_t path_len;
  uint32_t data_len;
  uint64_t inode, offset;
  int64_t result;
};

struct undo {
  struct undo *next;
  uint64_t inode, order, old_size;
  off_t offset;
  size_t len;
  char *old;
};

#define FDS 65536
enum { NONE, FILE_, FOLDER_, MARKS_ };
static struct { uint64_t inode; uint8_t what; } fds[FDS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char folder[PATH_MAX], marks[PATH_MAX];
static size_t folder_len;
static int record = -1;
static volatile struct control *control;
static struct undo *undos;
static uint64_t order, syncs;

static int sys_open(int at, const char *path, int flags, mode_t mode) {
  return (int)syscall(SYS_openat, at, path, flags, mode);
}

__attribute__((constructor)) static void begin(void) {
  const char *name = getenv("LOCHAN_FAULTS_FOLDER");
  if (!name || name[0] != '/') return;
  snprintf(folder, sizeof folder, "%s", name);
  folder_len = strlen(folder);
  if ((name = getenv("LOCHAN_FAULTS_MARKS"))) snprintf(marks, sizeof marks, "%s", name);
  if ((name = getenv("LOCHAN_FAULTS_RECORD"))) {
    int fd = sys_open(AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
      record = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 1000);
      syscall(SYS_close, fd);
    }
  }
  if ((name = getenv("LOCHAN_FAULTS_CONTROL"))) {
    int fd = sys_open(AT_FDCWD, name, O_RDWR | O_CLOEXEC, 0);
    void *at = fd < 0 ? MAP_FAILED
                      : (void *)syscall(SYS_mmap, 0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) syscall(SYS_close, fd);
    if (at != MAP_FAILED) control = at;
  }
}

/* The record. The mutex is held. */
static void note(enum kind kind, int flags, const char *path, uint64_t inode, uint64_t offset, int64_t result,
                 const void *data, size_t len) {
  if (record < 0) return;
  struct head head = {kind, (uint8_t)flags, (uint16_t)(path ? strlen(path) : 0), (uint32_t)len, inode, offset, result};
  struct iovec parts[3] = {{&head, sizeof head}, {(void *)path, head.path_len}, {(void *)data, len}};
  size_t total = sizeof head + head.path_len + len;
  if (syscall(SYS_writev, record, parts, 3) != (ssize_t)total) {
    static const char text[] = "faults: the record cannot be written\n";
    syscall(SYS_write, 2, text, sizeof text - 1);
    _exit(125);
  }
}

static void pause_ms(uint32_t ms) {
  struct timespec time = {ms / 1000, (ms % 1000) * 1000000L};
  syscall(SYS_nanosleep, &time, NULL);
}

/* Whether this call is the one. The mutex is held; `delay` is to be waited for outside of it. */
static int strike(enum kind kind, uint32_t *delay) {
  if (!control || !(control->mask & (1u << kind))) return 0;
  uint64_t seen = ++control->seen, nth = control->nth;
  if (!nth || (control->sticky ? seen < nth : seen != nth)) return 0;
  control->struck++;
  int action = (int)control->action;
  note(STRUCK, 0, NULL, 0, kind, action, NULL, 0);
  if (action == DELAY) *delay = control->arg;
  if (action == FAIL || action == SHORT) *delay = control->late_ms;
  if (action == STOP) syscall(SYS_kill, getpid(), SIGSTOP);
  if (action == KILL) syscall(SYS_kill, getpid(), SIGKILL);
  return action == FAIL || action == SHORT ? action : 0;
}

#define LOCK pthread_mutex_lock(&mutex)
#define UNLOCK pthread_mutex_unlock(&mutex)

static int is_below(const char *path) {
  return folder_len && !strncmp(path, folder, folder_len) && (path[folder_len] == '/' || !path[folder_len]);
}

/* The absolute path; whether it lies in the folder. */
static int place(int at, const char *path, char *full) {
  if (!folder_len || !path) return 0;
  if (path[0] == '/') {
    snprintf(full, PATH_MAX, "%s", path);
  } else {
    char base[PATH_MAX], link[64];
    ssize_t len;
    if (at == AT_FDCWD) {
      snprintf(link, sizeof link, "/proc/self/cwd");
    } else {
      if (at < 0 || at >= FDS || fds[at].what == NONE) return 0;
      snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    }
    if ((len = syscall(SYS_readlinkat, AT_FDCWD, link, base, sizeof base - 1)) < 0) return 0;
    base[len] = 0;
    if (snprintf(full, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return 0;
  }
  return is_below(full) || (marks[0] && !strcmp(full, marks));
}

static int what_of(int fd) { return fd < 0 || fd >= FDS ? NONE : fds[fd].what; }

static int open_any(int at, const char *path, int flags, mode_t mode) {
  char full[PATH_MAX];
  if (!place(at, path, full)) {
    int fd = sys_open(at, path, flags, mode);
    if (fd >= 0 && fd < FDS) fds[fd].what = NONE;
    return fd;
  }
  uint32_t delay = 0;
  int fd = -1, failure = 0;
  LOCK;
  if (strcmp(full, marks) && strike(OPEN, &delay)) {
    failure = (int)control->arg;
  } else {
    struct stat before, now;
    int was_there = !stat(full, &before);
    fd = sys_open(at, path, flags, mode);
    failure = errno;
    if (fd >= 0 && fd < FDS && !fstat(fd, &now)) {
      int is_folder = S_ISDIR(now.st_mode);
      fds[fd].inode = now.st_ino;
      fds[fd].what = !strcmp(full, marks) ? MARKS_ : is_folder ? FOLDER_ : FILE_;
      int said = (was_there ? 0 : 1) | (was_there && (flags & O_TRUNC) && before.st_size ? 2 : 0) | (is_folder ? 4 : 0);
      if (fds[fd].what != MARKS_) note(OPEN, said, full, now.st_ino, 0, 0, NULL, 0);
    }
  }
  UNLOCK;
  if (delay) pause_ms(delay);
  if (fd < 0) errno = failure;
  return fd;
}

#define OPEN_AS(name, at, ...)                                  \
  int name(__VA_ARGS__, int flags, ...) {                       \
    mode_t mode = 0;                                            \
    if (flags & (O_CREAT | __O_TMPFILE)) {                      \
      va_list list;                                             \
      va_start(list, flags);                                    \
      mode = va_arg(list, mode_t);                              \
      va_end(list);                                             \
    }                                                           \
    return open_any(at, path, flags, mode);                     \
  }
OPEN_AS(open, AT_FDCWD, const char *path)
OPEN_AS(open64, AT_FDCWD, const char *path)
OPEN_AS(openat, at, int at, const char *path)
OPEN_AS(openat64, at, int at, const char *path)
int creat(const char *path, mode_t mode) { return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int fd) {
  if (fd >= 0 && fd < FDS) fds[fd].what = NONE;
  return (int)syscall(SYS_close, fd);
}

static int copied(int from, int to) {
  if (to >= 0 && to < FDS && from >= 0 && from < FDS) fds[to] = fds[from];
  return to;
}
int dup(int fd) { return copied(fd, (int)syscall(SYS_dup, fd)); }
int dup2(int fd, int to) { return copied(fd, (int)syscall(SYS_dup3, fd, to, 0)); }
int dup3(int fd, int to, int flags) { return copied(fd, (int)syscall(SYS_dup3, fd, to, flags)); }
static int fcntl_any(int fd, int command, void *arg) {
  int result = (int)syscall(SYS_fcntl, fd, command, arg);
  return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? copied(fd, result) : result;
}
#define FCNTL_AS(name)                     \
  int name(int fd, int command, ...) {     \
    va_list list;                          \
    va_start(list, command);               \
    void *arg = va_arg(list, void *);      \
    va_end(list);                          \
    return fcntl_any(fd, command, arg);    \
  }
FCNTL_AS(fcntl)
FCNTL_AS(fcntl64)

/* Keeps what a write is about to replace, so that a failed sync can lose it. The mutex is held. */
static void keep_old(int fd, uint64_t inode, off_t offset, size_t len) {
  if (!control || !control->lose) return;
  struct stat now;
  struct undo *undo = calloc(1, sizeof *undo);
  if (!undo || fstat(fd, &now)) abort();
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  int reader = sys_open(AT_FDCWD, link, O_RDONLY, 0);
  undo->old = malloc(len ? len : 1);
  ssize_t had = reader < 0 ? 0 : syscall(SYS_pread64, reader, undo->old, len, offset);
  if (reader >= 0) syscall(SYS_close, reader);
  undo->inode = inode;
  undo->order = ++order;
  undo->old_size = (uint64_t)now.st_size;
  undo->offset = offset;
  undo->len = had < 0 ? 0 : (size_t)had;
  undo->next = undos;
  undos = undo;
}

static uint64_t chance(void) {
  uint64_t x = control->seed += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/* Drops what is kept of a file up to `until`, putting it back in place first if it is lost. The mutex is held. */
static void drop_old(int fd, uint64_t inode, uint64_t until, int is_lost) {
  int writer = -1;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  for (struct undo **at = &undos; *at;) {
    struct undo *undo = *at;
    if (undo->inode != inode || undo->order > until) {
      at = &undo->next;
      continue;
    }
    if (is_lost && writer < 0) writer = sys_open(AT_FDCWD, link, O_RDWR, 0);
    if (is_lost && writer >= 0) {
      /* Newest first, in pages, as the system forgets them. */
      for (size_t done = 0; done < undo->len;) {
        size_t part = 4096 - (size_t)((undo->offset + (off_t)done) % 4096);
        if (part > undo->len - done) part = undo->len - done;
        if (control->lose == 1 || chance() % 2) {
          off_t offset = undo->offset + (off_t)done;
          syscall(SYS_pwrite64, writer, undo->old + done, part, offset);
          note(WRITE, 0, NULL, inode, (uint64_t)offset, (int64_t)part, undo->old + done, part);
        }
        done += part;
      }
      if (control->lose == 1) {
        syscall(SYS_ftruncate, writer, undo->old_size);
        note(TRUNCATE, 0, NULL, inode, undo->old_size, 0, NULL, 0);
      }
    }
    *at = undo->next;
    free(undo->old);
    free(undo);
  }
  if (writer >= 0) syscall(SYS_close, writer);
}

/* One write of several parts; `offset` -1 writes where the descriptor stands. */
static ssize_t write_any(int fd, const struct iovec *parts, int count, off_t offset) {
  int what = what_of(fd);
  if (what == NONE)
    return offset < 0 ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
  size_t len = 0;
  for (int i = 0; i < count; i++) len += parts[i].iov_len;
  char *data = malloc(len ? len : 1), *to = data;
  if (!data) abort();
  for (int i = 0; i < count; i++) {
    memcpy(to, parts[i].iov_base, parts[i].iov_len);
    to += parts[i].iov_len;
  }
  uint32_t delay = 0;
  ssize_t done = -1;
  int failure = 0;
  LOCK;
  if (what == MARKS_) {
    done = syscall(SYS_write, fd, data, len);
    failure = errno;
    note(MARK, 0, NULL, 0, 0, done, data, len);
  } else {
    int action = strike(WRITE, &delay);
    size_t wanted = len;
    if (control && control->is_small && len > control->budget) {
      wanted = (size_t)control->budget;
      failure = ENOSPC;
      control->struck++;
    } else if (action == FAIL) {
      wanted = 0;
      failure = (int)control->arg;
    } else if (action == SHORT && control->arg < len) {
      wanted = control->arg ? control->arg : 1;
      failure = 0;
    }
    if (wanted || !failure) {
      if (offset < 0) {
        int flags = (int)syscall(SYS_fcntl, fd, F_GETFL);
        offset = syscall(SYS_lseek, fd, 0, flags & O_APPEND ? SEEK_END : SEEK_CUR);
        keep_old(fd, fds[fd].inode, offset, wanted);
        done = syscall(SYS_write, fd, data, wanted);
      } else {
        keep_old(fd, fds[fd].inode, offset, wanted);
        done = syscall(SYS_pwrite64, fd, data, wanted, offset);
      }
      if (done < 0) failure = errno;
      if (done >= 0) {
        note(WRITE, 0, NULL, fds[fd].inode, (uint64_t)offset, done, data, (size_t)done);
        if (control && control->is_small) control->budget -= (uint64_t)done;
      }
    }
  }
  UNLOCK;
  free(data);
  if (delay) pause_ms(delay);
  if (done < 0) errno = failure;
  return done;
}

static ssize_t write_one(int fd, const void *data, size_t len, off_t offset) {
  if (what_of(fd) == NONE)
    return offset < 0 ? syscall(SYS_write, fd, data, len) : syscall(SYS_pwrite64, fd, data, len, offset);
  struct iovec part = {(void *)data, len};
  return write_any(fd, &part, 1, offset);
}
ssize_t write(int fd, const void *data, size_t len) { return write_one(fd, data, len, -1); }
ssize_t pwrite(int fd, const void *data, size_t len, off_t offset) { return write_one(fd, data, len, offset); }
ssize_t pwrite64(int fd, const void *data, size_t len, off_t offset) { return write_one(fd, data, len, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return write_any(fd, parts, count, -1); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return write_any(fd, parts, count, offset); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) {
  return write_any(fd, parts, count, offset);
}

/* A call on names or sizes that succeeds or fails as a whole. */
#define WHOLE(kind, real, told)                  \
  uint32_t delay = 0;                            \
  int result = -1, failure = 0;                  \
  LOCK;                                          \
  if (strike(kind, &delay) == FAIL) {            \
    failure = (int)control->arg;                 \
  } else {                                       \
    result = (int)(real);                        \
    failure = errno;                             \
    if (!result) told;                           \
  }                                              \
  UNLOCK;                                        \
  if (delay) pause_ms(delay);                    \
  if (result) errno = failure;                   \
  return result

static int truncate_fd(int fd, off_t size) {
  if (what_of(fd) != FILE_) return (int)syscall(SYS_ftruncate, fd, size);
  WHOLE(TRUNCATE, syscall(SYS_ftruncate, fd, size),
        note(TRUNCATE, 0, NULL, fds[fd].inode, (uint64_t)size, 0, NULL, 0));
}
int ftruncate(int fd, off_t size) { return truncate_fd(fd, size); }
int ftruncate64(int fd, off_t size) { return truncate_fd(fd, size); }

static int rename_any(int at, const char *from, int to_at, const char *to, unsigned flags) {
  char full[PATH_MAX], full_to[PATH_MAX];
  if (!place(at, from, full) || !place(to_at, to, full_to))
    return (int)syscall(SYS_renameat2, at, from, to_at, to, flags);
  WHOLE(RENAME, syscall(SYS_renameat2, at, from, to_at, to, flags),
        note(RENAME, 0, full, 0, 0, 0, full_to, strlen(full_to)));
}
int rename(const char *from, const char *to) { return rename_any(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int at, const char *from, int to_at, const char *to) { return rename_any(at, from, to_at, to, 0); }
int renameat2(int at, const char *from, int to_at, const char *to, unsigned flags) {
  return rename_any(at, from, to_at, to, flags);
}

static int unlink_any(int at, const char *path, int flags) {
  char full[PATH_MAX];
  if (!place(at, path, full)) return (int)syscall(SYS_unlinkat, at, path, flags);
  enum kind kind = flags & AT_REMOVEDIR ? RMDIR : UNLINK;
  WHOLE(kind, syscall(SYS_unlinkat, at, path, flags), note(kind, 0, full, 0, 0, 0, NULL, 0));
}
int unlink(const char *path) { return unlink_any(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlink_any(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int at, const char *path, int flags) { return unlink_any(at, path, flags); }

static int mkdir_any(int at, const char *path, mode_t mode) {
  char full[PATH_MAX];
  if (!place(at, path, full)) return (int)syscall(SYS_mkdirat, at, path, mode);
  struct stat now;
  WHOLE(MKDIR, syscall(SYS_mkdirat, at, path, mode),
        note(MKDIR, 0, full, stat(full, &now) ? 0 : now.st_ino, 0, 0, NULL, 0));
}
int mkdir(const char *path, mode_t mode) { return mkdir_any(AT_FDCWD, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { return mkdir_any(at, path, mode); }

static int sync_any(int fd, long call) {
  int what = what_of(fd);
  if (what != FILE_ && what != FOLDER_) return (int)syscall(call, fd);
  uint32_t delay = 0;
  LOCK;
  uint64_t number = ++syncs, until = order, inode = fds[fd].inode;
  note(SYNC_BEGIN, what == FOLDER_, NULL, inode, number, 0, NULL, 0);
  int action = strike(SYNC_BEGIN, &delay), failure = 0, result = 0;
  UNLOCK;
  if (delay) pause_ms(delay);
  if (action == FAIL) {
    result = -1;
    failure = (int)control->arg;
  } else if ((result = (int)syscall(call, fd))) {
    failure = errno;
  }
  LOCK;
  note(SYNC_END, what == FOLDER_, NULL, inode, number, result, NULL, 0);
  if (control && control->lose) drop_old(fd, inode, until, result != 0);
  UNLOCK;
  if (result) errno = failure;
  return result;
}
int fsync(int fd) { return sync_any(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_any(fd, SYS_fdatasync); }

int sync_file_range(int fd, off_t offset, off_t len, unsigned flags) {
  if (what_of(fd) != FILE_) return (int)syscall(SYS_sync_file_range, fd, offset, len, flags);
  WHOLE(RANGE, syscall(SYS_sync_file_range, fd, offset, len, flags),
        note(RANGE, 0, NULL, fds[fd].inode, 0, 0, NULL, 0));
}

/* Calls that nothing under test makes today. One that appears must be taught to the model first. */
static void strange(const char *name) {
  LOCK;
  note(STRANGE, 0, name, 0, 0, 0, NULL, 0);
  UNLOCK;
}
int fallocate(int fd, int mode, off_t offset, off_t len) {
  if (what_of(fd) != NONE) strange("fallocate");
  return (int)syscall(SYS_fallocate, fd, mode, offset, len);
}
int fallocate64(int fd, int mode, off_t offset, off_t len) { return fallocate(fd, mode, offset, len); }
int truncate(const char *path, off_t size) {
  char full[PATH_MAX];
  if (place(AT_FDCWD, path, full)) strange("truncate");
  return (int)syscall(SYS_truncate, path, size);
}
int truncate64(const char *path, off_t size) { return truncate(path, size); }
int linkat(int at, const char *from, int to_at, const char *to, int flags) {
  char full[PATH_MAX];
  if (place(to_at, to, full)) strange("linkat");
  return (int)syscall(SYS_linkat, at, from, to_at, to, flags);
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }
int symlinkat(const char *from, int at, const char *to) {
  char full[PATH_MAX];
  if (place(at, to, full)) strange("symlinkat");
  return (int)syscall(SYS_symlinkat, from, at, to);
}
int symlink(const char *from, const char *to) { return symlinkat(from, AT_FDCWD, to); }
ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t len, unsigned flags) {
  if (what_of(to) != NONE) strange("copy_file_range");
  return syscall(SYS_copy_file_range, from, from_at, to, to_at, len, flags);
}
ssize_t sendfile(int to, int from, off_t *at, size_t len) {
  if (what_of(to) != NONE) strange("sendfile");
  return syscall(SYS_sendfile, to, from, at, len);
}
ssize_t sendfile64(int to, int from, off_t *at, size_t len) { return sendfile(to, from, at, len); }
void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset) {
  if (what_of(fd) != NONE && (flags & MAP_SHARED) && (protection & PROT_WRITE)) strange("mmap");
  return (void *)syscall(SYS_mmap, at, len, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t len, int protection, int flags, int fd, off_t offset) {
  return mmap(at, len, protection, flags, fd, offset);
}

static int statvfs_any(const char *path, struct statvfs *out) {
  struct statfs found;
  if (syscall(SYS_statfs, path, &found)) return -1;
  memset(out, 0, sizeof *out);
  out->f_bsize = (unsigned long)found.f_bsize;
  out->f_frsize = (unsigned long)(found.f_frsize ? found.f_frsize : found.f_bsize);
  out->f_blocks = found.f_blocks;
  out->f_bfree = found.f_bfree;
  out->f_bavail = found.f_bavail;
  char full[PATH_MAX];
  if (control && control->free_bytes && place(AT_FDCWD, path, full))
    out->f_bfree = out->f_bavail = control->free_bytes / out->f_frsize;
  return 0;
}
int statvfs(const char *path, struct statvfs *out) { return statvfs_any(path, out); }
int statvfs64(const char *path, struct statvfs64 *out) { return statvfs_any(path, (struct statvfs *)out); }
