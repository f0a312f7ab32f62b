package io.gpufleet.nodedaemon;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.gpufleet.kit.config.ConfigurationException;
import io.gpufleet.nodedaemon.app.device.DeviceSource;
import io.gpufleet.nodedaemon.cli.CommandLine;
import io.gpufleet.nodedaemon.model.device.DeviceScan;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command record, and the replay of its file. */
class RecordMainTest {
    private static final Map<String, String> SIMULATED =
            Map.of("GPUFLEET_DEVICES", "simulated:2xA100:mig=7x1g.5gb", "GPUFLEET_NODE", "n1");

    @TempDir
    private Path directory;

    @Test
    void recordingReplaysTheSameDevices() {
        // Given
        Path file = directory.resolve("gpus.jsonl");
        var line = CommandLine.parse("record", file.toString(), "--for", "50ms", "--every=20ms");

        // When
        assertThat(RecordMain.record(SIMULATED, line)).isZero();

        // Then
        try (DeviceSource simulated = ProbeMain.open(SIMULATED);
                DeviceSource recorded = ProbeMain.open(Map.of("GPUFLEET_DEVICES", "recording:" + file + ":loop"))) {
            assertThat(recorded.name()).isEqualTo("simulated");
            assertThat(((DeviceScan.ScanSucceeded) recorded.scan()).gpus())
                    .isEqualTo(((DeviceScan.ScanSucceeded) simulated.scan()).gpus());
        }
    }

    @Test
    void unwritableFileAndInvalidDurationAreRefused() {
        assertThat(RecordMain.record(SIMULATED, CommandLine.parse("record", directory.toString(), "--for", "1s")))
                .isEqualTo(1);
        assertThatThrownBy(() -> RecordMain.record(SIMULATED, CommandLine.parse("record", "f", "--for", "soon")))
                .isInstanceOf(ConfigurationException.class)
                .hasMessage("--for='soon' is not usable: it takes a duration such as 30s, 10m or 1h");
    }
}
