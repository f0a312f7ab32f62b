package io.gpufleet.cli.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.install.Installation;
import io.gpufleet.cli.install.InstalledNode;
import io.gpufleet.cli.install.Kubectl;
import io.gpufleet.cli.install.ViewerCommands;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;

/** A topic whose retention somebody changed: the Job of the topics leaves it so, and says it. */
final class ChangedTopic {
    private static final String TOPIC = "gpu.decisions";
    private static final ConfigResource RESOURCE = new ConfigResource(ConfigResource.Type.TOPIC, TOPIC);
    private static final ConfigEntry HOUR = new ConfigEntry(TopicConfig.RETENTION_MS_CONFIG, "3600000");

    private ChangedTopic() {}

    /** Applies the installation again, and gives the topic its retention back. */
    static void isReported(String bootstrap, Installation installation, Path directory) throws Exception {
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap))) {
            ConfigEntry former = Objects.requireNonNull(
                            admin.describeConfigs(List.of(RESOURCE)).all().get().get(RESOURCE))
                    .get(HOUR.name());
            set(admin, HOUR);
            // The Job of the installation may be there still, and a Job cannot be changed
            Kubectl.run("-n", Installation.SERVICES, "delete", "job", "topics", "--ignore-not-found");

            installation.apply();

            await().atMost(InstalledNode.EFFECT)
                    .ignoreExceptions()
                    .untilAsserted(() -> assertThat(ViewerCommands.logOfTheTopics(directory))
                            .contains("topic " + TOPIC + " has retention.ms=3600000, the catalogue says "
                                    + former.value()));
            set(admin, former);
        }
    }

    private static void set(Admin admin, ConfigEntry entry) throws ExecutionException, InterruptedException {
        admin.incrementalAlterConfigs(Map.of(RESOURCE, List.of(new AlterConfigOp(entry, AlterConfigOp.OpType.SET))))
                .all()
                .get();
    }
}
