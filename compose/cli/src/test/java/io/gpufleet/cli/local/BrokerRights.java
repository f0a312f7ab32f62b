package io.gpufleet.cli.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;

import io.gpufleet.testbed.kafka.BrokerProcess;
import io.gpufleet.testbed.kafka.ScramUsers;
import io.gpufleet.testbed.testkit.Repository;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.StringReader;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/** The table of rights in TOPICS.md: read, granted on a broker, and compared with what the broker was asked for. */
public record BrokerRights(List<Right> rights) {
    /** Of every user. */
    public static final String PASSWORD = "of-a-test";

    private static final Pattern ROW = Pattern.compile(
            "\\| ([a-z-]+) \\| (topic|topic prefix|group|transactional id) \\| (.*) \\| ([A-Z_ ]+) \\|");
    /** A decision in the log of the broker's authorizer. */
    private static final Pattern DECISION = Pattern.compile("Principal = User:(\\S+) is (Allowed|Denied) operation ="
            + " (\\S+) from host = \\S+ on resource = (\\w+):LITERAL:(\\S+) for request.*");

    /** One operation of a principal on one name. */
    public record Right(String principal, String resource, String name, AclOperation operation) {
        AclBinding binding() {
            ResourceType type = switch (resource) {
                case "group" -> ResourceType.GROUP;
                case "transactional id" -> ResourceType.TRANSACTIONAL_ID;
                default -> ResourceType.TOPIC;
            };
            PatternType pattern = resource.endsWith("prefix") ? PatternType.PREFIXED : PatternType.LITERAL;
            return new AclBinding(
                    new ResourcePattern(type, name, pattern),
                    new AccessControlEntry("User:" + principal, "*", operation, AclPermissionType.ALLOW));
        }

        @Override
        public String toString() {
            return principal + " " + operation + " " + name;
        }
    }

    public static BrokerRights ofTheDocument() throws IOException {
        var rights = new ArrayList<Right>();
        for (String line : Files.readAllLines(Repository.module("proto").resolve("TOPICS.md"))) {
            Matcher row = ROW.matcher(line);
            if (row.matches()) {
                for (String name : row.group(3).replace("`", "").split(" ")) {
                    for (String operation : row.group(4).split(" ")) {
                        rights.add(new Right(row.group(1), row.group(2), name, AclOperation.valueOf(operation)));
                    }
                }
            }
        }
        return new BrokerRights(List.copyOf(rights));
    }

    /** Makes a user for each principal, with these rights. */
    public void grant(BrokerProcess broker) throws Exception {
        ScramUsers.add(
                broker,
                PASSWORD,
                rights.stream().map(Right::principal).distinct().toList());
        try (Admin admin = administrator(broker)) {
            admin.createAcls(rights.stream().map(Right::binding).toList()).all().get();
        }
        awaitKnown(broker, rights.getLast().principal());
    }

    /** Takes one right away; the broker refuses from the answer on. */
    public void revoke(BrokerProcess broker, Right right) throws Exception {
        try (Admin admin = administrator(broker)) {
            admin.deleteAcls(List.of(right.binding().toFilter())).all().get();
        }
    }

    /** Gives it back. */
    public void grantAgain(BrokerProcess broker, Right right) throws Exception {
        try (Admin admin = administrator(broker)) {
            admin.createAcls(List.of(right.binding())).all().get();
        }
    }

    /** By the listener without rights. */
    private static Admin administrator(BrokerProcess broker) {
        var plain = new Properties();
        plain.put("bootstrap.servers", broker.bootstrap());
        return Admin.create(plain);
    }

    /** A broker that has just created many topics takes seconds until it knows its users. */
    private static void awaitKnown(BrokerProcess broker, String user) throws IOException {
        var client = new Properties();
        client.load(new StringReader(clientProperties(broker, user)));
        client.put("bootstrap.servers", broker.securedBootstrap());
        await().atMost(Duration.ofSeconds(60)).ignoreExceptions().until(() -> {
            try (Admin admin = Admin.create(client)) {
                return !admin.describeCluster().nodes().get().isEmpty();
            }
        });
    }

    /** Contents of GPUFLEET_KAFKA_CONFIG of a principal. */
    static String clientProperties(BrokerProcess broker, String principal) {
        return broker.clientProperties(principal, PASSWORD);
    }

    /** Rights to one name that no program has made use of so far. */
    public Set<String> unused(BrokerProcess broker) throws IOException {
        Set<String> used = decisions(broker, 0, "Allowed");
        Set<String> unused = new TreeSet<>();
        rights.stream()
                .filter(right -> !right.resource().endsWith("prefix"))
                .map(Right::toString)
                .filter(right -> !used.contains(right))
                .forEach(unused::add);
        return unused;
    }

    /** What the programs asked for and were refused. */
    public Set<String> denied(BrokerProcess broker) throws IOException {
        return decisions(broker, 0, "Denied");
    }

    /** True when something was refused of what a right is about, since the output of the broker was so long. */
    boolean denied(BrokerProcess broker, long since, Right right) throws IOException {
        return decisions(broker, since, "Denied").stream()
                .anyMatch(decision ->
                        decision.startsWith(right.principal() + " ") && decision.endsWith(" " + right.name()));
    }

    private static Set<String> decisions(BrokerProcess broker, long since, String outcome) throws IOException {
        Set<String> found = new TreeSet<>();
        try (var output = Files.newInputStream(broker.output())) {
            output.skipNBytes(since);
            new BufferedReader(new InputStreamReader(output, UTF_8))
                    .lines()
                    .map(DECISION::matcher)
                    .filter(line -> line.find() && line.group(2).equals(outcome))
                    .forEach(line -> found.add(line.group(1) + " " + line.group(3) + " " + line.group(5)));
        }
        return found;
    }
}
