package io.gpufleet.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.gpufleet.cli.local.BrokerRights.Right;
import io.gpufleet.testbed.testkit.ProgramProcess;
import io.gpufleet.wire.TopicAdmin;
import io.gpufleet.wire.Topics;
import io.gpufleet.wire.TopicsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.acl.AclOperation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer.OrderAnnotation;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** All programs on a broker that asks for TLS, SCRAM and ACLs, each with the rights that TOPICS.md lists. */
@TestMethodOrder(OrderAnnotation.class)
class SecuredFleetIT {
    /** What a service reads when it starts, and not while it leads. */
    private static final Set<String> READ_AT_START =
            Set.of("gpu.nodes", "gpu.health-state", "gpu.holdings", "gpu.usage-daily");

    /** So often a service says the same at most while it misses a right. */
    private static final int LINES = 15;

    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private static Path directory;

    private static SecuredFleet fleet;

    @BeforeAll
    static void start() throws Exception {
        fleet = new SecuredFleet(directory);
    }

    @AfterAll
    static void stop() throws Exception {
        fleet.close();
    }

    @Test
    @Order(1)
    void everyProgramNeedsItsRightsAndNoOthers() throws Exception {
        // When a pod holds a GPU and ends, one held a GPU on a day that is past, a GPU fails, and a record cannot be
        // read
        fleet.live();
        fleet.fail();

        // Then the thread runs from the fault to the taint
        await().atMost(SecuredFleet.TIMEOUT).until(fleet::tainted);
        fleet.finish();

        // And every right of the table is used, and nothing else was asked for
        await().atMost(SecuredFleet.TIMEOUT)
                .until(() ->
                        fleet.program("allocation-service").get("/v1/usage").status() == 200);
        await().atMost(SecuredFleet.TIMEOUT)
                .untilAsserted(
                        () -> assertThat(fleet.rights.unused(fleet.broker)).isEmpty());
        assertThat(fleet.rights.denied(fleet.broker)).isEmpty();
    }

    @Test
    @Order(2)
    void startSaysWhichRightsToTheTopicsOfThePrefixAreMissing() throws Exception {
        for (Right right : fleet.rights.rights()) {
            if (right.resource().endsWith("prefix")) {
                fleet.rights.revoke(fleet.broker, right);
                // Topics that are there already need not be created; these are of the prefix, too.
                boolean creates = right.operation() == AclOperation.CREATE;
                String prefix = creates ? "gpu.spare." : Topics.DEFAULT_PREFIX;
                var clients = fleet.clientsOf(right.principal());
                assertThatThrownBy(() -> {
                            if (creates) {
                                TopicAdmin.apply(clients, new Topics(prefix));
                            } else {
                                TopicAdmin.check(clients, new Topics(prefix));
                            }
                        })
                        .as(right.toString())
                        .isInstanceOf(TopicsException.class)
                        .hasMessageContaining("Kafka refuses topics '" + prefix + "*'")
                        .hasMessageContaining(right.operation().name());
                fleet.rights.grantAgain(fleet.broker, right);
            }
        }
    }

    /** What a service logged without one of its rights. */
    private record Finding(Right right, List<String> log) {}

    @Test
    @Order(3)
    void serviceSaysWhichRightItMissesAndGoesOnWithIt() throws Exception {
        // When each service loses one right after the other, while all have something to do
        List<Finding> findings = new ArrayList<>();
        var over = new CountDownLatch(1);
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Future<?> life = threads.submit(() -> {
                while (!over.await(500, TimeUnit.MILLISECONDS)) {
                    fleet.live();
                }
                return null;
            });
            List<Future<List<Finding>>> services = new ArrayList<>();
            for (List<Right> ofOne : rightsByService().values()) {
                services.add(threads.submit(() -> missEach(ofOne)));
            }
            try {
                for (Future<List<Finding>> found : services) {
                    findings.addAll(found.get());
                }
            } finally {
                over.countDown();
            }
            life.get();
        }

        // Then each names it in one line, and fills no log
        assertThat(findings)
                .allSatisfy(finding -> assertThat(finding.log()).noneMatch(line -> line.startsWith("\tat ")))
                .allSatisfy(finding -> assertThat(finding.log().stream().filter(line -> names(line, finding.right())))
                        .as(finding.right().toString())
                        .hasSizeLessThan(LINES));
    }

    private static Map<String, List<Right>> rightsByService() {
        return fleet.rights.rights().stream()
                .filter(right -> right.principal().endsWith("-service"))
                .filter(right -> !right.resource().endsWith("prefix"))
                .collect(Collectors.groupingBy(Right::principal));
    }

    private static List<Finding> missEach(List<Right> rights) throws Exception {
        List<Finding> findings = new ArrayList<>();
        for (Right right : rights) {
            findings.add(miss(right));
        }
        return findings;
    }

    private static Finding miss(Right right) throws Exception {
        ProgramProcess program = fleet.program(right.principal());
        boolean restart = right.operation() == AclOperation.READ && READ_AT_START.contains(right.name());
        int from = restart ? 0 : program.log().length();
        long since = Files.size(fleet.broker.output());
        fleet.rights.revoke(fleet.broker, right);
        if (restart) {
            program.restart();
        }
        await().alias(right + " is refused")
                .atMost(SecuredFleet.TIMEOUT)
                .until(() -> fleet.rights.denied(fleet.broker, since, right));
        await().alias(right + " is named")
                .atMost(SecuredFleet.TIMEOUT)
                .until(() -> asksForTheRight(program.get("/readyz").body(), right));
        fleet.rights.grantAgain(fleet.broker, right);
        await().atMost(SecuredFleet.TIMEOUT).until(() -> leads(program));
        List<String> log = program.log().substring(from).lines().toList();
        return new Finding(right, log);
    }

    /**
     * What a service may not read or write makes it unready, and not only when it has something to do there. The same line in
     * each; a topic that it uses in both ways is named with both rights where a client is refused.
     */
    private static boolean asksForTheRight(String readiness, Right right) {
        return Pattern.compile(
                        "Kafka refuses " + right.resource() + " " + Pattern.quote(right.name()) + ": grant (READ and )?"
                                + right.operation() + "( and WRITE)? on it to the principal of " + right.principal())
                .matcher(readiness)
                .find();
    }

    private static boolean leads(ProgramProcess service) {
        return service.isReady() && service.hasMetric("gpufleet_active 1.0");
    }

    private static boolean names(String text, Right right) {
        return text.lines().anyMatch(line -> refuses(line, right));
    }

    /** With the name, and for what it may not be used. */
    private static boolean refuses(String line, Right right) {
        return line.contains("Kafka refuses")
                && line.contains(right.name())
                && line.contains(right.operation().name());
    }
}
