package io.gpufleet.cli.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/** The AOT cache of a program: its classes, linked, and the profiles of their methods, from a training run. */
public final class AotCache {
    private AotCache() {}

    /** The file; another build of the virtual machine has another one. */
    public static Path of(Path tree, Program program) {
        String machine = System.getProperty("java.vm.version", "").replaceAll("[^0-9A-Za-z.]", "-");
        return tree.resolve(program.module())
                .resolve("target")
                .resolve(program.name().toLowerCase(Locale.ROOT) + "-" + machine + ".aot");
    }

    /** True when it is newer than every jar of the program: the virtual machine refuses that of others. */
    public static boolean fresh(Path tree, Program program) {
        return newerThanJars(of(tree, program), tree, program);
    }

    /** True for a file that was written after every jar of the program. */
    static boolean newerThanJars(Path written, Path tree, Program program) {
        if (!Files.isRegularFile(written)) {
            return false;
        }
        Path target = tree.resolve(program.module()).resolve("target");
        try (Stream<Path> own = Files.list(target);
                Stream<Path> libraries = Files.list(target.resolve("lib"))) {
            long time = Files.getLastModifiedTime(written).toMillis();
            return Stream.concat(own, libraries)
                    .filter(file -> file.toString().endsWith(".jar"))
                    .allMatch(jar -> jar.toFile().lastModified() < time);
        } catch (IOException absent) {
            return false;
        }
    }
}
