package io.gpufleet.nodedaemon.state;

import static io.gpufleet.nodedaemon.model.device.TestGpus.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.kit.lifecycle.OnDemandThread;
import io.gpufleet.model.fault.FaultKind;
import io.gpufleet.nodedaemon.app.StateStore.StoredState;
import io.gpufleet.nodedaemon.model.device.LearnedGpus;
import io.gpufleet.nodedaemon.model.device.MigInstance;
import io.gpufleet.nodedaemon.model.device.Reading;
import io.gpufleet.nodedaemon.model.device.RecoveryAction;
import io.gpufleet.nodedaemon.model.device.TestGpus;
import io.gpufleet.nodedaemon.model.device.VgpuHost;
import io.gpufleet.nodedaemon.model.fault.FaultCauseState;
import io.gpufleet.nodedaemon.model.fault.FaultCode;
import io.gpufleet.nodedaemon.model.fault.FaultKey;
import io.gpufleet.nodedaemon.model.fault.FaultNames;
import io.gpufleet.nodedaemon.model.fault.FaultOrigin;
import io.gpufleet.nodedaemon.model.fault.Observations;
import io.gpufleet.nodedaemon.model.fault.OpenFault;
import io.gpufleet.nodedaemon.model.fault.WithdrawalDecision;
import io.gpufleet.nodedaemon.model.fault.XidSubcode;
import io.gpufleet.nodedaemon.model.preferred.TestTopologies;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StateFileTest {
    private static final Duration LONGEST = Duration.ofSeconds(10);
    private static final long EPOCH = 9;
    private static final LearnedGpus LEARNED = new LearnedGpus(
            Instant.parse("2026-11-22T10:15:30.123Z"),
            List.of(new LearnedGpus.LearnedGpu("GPU-a", "1654922000001", "00000000:0F:00.0", true)));

    @TempDir
    Path directory;

    private static StateFile stateFile(Path in, String devices) {
        return stateFile(in, devices, EPOCH);
    }

    private static StateFile stateFile(Path in, String devices, long epoch) {
        return new StateFile(in, devices, epoch, OnDemandThread.executor("state-file"));
    }

    private static OpenFault fault(FaultCode code) {
        return new OpenFault(
                new FaultKey(TestGpus.uuid(0), code),
                new OpenFault.Subject(
                        "",
                        "H100",
                        new Reading.Known<>(77L),
                        new XidSubcode("NETIR_LINK_EVT", XidSubcode.RepairNeed.REPAIR)),
                Observations.restored(
                        second(1).wall(), 3, "line \"with\" quotes", Set.of(FaultOrigin.NVML_EVENT, FaultOrigin.POLL)),
                new Reading.Unavailable<>("not polled since"),
                new WithdrawalDecision(true, WithdrawalDecision.Rule.SUBCODE),
                new FaultCauseState.Unmonitored());
    }

    static Stream<FaultCode> everyKindOfFault() {
        return Stream.of(
                        Stream.of(new FaultCode.Xid(79), new FaultCode.Sxid(12028)),
                        Stream.of(RecoveryAction.values()).map(FaultCode.RecoveryRequested::new),
                        Stream.of(FaultKind.values())
                                .filter(FaultKind::withoutCode)
                                .map(FaultCode.WithoutCode::new))
                .flatMap(stream -> stream);
    }

    @ParameterizedTest
    @MethodSource("everyKindOfFault")
    void everyFaultHasANameThatIsReadBack(FaultCode fault) {
        assertThat(FaultNames.parse(FaultNames.of(fault))).isEqualTo(fault);
    }

    @ParameterizedTest
    @MethodSource("everyKindOfFault")
    void stateIsReadAsItWasWritten(FaultCode code) {
        var state = new StoredState("boot-1", List.of(fault(code)), List.of(TestGpus.gpu(0)), LEARNED, 7);

        StoredState read = StateJson.read(new JsonObject(StateJson.write(state, "nvml")));

        assertThat(read.bootId()).isEqualTo("boot-1");
        assertThat(read.faults()).isEqualTo(state.faults());
        assertThat(read.gpus()).singleElement().satisfies(gpu -> {
            assertThat(gpu.uuid()).isEqualTo(TestGpus.uuid(0));
            assertThat(gpu.identifiers().serial())
                    .isEqualTo(TestGpus.gpu(0).identifiers().serial());
            assertThat(gpu.memoryBytes()).isEqualTo(TestGpus.gpu(0).memoryBytes());
            assertThat(gpu.identifiers().vbiosVersion()).isInstanceOf(Reading.Unavailable.class);
        });
    }

    @Test
    void migInstancesAndPciRouteAreReadAsTheyWereWritten() {
        var instance = new MigInstance(
                "MIG-1",
                "1g.10gb+me",
                2,
                9,
                1,
                new MigInstance.Attributes(
                        10L << 30, 16, new MigInstance.Slices(1, 2), new MigInstance.Engines(3, 4, 5, 6, 7)),
                List.of("/dev/nvidia-caps/nvidia-cap219"),
                new Reading.Unavailable<>("not saved"));
        var gpu = TestTopologies.routed(TestGpus.gpu(0), List.of("0000:00", "0000:00:01.1"))
                .withMig(new Reading.Known<>(true), List.of(instance));

        StoredState read = StateJson.read(new JsonObject(
                StateJson.write(new StoredState("boot-1", List.of(), List.of(gpu), LEARNED, 7), "nvml")));

        assertThat(read.gpus().getFirst().mig().enabled()).isEqualTo(new Reading.Known<>(true));
        assertThat(read.gpus().getFirst().instances()).containsExactly(instance);
        assertThat(read.gpus().getFirst().topology().pciRoute())
                .isEqualTo(gpu.topology().pciRoute());
    }

    @Test
    void hostOfAVirtualGpuIsReadAsItWasWritten() {
        // Given saved state with a virtual GPU
        var json = new JsonObject(
                StateJson.write(new StoredState("boot-1", List.of(), List.of(TestGpus.gpu(0)), LEARNED, 7), "nvml"));
        json.getJsonArray("gpus")
                .getJsonObject(0)
                .put("vgpuHost", new JsonObject().put("driverVersion", "525.60").put("driverBranch", "r525_00"));

        // When it is read, written and read again
        StoredState read =
                StateJson.read(new JsonObject(StateJson.write(StateJson.read(new JsonObject(json.encode())), "nvml")));

        assertThat(read.gpus().getFirst().vgpuHost()).isEqualTo(new Reading.Known<>(new VgpuHost("525.60", "r525_00")));
    }

    @Test
    void newestStateIsWritten() {
        var file = stateFile(directory.resolve("state"), "nvml");

        for (int i = 0; i < 100; i++) {
            file.save(new StoredState("boot-" + i, List.of(), List.of(), LEARNED, 7));
        }

        await().until(() ->
                stateFile(directory.resolve("state"), "nvml").load().bootId().equals("boot-99"));
    }

    @Test
    void stateIsKnownSinceTheDaemonThatBeganItUntilItsDirectoryIsLost() throws Exception {
        Path state = directory.resolve("state");
        var first = stateFile(state, "nvml", 5);
        StoredState begun = first.load();
        first.save(new StoredState("boot-1", List.of(), List.of(), LEARNED, begun.sinceEpoch()));
        assertThat(first.awaitWritten(LONGEST)).isTrue();

        assertThat(stateFile(state, "nvml", 6).load().sinceEpoch()).isEqualTo(5);
        Files.delete(state.resolve("devices.json"));
        assertThat(stateFile(state, "nvml", 7).load().sinceEpoch()).isEqualTo(7);
    }

    @Test
    void stateOfAVersionWithoutItsFirstEpochIsKnownAltogether() {
        var json = new JsonObject(StateJson.write(new StoredState("boot-1", List.of(), List.of(), LEARNED, 7), "nvml"));
        json.remove("sinceEpoch");

        assertThat(StateJson.read(json).sinceEpoch()).isZero();
    }

    @Test
    void corruptFileIsEmptyState() throws IOException {
        Files.writeString(directory.resolve("devices.json"), "{\"format\":1,\"bootId\":");

        assertThat(stateFile(directory, "nvml").load()).isEqualTo(StoredState.empty(EPOCH));
    }

    @Test
    void diskThatCannotBeWrittenStopsNothing() {
        var file = stateFile(Path.of("/proc/no-such-place"), "nvml");

        file.save(new StoredState("boot-1", List.of(), List.of(), LEARNED, 7));

        assertThat(file.load()).isEqualTo(StoredState.empty(EPOCH));
    }

    @Test
    void stateIsWrittenAfterOneThatFailedUnexpectedly() throws Exception {
        // Given a file system that throws what is no IOException
        Path archive = directory.resolve("state.zip");
        FileSystem closed = FileSystems.newFileSystem(archive, Map.of("create", "true"));
        var file = stateFile(closed.getPath("/state"), "nvml");
        closed.close();

        // When two states are saved, the second after the first has failed
        file.save(new StoredState("boot-1", List.of(), List.of(), LEARNED, 7));
        file.awaitWritten(LONGEST);
        file.save(new StoredState("boot-2", List.of(), List.of(), LEARNED, 7));

        // Then the second was tried, too
        assertThat(file.awaitWritten(LONGEST)).isTrue();
    }

    @Test
    void stateOfOtherDevicesIsNotLoaded() {
        var eight = new StoredState("boot-1", List.of(), List.of(TestGpus.gpu(7)), LEARNED, 7);
        var file = stateFile(directory, "simulated:8xH100");
        file.save(eight);
        await().until(() -> file.load().gpus().size() == 1);

        assertThat(stateFile(directory, "simulated:4xH100").load()).isEqualTo(StoredState.empty(EPOCH));
    }

    @Test
    void stateOfAVersionWithoutDevicesIsLoaded() throws IOException {
        var state = new StoredState("boot-1", List.of(), List.of(), LEARNED, 7);
        var json = new JsonObject(StateJson.write(state, "nvml"));
        json.remove("devices");
        Files.writeString(directory.resolve("devices.json"), json.encode());

        assertThat(stateFile(directory, "nvml").load()).isEqualTo(state);
    }
}
