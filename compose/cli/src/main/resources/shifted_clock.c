/*
 * Preloaded into a process (LD_PRELOAD) it gives it another time of day: that of the system plus the seconds at the
 * start of the file SHIFTED_CLOCK, which may change at any time. The second number of the file counts how often such a
 * time was read. The monotonic clock stays as it is, as when somebody sets the clock of a machine.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

static int64_t *shift;
static int (*system_clock)(clockid_t, struct timespec *);

__attribute__((constructor)) static void start(void) {
    system_clock = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    const char *file = getenv("SHIFTED_CLOCK");
    int opened = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
    if (opened >= 0) {
        void *mapped = mmap(NULL, 16, PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
        shift = mapped == MAP_FAILED ? NULL : mapped;
        close(opened);
    }
}

EXPORTED int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!system_clock) {
        start();
    }
    int result = system_clock(clock, now);
    if (result == 0 && shift && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t seconds = __atomic_load_n(shift, __ATOMIC_RELAXED);
        if (seconds != 0) {
            now->tv_sec += seconds;
            __atomic_add_fetch(shift + 1, 1, __ATOMIC_RELAXED);
        }
    }
    return result;
}

EXPORTED int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec precise;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return result;
}

EXPORTED time_t time(time_t *seconds) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (seconds) {
        *seconds = precise.tv_sec;
    }
    return precise.tv_sec;
}
