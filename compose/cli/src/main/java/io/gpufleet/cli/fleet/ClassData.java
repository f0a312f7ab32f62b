package io.gpufleet.cli.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Archives of the classes of programs, for a faster start. A process only records the names of its classes; the archive is
 * written from them once the fleet has stopped, by the {@code gpufleet} script at low priority: a virtual machine that
 * writes it at its own end makes whoever stops it wait.
 */
final class ClassData {
    private final Path tree;
    private final Path directory;
    private final Set<Program> recorded = ConcurrentHashMap.newKeySet();

    /** In a directory, for the programs of a source tree. */
    ClassData(Path tree, Path directory) {
        this.tree = tree;
        this.directory = directory;
    }

    /**
     * The flags of the next process of a program: the archive where there is one of this build, else the first process
     * records its classes.
     *
     * @param jvmFlags the other flags, which the archive depends on
     */
    List<String> flags(Program program, List<String> jvmFlags, String classPath) {
        Path archive = file(program, "jsa");
        if (AotCache.newerThanJars(archive, tree, program)) {
            return List.of("-XX:SharedArchiveFile=" + archive, "-Xshare:auto", "-Xlog:disable");
        }
        if (!recorded.add(program)) {
            return List.of();
        }
        writeCommand(program, jvmFlags, classPath);
        return List.of("-XX:DumpLoadedClassList=" + file(program, "recording"), "-Xlog:disable");
    }

    /** Leaves the command that writes the archive, an argument a line; the script knows the names of the files. */
    private void writeCommand(Program program, List<String> jvmFlags, String classPath) {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(jvmFlags);
        command.add("-Xshare:dump");
        command.add("-XX:SharedClassListFile=" + file(program, "classes"));
        command.add("-XX:SharedArchiveFile=" + file(program, "part"));
        command.addAll(List.of("-cp", classPath));
        try {
            Files.createDirectories(directory);
            Files.write(file(program, "dump"), command);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    private Path file(Program program, String extension) {
        return directory.resolve(program.name().toLowerCase(Locale.ROOT) + "." + extension);
    }
}
