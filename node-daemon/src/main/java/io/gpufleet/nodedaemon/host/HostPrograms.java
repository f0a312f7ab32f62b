package io.gpufleet.nodedaemon.host;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs short programs of the host. */
final class HostPrograms {
    private static final Duration TIME_LIMIT = Duration.ofSeconds(10);

    private HostPrograms() {}

    /** Runs a program without input; returns why it failed, empty on success. */
    static String run(List<String> command) {
        String name = String.join(" ", command);
        try {
            Process process = new ProcessBuilder(command)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!process.waitFor(TIME_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
                process.destroyForcibly();
                return name + " does not end";
            }
            return process.exitValue() == 0 ? "" : name + " ends with status " + process.exitValue();
        } catch (IOException e) {
            return name + " cannot be started";
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return name + " was interrupted";
        }
    }
}
