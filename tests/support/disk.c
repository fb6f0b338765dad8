/*
 * A disk with faults, for the gateway under test: preloaded, it stands between the program and the C library wherever the
 * files of the ledger are read and written. What goes wrong is said by a control file, whose path is in DOORBELL_TEST_DISK
 * and which is read again whenever it is another one. A file that is not there says that all is well. Its lines:
 *
 *   CALL_delay_ms N   each such call takes so long first
 *   CALL_errno N      each such call fails with this errno, and does nothing
 *   CALL_times N      the errno is for the next N calls only
 *   only SUFFIX       files whose name ends otherwise are sound (`-wal`)
 *
 * where CALL is read, write, sync or truncate. Each call that was made to fail is a line in CONTROL.hits.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The next definition of a function behind ours. */
#define REAL(type, name) ((type)next(#name))

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

typedef int (*open_fn)(const char *, int, ...);
typedef int (*openat_fn)(int, const char *, int, ...);
typedef int (*fd_fn)(int);
typedef int (*truncate_fn)(int, off_t);
typedef ssize_t (*read_fn)(int, void *, size_t);
typedef ssize_t (*write_fn)(int, const void *, size_t);
typedef ssize_t (*pread_fn)(int, void *, size_t, off_t);
typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off_t);

/* --- The files of the ledger: the one table of descriptors. --- */

enum file { OTHER, MAIN, WAL, SHM };

#define MOST_DESCRIPTORS 65536
static _Atomic unsigned char tracked[MOST_DESCRIPTORS];

static const char *const SUFFIXES[] = {[OTHER] = "", [MAIN] = "doorbell.db", [WAL] = "-wal", [SHM] = "-shm"};

static enum file kind_of(const char *path) {
    const char *name = strstr(path, SUFFIXES[MAIN]);
    if (!name)
        return OTHER;
    const char *rest = name + strlen(SUFFIXES[MAIN]);
    for (enum file kind = WAL; kind <= SHM; kind++)
        if (strcmp(rest, SUFFIXES[kind]) == 0)
            return kind;
    return *rest ? OTHER : MAIN;
}

static int track(int fd, const char *path) {
    if (fd >= 0 && fd < MOST_DESCRIPTORS)
        atomic_store(&tracked[fd], (unsigned char)kind_of(path));
    return fd;
}

static enum file file_of(int fd) {
    return fd >= 0 && fd < MOST_DESCRIPTORS ? (enum file)atomic_load(&tracked[fd]) : OTHER;
}

/* --- What goes wrong. --- */

enum call { READ, WRITE, SYNC, TRUNCATE, CALLS };

static const char *const CALL_NAMES[] = {[READ] = "read", [WRITE] = "write", [SYNC] = "sync", [TRUNCATE] = "truncate"};

struct rule {
    long delay_ms;
    long error;
    long times; /* How often it still fails; below zero: always. */
};

static struct {
    pthread_mutex_t lock;
    struct rule rules[CALLS];
    char only[32];
    struct stat seen;
    int there;
} orders = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *control_path(void) {
    static const char *path;
    if (!path)
        path = getenv("DOORBELL_TEST_DISK");
    return path;
}

static void take_order(const char *word, const char *value) {
    if (strcmp(word, "only") == 0) {
        snprintf(orders.only, sizeof orders.only, "%s", value);
        return;
    }
    for (int call = 0; call < CALLS; call++) {
        size_t length = strlen(CALL_NAMES[call]);
        if (strncmp(word, CALL_NAMES[call], length) != 0 || word[length] != '_')
            continue;
        const char *what = word + length + 1;
        long number = strtol(value, NULL, 10);
        if (strcmp(what, "delay_ms") == 0)
            orders.rules[call].delay_ms = number;
        else if (strcmp(what, "errno") == 0)
            orders.rules[call].error = number;
        else if (strcmp(what, "times") == 0)
            orders.rules[call].times = number;
        else
            abort();
        return;
    }
    abort(); /* A test that says what nobody understands tests nothing. */
}

static void forget_orders(void) {
    memset(orders.rules, 0, sizeof orders.rules);
    memset(orders.only, 0, sizeof orders.only);
    for (int call = 0; call < CALLS; call++)
        orders.rules[call].times = -1;
}

/* Reads the control file when it is another one than the last. The lock is held. */
static void refresh(const char *path) {
    struct stat now;
    int there = stat(path, &now) == 0;
    if (there == orders.there &&
        (!there || (now.st_ino == orders.seen.st_ino && now.st_mtim.tv_sec == orders.seen.st_mtim.tv_sec &&
                    now.st_mtim.tv_nsec == orders.seen.st_mtim.tv_nsec && now.st_size == orders.seen.st_size)))
        return;
    orders.there = there;
    orders.seen = now;
    forget_orders();
    FILE *file = there ? fopen(path, "re") : NULL;
    if (!file)
        return;
    char word[32], value[32];
    while (fscanf(file, "%31s %31s", word, value) == 2)
        take_order(word, value);
    fclose(file);
}

static void note_hit(const char *path, enum call call) {
    char hits[4096];
    snprintf(hits, sizeof hits, "%s.hits", path);
    int fd = REAL(open_fn, open)(hits, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    if (dprintf(fd, "%s\n", CALL_NAMES[call]) < 0)
        abort();
    REAL(fd_fn, close)(fd);
}

/* What a call on a descriptor meets before it is made: 0, or the errno with which it fails. */
static int trouble(int fd, enum call call) {
    const char *path = control_path();
    enum file file = file_of(fd);
    if (file == OTHER || !path)
        return 0;
    pthread_mutex_lock(&orders.lock);
    refresh(path);
    struct rule *rule = &orders.rules[call];
    int meant = !orders.only[0] || strcmp(orders.only, SUFFIXES[file]) == 0;
    long delay = meant ? rule->delay_ms : 0;
    int error = meant && rule->times != 0 ? (int)rule->error : 0;
    if (error && rule->times > 0)
        rule->times--;
    if (error)
        note_hit(path, call);
    pthread_mutex_unlock(&orders.lock);
    if (delay > 0) {
        struct timespec left = {.tv_sec = delay / 1000, .tv_nsec = delay % 1000 * 1000000};
        while (nanosleep(&left, &left) != 0 && errno == EINTR) {
        }
    }
    return error;
}

#define UNLESS_TROUBLE(fd, call)                                                                                           \
    do {                                                                                                                   \
        int error = trouble(fd, call);                                                                                     \
        if (error) {                                                                                                       \
            errno = error;                                                                                                 \
            return -1;                                                                                                     \
        }                                                                                                                  \
    } while (0)

/* --- What stands in front of the C library. --- */

static mode_t mode_of(int flags, va_list rest) {
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
}

#define OPEN(name)                                                                                                         \
    int name(const char *path, int flags, ...) {                                                                           \
        va_list rest;                                                                                                      \
        va_start(rest, flags);                                                                                             \
        mode_t mode = mode_of(flags, rest);                                                                                \
        va_end(rest);                                                                                                      \
        return track(REAL(open_fn, name)(path, flags, mode), path);                                                        \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                                                       \
    int name(int folder, const char *path, int flags, ...) {                                                               \
        va_list rest;                                                                                                      \
        va_start(rest, flags);                                                                                             \
        mode_t mode = mode_of(flags, rest);                                                                                \
        va_end(rest);                                                                                                      \
        return track(REAL(openat_fn, name)(folder, path, flags, mode), path);                                              \
    }
OPENAT(openat)
OPENAT(openat64)

int close(int fd) {
    /* Before the number is free for another thread's file. */
    if (fd >= 0 && fd < MOST_DESCRIPTORS)
        atomic_store(&tracked[fd], OTHER);
    return REAL(fd_fn, close)(fd);
}

ssize_t read(int fd, void *bytes, size_t length) {
    UNLESS_TROUBLE(fd, READ);
    return REAL(read_fn, read)(fd, bytes, length);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    UNLESS_TROUBLE(fd, WRITE);
    return REAL(write_fn, write)(fd, bytes, length);
}

#define PREAD(name)                                                                                                        \
    ssize_t name(int fd, void *bytes, size_t length, off_t at) {                                                           \
        UNLESS_TROUBLE(fd, READ);                                                                                          \
        return REAL(pread_fn, name)(fd, bytes, length, at);                                                                \
    }
PREAD(pread)
PREAD(pread64)

#define PWRITE(name)                                                                                                       \
    ssize_t name(int fd, const void *bytes, size_t length, off_t at) {                                                     \
        UNLESS_TROUBLE(fd, WRITE);                                                                                         \
        return REAL(pwrite_fn, name)(fd, bytes, length, at);                                                               \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define SYNCS(name)                                                                                                        \
    int name(int fd) {                                                                                                     \
        UNLESS_TROUBLE(fd, SYNC);                                                                                          \
        return REAL(fd_fn, name)(fd);                                                                                      \
    }
SYNCS(fsync)
SYNCS(fdatasync)

#define TRUNCATES(name)                                                                                                    \
    int name(int fd, off_t length) {                                                                                       \
        UNLESS_TROUBLE(fd, TRUNCATE);                                                                                      \
        return REAL(truncate_fn, name)(fd, length);                                                                        \
    }
TRUNCATES(ftruncate)
TRUNCATES(ftruncate64)
