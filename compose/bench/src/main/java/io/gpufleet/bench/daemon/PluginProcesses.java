package io.gpufleet.bench.daemon;

import io.gpufleet.cli.fleet.DirectoryTrees;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/** Starts processes that end with this virtual machine at the latest, with their sockets, also when SIGTERM ends it. */
final class PluginProcesses {
    private static final PluginProcesses ALL = new PluginProcesses();

    private final Set<Process> running = new HashSet<>();
    private final Set<Path> directories = new HashSet<>();
    private boolean ending;

    private PluginProcesses() {
        Runtime.getRuntime().addShutdownHook(new Thread(this::end, "plugin-end"));
    }

    /** Starts a process; refused once the virtual machine ends, since nobody would end it. */
    static Process start(ProcessBuilder builder) throws IOException {
        return ALL.launch(builder);
    }

    /** Has a directory of theirs deleted once all of them have ended. */
    static void deleteAtEnd(Path directory) {
        ALL.keepForEnd(directory);
    }

    private synchronized void keepForEnd(Path directory) {
        directories.add(directory);
    }

    private synchronized Process launch(ProcessBuilder builder) throws IOException {
        if (ending) {
            throw new IOException("the benchmark ends");
        }
        Process process = builder.start();
        running.removeIf(started -> !started.isAlive());
        running.add(process);
        return process;
    }

    private synchronized void end() {
        ending = true;
        running.forEach(Process::destroyForcibly);
        running.forEach(process -> process.onExit().join());
        directories.forEach(DirectoryTrees::delete);
    }
}
