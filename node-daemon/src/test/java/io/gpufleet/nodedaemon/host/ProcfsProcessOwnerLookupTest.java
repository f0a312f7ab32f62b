package io.gpufleet.nodedaemon.host;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.device.ProcessOwner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcfsProcessOwnerLookupTest {
    private static final String UID = "4b32c1f7-9a51-4dd4-8b6e-0d7e5c3b2a19";

    @TempDir
    private Path proc;

    private Path process(int pid, String name) throws IOException {
        Path its = Files.createDirectories(proc.resolve(Integer.toString(pid)));
        Files.writeString(its.resolve("comm"), name + "\n");
        return its;
    }

    @Test
    void processIsOfThePodWhoseCgroupItIsIn() throws IOException {
        Files.writeString(process(7, "python3").resolve("cgroup"), "0::/kubepods/pod" + UID + "/1234\n");

        assertThat(new ProcfsProcessOwnerLookup(proc).owner(7)).contains(new ProcessOwner.Pod(UID));
    }

    @Test
    void mpsProcessIsRecognisedInAnyCgroup() throws IOException {
        Files.writeString(process(8, "nvidia-cuda-mps").resolve("cgroup"), "0::/kubepods/pod" + UID + "/1234\n");

        assertThat(new ProcfsProcessOwnerLookup(proc).owner(8)).contains(new ProcessOwner.Mps());
    }

    @Test
    void processThatEndedHasNoOwner() {
        assertThat(new ProcfsProcessOwnerLookup(proc).owner(9)).isEmpty();
    }

    @Test
    void unreadableProcessIsUnknownAndNotTheHosts() throws IOException {
        process(10, "python3");

        assertThat(new ProcfsProcessOwnerLookup(proc).owner(10))
                .hasValueSatisfying(owner -> assertThat(owner).isInstanceOf(ProcessOwner.Unknown.class));
    }

    @Test
    void ownProcessIsFound() {
        int self = (int) ProcessHandle.current().pid();

        assertThat(new ProcfsProcessOwnerLookup(Path.of("/proc")).owner(self)).isPresent();
    }
}
