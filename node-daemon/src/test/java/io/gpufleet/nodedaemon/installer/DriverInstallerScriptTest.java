package io.gpufleet.nodedaemon.installer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script of the driver installer on a stand-in host: its seven states, and what leads from one to another. */
class DriverInstallerScriptTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private StandInHost host;
    private final List<Process> scripts = new ArrayList<>();

    @BeforeEach
    void plugGpu() throws IOException {
        host = new StandInHost(directory);
        host.write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
        host.setting("source", "run");
        host.setting("url", "https://drivers.example/NVIDIA-@ARCH@-@VERSION@.run");
    }

    private void start() throws IOException {
        var builder = new ProcessBuilder("/bin/sh", "../k8s/components/driver-installer/driver-installer.sh")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(
                        directory.resolve("log").toFile()));
        builder.environment()
                .putAll(Map.of(
                        "PATH", directory.resolve("bin") + ":" + System.getenv("PATH"),
                        "COMMANDS", directory.resolve("commands").toString(),
                        "HOST_ROOT", host.root().toString(),
                        "RUN_DIR", host.run().toString(),
                        "SETTINGS_DIR", directory.resolve("settings").toString(),
                        "PAUSE", "1",
                        "RETRY", "1"));
        scripts.add(builder.start());
    }

    @AfterEach
    void stop() throws Exception {
        for (Process script : scripts) {
            script.destroy();
            if (!script.waitFor(20, TimeUnit.SECONDS)) {
                script.destroyForcibly().waitFor();
            }
        }
    }

    /** Waits for a state while the stand-in daemon answers to the hold file. */
    private void awaitState(String state) {
        await().atMost(LIMIT)
                .until(
                        () -> {
                            host.answerHold();
                            return host.state();
                        },
                        text -> text.startsWith(state));
    }

    @Test
    void nodeWithoutGpuIsLeftAlone() throws IOException {
        host.write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n");
        host.setting("version", "580.95.05");

        start();

        awaitState("no-gpu");
        assertThat(host.commands()).isEmpty();
    }

    @Test
    void driverOfTheHostIsReadyWhenNoneIsWanted() throws IOException {
        host.setting("version", "");
        start();
        awaitState("waiting for a driver of the host");

        host.load("570.12.01");

        awaitState("ready 570.12.01, of the host");
        assertThat(host.commands()).isEmpty();
    }

    @Test
    void missingDriverIsLoadedInstalledWhileHeldAndGivenBack() throws Exception {
        host.setting("version", "580.95.05");

        start();

        awaitState("ready 580.95.05");
        await().atMost(LIMIT).until(() -> !Files.exists(host.run().resolve("hold")));
        assertThat(host.commands())
                .containsExactly(
                        "load https://drivers.example/NVIDIA-" + StandInHost.ARCHITECTURE + "-580.95.05.run",
                        "install 580.95.05 held");
        assertThat(host.log()).contains("downloading driver 580.95.05", "releasing the GPUs", "installing driver 580");
        assertThat(new InstallerStatusFile(host.run()).get()).isEqualTo("ready 580.95.05");

        // Its end takes the state away, so that nobody reads one that is not kept up any more
        scripts.getLast().destroy();
        assertThat(scripts.getLast().waitFor()).isZero();
        assertThat(new InstallerStatusFile(host.run()).get()).isEmpty();
    }

    @Test
    void upgradeWaitsForThePodThatUsesTheGpu() throws IOException {
        host.load("570.12.01");
        host.useGpu(4711, "/usr/bin/python train.py");
        host.setting("version", "580.95.05");

        start();

        awaitState("waiting for python (process 4711)");
        assertThat(host.run().resolve("hold")).doesNotExist();
        assertThat(host.commands()).noneMatch(command -> command.startsWith("install"));

        host.endUse(4711);
        awaitState("ready 580.95.05");
        assertThat(host.commands()).contains("unload nvidia", "install 580.95.05 held");
    }

    @Test
    void downgradeTakesTheInstallerFromTheCacheAndAPrefixIsEnough() throws IOException {
        host.setting("version", "580.95.05");
        start();
        awaitState("ready 580.95.05");

        host.setting("version", "570.12.01");
        awaitState("ready 570.12.01");
        host.setting("version", "580.95.05");
        awaitState("ready 580.95.05");
        host.setting("version", "580");
        awaitState("ready 580.95.05");

        assertThat(host.commands())
                .filteredOn(command -> command.startsWith("load"))
                .hasSize(2);
        assertThat(host.commands())
                .filteredOn(command -> command.startsWith("install"))
                .hasSize(3);
    }

    @Test
    void rebootOnlyLoadsTheModules() throws IOException {
        host.install("580.95.05");
        host.setting("version", "580.95.05");

        start();

        awaitState("ready 580.95.05");
        assertThat(host.commands()).isEmpty();
    }

    @Test
    void libraryOfAnotherVersionIsRepaired() throws IOException {
        host.load("580.95.05");
        host.write("library", "570.12.01\n");
        host.setting("version", "580.95.05");

        start();

        awaitState("ready 580.95.05");
        assertThat(host.commands()).contains("unload nvidia", "install 580.95.05 held");
    }

    @Test
    void failureIsReportedAndRepeatedAndChangedSettingsStartOver() throws IOException {
        host.write("fails", "");
        host.setting("version", "580.95.05");

        start();

        awaitState(
                "failed: the installation failed, /var/lib/gpufleet/driver/log on the host has its output: no headers");
        assertThat(host.run().resolve("hold")).doesNotExist();

        host.remove("fails");
        awaitState("ready 580.95.05");

        host.setting("version", "latest; reboot");
        awaitState("failed: version 'latest; reboot' is none such as 580.95.05");
        host.setting("version", "570.12.01");
        awaitState("ready 570.12.01");
    }

    @Test
    void brokenDownloadGoesOnAndAWrongChecksumInstallsNothing() throws IOException {
        host.write("offline", "");
        host.setting("version", "580.95.05");
        host.setting("sha256", "0".repeat(64));
        start();
        awaitState("failed: https://drivers.example");

        host.remove("offline");
        awaitState("failed: https://drivers.example/NVIDIA-@ARCH@-580.95.05.run has another checksum"
                .replace("@ARCH@", StandInHost.ARCHITECTURE));
        assertThat(host.commands()).noneMatch(command -> command.startsWith("install"));

        host.setting("sha256", "");
        awaitState("ready 580.95.05");
    }

    @Test
    void packagesOfTheRunningKernelAreInstalled() throws Exception {
        host.setting("source", "packages");
        host.setting("packages", "linux-modules-nvidia-580-server-@KERNEL@ nvidia-utils-580-server");
        host.setting("version", "580");

        start();

        awaitState("ready 580.95.05");
        assertThat(host.commands())
                .last()
                .asString()
                .startsWith("apt linux-modules-nvidia-580-server-" + StandInHost.kernel() + " nvidia-utils-580-server");
    }

    @Test
    void holdOfSomebodyElseIsNotOverruled() throws IOException {
        Files.writeString(host.run().resolve("hold"), "reason: reset of GPU-1\n");
        host.setting("version", "580.95.05");

        start();

        awaitState("waiting: the GPUs are held, reason: reset of GPU-1");
        assertThat(host.commands()).isEmpty();
        Files.delete(host.run().resolve("hold"));
        awaitState("ready 580.95.05");
    }

    @Test
    void killedInstallerIsFollowedByOneThatGoesOn() throws Exception {
        host.write("hangs", "");
        host.setting("version", "580.95.05");
        start();
        awaitState("installing");
        scripts.getLast().destroyForcibly().waitFor();
        assertThat(host.run().resolve("hold")).exists();
        host.remove("hangs");

        start();

        awaitState("ready 580.95.05");
        await().atMost(LIMIT).until(() -> !Files.exists(host.run().resolve("hold")));
    }
}
