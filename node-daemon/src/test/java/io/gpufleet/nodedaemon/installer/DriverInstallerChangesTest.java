package io.gpufleet.nodedaemon.installer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The driver installer starts over when what is wanted or what answers changes, and resumes a download that broke. */
class DriverInstallerChangesTest {
    private static final String FIRST = "580.95.05";
    private static final String SECOND = "570.12.01";

    @TempDir
    Path directory;

    private StandInHost host;
    private InstallerScript script;

    @BeforeEach
    void wantADriver() throws IOException {
        host = new StandInHost(directory);
        script = new InstallerScript(directory, host);
        host.setting("version", FIRST);
    }

    @AfterEach
    void stop() throws Exception {
        script.close();
    }

    private static String address(String version) {
        return "https://drivers.example/NVIDIA-" + StandInHost.ARCHITECTURE + "-" + version + ".run";
    }

    private void awaitCommand(String command) {
        await().atMost(InstallerScript.LIMIT).until(() -> {
            host.answerHold();
            return host.commands().contains(command);
        });
    }

    @Test
    void brokenDownloadIsResumedWhereItEnded() throws IOException {
        // Given
        host.write("breaks", "");
        script.start();
        script.awaitState("failed: " + address(FIRST) + " cannot be loaded");
        long arrived = host.partial(FIRST);
        assertThat(arrived).isPositive();

        // When
        host.remove("breaks");

        // Then
        script.awaitState("ready " + FIRST);
        assertThat(host.commands()).contains("resume " + address(FIRST) + " at " + arrived);
        assertThat(host.commands())
                .filteredOn(("load " + address(FIRST))::equals)
                .hasSize(1);
    }

    @Test
    void otherVersionIsInstalledAtOnceWhileTheFormerIsReady() throws IOException {
        script.pauseForTenMinutes();
        script.start();
        script.awaitState("ready " + FIRST);

        host.setting("version", SECOND);

        script.awaitState("ready " + SECOND);
    }

    @Test
    void otherVersionIsInstalledAtOnceAfterAFailure() throws IOException {
        script.pauseForTenMinutes();
        host.write("fails", "");
        script.start();
        script.awaitState("failed: the installation failed");
        host.remove("fails");

        host.setting("version", SECOND);

        script.awaitState("ready " + SECOND);
    }

    @Test
    void driverThatSomebodyElseLoadedIsReplacedAtOnce() throws IOException {
        script.pauseForTenMinutes();
        script.start();
        script.awaitState("ready " + FIRST);

        host.load(SECOND);

        awaitCommand("unload nvidia");
        script.awaitState("ready " + FIRST);
        assertThat(host.commands())
                .filteredOn(("install " + FIRST + " held")::equals)
                .hasSize(2);
    }

    @Test
    void otherVersionEndsADownloadThatHangs() throws IOException {
        // Given
        script.pauseForTenMinutes();
        host.write("stalls", "");
        script.start();
        awaitCommand("load " + address(FIRST));
        ProcessHandle former = host.downloading(FIRST);

        // When
        host.setting("version", SECOND);

        // Then no two write the same file when the first version is wanted again
        awaitCommand("load " + address(SECOND));
        await().atMost(InstallerScript.LIMIT).until(() -> !former.isAlive());

        host.remove("stalls");
        script.awaitState("ready " + SECOND);
        assertThat(host.commands()).noneMatch(command -> command.startsWith("install " + FIRST));
    }
}
