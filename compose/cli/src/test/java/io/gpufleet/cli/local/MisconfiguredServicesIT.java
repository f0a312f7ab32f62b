package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.gpufleet.cli.fleet.Program;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.ProgramProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is wrong with the bus ends each of the three services by the same line, on a Kafka without topics. */
class MisconfiguredServicesIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);

    @TempDir
    static Path directory;

    private static BrokerProcess broker;
    private static Path kubeconfig;

    @BeforeAll
    static void open() throws IOException {
        broker = BrokerProcess.start(directory.resolve("kafka"));
        kubeconfig = SilentKubeconfig.write(directory, 1);
    }

    @AfterAll
    static void close() {
        broker.close();
    }

    @ParameterizedTest
    @CsvSource({
        "GPUFLEET_TOPIC_PREFIX, other., ' are missing: create them with ''gpufleet topics apply'', or check GPUFLEET_TOPIC_PREFIX (''other.'')'",
        "GPUFLEET_TOPIC_PREFIX, no/prefix., 'GPUFLEET_TOPIC_PREFIX: '",
        "GPUFLEET_KAFKA, nonsense, 'GPUFLEET_KAFKA: ''nonsense'' is no Kafka server: write host:port'"
    })
    void allThreeSayTheSameLine(String setting, String value, String words) {
        List<ProgramProcess> started = Stream.of(Program.INVENTORY, Program.HEALTH, Program.ALLOCATION)
                .map(program -> start(program, setting, value))
                .toList();

        List<String> lines = started.stream()
                .map(service -> reason(service, value))
                .distinct()
                .toList();

        assertThat(lines).singleElement().asString().contains(words);
    }

    /** The only line about it, without the name of the program. */
    private static String reason(ProgramProcess service, String value) {
        assertThat(service.awaitExit(TIMEOUT)).as(service.log()).isEqualTo(2);
        assertThat(service.log()).doesNotContain("\tat ");
        List<String> lines =
                service.log().lines().filter(line -> line.contains(value)).toList();
        assertThat(lines).as(service.log()).hasSize(1);
        return lines.getFirst().substring(lines.getFirst().indexOf(": ") + 2);
    }

    private static ProgramProcess start(Program program, String setting, String value) {
        return ProgramProcess.of(program.module(), program.mainClass(), directory.resolve(program.name()))
                .environment(Map.of(
                        "GPUFLEET_CLUSTER",
                        "c1",
                        "GPUFLEET_KAFKA",
                        broker.bootstrap(),
                        "KUBECONFIG",
                        kubeconfig.toString()))
                .environment(Map.of(setting, value))
                .start();
    }
}
