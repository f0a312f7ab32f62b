package io.gpufleet.nodedaemon.disk;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.nodedaemon.model.ProcessOwner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcFilesTest {
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

        assertThat(new ProcFiles(proc).owner(7)).contains(new ProcessOwner.Pod(UID));
    }

    @Test
    void mpsComputesForOthersWhereverItRuns() throws IOException {
        Files.writeString(process(8, "nvidia-cuda-mps").resolve("cgroup"), "0::/kubepods/pod" + UID + "/1234\n");

        assertThat(new ProcFiles(proc).owner(8)).contains(new ProcessOwner.Mps());
    }

    @Test
    void processThatEndedHasNoOwner() {
        assertThat(new ProcFiles(proc).owner(9)).isEmpty();
    }

    @Test
    void processThatCanNotBeReadIsNobodysAndNotTheHosts() throws IOException {
        process(10, "python3");

        assertThat(new ProcFiles(proc).owner(10))
                .hasValueSatisfying(owner -> assertThat(owner).isInstanceOf(ProcessOwner.Unknown.class));
    }

    @Test
    void theKernelTellsOfThisVeryProcess() {
        int self = (int) ProcessHandle.current().pid();

        assertThat(new ProcFiles(Path.of("/proc")).owner(self)).isPresent();
    }
}
