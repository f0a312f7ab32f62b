package io.gpufleet.compose.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What the system says of processes, and how they are ended. */
public final class Processes {
    private Processes() {}

    /** SIGTERM to all, and SIGKILL to those that live on after the patience; returns when all are gone. */
    public static void end(java.util.List<ProcessHandle> processes, Duration patience) {
        processes.forEach(ProcessHandle::destroy);
        long deadline = System.nanoTime() + patience.toNanos();
        for (ProcessHandle process : processes) {
            if (!gone(process, Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))) {
                process.destroyForcibly();
                gone(process, patience);
            }
        }
    }

    /** Waits for the end of a process; false when it lives on. A zombie, which nobody reaps here, is gone. */
    public static boolean gone(ProcessHandle process, Duration within) {
        long deadline = System.nanoTime() + within.toNanos();
        do {
            if (!process.isAlive() || isZombie(process.pid())) {
                return true;
            }
            try {
                process.onExit().get(20, TimeUnit.MILLISECONDS);
                return true;
            } catch (TimeoutException still) {
                // looked at anew
            } catch (ExecutionException impossible) {
                throw new IllegalStateException(impossible);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return false;
            }
        } while (System.nanoTime() < deadline);
        return false;
    }

    /** Resident memory in bytes; empty where the system has no {@code /proc} or the process is gone. */
    public static OptionalLong residentBytes(long pid) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
                if (line.startsWith("VmRSS:")) {
                    return OptionalLong.of(Long.parseLong(line.replaceAll("\\D", "")) * 1024);
                }
            }
        } catch (IOException gone) {
            return OptionalLong.empty();
        }
        return OptionalLong.empty();
    }

    /** A process that ended and was not reaped by its parent; it has a number and nothing else. */
    static boolean isZombie(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return stat.startsWith("Z", stat.lastIndexOf(')') + 2);
        } catch (IOException noProc) {
            return false;
        }
    }
}
