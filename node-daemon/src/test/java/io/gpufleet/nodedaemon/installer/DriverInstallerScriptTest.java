package io.gpufleet.nodedaemon.installer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script of the driver installer on a stand-in host: its seven states, and what leads from one to another. */
class DriverInstallerScriptTest {
    @TempDir
    Path directory;

    private StandInHost host;
    private InstallerScript script;

    @BeforeEach
    void plugGpu() throws IOException {
        host = new StandInHost(directory);
        script = new InstallerScript(directory, host);
    }

    @AfterEach
    void stop() throws Exception {
        script.close();
    }

    @Test
    void nodeWithoutGpuIsLeftAlone() throws IOException {
        host.write("sys/bus/pci/devices/0000:01:00.0/vendor", "0x8086\n");
        host.setting("version", "580.95.05");

        script.start();

        script.awaitState("no-gpu");
        assertThat(host.commands()).isEmpty();
    }

    @Test
    void driverOfTheHostIsReadyWhenNoneIsWanted() throws IOException {
        host.setting("version", "");
        script.start();
        script.awaitState("waiting for a driver of the host");

        host.load("570.12.01");

        script.awaitState("ready 570.12.01, of the host");
        assertThat(host.commands()).isEmpty();
    }

    @Test
    void missingDriverIsLoadedInstalledWhileHeldAndGivenBack() throws Exception {
        host.setting("version", "580.95.05");

        script.start();

        script.awaitState("ready 580.95.05");
        awaitRelease();
        assertThat(host.commands())
                .containsExactly(
                        "load https://drivers.example/NVIDIA-" + StandInHost.ARCHITECTURE + "-580.95.05.run",
                        "install 580.95.05 held");
        assertThat(host.log()).contains("downloading driver 580.95.05", "releasing the GPUs", "installing driver 580");
        assertThat(new InstallerStatusFile(host.run()).get()).isEqualTo("ready 580.95.05");

        // Its end takes the state away, so that nobody reads one that is not kept up any more
        script.process().destroy();
        assertThat(script.process().waitFor()).isZero();
        assertThat(new InstallerStatusFile(host.run()).get()).isEmpty();
    }

    @Test
    void upgradeWaitsForThePodThatUsesTheGpu() throws IOException {
        host.load("570.12.01");
        host.useGpu(4711, "/usr/bin/python train.py");
        host.setting("version", "580.95.05");

        script.start();

        script.awaitState("waiting for python (process 4711)");
        assertThat(host.run().resolve("hold")).doesNotExist();
        assertThat(host.commands()).noneMatch(command -> command.startsWith("install"));

        host.endUse(4711);
        script.awaitState("ready 580.95.05");
        assertThat(host.commands()).contains("unload nvidia", "install 580.95.05 held");
    }

    @Test
    void downgradeTakesTheInstallerFromTheCacheAndAPrefixIsEnough() throws IOException {
        host.setting("version", "580.95.05");
        script.start();
        script.awaitState("ready 580.95.05");

        host.setting("version", "570.12.01");
        script.awaitState("ready 570.12.01");
        host.setting("version", "580.95.05");
        script.awaitState("ready 580.95.05");
        host.setting("version", "580");
        script.awaitState("ready 580.95.05");

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

        script.start();

        script.awaitState("ready 580.95.05");
        assertThat(host.commands()).isEmpty();
    }

    @Test
    void libraryOfAnotherVersionIsRepaired() throws IOException {
        host.load("580.95.05");
        host.write("library", "570.12.01\n");
        host.setting("version", "580.95.05");

        script.start();

        script.awaitState("ready 580.95.05");
        assertThat(host.commands()).contains("unload nvidia", "install 580.95.05 held");
    }

    @Test
    void failureIsReportedAndRepeatedAndChangedSettingsStartOver() throws IOException {
        host.write("fails", "");
        host.setting("version", "580.95.05");

        script.start();

        script.awaitState(
                "failed: the installation failed, /var/lib/gpufleet/driver/log on the host has its output: no headers");
        assertThat(host.run().resolve("hold")).doesNotExist();

        host.remove("fails");
        script.awaitState("ready 580.95.05");

        host.setting("version", "latest; reboot");
        script.awaitState("failed: version 'latest; reboot' is none such as 580.95.05");
        host.setting("version", "570.12.01");
        script.awaitState("ready 570.12.01");
    }

    @Test
    void wrongChecksumInstallsNothing() throws IOException {
        host.setting("version", "580.95.05");
        host.setting("sha256", "0".repeat(64));
        script.start();

        script.awaitState("failed: https://drivers.example/NVIDIA-@ARCH@-580.95.05.run has another checksum"
                .replace("@ARCH@", StandInHost.ARCHITECTURE));
        assertThat(host.commands()).noneMatch(command -> command.startsWith("install"));

        host.setting("sha256", "");
        script.awaitState("ready 580.95.05");
    }

    @Test
    void packagesOfTheRunningKernelAreInstalled() throws Exception {
        assertThat(installPackages("linux-modules-nvidia-580-server-@KERNEL@ nvidia-utils-580-server"))
                .startsWith("apt linux-modules-nvidia-580-server-" + StandInHost.kernel() + " nvidia-utils-580-server");
    }

    @Test
    void packagesAreInstalledByDnfWhereTheHostHasNoApt() throws Exception {
        script.variable("PATH", host.pathWithDnfAlone());

        assertThat(installPackages("kmod-nvidia-580-@KERNEL@ nvidia-driver-cuda"))
                .isEqualTo("dnf install -y kmod-nvidia-580-" + StandInHost.kernel() + " nvidia-driver-cuda");
    }

    /** Wants a driver of packages; the command that installed them. */
    private String installPackages(String packages) throws IOException {
        host.setting("source", "packages");
        host.setting("packages", packages);
        host.setting("version", "580");

        script.start();

        script.awaitState("ready 580.95.05");
        return host.commands().getLast();
    }

    @Test
    void nothingIsReplacedWhereTheDaemonKeepsTheGpus() throws IOException {
        // Given
        host.load("570.12.01");
        host.useGpu(99, "/opt/gpufleet/bin/node-daemon");
        host.setting("version", "580.95.05");
        script.variable("RELEASE_TIME", "1");
        script.pauseForTenMinutes();

        // When
        script.start();

        // Then
        script.awaitStateWithoutDaemon("failed: the node-daemon has not released the GPUs");
        awaitRelease();
        assertThat(host.commands()).noneMatch(command -> command.matches("(un)?(load|install) [0-9n].*"));
    }

    @Test
    void driverIsReplacedWithoutAnswerWhereNobodyUsesTheGpus() throws IOException {
        host.setting("version", "580.95.05");
        script.variable("RELEASE_TIME", "1");

        script.start();

        script.awaitStateWithoutDaemon("ready 580.95.05");
    }

    @Test
    void holdOfSomebodyElseIsNotOverruled() throws IOException {
        Files.writeString(host.run().resolve("hold"), "reason: reset of GPU-1\n");
        host.setting("version", "580.95.05");

        script.start();

        script.awaitState("waiting: the GPUs are held, reason: reset of GPU-1");
        assertThat(host.commands()).isEmpty();
        Files.delete(host.run().resolve("hold"));
        script.awaitState("ready 580.95.05");
    }

    @Test
    void killedInstallerIsFollowedByOneThatGoesOn() throws Exception {
        host.write("hangs", "");
        host.setting("version", "580.95.05");
        script.start();
        script.awaitState("installing");
        script.process().destroyForcibly().waitFor();
        assertThat(host.run().resolve("hold")).exists();
        host.remove("hangs");

        script.start();

        script.awaitState("ready 580.95.05");
        awaitRelease();
    }

    private void awaitRelease() {
        await().atMost(InstallerScript.LIMIT)
                .until(() -> !Files.exists(host.run().resolve("hold")));
    }
}
