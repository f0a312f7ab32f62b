package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.fleet.Program;
import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A service that SIGTERM ends while it starts, on a Kubernetes API that takes connections and never answers. */
class EndedStartIT {
    private static final Duration TIMEOUT = Duration.ofSeconds(90);
    /** Of a process that SIGTERM has ended in order. */
    private static final int SIGTERM_STATUS = 143;

    @TempDir
    static Path directory;

    private static BrokerProcess broker;
    private static ServerSocket silentApi;
    private static Path kubeconfig;

    @BeforeAll
    static void open() throws IOException {
        broker = BrokerProcess.start(directory.resolve("kafka"));
        TopicAdmin.apply(broker.bootstrap(), new Topics(Topics.DEFAULT_PREFIX));
        silentApi = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        kubeconfig = SilentKubeconfig.write(directory, silentApi.getLocalPort());
    }

    @AfterAll
    static void close() throws IOException {
        silentApi.close();
        broker.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = Program.class,
            names = {"INVENTORY", "HEALTH"})
    void serviceLeavesItsGroup(Program program) throws Exception {
        try (var service = start(program, Map.of("GPUFLEET_HTTP_CA_SECRET", "gpufleet-system/gpufleet-ca"));
                var admin = Admin.create(
                        Map.<String, Object>of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, broker.bootstrap()))) {
            await().atMost(TIMEOUT).until(() -> members(admin, program) == 1);

            int status = service.terminate(TIMEOUT);

            assertThat(status).as(service.log()).isEqualTo(SIGTERM_STATUS);
            assertThat(members(admin, program)).isZero();
            assertEndedQuietly(program, service);
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = Program.class,
            names = {"INVENTORY", "HEALTH", "ALLOCATION"})
    void serviceDoesNotGoOnWaitingForItsTopics(Program program) {
        try (var service = start(program, Map.of("GPUFLEET_TOPIC_PREFIX", "other.", "GPUFLEET_TOPICS_WAIT", "10m"))) {
            await().atMost(TIMEOUT).until(() -> service.log().contains("waiting for the topics"));

            int status = service.terminate(TIMEOUT);

            assertThat(status).as(service.log()).isEqualTo(SIGTERM_STATUS);
            assertEndedQuietly(program, service);
        }
    }

    private static ProgramProcess start(Program program, Map<String, String> settings) {
        var environment = new TreeMap<>(Map.of(
                "GPUFLEET_CLUSTER", "c1",
                "GPUFLEET_KAFKA", broker.bootstrap(),
                "KUBECONFIG", kubeconfig.toString()));
        environment.putAll(settings);
        return ProgramProcess.of(program.module(), program.mainClass(), directory.resolve(program.name()))
                .environment(environment)
                .start();
    }

    private static int members(Admin admin, Program program) throws InterruptedException {
        String group = "gpufleet-" + Path.of(program.module()).getFileName();
        try {
            var groups = admin.describeConsumerGroups(List.of(group)).describedGroups();
            ConsumerGroupDescription found =
                    Objects.requireNonNull(groups.get(group)).get();
            return found.members().size();
        } catch (ExecutionException noGroupYet) {
            return 0;
        }
    }

    /** Nothing failed: the end was asked for. */
    private static void assertEndedQuietly(Program program, ProgramProcess service) {
        String reason = Path.of(program.module()).getFileName() + ": ";
        assertThat(service.log().lines())
                .noneMatch(
                        line -> line.contains("start failed") || line.startsWith("\tat ") || line.startsWith(reason));
    }
}
