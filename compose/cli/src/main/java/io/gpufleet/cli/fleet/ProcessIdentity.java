package io.gpufleet.cli.fleet;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Identity of a process: process ids are reused, a process id with a start time is not.
 *
 * @param pid process id
 * @param startMillis start time, Unix milliseconds; 0 where the system does not report it
 */
public record ProcessIdentity(long pid, long startMillis) {
    /** Linux derives the start time from a boot time of whole seconds that moves with the clock. */
    private static final Duration TOLERANCE = Duration.ofSeconds(3);

    /** The identity of a running process. */
    public static ProcessIdentity of(ProcessHandle process) {
        return new ProcessIdentity(process.pid(), startMillis(process));
    }

    /** The process; empty when it ended. */
    public Optional<ProcessHandle> find() {
        return ProcessHandle.of(pid)
                .filter(ProcessHandle::isAlive)
                .filter(process -> matches(startMillis(process)))
                .filter(process -> !Processes.isZombie(process.pid()));
    }

    /** True when a process of the same id with this start time is the same process. */
    boolean matches(long otherStart) {
        return Math.abs(otherStart - startMillis) <= TOLERANCE.toMillis();
    }

    private static long startMillis(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }
}
