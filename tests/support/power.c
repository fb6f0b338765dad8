/*
 * A disk that can lose its power, for the gateway under test: preloaded, it keeps beside the files that matter what the disk
 * would still have of them, which is what was there at the last fsync or fdatasync, and under which names they were in
 * their folder when that was last synced. DOORBELL_TEST_POWER names the folder for that:
 *
 *   iNUMBER   the durable bytes of the file with that inode number
 *   NAME      a link to one of these: the durable entry of the folder under this name
 *
 * Whoever has killed the gateway makes the files anew from that (power.rs). A copy that a kill cut short is what a disk
 * may have after a sync that never returned. A file that takes the number of one that was removed stands for it from its
 * first sync on, entry or not; SQLite syncs the folder right after that.
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
#include <unistd.h>

#define REAL(type, name) ((type)next(#name))

/* A simulated disk that fails proves nothing: it says so and ends the gateway. */
#define MUST(it)                                                                                                           \
    do {                                                                                                                   \
        if (!(it)) {                                                                                                       \
            fprintf(stderr, "power.c:%d: %s: %s\n", __LINE__, #it, strerror(errno));                                       \
            abort();                                                                                                       \
        }                                                                                                                  \
    } while (0)

static void *next(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    MUST(found);
    return found;
}

typedef int (*open_fn)(const char *, int, ...);
typedef int (*openat_fn)(int, const char *, int, ...);
typedef int (*fd_fn)(int);
typedef int (*truncate_fn)(int, off_t);
typedef ssize_t (*write_fn)(int, const void *, size_t);
typedef ssize_t (*pwrite_fn)(int, const void *, size_t, off_t);

/* --- The files that matter. --- */

enum { MAIN, WAL, ANSWERS, FILES, OTHER = FILES };

static const char *const NAMES[FILES] = {[MAIN] = "doorbell.db", [WAL] = "doorbell.db-wal", [ANSWERS] = "answers.jsonl"};

struct range {
    off_t from, to;
};

/* What was written to a file since it was last synced. */
static struct {
    pthread_mutex_t lock;
    /* Nobody knows what an earlier process had written when it died. */
    int all_known;
    size_t count, room;
    struct range *ranges;
} unsynced[FILES] = {
    [MAIN] = {.lock = PTHREAD_MUTEX_INITIALIZER},
    [WAL] = {.lock = PTHREAD_MUTEX_INITIALIZER},
    [ANSWERS] = {.lock = PTHREAD_MUTEX_INITIALIZER},
};

#define MOST_DESCRIPTORS 65536
/* One above the file's number; 0: another file. */
static _Atomic unsigned char tracked[MOST_DESCRIPTORS];

static int file_of(int fd) {
    return fd >= 0 && fd < MOST_DESCRIPTORS && atomic_load(&tracked[fd]) ? atomic_load(&tracked[fd]) - 1 : OTHER;
}

static int track(int fd, const char *path) {
    if (fd < 0 || fd >= MOST_DESCRIPTORS)
        return fd;
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    int file = MAIN;
    while (file < FILES && strcmp(name, NAMES[file]) != 0)
        file++;
    atomic_store(&tracked[fd], (unsigned char)(file == FILES ? 0 : file + 1));
    return fd;
}

/* Called when the bytes are written: a sync that began before need not have them. */
static void note(int file, off_t from, ssize_t length) {
    if (file == OTHER || length <= 0)
        return;
    pthread_mutex_lock(&unsynced[file].lock);
    if (unsynced[file].count == unsynced[file].room) {
        unsynced[file].room = unsynced[file].room ? 2 * unsynced[file].room : 64;
        unsynced[file].ranges = realloc(unsynced[file].ranges, unsynced[file].room * sizeof(struct range));
        MUST(unsynced[file].ranges);
    }
    unsynced[file].ranges[unsynced[file].count++] = (struct range){from, from + length};
    pthread_mutex_unlock(&unsynced[file].lock);
}

/* --- What the disk has. --- */

static void in_power(char *path, size_t room, const char *name) {
    snprintf(path, room, "%s/%s", getenv("DOORBELL_TEST_POWER"), name);
}

static void copy(int from, int to, struct range range) {
    char bytes[65536];
    while (range.from < range.to) {
        size_t wanted = (size_t)(range.to - range.from) < sizeof bytes ? (size_t)(range.to - range.from) : sizeof bytes;
        ssize_t length = pread(from, bytes, wanted, range.from);
        if (length <= 0)
            return; /* It has been made shorter since. */
        MUST(REAL(pwrite_fn, pwrite)(to, bytes, (size_t)length, range.from) == length);
        range.from += length;
    }
}

/* The file as it is now is on the disk. */
static void settle(int file, int fd) {
    char name[32], path[4096];
    struct stat now, before;
    /* The ledger must not be opened once more: closing it again would drop SQLite's locks. */
    int from = fd;
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        char own[64];
        snprintf(own, sizeof own, "/proc/self/fd/%d", fd);
        from = REAL(open_fn, open)(own, O_RDONLY | O_CLOEXEC);
    }
    MUST(from >= 0 && fstat(from, &now) == 0);
    snprintf(name, sizeof name, "i%lu", (unsigned long)now.st_ino);
    in_power(path, sizeof path, name);
    int to = REAL(open_fn, open)(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    MUST(to >= 0);
    pthread_mutex_lock(&unsynced[file].lock);
    MUST(fstat(to, &before) == 0);
    if (before.st_size > now.st_size)
        MUST(REAL(truncate_fn, ftruncate)(to, now.st_size) == 0);
    if (!unsynced[file].all_known || before.st_size == 0)
        copy(from, to, (struct range){0, now.st_size});
    else
        for (size_t i = 0; i < unsynced[file].count; i++)
            copy(from, to, unsynced[file].ranges[i]);
    unsynced[file].all_known = 1;
    unsynced[file].count = 0;
    pthread_mutex_unlock(&unsynced[file].lock);
    REAL(fd_fn, close)(to);
    if (from != fd)
        REAL(fd_fn, close)(from);
}

/* The entries of the home as they are now are on the disk. */
static void settle_entries(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    const char *home = getenv("DOORBELL_HOME");
    for (int file = 0; file < FILES; file++) {
        char real[4096], entry[4096], fresh[4200], target[32];
        struct stat now;
        snprintf(real, sizeof real, "%s/%s", home, NAMES[file]);
        in_power(entry, sizeof entry, NAMES[file]);
        if (stat(real, &now) != 0) {
            unlink(entry);
            continue;
        }
        snprintf(target, sizeof target, "i%lu", (unsigned long)now.st_ino);
        snprintf(fresh, sizeof fresh, "%s.new", entry);
        unlink(fresh);
        MUST(symlink(target, fresh) == 0 && rename(fresh, entry) == 0);
    }
    pthread_mutex_unlock(&lock);
}

static int is_home(int fd) {
    struct stat one, home;
    return fstat(fd, &one) == 0 && S_ISDIR(one.st_mode) && stat(getenv("DOORBELL_HOME"), &home) == 0 &&
           one.st_dev == home.st_dev && one.st_ino == home.st_ino;
}

static void synced(int fd) {
    int before = errno, file = file_of(fd);
    if (file != OTHER)
        settle(file, fd);
    else if (is_home(fd))
        settle_entries();
    errno = before;
}

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
    if (fd >= 0 && fd < MOST_DESCRIPTORS)
        atomic_store(&tracked[fd], 0);
    return REAL(fd_fn, close)(fd);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    ssize_t written = REAL(write_fn, write)(fd, bytes, length);
    int file = file_of(fd);
    /* Where a file is appended to, the place is known only afterwards. */
    if (file != OTHER)
        note(file, lseek(fd, 0, SEEK_CUR) - written, written);
    return written;
}

#define PWRITE(name)                                                                                                       \
    ssize_t name(int fd, const void *bytes, size_t length, off_t at) {                                                     \
        ssize_t written = REAL(pwrite_fn, name)(fd, bytes, length, at);                                                    \
        note(file_of(fd), at, written);                                                                                    \
        return written;                                                                                                    \
    }
PWRITE(pwrite)
PWRITE(pwrite64)

#define SYNCS(name)                                                                                                        \
    int name(int fd) {                                                                                                     \
        int result = REAL(fd_fn, name)(fd);                                                                                \
        if (result == 0)                                                                                                   \
            synced(fd);                                                                                                    \
        return result;                                                                                                     \
    }
SYNCS(fsync)
SYNCS(fdatasync)
