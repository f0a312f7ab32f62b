package io.gpufleet.nodedaemon.disk;

import static io.gpufleet.nodedaemon.model.Some.second;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.nodedaemon.app.StateStore.Remembered;
import io.gpufleet.nodedaemon.model.Cause;
import io.gpufleet.nodedaemon.model.FaultCode;
import io.gpufleet.nodedaemon.model.FaultKey;
import io.gpufleet.nodedaemon.model.FaultOrigin;
import io.gpufleet.nodedaemon.model.MigInstance;
import io.gpufleet.nodedaemon.model.Names;
import io.gpufleet.nodedaemon.model.OpenFault;
import io.gpufleet.nodedaemon.model.Reading;
import io.gpufleet.nodedaemon.model.RecoveryAction;
import io.gpufleet.nodedaemon.model.Sightings;
import io.gpufleet.nodedaemon.model.Some;
import io.gpufleet.nodedaemon.model.Subcode;
import io.gpufleet.nodedaemon.model.VgpuHost;
import io.gpufleet.nodedaemon.model.preferred.Machines;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class StateFileTest {
    @TempDir
    Path directory;

    private static OpenFault fault(FaultCode code) {
        return new OpenFault(
                new FaultKey(Some.uuid(0), code),
                new OpenFault.Subject(
                        "", "H100", new Reading.Known<>(77L), new Subcode("NETIR_LINK_EVT", Subcode.Need.REPAIR)),
                Sightings.kept(
                        second(1).wall(), 3, "line \"with\" quotes", Set.of(FaultOrigin.NVML_EVENT, FaultOrigin.POLL)),
                new Reading.Unavailable<>("not polled since"),
                true,
                new Cause.Unwatched());
    }

    static Stream<FaultCode> everyKindOfFault() {
        return Stream.of(
                        Stream.of(new FaultCode.Xid(79), new FaultCode.Sxid(12028)),
                        Stream.of(RecoveryAction.values()).map(FaultCode.RecoveryAsked::new),
                        Stream.of(FaultCode.Kind.values()).map(FaultCode.Plain::new))
                .flatMap(stream -> stream);
    }

    @ParameterizedTest
    @MethodSource("everyKindOfFault")
    void everyFaultHasANameThatIsReadBack(FaultCode fault) {
        assertThat(Names.fault(Names.of(fault))).isEqualTo(fault);
    }

    @ParameterizedTest
    @MethodSource("everyKindOfFault")
    void stateIsReadAsItWasWritten(FaultCode code) {
        var state = new Remembered("boot-1", List.of(fault(code)), List.of(Some.gpu(0)));

        Remembered read = StateText.read(StateText.write(state));

        assertThat(read.bootId()).isEqualTo("boot-1");
        assertThat(read.faults()).isEqualTo(state.faults());
        assertThat(read.gpus()).singleElement().satisfies(gpu -> {
            assertThat(gpu.uuid()).isEqualTo(Some.uuid(0));
            assertThat(gpu.serial()).isEqualTo(Some.gpu(0).serial());
            assertThat(gpu.memoryBytes()).isEqualTo(Some.gpu(0).memoryBytes());
            assertThat(gpu.vbiosVersion()).isInstanceOf(Reading.Unavailable.class);
        });
    }

    @Test
    void instancesAndPlaceOfAPartitionedGpuAreReadAsTheyWereWritten() {
        var instance = new MigInstance(
                "MIG-1",
                "1g.10gb+me",
                2,
                9,
                1,
                new MigInstance.Attributes(10L << 30, 16, 1, 2, 3, 4, 5, 6, 7),
                List.of("/dev/nvidia-caps/nvidia-cap219"),
                new Reading.Unavailable<>("not kept"));
        var gpu = Machines.routed(Some.gpu(0), List.of("0000:00", "0000:00:01.1"))
                .partitioned(new Reading.Known<>(true), List.of(instance));

        Remembered read = StateText.read(StateText.write(new Remembered("boot-1", List.of(), List.of(gpu))));

        assertThat(read.gpus().getFirst().migEnabled()).isEqualTo(new Reading.Known<>(true));
        assertThat(read.gpus().getFirst().instances()).containsExactly(instance);
        assertThat(read.gpus().getFirst().pciRoute()).isEqualTo(gpu.pciRoute());
    }

    @Test
    void hostOfAVirtualGpuIsReadAsItWasWritten() {
        // Given a kept state in which a GPU is a virtual one
        var json = new JsonObject(StateText.write(new Remembered("boot-1", List.of(), List.of(Some.gpu(0)))));
        json.getJsonArray("gpus")
                .getJsonObject(0)
                .put("vgpuHost", new JsonObject().put("driverVersion", "525.60").put("driverBranch", "r525_00"));

        // When it is read, written and read again
        Remembered read = StateText.read(StateText.write(StateText.read(json.encode())));

        assertThat(read.gpus().getFirst().vgpuHost()).isEqualTo(new Reading.Known<>(new VgpuHost("525.60", "r525_00")));
    }

    @Test
    void newestStateIsOnTheDiskSoon() {
        try (var file = new StateFile(directory.resolve("state"))) {
            for (int i = 0; i < 100; i++) {
                file.save(new Remembered("boot-" + i, List.of(), List.of()));
            }

            await().until(() ->
                    new StateFile(directory.resolve("state")).load().bootId().equals("boot-99"));
        }
    }

    @Test
    void garbledFileIsNothing() throws IOException {
        Files.writeString(directory.resolve("devices.json"), "{\"format\":1,\"bootId\":");

        try (var file = new StateFile(directory)) {
            assertThat(file.load()).isEqualTo(Remembered.NOTHING);
        }
    }

    @Test
    void diskThatCanNotBeWrittenStopsNothing() {
        try (var file = new StateFile(Path.of("/proc/no-such-place"))) {
            file.save(new Remembered("boot-1", List.of(), List.of()));

            assertThat(file.load()).isEqualTo(Remembered.NOTHING);
        }
    }
}
