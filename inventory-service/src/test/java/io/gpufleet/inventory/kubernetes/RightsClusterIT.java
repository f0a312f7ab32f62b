package io.gpufleet.inventory.kubernetes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.gpufleet.inventory.app.KubernetesNodeEvent;
import io.gpufleet.inventory.app.NodeListener;
import io.gpufleet.inventory.app.NodeObject;
import io.gpufleet.inventory.app.NodeWriter.ApplyResult;
import io.gpufleet.runtime.kubernetes.SharedNeeds;
import io.gpufleet.testbed.testkit.AccountRights;
import io.gpufleet.testbed.testkit.LogLines;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every right of the manifest on a real API server, with it and without it. */
class RightsClusterIT {
    private static final String NAME = "gpufleet-it-inventory-rights";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final AtomicInteger changes = new AtomicInteger();
    private AccountRights account;
    private NodeObject node;

    @BeforeEach
    void grant() throws IOException {
        account = AccountRights.grant(NAME, List.of("k8s/base/services/inventory-service/rbac.yaml"), role -> true);
        node = NodeObjectMapper.toModel(account.createNode());
    }

    @AfterEach
    void remove() {
        account.close();
    }

    @Test
    void everyRightIsNeededAndNamedWhereItIsMissing() {
        Map<String, Supplier<String>> needs =
                new HashMap<>(SharedNeeds.of(account.client(), account.admin(), account.namespace()));
        needs.put("list nodes", this::watch);
        needs.put("watch nodes", this::watch);
        needs.put("patch nodes", () -> {
            ApplyResult result = writer().apply(
                            node.name(), node.uid(), NodeWriterContract.labelSet(Map.of("nvidia.com/gpu.count", "8")));
            return result instanceof ApplyResult.Failed(String reason) ? reason : "";
        });
        needs.put("create events", () -> {
            try (var log = LogLines.of(KubernetesNodeWriter.class.getName())) {
                writer().recordEvent(node, new KubernetesNodeEvent(false, "DriverReady", "550.90"));
                return log.first();
            }
        });

        assertThat(account.findings(needs)).isEmpty();
    }

    private KubernetesNodeWriter writer() {
        return new KubernetesNodeWriter(account.client(), Clock.systemUTC());
    }

    /** The line of a watch that does not start; empty once it brings a change. */
    private String watch() {
        String label = "change-" + changes.incrementAndGet();
        var seen = new AtomicInteger();
        NodeListener listener = new NodeListener() {
            @Override
            public void onChanged(NodeObject changed) {
                if (changed.labels().containsValue(label)) {
                    seen.incrementAndGet();
                }
            }

            @Override
            public void onDeleted(String name, String uid) {}
        };
        try (var log = LogLines.of(NodeWatch.class.getName());
                var watch = NodeWatch.open(account.client(), List.of(listener))) {
            await().atMost(TIMEOUT)
                    .until(() -> !log.first().isEmpty()
                            || watch.synced().toCompletableFuture().isDone());
            account.admin()
                    .nodes()
                    .withName(NAME)
                    .patch(
                            PatchContext.of(PatchType.JSON_MERGE),
                            "{\"metadata\":{\"labels\":{\"example.com/change\":\"" + label + "\"}}}");
            await().atMost(TIMEOUT).until(() -> !log.first().isEmpty() || seen.get() > 0);
            return log.first();
        }
    }
}
