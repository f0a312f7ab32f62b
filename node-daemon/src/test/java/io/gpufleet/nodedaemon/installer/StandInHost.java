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

    /**
     * Loads an installer, which installs the version of its address. With {@code -C -} it loads what is missing. Where the host
     * has the file {@code breaks}, the connection ends after 40 bytes; with {@code stalls} nothing arrives.
     */
    private static final String CURL = """
            #!/bin/sh
            resumes=
            while [ "$1" != -o ]; do
              [ "$1 $2" != "-C -" ] || resumes=yes
              shift
            done
            version=$(echo "$3" | sed 's|.*-\\([0-9.]*\\).run|\\1|')
            at=$([ -z "$resumes" ] || wc -c 2>/dev/null <"$2" || true)
            echo $$ >"$ROOT/curl-$version"
            if [ -n "$at" ]; then echo "resume $3 at $at" >>"$COMMANDS"; else echo "load $3" >>"$COMMANDS"; rm -f "$2"; fi
            while [ -e "$ROOT/stalls" ]; do sleep 0.1; done
            cat >"$ROOT/whole-$version" <<END
            [ ! -e "$ROOT/fails" ] || { echo no headers; exit 1; }
            while [ -e "$ROOT/hangs" ]; do sleep 0.1; done
            echo "install $version \\$([ -e "$ROOT/run/gpufleet/hold" ] && echo held)" >>"$COMMANDS"
            echo $version >"$ROOT/modules"
            echo $version >"$ROOT/library"
            END
            if [ -e "$ROOT/breaks" ]; then
              [ -n "$at" ] || head -c 40 "$ROOT/whole-$version" >"$2"
              exit 56
            fi
            tail -c +$((${at:-0} + 1)) "$ROOT/whole-$version" >>"$2"
            """;

    private static final String APT = """
            #!/bin/sh
            case $* in update) exit 0 ;; esac
            shift 4
            echo "apt $*" >>"$COMMANDS"
            echo 580.95.05 | tee "$ROOT/modules" >"$ROOT/library"
            """;

    private static final String DNF = """
            #!/bin/sh
            echo "dnf $*" >>"$COMMANDS"
            echo 580.95.05 | tee "$ROOT/modules" >"$ROOT/library"
            """;

    /** Programs of the machine that the script and the fakes use. */
    private static final List<String> TOOLS = List.of(
            "basename",
            "cat",
            "cut",
            "date",
            "env",
            "find",
            "grep",
            "head",
            "ln",
            "mkdir",
            "mv",
            "rm",
            "sed",
            "sh",
            "sha256sum",
            "sleep",
            "sort",
            "tail",
            "tee",
            "timeout",
            "tr",
            "uname",
            "wc");

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

    /** The path of a host that has dnf and not apt-get. */
    String pathWithDnfAlone() throws IOException {
        Files.delete(directory.resolve("bin/apt-get"));
        program("dnf", DNF);
        Path tools = Files.createDirectories(directory.resolve("tools"));
        for (String tool : TOOLS) {
            Files.createSymbolicLink(tools.resolve(tool), Path.of("/usr/bin").resolve(tool));
        }
        return directory.resolve("bin") + ":" + tools;
    }

    /** Bytes of a version that have arrived and are kept. */
    long partial(String version) throws IOException {
        return Files.size(
                root().resolve("var/lib/gpufleet/driver/NVIDIA-Linux-" + ARCHITECTURE + "-" + version + ".run.part"));
    }

    /** The process that loads a version. */
    ProcessHandle downloading(String version) throws IOException {
        long id = Long.parseLong(
                Files.readString(root().resolve("curl-" + version)).strip());
        return ProcessHandle.of(id).orElseThrow();
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
