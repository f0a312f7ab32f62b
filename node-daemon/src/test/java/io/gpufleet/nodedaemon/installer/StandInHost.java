package io.gpufleet.nodedaemon.installer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;

/** A host in a directory, with fakes of the programs that an installer runs in it; the files tell what they do. */
final class StandInHost {
    static final String ARCHITECTURE = System.getProperty("os.arch").equals("amd64") ? "x86_64" : "aarch64";

    /** Runs a program here; of its arguments, files of the cache are below the root. */
    private static final String CHROOT = """
            #!/bin/sh
            export ROOT=$1
            shift
            for word; do
              shift
              case $word in /var/lib/gpufleet/*) word=$ROOT$word ;; esac
              set -- "$@" "$word"
            done
            exec "$@"
            """;

    /** Loads an installer, which installs the version of its address. */
    private static final String CURL = """
            #!/bin/sh
            while [ "$1" != -o ]; do shift; done
            echo "load $3" >>"$COMMANDS"
            [ ! -e "$ROOT/offline" ] || exit 6
            version=$(echo "$3" | sed 's|.*-\\([0-9.]*\\).run|\\1|')
            cat >"$2" <<END
            [ ! -e "$ROOT/fails" ] || { echo no headers; exit 1; }
            while [ -e "$ROOT/hangs" ]; do sleep 0.1; done
            echo "install $version \\$([ -e "$ROOT/run/gpufleet/hold" ] && echo held)" >>"$COMMANDS"
            echo $version >"$ROOT/modules"
            echo $version >"$ROOT/library"
            END
            """;

    private static final String APT = """
            #!/bin/sh
            case $* in update) exit 0 ;; esac
            shift 4
            echo "apt $*" >>"$COMMANDS"
            echo 580.95.05 | tee "$ROOT/modules" >"$ROOT/library"
            """;

    private static final String MODPROBE = """
            #!/bin/sh
            [ "$1" = nvidia ] || exit 0
            [ -e "$ROOT/modules" ] || exit 1
            mkdir -p "$ROOT/proc/driver/nvidia"
            echo "NVRM version: NVIDIA UNIX x86_64 Kernel Module  $(cat "$ROOT/modules")  Tue Nov  4 10:00:00 UTC 2025" \\
              >"$ROOT/proc/driver/nvidia/version"
            echo "nvidia 1 0 - Live" >"$ROOT/proc/modules"
            """;

    private static final String RMMOD = """
            #!/bin/sh
            echo "unload $1" >>"$COMMANDS"
            sed -i "/^$1 /d" "$ROOT/proc/modules"
            [ "$1" != nvidia ] || rm "$ROOT/proc/driver/nvidia/version"
            """;

    private final Path directory;

    StandInHost(Path directory) throws IOException {
        this.directory = directory;
        Files.createDirectories(run());
        Files.createDirectories(directory.resolve("settings"));
        program("chroot", CHROOT);
        program("curl", CURL);
        program("apt-get", APT);
        program("modprobe", MODPROBE);
        program("rmmod", RMMOD);
        program("nvidia-smi", "#!/bin/sh\n[ -e \"$ROOT/proc/driver/nvidia/version\" ] && cat \"$ROOT/library\"\n");
        program("nvidia-modprobe", "#!/bin/sh\n");
        program("systemctl", "#!/bin/sh\n");
    }

    private void program(String name, String text) throws IOException {
        Path file = Files.writeString(
                Files.createDirectories(directory.resolve("bin")).resolve(name), text);
        assertThat(file.toFile().setExecutable(true)).isTrue();
    }

    Path root() {
        return directory.resolve("host");
    }

    Path run() {
        return root().resolve("run/gpufleet");
    }

    void write(String file, String text) throws IOException {
        Files.createDirectories(root().resolve(file).getParent());
        Files.writeString(root().resolve(file), text);
    }

    void remove(String file) throws IOException {
        Files.delete(root().resolve(file));
    }

    /** Changes a setting as a ConfigMap volume does, by a rename. */
    void setting(String name, String value) throws IOException {
        Path next = Files.writeString(directory.resolve("next"), value);
        Files.move(
                next,
                directory.resolve("settings").resolve(name),
                StandardCopyOption.ATOMIC_MOVE,
                StandardCopyOption.REPLACE_EXISTING);
    }

    /** A driver on disk whose modules are not loaded. */
    void install(String version) throws IOException {
        write("modules", version + "\n");
        write("library", version + "\n");
    }

    /** A driver that answers. */
    void load(String version) throws IOException {
        install(version);
        write("proc/modules", "nvidia_uvm 1 0 - Live\nnvidia 1 0 - Live\n");
        write(
                "proc/driver/nvidia/version",
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + version + "  Tue Nov  4 10:00:00 UTC 2025\n");
    }

    void useGpu(int process, String command) throws IOException {
        write("proc/" + process + "/cmdline", command.replace(' ', '\0'));
        Path descriptors = Files.createDirectories(root().resolve("proc/" + process + "/fd"));
        Files.createSymbolicLink(descriptors.resolve("5"), Path.of("/dev/nvidia0"));
    }

    void endUse(int process) throws IOException {
        remove("proc/" + process + "/fd/5");
    }

    /** What the node-daemon does, as far as an installer sees it. */
    void answerHold() {
        try {
            if (Files.exists(run().resolve("hold"))) {
                Files.writeString(run().resolve("released"), "");
            } else {
                Files.deleteIfExists(run().resolve("released"));
            }
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    String state() {
        return new InstallerStatusFile(run()).get();
    }

    List<String> commands() throws IOException {
        Path file = directory.resolve("commands");
        return Files.exists(file) ? Files.readAllLines(file) : List.of();
    }

    String log() throws IOException {
        return Files.readString(directory.resolve("log"));
    }

    static String kernel() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/sys/kernel/osrelease"))) {
            return lines.findFirst().orElseThrow();
        }
    }
}
