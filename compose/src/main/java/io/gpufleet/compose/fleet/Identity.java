package io.gpufleet.compose.fleet;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Which process it is: numbers are used again, a number and the time of its start are not.
 *
 * @param pid process id
 * @param startMillis when it started, Unix milliseconds; 0 where the system does not tell
 */
public record Identity(long pid, long startMillis) {
    /** Linux reckons the start from a boot time of whole seconds that moves with the clock. */
    private static final Duration TOLERANCE = Duration.ofSeconds(3);

    /** The identity of a process that runs. */
    public static Identity of(ProcessHandle process) {
        return new Identity(process.pid(), startMillis(process));
    }

    /** The process, when it still is the same and lives. */
    public Optional<ProcessHandle> find() {
        return ProcessHandle.of(pid)
                .filter(ProcessHandle::isAlive)
                .filter(process -> matches(startMillis(process)))
                .filter(process -> !Processes.isZombie(process.pid()));
    }

    /** Whether a process of the same number that started then is this one. */
    boolean matches(long otherStart) {
        return Math.abs(otherStart - startMillis) <= TOLERANCE.toMillis();
    }

    private static long startMillis(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }
}
