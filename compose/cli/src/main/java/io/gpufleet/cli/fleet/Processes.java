package io.gpufleet.cli.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waiting for, measuring and terminating processes. */
public final class Processes {
    private Processes() {}

    /** Sends SIGTERM to all, and SIGKILL to those that still run after the timeout; returns when all are gone. */
    public static void terminate(java.util.List<ProcessHandle> processes, Duration timeout) {
        processes.forEach(ProcessHandle::destroy);
        long deadline = System.nanoTime() + timeout.toNanos();
        for (ProcessHandle process : processes) {
            if (!awaitExit(process, Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))) {
                process.destroyForcibly();
                awaitExit(process, timeout);
            }
        }
    }

    /**
     * Waits for the exit of a process; false when it still runs. A zombie, which nothing reaps here, counts as exited.
     */
    public static boolean awaitExit(ProcessHandle process, Duration within) {
        long deadline = System.nanoTime() + within.toNanos();
        do {
            if (!process.isAlive() || isZombie(process.pid())) {
                return true;
            }
            try {
                process.onExit().get(20, TimeUnit.MILLISECONDS);
                return true;
            } catch (TimeoutException still) {
                // checked again below
            } catch (ExecutionException impossible) {
                throw new IllegalStateException(impossible);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return false;
            }
        } while (System.nanoTime() < deadline);
        return false;
    }

    /** Sends a signal that Java has no call for, by its name without SIG. */
    static void signal(ProcessHandle process, String name) {
        command("cannot be sent SIG" + name, process, "kill", "-" + name, Long.toString(process.pid()));
    }

    /** Sets how large a file may grow by a process: {@code 0} or {@code unlimited}. */
    static void limitFileSize(ProcessHandle process, String bytes) {
        command(
                "takes no limit of its files",
                process,
                "prlimit",
                "--pid",
                Long.toString(process.pid()),
                // The soft limit only, so that it can be lifted again.
                "--fsize=" + bytes + ":");
    }

    private static void command(String failure, ProcessHandle process, String... command) {
        try {
            if (new ProcessBuilder(command).start().waitFor() != 0) {
                throw new IllegalStateException("process " + process.pid() + " " + failure);
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    /** Resident memory in bytes; empty where the system has no {@code /proc} or the process is gone. */
    public static OptionalLong residentBytes(long pid) {
        return status(pid, "VmRSS:");
    }

    /** The most memory that was resident since a process began, as the kernel counts it; empty once it ended. */
    public static OptionalLong peakResidentBytes(long pid) {
        return status(pid, "VmHWM:");
    }

    private static OptionalLong status(long pid, String field) {
        try {
            for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
                if (line.startsWith(field)) {
                    return OptionalLong.of(Long.parseLong(line.replaceAll("\\D", "")) * 1024);
                }
            }
        } catch (IOException gone) {
            return OptionalLong.empty();
        }
        return OptionalLong.empty();
    }

    /** True for a process that exited and was not reaped by its parent. */
    static boolean isZombie(long pid) {
        try {
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return stat.startsWith("Z", stat.lastIndexOf(')') + 2);
        } catch (IOException noProc) {
            return false;
        }
    }
}
