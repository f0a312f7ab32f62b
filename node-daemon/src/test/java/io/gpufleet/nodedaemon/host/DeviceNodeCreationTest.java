package io.gpufleet.nodedaemon.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.allocation.HostPaths;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceNodeCreationTest {
    private static final String CAP = "/dev/nvidia-caps/nvidia-cap30";

    @TempDir
    Path host;

    private final List<String> calls = new ArrayList<>();
    private String ofProgram = "";
    private String ofMknod = "";
    private boolean programMakesUvm;
    private long nanos;
    private DeviceNodeCreation creation;

    /** Makes plain files in place of nodes. */
    private final class FakeMaker implements DeviceNodeCreation.NodeMaker {
        @Override
        public String run(List<String> command) {
            calls.add(String.join(" ", command));
            if (programMakesUvm) {
                put("dev/nvidia-uvm");
                put("dev/nvidia-uvm-tools");
            }
            return ofProgram;
        }

        @Override
        public String make(String path, int permissions, int major, int minor) {
            calls.add("mknod " + path.substring(host.toString().length()) + " " + Integer.toOctalString(permissions)
                    + " " + major + ":" + minor);
            if (ofMknod.isEmpty()) {
                put(path.substring(host.toString().length() + 1));
            }
            return ofMknod;
        }
    }

    @BeforeEach
    void make() {
        creation = new DeviceNodeCreation(
                new HostPaths(host.toString(), ""), host.resolve("proc"), new FakeMaker(), () -> nanos);
        put("dev/nvidiactl");
    }

    private void put(String file) {
        try {
            Files.createDirectories(host.resolve(file).getParent());
            Files.writeString(host.resolve(file), "");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void majors(String... lines) throws IOException {
        put("proc/devices");
        Files.writeString(host.resolve("proc/devices"), "Character devices:\n" + String.join("\n", lines) + "\n");
    }

    private void modprobe(String root) {
        put(root + "usr/bin/nvidia-modprobe");
        assertThat(host.resolve(root + "usr/bin/nvidia-modprobe").toFile().setExecutable(true))
                .isTrue();
    }

    @Test
    void nodesThatAreThereAreLeftAlone() {
        put("dev/nvidia-uvm");

        assertThat(creation.ensure("/", "", List.of())).isEmpty();
        assertThat(calls).isEmpty();
    }

    @Test
    void uvmIsMadeByTheDriversOwnProgramInItsRoot() {
        modprobe("run/nvidia/driver/");
        programMakesUvm = true;

        assertThat(creation.ensure("/run/nvidia/driver", "", List.of())).isEmpty();
        assertThat(calls).containsExactly("chroot " + host + "/run/nvidia/driver /usr/bin/nvidia-modprobe -u -c 0");
    }

    @Test
    void uvmIsMadeByItsMajorWithoutTheProgram() throws IOException {
        majors("195 nvidia", "195 nvidiactl", "510 nvidia-uvm", "234 nvidia-caps");

        assertThat(creation.ensure("/", "", List.of())).isEmpty();
        assertThat(calls).containsExactly("mknod /dev/nvidia-uvm 666 510:0", "mknod /dev/nvidia-uvm-tools 666 510:1");
    }

    @Test
    void uvmIsMadeByItsMajorWhereTheProgramFails() throws IOException {
        modprobe("");
        ofProgram = "ends with status 1";
        majors("510 nvidia-uvm");

        assertThat(creation.ensure("/", "", List.of())).isEmpty();
        assertThat(calls).contains("mknod /dev/nvidia-uvm 666 510:0");
    }

    @Test
    void nodesOfMigInstancesAreMadeByTheirMinors() throws IOException {
        put("dev/nvidia-uvm");
        majors("234 nvidia-caps");

        assertThat(creation.ensure("/", "", List.of(CAP, "/dev/nvidia-caps/nvidia-cap31", CAP)))
                .isEmpty();
        assertThat(calls)
                .containsExactly("mknod " + CAP + " 444 234:30", "mknod /dev/nvidia-caps/nvidia-cap31 444 234:31");
    }

    @Test
    void reasonNamesWhatWasTried() throws IOException {
        majors("195 nvidia");

        assertThat(creation.ensure("/", "", List.of(CAP)))
                .isEqualTo(Map.of(
                        "/dev/nvidia-uvm",
                        "no nvidia-modprobe below /; " + host
                                + "/proc/devices has no nvidia-uvm: load its kernel module",
                        CAP,
                        host + "/proc/devices has no nvidia-caps: load its kernel module"));
    }

    @Test
    void failedAttemptIsRepeatedAfterAMinuteAndANodeThatAppearsCountsAtOnce() throws IOException {
        majors("510 nvidia-uvm");
        ofMknod = "mknod /dev/nvidia-uvm: EPERM";
        assertThat(creation.ensure("/", "", List.of()).get("/dev/nvidia-uvm")).endsWith("EPERM");
        assertThat(creation.ensure("/", "", List.of())).hasSize(1);
        assertThat(calls).hasSize(1);

        nanos = Duration.ofMinutes(1).toNanos();
        assertThat(creation.ensure("/", "", List.of())).hasSize(1);
        assertThat(calls).hasSize(2);

        put("dev/nvidia-uvm");
        assertThat(creation.ensure("/", "", List.of())).isEmpty();
    }

    @Test
    void devRootOfTheDriverGetsTheNodes() throws IOException {
        majors("510 nvidia-uvm");

        assertThat(creation.ensure("/run/nvidia/driver", "/run/nvidia/driver", List.of()))
                .isEmpty();
        assertThat(calls.getFirst()).startsWith("mknod /run/nvidia/driver/dev/nvidia-uvm ");
    }
}
